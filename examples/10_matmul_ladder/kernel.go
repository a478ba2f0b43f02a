// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package ladder multiplies matrices of bfloat16 with mma.sync, in three steps: copies by cp.async, by the TMA, and by a warp of
// their own.
package ladder

import (
	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

// A Tiling is the shape of the work of one block of eight warps, in two rows and four columns.
type Tiling struct {
	M, N, K int
	Stages  int
	Swizzle dsl.Swizzle
}

// Default is a tiling that suits every target from sm_80 on: 96 KB of stages, and 64 columns for each warp, so that the tensor cores wait
// less for shared memory than for one another.
var Default = Tiling{M: 128, N: 256, K: 64, Stages: 2, Swizzle: dsl.Swizzle128}

// Versions are the steps of the ladder.
func Versions() []func(*dsl.Module, Tiling) { return []func(*dsl.Module, Tiling){V0, V1, V2} }

// shape multiplies bfloat16 with sums in F32.
var shape = dsl.MMAFor(isa.Bf16, isa.F32)

// params are the parameters that all versions share: D = A * B' with A m x k, B n x k and D m x n, all multiples of the tile.
type params struct {
	d       dsl.Array[dsl.BF16]
	m, n, k dsl.Reg[dsl.U32]
}

// grid is the tile of the block: rows of tiles are dealt in groups so that blocks that run together share what they read.
func grid(k *dsl.Kernel, p params, t Tiling) (row, col dsl.Reg[dsl.U32]) {
	const group = 8
	rows, cols := p.m.DivI(int64(t.M)), p.n.DivI(int64(t.N))
	id := k.CTAID().X
	span := cols.MulI(group)
	first := id.Div(span).MulI(group)
	height := rows.Sub(first).MinI(group)
	in := id.Rem(span)
	return first.Add(in.Rem(height)), in.Div(height)
}

// warpPlace is where the tile of a warp begins in the tile of the block.
func warpPlace(warp dsl.Reg[dsl.U32], t Tiling) (row, col dsl.Reg[dsl.U32]) {
	return warp.ShrI(2).MulI(int64(t.M / 2)), warp.AndI(3).MulI(int64(t.N / 4))
}

// store writes the sums of a warp, two at a time.
func store(p params, w *dsl.WarpTile[dsl.F32], row, col dsl.Reg[dsl.U32]) {
	pairs := dsl.As[dsl.BF16x2](p.d)
	pitch := p.n.ShrI(1)
	w.Each(func(r, c dsl.Reg[dsl.U32], x, y dsl.Reg[dsl.F32]) {
		at := row.Add(r).Mad(pitch, col.Add(c).ShrI(1))
		pairs.Store(at, dsl.Pack[dsl.BF16x2](x, y))
	})
}

// V0 copies with cp.async: all threads load, some stages ahead of the multiplication.
func V0(m *dsl.Module, t Tiling) {
	k := m.Kernel("matmul_v0", dsl.Threads(256))
	a, b := dsl.Global[dsl.BF16](k, "a"), dsl.Global[dsl.BF16](k, "b")
	p := params{dsl.Global[dsl.BF16](k, "d"), dsl.Param[dsl.U32](k, "m"), dsl.Param[dsl.U32](k, "n"), dsl.Param[dsl.U32](k, "k")}
	row, col := grid(k, p, t)
	ab := k.AsyncPipeline("ab", t.Stages,
		dsl.Tile{Type: isa.Bf16, Rows: t.M, Cols: t.K, Swizzle: t.Swizzle},
		dsl.Tile{Type: isa.Bf16, Rows: t.N, Cols: t.K, Swizzle: t.Swizzle})
	pitch := dsl.To[dsl.U64](p.k).ShlI(1)
	topA := a.At64(dsl.To[dsl.U64](row.MulI(int64(t.M))).Mul(dsl.To[dsl.U64](p.k)))
	topB := b.At64(dsl.To[dsl.U64](col.MulI(int64(t.N))).Mul(dsl.To[dsl.U64](p.k)))

	w := dsl.NewWarpTile[dsl.F32](k, shape, t.M/2, t.N/4)
	fromA, fromB := warpPlace(k.WarpIndex(), t)
	ab.Run(p.k.DivI(int64(t.K)),
		func(step dsl.Reg[dsl.U32], s dsl.AsyncStage) {
			at := step.MulI(int64(t.K))
			k.CopyAsync(s.Tile(0), topA.At(at).Addr(), pitch)
			k.CopyAsync(s.Tile(1), topB.At(at).Addr(), pitch)
		},
		func(_ dsl.Reg[dsl.U32], s dsl.AsyncStage) { w.MMA(s.Tile(0), fromA, s.Tile(1), fromB) })
	store(p, w, row.MadI(int64(t.M), fromA), col.MadI(int64(t.N), fromB))
}

// V1 copies with the TMA: one thread starts the copies of whole tiles, and barriers tell when they have arrived.
func V1(m *dsl.Module, t Tiling) {
	k := m.Kernel("matmul_v1", dsl.Threads(256))
	a := k.TensorMap("a", isa.Bf16, dsl.Box{Rows: t.M, Cols: t.K}, t.Swizzle)
	b := k.TensorMap("b", isa.Bf16, dsl.Box{Rows: t.N, Cols: t.K}, t.Swizzle)
	p := params{dsl.Global[dsl.BF16](k, "d"), dsl.Param[dsl.U32](k, "m"), dsl.Param[dsl.U32](k, "n"), dsl.Param[dsl.U32](k, "k")}
	row, col := grid(k, p, t)
	full := k.Barriers("full", t.Stages, 1)
	tilesA := k.SharedTiles("a_tiles", a.Tile(), t.Stages)
	tilesB := k.SharedTiles("b_tiles", b.Tile(), t.Stages)
	steps := p.k.DivI(int64(t.K))
	first := k.TID().X.EqI(0)
	load := func(step, stage dsl.Reg[dsl.U32]) {
		k.If(first, func() {
			bar := full.Nth(stage)
			bar.Expect(k.U32(a.Tile().Bytes() + b.Tile().Bytes()))
			at := step.MulI(int64(t.K))
			a.Load(tilesA.Stage(stage), row.MulI(int64(t.M)), at, bar)
			b.Load(tilesB.Stage(stage), col.MulI(int64(t.N)), at, bar)
		})
	}
	for i := range t.Stages - 1 {
		k.If(steps.GtI(int64(i)), func() { load(k.U32(i), k.U32(i)) })
	}
	w := dsl.NewWarpTile[dsl.F32](k, shape, t.M/2, t.N/4)
	fromA, fromB := warpPlace(k.WarpIndex(), t)
	read, write, parity := k.U32(0).Var(), k.U32(t.Stages-1).Var(), k.U32(0).Var()
	for step := range k.Range(k.U32(0), steps) {
		k.Comment("every thread is done with the stage that is filled next")
		k.FenceAsync()
		k.Sync()
		coming := step.AddI(int64(t.Stages - 1))
		k.If(coming.Lt(steps), func() { load(coming, write) })
		full.Nth(read).Wait(parity)
		w.MMA(tilesA.Stage(read), fromA, tilesB.Stage(read), fromB)
		read.Set(read.AddI(1))
		write.Set(write.AddI(1))
		k.When(read.EqI(int64(t.Stages)), func() {
			read.Set(k.U32(0))
			parity.Set(parity.XorI(1))
		})
		k.When(write.EqI(int64(t.Stages)), func() { write.Set(k.U32(0)) })
	}
	store(p, w, row.MadI(int64(t.M), fromA), col.MadI(int64(t.N), fromB))
}

// V2 gives loading to a warp of its own, so that the eight that multiply never wait for each other.
func V2(m *dsl.Module, t Tiling) {
	k := m.Kernel("matmul_v2", dsl.Threads(288))
	a := k.TensorMap("a", isa.Bf16, dsl.Box{Rows: t.M, Cols: t.K}, t.Swizzle)
	b := k.TensorMap("b", isa.Bf16, dsl.Box{Rows: t.N, Cols: t.K}, t.Swizzle)
	p := params{dsl.Global[dsl.BF16](k, "d"), dsl.Param[dsl.U32](k, "m"), dsl.Param[dsl.U32](k, "n"), dsl.Param[dsl.U32](k, "k")}
	row, col := grid(k, p, t)
	ab := k.Pipeline("ab", t.Stages, a.Feed(), b.Feed())
	steps := p.k.DivI(int64(t.K))
	k.Roles(
		dsl.OnWarp(8, "load", func() {
			for s := range ab.Produce(steps) {
				s.Load(a, row, s.Index())
				s.Load(b, col, s.Index())
			}
		}),
		dsl.OnWarps(0, 8, "multiply", func(warp dsl.Reg[dsl.U32]) {
			w := dsl.NewWarpTile[dsl.F32](k, shape, t.M/2, t.N/4)
			fromA, fromB := warpPlace(warp, t)
			for s := range ab.Consume(steps) {
				w.MMA(s.Tile(a), fromA, s.Tile(b), fromB)
			}
			store(p, w, row.MadI(int64(t.M), fromA), col.MadI(int64(t.N), fromB))
		}),
	)
}
