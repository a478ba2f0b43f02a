// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package blockscaled

import (
	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

// operands are the matrices that a kernel reads: A, B, their scale factors, and the sparsity
// indices of A.
type operands struct {
	k           *dsl.Kernel
	f           Format
	t           Tiling
	a, b        *dsl.TensorMap
	sfa, sfb, e *dsl.TensorMap // sfa and sfb are nil if cp.async copies the scale factors
	asyncA      *asyncScales
	asyncB      *asyncScales
	depth       int // number of columns of a stage
	stage       *dsl.Pipeline
	factors     *dsl.Pipeline // pipeline of asyncA and asyncB
}

// operands declares the parameters for the operands.
func (f Format) operands(k *dsl.Kernel, t Tiling) *operands {
	kept, depth := f.depth()
	in := &operands{k: k, f: f, t: t, depth: depth}
	columns := t.N / t.blocks() // each block of a pair loads half of B
	boxB := f.box(f.B, columns, depth).TransposedIf(t.ColumnsB)
	swizzle := dsl.Swizzle128
	if t.ColumnsB {
		swizzle = dsl.WidestSwizzle(f.B, columns)
	}
	in.a = k.TensorMap("a", f.A, f.box(f.A, 128, kept).TransposedIf(t.ColumnsA), dsl.Swizzle128)
	in.b = k.TensorMap("b", f.B, boxB, swizzle)
	if t.Async {
		in.asyncA, in.asyncB = newAsyncScales(k, "sfa", f.Scale, 128, depth),
			newAsyncScales(k, "sfb", f.Scale, t.N, depth)
	} else {
		in.sfa, in.sfb = k.ScaleMap("sfa", f.Scale, 128, depth),
			k.ScaleMap("sfb", f.Scale, t.N, depth)
	}
	if f.Sparse {
		in.e = k.SparsityMap("e", in.a)
	}
	return in
}

// pipelines declares the stages that hold the operands.
func (in *operands) pipelines() {
	right := in.b.Feed().MulticastCol()
	if in.t.Pair {
		right = in.b.Feed().MulticastHalf()
	}
	feeds := []dsl.Feed{in.a.Feed().MulticastRow(), right}
	if !in.t.Async {
		feeds = append(feeds, in.sfa.Feed().MulticastRow(), in.sfb.Feed().MulticastCol())
	}
	if in.f.Sparse {
		feeds = append(feeds, in.e.Feed().MulticastRow())
	}
	in.stage = in.k.Pipeline("stage", in.t.Stages, feeds...)
	if in.t.Async {
		in.factors = in.k.Pipeline("factors", in.t.Stages, in.asyncA.to.Feed(), in.asyncB.to.Feed())
	}
}

// roles returns the roles that load operands.
func (in *operands) roles(tiles *tiles, steps, length dsl.Reg[dsl.U32]) []dsl.Role {
	roles := []dsl.Role{dsl.OnWarp(0, "load", func() {
		for at := range tiles.each() {
			for s := range in.stage.Produce(steps) {
				in.load(s, at)
			}
		}
	})}
	if in.t.Async {
		roles = append(roles, dsl.OnWarp(2, "load_scales", func() {
			for at := range tiles.each() {
				for s := range in.factors.Produce(steps) {
					in.asyncA.load(s, at.row, length)
					in.asyncB.load(s, at.right, length)
					in.k.CommitCopies()
					in.k.WaitCopies(0)
				}
			}
		}))
	}
	return roles
}

// load starts the copies of one stage.
func (in *operands) load(s *dsl.Stage, at tile) {
	step, right := s.Iteration(), at.right
	if in.t.Pair {
		right = right.MulI(2).Add(in.k.ClusterRank().AndI(1))
	}
	if in.t.Problems == Grouped {
		s.LoadAt(in.a, at.first, step.MulI(int64(in.a.Tile().Cols)))
	} else {
		s.Load(in.a, dsl.TileAt(at.row, step).TransposedIf(in.t.ColumnsA))
	}
	s.Load(in.b, dsl.TileAt(right, step).TransposedIf(in.t.ColumnsB))
	if !in.t.Async {
		s.Load(in.sfa, dsl.TileAt(at.row, step))
		s.Load(in.sfb, dsl.TileAt(at.right, step))
	}
	if in.f.Sparse {
		s.Load(in.e, dsl.TileAt(at.row, step))
	}
}

// multiply issues the MMAs of one tile.
func (in *operands) multiply(d *dsl.AccumulatorStage, at tile, steps dsl.Reg[dsl.U32]) {
	for s := range in.stage.Consume(steps) {
		if in.t.Async {
			in.factors.ConsumeOne(func(f *dsl.Stage) {
				in.step(d, s, in.asyncA.to.Tile(f), in.asyncB.to.Tile(f))
			})
			continue
		}
		scales := s.Tile(in.sfb)
		if in.t.N%128 != 0 {
			scales = scales.ScaleHalf(at.right)
		}
		in.step(d, s, s.Tile(in.sfa), scales)
	}
}

// step issues the MMAs of one stage.
func (in *operands) step(d *dsl.AccumulatorStage, s *dsl.Stage, scaleA, scaleB dsl.SharedTile) {
	a, b := s.Tile(in.a).TransposedIf(in.t.ColumnsA), s.Tile(in.b).TransposedIf(in.t.ColumnsB)
	if in.f.Sparse {
		d.SparseScaledMMA(in.f.Scale, a, s.Tile(in.e), b, scaleA, scaleB)
	} else {
		d.ScaledMMA(in.f.Scale, a, b, scaleA, scaleB)
	}
}

// asyncScales copies scale factors with cp.async, executed by one warp.
type asyncScales struct {
	k     *dsl.Kernel
	from  dsl.Array[dsl.U64]
	to    *dsl.ComputedTile
	each  int // number of elements of a row that an atom of scale factors covers
	atoms int // number of atoms per row in a stage
	rows  int // number of groups of 128 rows
}

// newAsyncScales declares the parameter and the tile for the scale factors of the given numbers
// of rows and columns.
func newAsyncScales(k *dsl.Kernel, name string, b dsl.BlockScale, rows, cols int) *asyncScales {
	s := &asyncScales{k: k, from: dsl.Global[dsl.U64](k, name), each: 4 * b.Vector,
		rows: rows / 128}
	s.atoms = cols / s.each
	s.to = k.ComputedTile(name+"_tile", dsl.Tile{Type: isa.U64, Rows: s.rows, Cols: 64 * s.atoms})
	return s
}

// load copies the scale factors of a stage. Each lane copies 16 bytes of each atom of 512 bytes.
// Atoms after the end of the rows are filled with zeros.
func (s *asyncScales) load(stage *dsl.Stage, row, length dsl.Reg[dsl.U32]) {
	to, lane := s.to.Tile(stage), s.k.Lane()
	across := length.CeilDiv(int64(s.each)) // number of atoms per row of the matrix
	for r := range s.rows {
		for i := range s.atoms {
			atom := stage.Iteration().MulI(int64(s.atoms)).AddI(int64(i))
			first := row.MulI(int64(s.rows)).AddI(int64(r)).Mul(across).Add(atom)
			from := s.from.At(first.ShlI(6).Add(lane.ShlI(1)))
			from.CopyAsync(dsl.Element[dsl.U64](to, s.k.U32(r), lane.ShlI(1).AddI(int64(64*i))), 2,
				atom.LT(across))
		}
	}
}
