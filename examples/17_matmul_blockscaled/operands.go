// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package blockscaled

import "github.com/ptxdsl/ptxdsl/dsl"

// operands are the matrices that a kernel reads: A and B, to which scale factors and the sparsity
// indices of A are attached.
type operands struct {
	k              *dsl.Kernel
	f              Format
	t              Tiling
	a, b           *dsl.TensorMap
	asyncA, asyncB *dsl.ScaleCopy // scale factors that cp.async copies
	depth          int            // number of columns of a stage
	stage          *dsl.Pipeline
	factors        *dsl.Pipeline // pipeline of asyncA and asyncB
	length         dsl.Reg[dsl.U32]
	steps          dsl.Reg[dsl.U32] // number of stages of a tile
}

// operands declares the parameters for the operands.
func (f Format) operands(k *dsl.Kernel, t Tiling) *operands {
	kept, depth := f.depth()
	in := &operands{k: k, f: f, t: t, depth: depth}
	columns, swizzle := t.N/t.blocks(), dsl.Swizzle128 // each block of a pair loads half of B
	if t.ColumnsB {
		swizzle = dsl.WidestSwizzle(f.B, columns)
	}
	in.a = k.TensorMap("a", f.A, f.box(f.A, 128, kept).TransposedIf(t.ColumnsA), dsl.Swizzle128)
	in.b = k.TensorMap("b", f.B, f.box(f.B, columns, depth).TransposedIf(t.ColumnsB), swizzle)
	if t.Async {
		in.asyncA, in.asyncB = k.ScaleCopy("sfa", f.Scale, 128, depth),
			k.ScaleCopy("sfb", f.Scale, t.N, depth)
	} else {
		in.a.Scaled(k.ScaleMap("sfa", f.Scale, 128, depth))
		in.b.Scaled(k.ScaleMap("sfb", f.Scale, t.N, depth))
	}
	if f.Sparse {
		in.a.Sparse(k.SparsityMap("e", in.a))
	}
	return in
}

// pipelines declares the stages that hold the operands.
func (in *operands) pipelines() {
	right := in.b.Feed().MulticastCol()
	if in.t.Pair {
		right = in.b.Feed().MulticastHalf()
	}
	in.stage = in.k.Pipeline("stage", in.t.Stages, in.a.Feed().MulticastRow(), right)
	if in.t.Async {
		in.factors = in.k.Pipeline("factors", in.t.Stages, in.asyncA.Feed(), in.asyncB.Feed())
	}
}

// load starts the copies of the stages of one tile.
func (in *operands) load(at tile) {
	for s := range in.stage.Produce(in.steps) {
		step := s.Iteration()
		if in.t.Problems == Grouped {
			s.LoadAt(in.a, at.first, step.MulI(int64(in.a.Tile().Cols)))
		} else {
			s.Load(in.a, dsl.TileAt(at.row, step).TransposedIf(in.t.ColumnsA))
		}
		s.Load(in.b, dsl.TileAt(in.k.PairHalf(at.right), step).TransposedIf(in.t.ColumnsB))
		s.LoadFactors(in.a, dsl.TileAt(at.row, step))
		s.LoadFactors(in.b, dsl.TileAt(at.right, step))
	}
}

// loadScales copies the scale factors of one tile with cp.async.
func (in *operands) loadScales(at tile) {
	for s := range in.factors.Produce(in.steps) {
		in.asyncA.Load(s, at.row, in.length)
		in.asyncB.Load(s, at.right, in.length)
		in.k.CommitCopies()
		in.k.WaitCopies(0)
	}
}

// multiply issues the MMAs of one tile.
func (in *operands) multiply(d *dsl.AccumulatorStage, at tile) {
	for s := range in.stage.Consume(in.steps) {
		a := s.Tile(in.a).TransposedIf(in.t.ColumnsA)
		b := s.Tile(in.b).TransposedIf(in.t.ColumnsB)
		if in.t.Async {
			in.factors.ConsumeOne(func(f *dsl.Stage) {
				d.ScaledMMA(in.f.Scale, a, b, in.asyncA.Tile(f), in.asyncB.Tile(f))
			})
		} else {
			d.MMA(a, b.ScaleHalf(at.right))
		}
	}
}
