// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package sparse multiplies matrices of which the first is half zero on the tensor cores of sm_80, which leave the zeros out.
package sparse

import (
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
var Types = []isa.Type{isa.F16, isa.Bf16, isa.S8, isa.E4m3}

// Build makes D = A * B' for A m x k and B n x k of a type, with D m x n of the type of the sums. Of each four neighbours in a row of A
// two are zero; the other two, which Compress takes out, are a, m x k/2, and their places e, a bit for each column. All sizes are multiples of the
// tile.
func Build(m *dsl.Module, t isa.Type, tiling Tiling) {
	switch t {
	case isa.S8:
		build[dsl.S32, dsl.S8](m, t, tiling)
	case isa.E4m3:
		build[dsl.F32, dsl.E4M3](m, t, tiling)
	case isa.Bf16:
		build[dsl.F32, dsl.BF16](m, t, tiling)
	default:
		build[dsl.F32, dsl.F16](m, t, tiling)
	}
}

// depth is how many columns of B a stage holds.
func depth(t isa.Type) int { return 256 * 8 / t.Bits() }

func build[C, E dsl.Scalar](m *dsl.Module, t isa.Type, tiling Tiling) {
	k := m.Kernel("sparse"+name(t), dsl.Threads(256))
	a, e, b := dsl.Global[E](k, "a"), dsl.Global[dsl.B8](k, "e"), dsl.Global[E](k, "b")
	d := dsl.Global[C](k, "d")
	rows, cols, length := dsl.Param[dsl.U32](k, "m"), dsl.Param[dsl.U32](k, "n"), dsl.Param[dsl.U32](k, "k")
	half := depth(t) / 2

	row, col := k.CTAID().Y.MulI(int64(tiling.M)), k.CTAID().X.MulI(int64(tiling.N))
	kept, told := length.ShrI(1), length.ShrI(3) // columns of a, and bytes of a row of e
	topA := a.At64(dsl.To[dsl.U64](row).Mul(dsl.To[dsl.U64](kept)))
	topE := e.At64(dsl.To[dsl.U64](row).Mul(dsl.To[dsl.U64](told)))
	topB := b.At64(dsl.To[dsl.U64](col).Mul(dsl.To[dsl.U64](length)))
	pitchA := dsl.To[dsl.U64](kept).MulI(int64(t.Bits() / 8))
	pitchE := dsl.To[dsl.U64](told)
	pitchB := dsl.To[dsl.U64](length).MulI(int64(t.Bits() / 8))

	// The two tiles of B are the halves of a stage, since a swizzle is no wider than 128 bytes.
	tileB := dsl.Tile{Type: t, Rows: tiling.N, Cols: half, Swizzle: dsl.Swizzle128}
	ab := k.AsyncPipeline("ab", tiling.Stages,
		dsl.Tile{Type: t, Rows: tiling.M, Cols: half, Swizzle: dsl.Swizzle128},
		dsl.Tile{Type: isa.B8, Rows: tiling.M, Cols: depth(t) / 8},
		tileB, tileB)
	w := dsl.NewWarpTile[C](k, dsl.SparseMMAFor(t, dsl.TypeOf[C]()), tiling.M/2, tiling.N/4)
	warp := k.WarpIndex()
	fromA, fromB := warp.ShrI(2).MulI(int64(tiling.M/2)), warp.AndI(3).MulI(int64(tiling.N/4))
	ab.Run(length.DivI(int64(depth(t))),
		func(step dsl.Reg[dsl.U32], s dsl.AsyncStage) {
			at := step.MulI(int64(half))
			k.CopyAsync(s.Tile(0), topA.At(at).Addr(), pitchA)
			k.CopyAsync(s.Tile(1), topE.At(at.ShrI(2)).Addr(), pitchE)
			first := topB.At(at.ShlI(1))
			k.CopyAsync(s.Tile(2), first.Addr(), pitchB)
			k.CopyAsync(s.Tile(3), first.AtI(int64(half)).Addr(), pitchB)
		},
		func(_ dsl.Reg[dsl.U32], s dsl.AsyncStage) {
			w.MMASparse(s.Tile(0), fromA, s.Tile(1), []dsl.SharedTile{s.Tile(2), s.Tile(3)}, fromB)
		})
	w.Each(func(r, c dsl.Reg[dsl.U32], x, y dsl.Reg[C]) {
		at := row.Add(fromA).Add(r).Mad(cols, col.Add(fromB).Add(c))
		d.StoreVec(at, []dsl.Reg[C]{x, y})
	})
	_ = rows // the grid knows it
}

// name is a type as part of a kernel's name: "_bf16".
func name(t isa.Type) string { return "_" + t.String()[1:] }
