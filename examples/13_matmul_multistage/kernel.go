// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package multistage multiplies matrices on the tensor cores of sm_80, in every type that they know.
package multistage

import (
	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

// A Tiling is the shape of the work of one block of eight warps, in two rows and four columns. A tile is 128 bytes deep.
type Tiling struct {
	M, N   int
	Stages int
}

// Default is a tiling for each element type that leaves the sums of a warp room in its registers.
var Default = map[isa.Type]Tiling{
	isa.F16:  {M: 128, N: 128, Stages: 4},
	isa.Bf16: {M: 128, N: 128, Stages: 4},
	isa.Tf32: {M: 128, N: 128, Stages: 4},
	isa.S8:   {M: 128, N: 128, Stages: 4},
	isa.U8:   {M: 128, N: 128, Stages: 4},
	isa.S4:   {M: 128, N: 128, Stages: 4},
	isa.U4:   {M: 128, N: 128, Stages: 4},
	isa.B1:   {M: 128, N: 128, Stages: 4},
	isa.F64:  {M: 64, N: 64, Stages: 4},
}

// Types are the element types, in the order of their size.
var Types = []isa.Type{isa.F16, isa.Bf16, isa.Tf32, isa.S8, isa.U8, isa.S4, isa.U4, isa.B1, isa.F64}

// Build makes D = A * B' for A m x k and B n x k of a type, with D m x n of the type of the sums, on the tensor cores of sm_80. All
// sizes are multiples of the tile. Of numbers that are smaller than a byte, the first is in its lowest bits; single bits are
// multiplied by and.
func Build(m *dsl.Module, t isa.Type, tiling Tiling) {
	switch t {
	case isa.S8:
		build[dsl.S32, dsl.S8](m, t, tiling)
	case isa.U8:
		build[dsl.S32, dsl.U8](m, t, tiling)
	case isa.S4, isa.U4, isa.B1:
		build[dsl.S32, dsl.B8](m, t, tiling)
	case isa.F64:
		build[dsl.F64, dsl.F64](m, t, tiling)
	case isa.Tf32:
		build[dsl.F32, dsl.TF32](m, t, tiling)
	case isa.Bf16:
		build[dsl.F32, dsl.BF16](m, t, tiling)
	default:
		build[dsl.F32, dsl.F16](m, t, tiling)
	}
}

func build[C, E dsl.Scalar](m *dsl.Module, t isa.Type, tiling Tiling) {
	k := m.Kernel("matmul"+name(t), dsl.Threads(256))
	a, b := dsl.Global[E](k, "a"), dsl.Global[E](k, "b")
	d := dsl.Global[C](k, "d")
	rows, cols, length := dsl.Param[dsl.U32](k, "m"), dsl.Param[dsl.U32](k, "n"), dsl.Param[dsl.U32](k, "k")
	depth := 128 * 8 / t.Bits()
	packed := max(1, 8/t.Bits()) // numbers in an element of memory
	wide := length               // a row in elements
	if packed > 1 {
		wide = length.DivI(int64(packed))
	}

	row, col := k.CTAID().Y.MulI(int64(tiling.M)), k.CTAID().X.MulI(int64(tiling.N))
	pitch := dsl.To[dsl.U64](wide).MulI(int64(packed * t.Bits() / 8))
	topA := a.At64(dsl.To[dsl.U64](row).Mul(dsl.To[dsl.U64](wide)))
	topB := b.At64(dsl.To[dsl.U64](col).Mul(dsl.To[dsl.U64](wide)))

	ab := k.AsyncPipeline("ab", tiling.Stages,
		dsl.Tile{Type: t, Rows: tiling.M, Cols: depth, Swizzle: dsl.Swizzle128},
		dsl.Tile{Type: t, Rows: tiling.N, Cols: depth, Swizzle: dsl.Swizzle128})
	w := dsl.NewWarpTile[C](k, dsl.MMAFor(t, dsl.TypeOf[C]()), tiling.M/2, tiling.N/4)
	warp := k.WarpIndex()
	fromA, fromB := warp.ShrI(2).MulI(int64(tiling.M/2)), warp.AndI(3).MulI(int64(tiling.N/4))
	ab.Run(length.DivI(int64(depth)),
		func(step dsl.Reg[dsl.U32], s dsl.AsyncStage) {
			at := step.MulI(int64(depth / packed))
			k.CopyAsync(s.Tile(0), topA.At(at).Addr(), pitch)
			k.CopyAsync(s.Tile(1), topB.At(at).Addr(), pitch)
		},
		func(_ dsl.Reg[dsl.U32], s dsl.AsyncStage) { w.MMA(s.Tile(0), fromA, s.Tile(1), fromB) })
	w.Each(func(r, c dsl.Reg[dsl.U32], x, y dsl.Reg[C]) {
		at := row.Add(fromA).Add(r).Mad(cols, col.Add(fromB).Add(c))
		d.StoreVec(at, []dsl.Reg[C]{x, y})
	})
	_ = rows // the grid knows it
}

// name is a type as part of a kernel's name: "_tf32".
func name(t isa.Type) string { return "_" + t.String()[1:] }
