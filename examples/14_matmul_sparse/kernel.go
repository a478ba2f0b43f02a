// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package sparse multiplies matrices with 2:4 structured sparsity in the A operand on the tensor
// cores of sm_80.
package sparse

import (
	"fmt"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

// A Tiling is the shape of the work of one block of eight warps, in two rows and four columns. A stage is 256 bytes of a row of B deep.
type Tiling struct {
	M, N   int
	Stages int
}

// Default is a tiling that fits into the shared memory of sm_80.
var Default = Tiling{M: 128, N: 128, Stages: 3}

// Types are the element types. Of E4m3, sm_89 is the first target.
var Types = []isa.Type{isa.F16, isa.Bf16, isa.Tf32, isa.S8, isa.S4, isa.E4m3}

// Depth is how many columns of B a stage holds.
func Depth(t isa.Type) int { return 256 * 8 / t.Bits() }

// unit is the bits of what Compress takes for neighbours: numbers, pairs of them, or halves.
func unit(t isa.Type) int {
	if t.Bits() > 8 {
		return 16
	}
	return 8
}

// Blocks is the grid of a launch along x and y, or an error where the sizes are none that the kernel takes.
func (t Tiling) Blocks(e isa.Type, m, n, k int) (x, y int, err error) {
	switch {
	case k%Depth(e) != 0:
		return 0, 0, fmt.Errorf("rows of %d elements of %s, want a multiple of %d", k, e, Depth(e))
	case n%2 != 0:
		return 0, 0, fmt.Errorf("a result of %d columns, want an even number", n)
	}
	return (n + t.N - 1) / t.N, (m + t.M - 1) / t.M, nil
}

// Build makes D = A * B' for A m x k and B n x k of a type, with D m x n of the type of the sums. Of each four neighbours in a row of A
// two are zero, which are numbers of 8 and 16 bits, pairs of INT4, or halves of TF32. The other two, which Compress takes out, are a, m x k/2, and
// their places e, a bit for each neighbour. Tiles are clipped at the edges, so that sizes are whatever Blocks takes.
func Build(m *dsl.Module, t isa.Type, tiling Tiling) {
	switch t {
	case isa.S8, isa.S4:
		build[dsl.S32](m, t, tiling)
	default:
		build[dsl.F32](m, t, tiling)
	}
}

func build[C dsl.Scalar](m *dsl.Module, t isa.Type, tiling Tiling) {
	sums := dsl.TypeOf[C]()
	k := m.Kernel("sparse"+name(t), dsl.Threads(256))
	a, e, b, d := k.Matrix("a", t), k.Matrix("e", isa.B8), k.Matrix("b", t), k.Matrix("d", sums)
	rows, cols, length := dsl.Param[dsl.U32](k, "m"), dsl.Param[dsl.U32](k, "n"), dsl.Param[dsl.U32](k, "k")
	row, col := k.CTAID().Y.MulI(int64(tiling.M)), k.CTAID().X.MulI(int64(tiling.N))
	half := Depth(t) / 2
	told := 256 / unit(t) // bytes of places of a row in a stage
	steps := length.DivI(int64(Depth(t)))
	a, b = a.Sized(rows, length.ShrI(1)).RowsFrom(row), b.Sized(cols, length).RowsFrom(col)
	e = e.Sized(rows, steps.MulI(int64(told))).RowsFrom(row).ClampRows() // no place is zero

	// The two tiles of B are the halves of a stage, since a swizzle is no wider than 128 bytes.
	tileB := dsl.Tile{Type: t, Rows: tiling.N, Cols: half, Swizzle: dsl.Swizzle128}
	ab := k.AsyncPipeline("ab", tiling.Stages,
		dsl.Tile{Type: t, Rows: tiling.M, Cols: half, Swizzle: dsl.Swizzle128},
		dsl.Tile{Type: isa.B8, Rows: tiling.M, Cols: told},
		tileB, tileB)
	w := dsl.NewWarpTile[C](k, dsl.SparseMMAFor(t, sums), tiling.M/2, tiling.N/4)
	fromA, fromB := w.Origin(k.WarpIndex(), 4)
	ab.Multiply(steps,
		func(step dsl.Reg[dsl.U32], s dsl.AsyncStage) {
			at := step.MulI(int64(half))
			a.CopyAsync(s.Tile(0), at)
			e.CopyAsync(s.Tile(1), step.MulI(int64(told)))
			b.CopyAsync(s.Tile(2), at.ShlI(1))
			b.CopyAsync(s.Tile(3), at.ShlI(1).AddI(int64(half)))
		},
		func(s dsl.AsyncStage) dsl.MMAStep {
			return w.SparseMMAStep(s.Tile(0), fromA, s.Tile(1), []dsl.SharedTile{s.Tile(2), s.Tile(3)}, fromB)
		})
	w.Store(d.Sized(rows, cols), row.Add(fromA), col.Add(fromB))
}

// name is a type as part of a kernel's name: "_bf16".
func name(t isa.Type) string { return "_" + t.String()[1:] }
