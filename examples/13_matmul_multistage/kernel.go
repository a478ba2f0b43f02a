// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package multistage has kernels that multiply matrices on the tensor cores of sm_80, for every
// supported type.
package multistage

import (
	"fmt"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

// A Tiling describes the tile that a block of eight warps computes. The warps are arranged in two
// rows and four columns. The rows of the operand tiles have 128 bytes.
type Tiling struct {
	M, N   int
	Stages int
}

// depth is the number of bytes per row of an operand tile. group is the number of rows of tiles
// that are assigned together: blocks that run at the same time then share operands in the L2
// cache.
const (
	depth = 128
	group = 8
)

// Types are the supported types of A and B. An F32 product is computed as three products of TF32.
var Types = []isa.Type{isa.F16, isa.Bf16, isa.Tf32, isa.F32, isa.S8, isa.U8, isa.S4, isa.U4, isa.B1,
	isa.F64}

// Default returns a tiling for which the operands fit into the shared memory of sm_80, and the
// accumulators into the registers of a warp. F64 accumulators take twice the registers, and F32
// needs two sets of accumulators.
func Default(t isa.Type) Tiling {
	switch t {
	case isa.F64:
		return Tiling{M: 64, N: 64, Stages: 4}
	case isa.F32:
		return Tiling{M: 128, N: 128, Stages: 3}
	}
	return Tiling{M: 128, N: 256, Stages: 3}
}

// Blocks returns the number of blocks that cover an m x n product, or an error if a size is not
// supported for elements of type e.
func (t Tiling) Blocks(e isa.Type, m, n, k int) (int, error) {
	switch {
	case k*e.Bits()%128 != 0:
		return 0, fmt.Errorf("rows of %d elements of %s, expected a multiple of %d, which is 16 bytes",
			k, e, 128/e.Bits())
	case n%2 != 0:
		return 0, fmt.Errorf("a result of %d columns, expected an even number", n)
	}
	return (n + t.N - 1) / t.N * ((m + t.M - 1) / t.M), nil
}

// Build adds to m a kernel that computes D = A * B' for A (m x k) and B (n x k) of type t, and D
// (m x n) of the accumulator type, on the tensor cores of sm_80. Tiles are clipped at the edges
// of D, so all sizes that Blocks accepts are supported. Elements smaller than a byte are packed,
// with the first element in the lowest bits; single bits are multiplied with a bitwise and. From
// sm_90 on, F64 uses the larger MMA shapes.
func Build(m *dsl.Module, t isa.Type, tiling Tiling) {
	switch Sums(t) {
	case isa.S32:
		build[dsl.S32](m, t, tiling)
	case isa.F64:
		build[dsl.F64](m, t, tiling)
	default:
		build[dsl.F32](m, t, tiling)
	}
}

// Sums returns the type of the accumulators for operands of type t.
func Sums(t isa.Type) isa.Type {
	switch t {
	case isa.S8, isa.U8, isa.S4, isa.U4, isa.B1:
		return isa.S32
	case isa.F64:
		return isa.F64
	}
	return isa.F32
}

func build[C dsl.Scalar](m *dsl.Module, t isa.Type, tiling Tiling) {
	sums := dsl.TypeOf[C]()
	k := m.Kernel("matmul"+name(t), dsl.Threads(256))
	a, b, d := k.Matrix("a", t), k.Matrix("b", t), k.Matrix("d", sums)
	rows, cols, length := dsl.Param[dsl.U32](k, "m"), dsl.Param[dsl.U32](k, "n"),
		dsl.Param[dsl.U32](k, "k")
	at := k.BlockTile(rows.CeilDiv(int64(tiling.M)), cols.CeilDiv(int64(tiling.N)), group)
	row, col := at.Row.MulI(int64(tiling.M)), at.Col.MulI(int64(tiling.N))
	a, b = a.Sized(rows, length).RowsFrom(row), b.Sized(cols, length).RowsFrom(col)

	tileA := dsl.Tile{Type: t, Rows: tiling.M, Cols: depth * 8 / t.Bits(), Swizzle: dsl.Swizzle128}
	if t == isa.F64 {
		// F64 fragments are loaded element by element; a row of a fragment has four elements.
		// With 32 bytes of padding per row, the elements that one instruction loads are in
		// different banks.
		tileA.Swizzle, tileA.Pad = dsl.NoSwizzle, 32
	}
	tileB := tileA
	tileB.Rows = tiling.N
	ab := k.AsyncPipeline("ab", tiling.Stages, tileA, tileB)
	w := dsl.NewWarpTile[C](k, m.MMAFor(t, sums), tiling.M/2, tiling.N/4)
	fromA, fromB := w.Origin(k.WarpIndex(), 4)
	ab.Multiply(length.CeilDiv(int64(tileA.Cols)),
		func(step dsl.Reg[dsl.U32], s dsl.AsyncStage) {
			at := step.MulI(int64(tileA.Cols))
			a.CopyAsync(s.Tile(0), at)
			b.CopyAsync(s.Tile(1), at)
		},
		func(s dsl.AsyncStage) dsl.MMAStep { return w.MMAStep(s.Tile(0), fromA, s.Tile(1), fromB) })
	w.Store(d.Sized(rows, cols), row.Add(fromA), col.Add(fromB))
}

// name returns the suffix of the kernel name for a type, such as "_tf32".
func name(t isa.Type) string { return "_" + t.String()[1:] }
