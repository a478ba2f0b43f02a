// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package multistage multiplies matrices on the tensor cores of sm_80, in every type that they know.
package multistage

import (
	"fmt"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

// A Tiling is the shape of the work of one block of eight warps, in two rows and four columns. A tile is 128 bytes deep.
type Tiling struct {
	M, N   int
	Stages int
}

// Types are the element types. F32 is multiplied as three products of TF32.
var Types = []isa.Type{isa.F16, isa.Bf16, isa.Tf32, isa.F32, isa.S8, isa.U8, isa.S4, isa.U4, isa.B1, isa.F64}

// Default is a tiling that leaves the sums of a warp room in its registers.
func Default(t isa.Type) Tiling {
	if t == isa.F64 {
		return Tiling{M: 64, N: 64, Stages: 4}
	}
	return Tiling{M: 128, N: 128, Stages: 4}
}

// Blocks is the grid of a launch along x and y, or an error where the sizes are none that the kernel takes.
func (t Tiling) Blocks(e isa.Type, m, n, k int) (x, y int, err error) {
	switch {
	case k*e.Bits()%128 != 0:
		return 0, 0, fmt.Errorf("rows of %d numbers of %s; a multiple of %d is expected, which is 16 bytes", k, e, 128/e.Bits())
	case n%2 != 0:
		return 0, 0, fmt.Errorf("a result of %d columns; an even number is expected", n)
	}
	return (n + t.N - 1) / t.N, (m + t.M - 1) / t.M, nil
}

// Build makes D = A * B' for A m x k and B n x k of a type, with D m x n of the type of the sums, on the tensor cores of sm_80. Tiles
// are clipped at the edges, so that sizes are whatever Blocks takes. Of numbers that are smaller than a byte, the first is in its
// lowest bits; single bits are multiplied by and.
func Build(m *dsl.Module, t isa.Type, tiling Tiling) {
	switch t {
	case isa.S8, isa.U8, isa.S4, isa.U4, isa.B1:
		build[dsl.S32](m, t, tiling)
	case isa.F64:
		build[dsl.F64](m, t, tiling)
	default:
		build[dsl.F32](m, t, tiling)
	}
}

func build[C dsl.Scalar](m *dsl.Module, t isa.Type, tiling Tiling) {
	sums := dsl.TypeOf[C]()
	k := m.Kernel("matmul"+name(t), dsl.Threads(256))
	a, b, d := k.Matrix("a", t), k.Matrix("b", t), k.Matrix("d", sums)
	rows, cols, length := dsl.Param[dsl.U32](k, "m"), dsl.Param[dsl.U32](k, "n"), dsl.Param[dsl.U32](k, "k")
	row, col := k.CTAID().Y.MulI(int64(tiling.M)), k.CTAID().X.MulI(int64(tiling.N))
	a, b = a.Sized(rows, length).From(row), b.Sized(cols, length).From(col)

	depth := 128 * 8 / t.Bits()
	ab := k.AsyncPipeline("ab", tiling.Stages,
		dsl.Tile{Type: t, Rows: tiling.M, Cols: depth, Swizzle: dsl.Swizzle128},
		dsl.Tile{Type: t, Rows: tiling.N, Cols: depth, Swizzle: dsl.Swizzle128})
	w := dsl.NewWarpTile[C](k, dsl.MMAFor(t, sums), tiling.M/2, tiling.N/4)
	fromA, fromB := w.Place(k.WarpIndex(), 4)
	ab.Run(length.CeilDiv(int64(depth)),
		func(step dsl.Reg[dsl.U32], s dsl.AsyncStage) {
			at := step.MulI(int64(depth))
			a.CopyAsync(s.Tile(0), at)
			b.CopyAsync(s.Tile(1), at)
		},
		func(_ dsl.Reg[dsl.U32], s dsl.AsyncStage) { w.MMA(s.Tile(0), fromA, s.Tile(1), fromB) })
	w.Store(d.Sized(rows, cols), row.Add(fromA), col.Add(fromB))
}

// name is a type as part of a kernel's name: "_tf32".
func name(t isa.Type) string { return "_" + t.String()[1:] }
