// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package ladder

import (
	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

// V2 adds a kernel in which a separate warp loads the operands, so that the eight warps that
// execute the MMAs never wait for each other.
func V2(m *dsl.Module, t Tiling) {
	if t.typ() == isa.S8 {
		v2[dsl.S32](m, t)
	} else {
		v2[dsl.F32](m, t)
	}
}

func v2[C dsl.Scalar](m *dsl.Module, t Tiling) {
	// Without this limit, ptxas 13.5 gives each of the 288 threads only 32 registers, although a
	// thread needs more than 168, and spills the rest to memory.
	k := m.Kernel("matmul_v2", dsl.Threads(288), dsl.MaxRegs(160))
	a := k.TensorMap("a", t.typ(), dsl.Box{Rows: t.M, Cols: t.K}, t.Swizzle)
	b := k.TensorMap("b", t.typ(), dsl.Box{Rows: t.N, Cols: t.K}, t.Swizzle)
	d := k.Matrix("d", t.result())
	rows, cols, depth := sizes(k)
	at := k.BlockTile(rows.CeilDiv(int64(t.M)), cols.CeilDiv(int64(t.N)), group)
	ab := k.Pipeline("ab", t.Stages, a.Feed(), b.Feed())
	steps := depth.CeilDiv(int64(t.K))
	k.Roles(
		dsl.OnWarp(8, "load", func() {
			for s := range ab.Produce(steps) {
				s.Load(a, dsl.TileAt(at.Row, s.Iteration()))
				s.Load(b, dsl.TileAt(at.Col, s.Iteration()))
			}
		}),
		dsl.OnWarps(0, 8, "multiply", func(warp dsl.Reg[dsl.U32]) {
			w := dsl.NewWarpTile[C](k, sums[C](t), t.M/2, t.N/4)
			fromA, fromB := w.Origin(warp, 4)
			for s := range ab.Consume(steps) {
				w.MMA(s.Tile(a), fromA, s.Tile(b), fromB)
			}
			w.Store(d.Sized(rows, cols), at.Row.MadI(int64(t.M), fromA),
				at.Col.MadI(int64(t.N), fromB))
		}),
	)
}
