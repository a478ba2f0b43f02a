// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package ladder

import (
	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

// V3 adds a persistent kernel: a block computes several tiles of D. Two warpgroups compute the
// left and the right half of each tile, each from its own pipeline. The load warp fills the
// pipelines alternately, so that one warpgroup multiplies while the other stores its half
// (ping-pong):
//
//	load    | left 0      | right 0     | left 1      | right 1     |
//	left      | multiply 0  | store 0     | multiply 1  | store 1
//	right                   | multiply 0  | store 0     | multiply 1
//
// On targets that have setmaxnreg, the load warpgroup gives registers to the other warpgroups.
func V3(m *dsl.Module, t Tiling) {
	if t.typ() == isa.S8 {
		v3[dsl.S32](m, t)
	} else {
		v3[dsl.F32](m, t)
	}
}

func v3[C dsl.Scalar](m *dsl.Module, t Tiling) {
	k := m.Kernel("matmul_v3", dsl.Warpgroups(3), dsl.MinBlocks(1))
	a := k.TensorMap("a", t.typ(), dsl.Box{Rows: t.M, Cols: t.K}, t.Swizzle)
	b := k.TensorMap("b", t.typ(), dsl.Box{Rows: t.N / 2, Cols: t.K}, t.Swizzle)
	d := k.Matrix("d", t.result())
	rows, cols, depth := sizes(k)
	halves := []*dsl.Pipeline{k.Pipeline("left", t.Stages, a.Feed(), b.Feed()),
		k.Pipeline("right", t.Stages, a.Feed(), b.Feed())}
	tiles := k.Persistent(rows.CeilDiv(int64(t.M)), cols.CeilDiv(int64(t.N)), group)
	steps := depth.CeilDiv(int64(t.K))

	multiply := func(half int) func() {
		return func() {
			for at := range tiles.Each() {
				w := dsl.NewWarpTile[C](k, sums[C](t), t.M/2, t.N/4)
				fromA, fromB := w.Origin(k.WarpIndex().AndI(3), 2)
				for s := range halves[half].Consume(steps) {
					w.MMA(s.Tile(a), fromA, s.Tile(b), fromB)
				}
				col := at.Col.MadI(int64(t.N), fromB).AddI(int64(half * t.N / 2))
				w.Store(d.Sized(rows, cols), at.Row.MadI(int64(t.M), fromA), col)
			}
		}
	}
	roles := []dsl.Role{
		dsl.OnWarpgroup(0, "load", func() {
			for at := range tiles.Each() {
				for half, p := range halves {
					for s := range p.Produce(steps) {
						s.Load(a, dsl.TileAt(at.Row, s.Iteration()))
						s.Load(b, dsl.TileAt(at.Col.MulI(2).AddI(int64(half)), s.Iteration()))
					}
				}
			}
		}),
		dsl.OnWarpgroup(1, "left", multiply(0)),
		dsl.OnWarpgroup(2, "right", multiply(1)),
	}
	if m.Is("sm_90a", "sm_120a", "sm_121a") {
		for i, registers := range []int{40, 232, 232} {
			roles[i] = roles[i].Regs(registers)
		}
	}
	k.Roles(roles...)
}
