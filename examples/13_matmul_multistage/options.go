// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package multistage

import (
	"cmp"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

// Options select what BuildWith builds. The zero value of each field except Type selects the
// default.
type Options struct {
	Type   isa.Type                               // type of A and B
	Sums   isa.Type                               // type of accumulators; default Sums(Type)
	Tiling Tiling                                 // the default is Small(Type)
	Shape  func(m *dsl.Module, s dsl.MMA) dsl.MMA // changes the MMA, for example its shape
	// A stored as k x m, and B as k x n, for elements of at least 16 bits.
	TransposeA, TransposeB bool
	Epilogue               Epilogue
	Split                  Split
	// Batch multiplies one pair of matrices for each index along z of the grid.
	Batch bool
	// If set, A is stored as k x m, or B as k x n. Elements need at least 16 bits.
	Groups bool
}

// A Split is a method to compute one tile of D with several blocks, which add their partial
// results to D. Set D to zero before the launch, or to the matrix to which the product is to be
// added.
type Split int

// The methods of Split.
const (
	NoSplit Split = iota
	SplitK        // the blocks along y each compute a part of K
	StreamK       // all blocks compute the same number of steps
)

// Small returns a tiling that also fits into the 99 KiB of shared memory per block of sm_86 and
// sm_89.
func Small(t isa.Type) Tiling {
	if t == isa.F64 || t == isa.F32 {
		return Tiling{M: 64, N: 64, Stages: 3}
	}
	return Tiling{M: 128, N: 128, Stages: 3}
}

// resolve returns the options with defaults filled in, and the MMA that they select.
func (o Options) resolve(m *dsl.Module) (Options, dsl.MMA) {
	o.Sums, o.Tiling = cmp.Or(o.Sums, Sums(o.Type)), cmp.Or(o.Tiling, Small(o.Type))
	shape := m.MMAFor(o.Type, o.Sums)
	if o.Shape != nil {
		shape = o.Shape(m, shape)
	}
	return o, shape
}

// BuildWith adds to m a kernel that computes D = A * B' like Build, with the given options.
func BuildWith(m *dsl.Module, o Options) {
	o, shape := o.resolve(m)
	switch o.Sums {
	case isa.S32:
		buildWith[dsl.S32](m, o, shape)
	case isa.F64:
		buildWith[dsl.F64](m, o, shape)
	case isa.F16:
		buildWith[dsl.F16](m, o, shape)
	default:
		buildWith[dsl.F32](m, o, shape)
	}
}

// operands are the matrices of a kernel and their sizes.
type operands struct {
	a, b, d            *dsl.Matrix
	rows, cols, length dsl.Reg[dsl.U32]
	tile               dsl.Reg[dsl.U32] // index of the tile in its group, if the kernel has groups
}

// sized returns the operands with the sizes set on the matrices.
func (in operands) sized(o Options) operands {
	in.a, in.b, in.d = in.a.Sized(in.rows, in.length), in.b.Sized(in.cols, in.length),
		in.d.Sized(in.rows, in.cols)
	if o.TransposeA {
		in.a = in.a.Sized(in.length, in.rows)
	}
	if o.TransposeB {
		in.b = in.b.Sized(in.length, in.cols)
	}
	return in
}

// tile returns the tile of an operand with the given number of rows and the depth of one step.
// Transposed elements of 32 and 64 bits are loaded one by one; with 16 bytes of padding per row,
// the rows start in different banks.
func (o Options) tile(rows int, transposed bool) dsl.Tile {
	deep := depth * 8 / o.Type.Bits()
	t := dsl.Tile{Type: o.Type, Rows: rows, Cols: deep, Swizzle: dsl.Swizzle128}
	if o.Type == isa.F64 || transposed && o.Type.Bits() > 16 {
		t.Swizzle, t.Pad = dsl.NoSwizzle, 32
	}
	return t.TransposedIf(transposed)
}

// An operand is A or B in the main loop.
type operand struct {
	m          *dsl.Matrix
	row        dsl.Reg[dsl.U32] // first row of the tile
	transposed bool
}

// copy starts an asynchronous copy of the tile whose first column in the operand is at.
func (x operand) copy(to dsl.SharedTile, at dsl.Reg[dsl.U32]) {
	if x.transposed {
		x.m.RowsFrom(at).CopyAsync(to, x.row)
	} else {
		x.m.CopyAsync(to, at)
	}
}

// newOperand returns an operand whose tiles start at a row.
func newOperand(m *dsl.Matrix, row dsl.Reg[dsl.U32], transposed bool) operand {
	if !transposed {
		m = m.RowsFrom(row)
	}
	return operand{m, row, transposed}
}

// buildWith adds a kernel with accumulators of type C.
func buildWith[C dsl.Scalar](m *dsl.Module, o Options, shape dsl.MMA) {
	k := m.Kernel("matmul"+name(o.Type), dsl.Threads(256))
	in := operands{a: k.Matrix("a", o.Type), b: k.Matrix("b", o.Type)}
	end := declare[C](k, o)
	if in.d = end.d; o.Groups {
		in = findGroup(k, o, in)
	} else {
		in.rows, in.cols, in.length = dsl.Param[dsl.U32](k, "m"), dsl.Param[dsl.U32](k, "n"),
			dsl.Param[dsl.U32](k, "k")
	}
	if in = in.sized(o); o.Batch {
		z := k.CTAID().Z
		in.a, in.b, in.d = in.a.At(z), in.b.At(z), in.d.At(z)
	}
	ab := k.AsyncPipeline("ab", o.Tiling.Stages, o.tile(o.Tiling.M, o.TransposeA),
		o.tile(o.Tiling.N, o.TransposeB))
	deep := int64(depth * 8 / o.Type.Bits())

	// part computes some steps of the product for one tile, given its row and column of tiles,
	// and stores the result.
	part := func(tileRow, tileCol, first, steps dsl.Reg[dsl.U32]) {
		row, col := tileRow.MulI(int64(o.Tiling.M)), tileCol.MulI(int64(o.Tiling.N))
		a, b := newOperand(in.a, row, o.TransposeA), newOperand(in.b, col, o.TransposeB)
		w := dsl.NewWarpTile[C](k, shape, o.Tiling.M/2, o.Tiling.N/4)
		fromA, fromB := w.Origin(k.WarpIndex(), 4)
		ab.Multiply(steps,
			func(step dsl.Reg[dsl.U32], s dsl.AsyncStage) {
				at := first.Add(step).MulI(deep)
				a.copy(s.Tile(0), at)
				b.copy(s.Tile(1), at)
			},
			func(s dsl.AsyncStage) dsl.MMAStep {
				return w.MMAStep(s.Tile(0).TransposedIf(a.transposed), fromA,
					s.Tile(1).TransposedIf(b.transposed), fromB)
			})
		end.store(w, in, row.Add(fromA), col.Add(fromB))
	}
	high, wide, steps := in.rows.CeilDiv(int64(o.Tiling.M)), in.cols.CeilDiv(int64(o.Tiling.N)),
		in.length.CeilDiv(deep)
	switch {
	case o.Groups:
		part(in.tile.Div(wide), in.tile.Rem(wide), k.U32(0), steps)
	case o.Split == StreamK:
		all, blocks := high.Mul(wide).Mul(steps), dsl.To[dsl.U64](k.NCTAID().X)
		share := func(block dsl.Reg[dsl.U32]) dsl.Reg[dsl.U32] {
			return dsl.To[dsl.U32](dsl.To[dsl.U64](all).Mul(dsl.To[dsl.U64](block)).Div(blocks))
		}
		next, last := share(k.CTAID().X).Var(), share(k.CTAID().X.AddI(1))
		k.While(func() dsl.Reg[dsl.Pred] { return next.LT(last) }, func() {
			at, first := next.Div(steps), next.Rem(steps)
			count := steps.Sub(first).Min(last.Sub(next))
			part(at.Div(wide), at.Rem(wide), first, count)
			next.Set(next.Add(count))
		})
	default:
		at, first := k.BlockTile(high, wide, group), k.U32(0)
		if o.Split == SplitK {
			y, parts := k.CTAID().Y, k.NCTAID().Y
			first = steps.Mul(y).Div(parts)
			steps = steps.Mul(y.AddI(1)).Div(parts).Sub(first)
		}
		part(at.Row, at.Col, first, steps)
	}
}
