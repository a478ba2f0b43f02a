// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package splitk is a kernel that multiplies bfloat16 matrices if the product is small and K is
// large. Several blocks compute partial sums of the same tile, and the TMA adds them in global
// memory.
package splitk

import (
	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

// A Tiling describes the tile of a block with one load warp and eight warps that execute MMAs,
// arranged in two rows and four columns.
type Tiling struct {
	M, N, K int
	Stages  int
}

// Default is a tiling that fits the shared memory of sm_90 and sm_100.
var Default = Tiling{M: 128, N: 128, K: 64, Stages: 2}

// Blocks returns the size of the grid: x is the number of tiles of the product, and y is the
// number of parts of K. There are enough parts to give every multiprocessor a block, but each
// part has at least four steps, unless K is shorter.
func (t Tiling) Blocks(m, n, k, multiprocessors int) (x, y int) {
	x = (m + t.M - 1) / t.M * ((n + t.N - 1) / t.N)
	steps := (k + t.K - 1) / t.K
	return x, max(1, min(multiprocessors/x, steps/4))
}

// Build adds to m a kernel that adds A * B' to D, for bfloat16 matrices A (m x k) and B (n x k)
// and an F32 matrix D (m x n). Set D to zero before the launch, or to the matrix to which the
// product is to be added. The height of the grid is the number of parts of K. The TMA requires
// that n is a multiple of 4 and that k is a multiple of 8.
func Build(m *dsl.Module, t Tiling) {
	// As in example 10, ptxas 13.5 spills registers of 288 threads without this limit.
	k := m.Kernel("splitk", dsl.Threads(288), dsl.MaxRegs(160))
	a := k.TensorMap("a", isa.Bf16, dsl.Box{Rows: t.M, Cols: t.K}, dsl.Swizzle128)
	b := k.TensorMap("b", isa.Bf16, dsl.Box{Rows: t.N, Cols: t.K}, dsl.Swizzle128)
	d := k.TensorMap("d", isa.F32, dsl.Box{Rows: t.M, Cols: t.N / 4}, dsl.Swizzle128)
	rows, cols, depth := dsl.Param[dsl.U32](k, "m"), dsl.Param[dsl.U32](k, "n"),
		dsl.Param[dsl.U32](k, "k")

	at := k.BlockTile(rows.CeilDiv(int64(t.M)), cols.CeilDiv(int64(t.N)), 8)
	all := depth.CeilDiv(int64(t.K))
	parts := k.NCTAID().Y
	first, last := all.Mul(k.CTAID().Y).Div(parts), all.Mul(k.CTAID().Y.AddI(1)).Div(parts)
	steps := last.Sub(first)

	ab := k.Pipeline("ab", t.Stages, a.Feed(), b.Feed())
	out := k.SharedTiles("out", d.Tile(), 4) // one tile per column of warps
	math := k.NamedBarrier(256)
	k.Roles(
		dsl.OnWarp(8, "load", func() {
			for s := range ab.Produce(steps) {
				step := first.Add(s.Iteration())
				s.Load(a, dsl.TileAt(at.Row, step))
				s.Load(b, dsl.TileAt(at.Col, step))
			}
		}),
		dsl.OnWarps(0, 8, "multiply", func(warp dsl.Reg[dsl.U32]) {
			w := dsl.NewWarpTile[dsl.F32](k, dsl.MMAFor(isa.Bf16, isa.F32), t.M/2, t.N/4)
			fromA, fromB := w.Origin(warp, 4)
			for s := range ab.Consume(steps) {
				w.MMA(s.Tile(a), fromA, s.Tile(b), fromB)
			}
			w.StoreShared(out.At(warp.AndI(3)), fromA)
			k.FenceAsync()
			math.Sync()
			k.When(k.TID().X.EQI(0), func() {
				for j := range 4 {
					d.Reduce("add", out.At(k.U32(j)), at.Row.MulI(int64(t.M)),
						at.Col.MulI(4).AddI(int64(j)).MulI(int64(t.N/4)))
				}
				k.CommitStores()
				k.WaitStores(0)
			})
		}),
	)
}
