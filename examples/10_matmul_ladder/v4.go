// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package ladder

import (
	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

// Deep is a tiling for V4. Its four stages take 192 KB of shared memory, or 96 KB with a swizzle
// of 64 bytes.
var Deep = Tiling{M: 128, N: 256, K: 64, Stages: 4, Swizzle: dsl.Swizzle128}

// V4 adds a persistent kernel, like V3, but all eight warps compute the same tile. The pipeline
// has twice as many stages, and the load warp already loads the next tile while the other warps
// store a tile.
func V4(m *dsl.Module, t Tiling) {
	if t.typ() == isa.S8 {
		v4[dsl.S32](m, t)
	} else {
		v4[dsl.F32](m, t)
	}
}

func v4[C dsl.Scalar](m *dsl.Module, t Tiling) {
	k := m.Kernel("matmul_v4", dsl.Warpgroups(3), dsl.MinBlocks(1))
	a := k.TensorMap("a", t.typ(), dsl.Box{Rows: t.M, Cols: t.K}, t.Swizzle)
	b := k.TensorMap("b", t.typ(), dsl.Box{Rows: t.N, Cols: t.K}, t.Swizzle)
	d := k.Matrix("d", t.result())
	rows, cols, depth := sizes(k)
	ab := k.Pipeline("ab", t.Stages, a.Feed(), b.Feed())
	tiles := k.Persistent(rows.CeilDiv(int64(t.M)), cols.CeilDiv(int64(t.N)), group)
	steps := depth.CeilDiv(int64(t.K))
	across := t.across()
	load := dsl.OnWarpgroup(0, "load", func() {
		for at := range tiles.Each() {
			for s := range ab.Produce(steps) {
				s.Load(a, dsl.TileAt(at.Row, s.Iteration()))
				s.Load(b, dsl.TileAt(at.Col, s.Iteration()))
			}
		}
	})
	multiply := dsl.OnWarps(4, 8, "multiply", func(warp dsl.Reg[dsl.U32]) {
		for at := range tiles.Each() {
			w := dsl.NewWarpTile[C](k, sums[C](t), t.M*across/8, t.N/across)
			fromA, fromB := w.Origin(warp, across)
			for s := range ab.Consume(steps) {
				w.MMA(s.Tile(a), fromA, s.Tile(b), fromB)
			}
			w.Store(d.Sized(rows, cols), at.Row.MadI(int64(t.M), fromA),
				at.Col.MadI(int64(t.N), fromB))
		}
	})
	if m.Is("sm_90a", "sm_120a", "sm_121a") {
		load, multiply = load.Regs(24), multiply.Regs(240)
	}
	k.Roles(load, multiply)
}
