// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package ladder

import (
	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

// V1 adds a kernel that copies with the TMA: one thread starts the copies of whole tiles, and
// mbarriers signal their completion.
func V1(m *dsl.Module, t Tiling) {
	if t.typ() == isa.S8 {
		v1[dsl.S32](m, t)
	} else {
		v1[dsl.F32](m, t)
	}
}

func v1[C dsl.Scalar](m *dsl.Module, t Tiling) {
	k := m.Kernel("matmul_v1", dsl.Threads(256))
	a := k.TensorMap("a", t.typ(), dsl.Box{Rows: t.M, Cols: t.K}, t.Swizzle)
	b := k.TensorMap("b", t.typ(), dsl.Box{Rows: t.N, Cols: t.K}, t.Swizzle)
	d := k.Matrix("d", t.result())
	rows, cols, depth := sizes(k)
	row, col := tile(k, rows, cols, t)
	full := k.Barriers("full", t.Stages, 1)
	tilesA := k.SharedTiles("a_tiles", a.Tile(), t.Stages)
	tilesB := k.SharedTiles("b_tiles", b.Tile(), t.Stages)
	steps := depth.CeilDiv(int64(t.K))
	first := k.TID().X.EQI(0)
	load := func(step, stage dsl.Reg[dsl.U32]) {
		k.If(first, func() {
			bar := full.At(stage)
			bar.ArriveExpect(k.U32(a.Tile().Bytes() + b.Tile().Bytes()))
			at := step.MulI(int64(t.K))
			a.Load(tilesA.At(stage), row, at, bar)
			b.Load(tilesB.At(stage), col, at, bar)
		})
	}
	for i := range t.Stages - 1 {
		k.If(steps.GTI(int64(i)), func() { load(k.U32(i), k.U32(i)) })
	}
	w := dsl.NewWarpTile[C](k, sums[C](t), t.M/2, t.N/4)
	fromA, fromB := w.Origin(k.WarpIndex(), 4)
	read, write, parity := k.U32(0).Var(), k.U32(t.Stages-1).Var(), k.U32(0).Var()
	for step := range k.Range(k.U32(0), steps) {
		k.Comment("every thread is done with the stage that is filled next")
		k.FenceAsync()
		k.Sync()
		coming := step.AddI(int64(t.Stages - 1))
		k.If(coming.LT(steps), func() { load(coming, write) })
		full.At(read).Wait(parity)
		w.MMA(tilesA.At(read), fromA, tilesB.At(read), fromB)
		read.Set(read.AddI(1))
		write.Set(write.AddI(1))
		k.When(read.EQI(int64(t.Stages)), func() {
			read.Set(k.U32(0))
			parity.Set(parity.XorI(1))
		})
		k.When(write.EQI(int64(t.Stages)), func() { write.Set(k.U32(0)) })
	}
	w.Store(d.Sized(rows, cols), row.Add(fromA), col.Add(fromB))
}
