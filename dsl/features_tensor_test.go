// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl_test

import (
	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

// tensorFeatures are MMAs whose operands threads write, gather, or hold in registers.
var tensorFeatures = []feature{
	{"both factors transposed, sums of F32 through the TMA", "sm_90a", func(m *dsl.Module) {
		hopper(m, dsl.Box{Rows: 64, Cols: 128},
			func(_ *dsl.Kernel, acc *dsl.Accumulator, half u32, a, b dsl.SharedTile) {
				acc.MMA(a.Transposed().Part(half, 2), b.Transposed())
			})
	}, ", 1, 1, 1, 1;"},
	{"a left factor in registers", "sm_90a", func(m *dsl.Module) {
		hopper(m, dsl.Box{Rows: 64, Cols: 128},
			func(k *dsl.Kernel, acc *dsl.Accumulator, _ u32, a, b dsl.SharedTile) {
				acc.MMAFragments(
					acc.AFragmentsFunc(isa.Bf16, 64,
						func(step, part int) (cell []dsl.Reg[dsl.B32]) {
							row := k.WarpIndex().AndI(3).ShlI(4).Add(k.Lane().ShrI(2))
							for r := range 4 {
								two := dsl.Element[dsl.BF16](a, row.AddI(int64(r%2*8)),
									k.Lane().AndI(3).ShlI(1).AddI(
										int64(16*step+r/2*8))).LoadFirstVec(2)
								cell = append(cell,
									dsl.Bits[dsl.B32](dsl.Pack[dsl.BF16x2](two[0], two[1])))
							}
							return cell
						}), b.Transposed())
			})
	}, "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {"},
	{"a sparse left factor", "sm_90a", func(m *dsl.Module) {
		hopper(m, dsl.Box{Rows: 128, Cols: 64},
			func(k *dsl.Kernel, acc *dsl.Accumulator, half u32, a, b dsl.SharedTile) {
				acc.SparseMMA(a.Part(half, 2), b, func(step, part int) u32 { return k.U32(0x4444) })
			})
	}, "wgmma.mma_async.sp.sync.aligned.m64n128k32.f32.bf16.bf16"},
	{"a loop over stages that may have no turn", "sm_90a", func(m *dsl.Module) {
		k := m.Kernel("k", dsl.Warpgroups(2))
		a := k.TensorMap("a", isa.Bf16, dsl.Box{Rows: 64, Cols: 64}, dsl.Swizzle128)
		b := k.TensorMap("b", isa.Bf16, dsl.Box{Rows: 64, Cols: 64}, dsl.Swizzle128)
		d, n := k.Matrix("d", isa.F32), dsl.Param[dsl.U32](k, "n")
		own, p := k.Pipeline("own", 1, a.Feed()), k.Pipeline("p", 2, b.Feed())
		k.Roles(
			dsl.OnWarp(4, "load", func() {
				for tile := range k.Range(k.U32(0), n) {
					for s := range own.Produce(k.U32(1)) {
						s.Load(a, dsl.TileAt(tile, k.U32(0)))
					}
					for s := range p.Produce(tile) {
						s.Load(b, dsl.TileAt(tile, s.Iteration()))
					}
				}
			}),
			dsl.OnWarpgroup(0, "multiply", func() {
				for tile := range k.Range(k.U32(0), n) {
					acc := k.Accumulator(64, 64, isa.F32)
					acc.Clear()
					own.ConsumeOne(func(mine *dsl.Stage) {
						for s := range p.Consume(tile) {
							acc.MMA(mine.Tile(a), s.Tile(b))
						}
					})
					acc.Store(d.Sized(n, n), tile.MulI(64), k.U32(0))
				}
			}),
		)
	}, "bar.warp.sync"},
	{"tiles that threads write, for tcgen05", "sm_100a", func(m *dsl.Module) {
		k := m.Kernel("k", dsl.Warpgroups(3))
		x := k.TensorMap("x", isa.Bf16, dsl.Box{Rows: 128, Cols: 64}, dsl.Swizzle128)
		d := k.TensorMap("d", isa.Bf16, dsl.Box{Rows: 128, Cols: 128}, dsl.Swizzle128)
		from, steps := dsl.Global[dsl.S8](k, "w"), dsl.Param[dsl.U32](k, "steps")
		w := k.ComputedTile("wide",
			dsl.Tile{Type: isa.Bf16, Rows: 128, Cols: 64, Swizzle: dsl.Swizzle128})
		px, pw := k.Pipeline("px", 3, x.Feed()), k.Pipeline("pw", 2, w.Feed())
		acc, out := k.TMEM("acc", 128, 128, 1), k.Output("out", d, 1)
		k.Roles(
			dsl.OnWarp(0, "load", func() {
				for s := range px.Produce(steps) {
					s.Load(x, dsl.TileAt(k.U32(0), s.Iteration()))
				}
			}),
			dsl.OnWarp(1, "multiply", func() {
				acc.Fill(func(d *dsl.AccumulatorStage) {
					for s := range px.Consume(steps) {
						pw.ConsumeOne(func(t *dsl.Stage) { d.MMA(s.Tile(x), w.Tile(t)) })
					}
				})
			}),
			dsl.OnWarpgroup(1, "widen", func() {
				row := k.Thread().AndI(127)
				for s := range pw.Produce(steps) {
					for c := 0; c < 64; c += 8 {
						var eight []dsl.Reg[dsl.BF16]
						for _, x := range from.LoadVec(
							s.Iteration().MadI(128, row).MulI(64).AddI(int64(c)), 8) {
							eight = append(eight, dsl.To[dsl.BF16](dsl.To[dsl.F32](x)))
						}
						dsl.Element[dsl.BF16](w.Tile(s), row, k.U32(c)).StoreFirstVec(eight)
					}
				}
			}),
			dsl.OnWarpgroup(2, "write", func() {
				acc.Drain(func(d *dsl.AccumulatorStage) { out.StoreTMEM(d, k.U32(0), k.U32(0)) })
				out.Wait()
			}),
		)
	}, "fence.proxy.async"},
	{"a tile outside of pipelines, handed back by a barrier", "sm_100a", resident,
		"tcgen05.commit"},
	{"rows that the TMA gathers into a pipeline", "sm_100a", func(m *dsl.Module) {
		k := m.Kernel("k", dsl.Warpgroups(2))
		a := k.RowTensor("a", isa.Bf16, 64, dsl.Swizzle128)
		b := k.TensorMap("b", isa.Bf16, dsl.Box{Rows: 128, Cols: 64}, dsl.Swizzle128)
		d := k.TensorMap("d", isa.Bf16, dsl.Box{Rows: 128, Cols: 128}, dsl.Swizzle128)
		ids, steps := dsl.Global[dsl.U32](k, "ids"), dsl.Param[dsl.U32](k, "steps")
		p, acc, out := k.Pipeline("p", 3, a.GatherFeed(128), b.Feed()), k.TMEM("acc", 128, 128, 1),
			k.Output("out", d, 1)
		k.Roles(
			dsl.OnWarp(0, "load", func() {
				four := [4]u32(ids.LoadVec(k.Lane().ShlI(2), 4))
				for s := range p.Produce(steps) {
					a.GatherStage(s, four, s.Iteration().MulI(64))
					s.Load(b, dsl.TileAt(k.U32(0), s.Iteration()))
				}
			}),
			dsl.OnWarp(1, "multiply", func() {
				acc.Fill(func(d *dsl.AccumulatorStage) {
					for s := range p.Consume(steps) {
						d.MMA(a.InStage(s), s.Tile(b))
					}
				})
			}),
			dsl.OnWarpgroup(1, "write", func() {
				acc.Drain(func(d *dsl.AccumulatorStage) { out.StoreTMEM(d, k.U32(0), k.U32(0)) })
				out.Wait()
			}),
		)
	}, "gather4"},
	{"rows that threads gather", "sm_80", func(m *dsl.Module) {
		k := m.Kernel("k", dsl.Threads(128))
		x, ids, d, n := dsl.Global[dsl.F16](k, "x"), dsl.Global[dsl.U32](k, "ids"),
			k.Matrix("d", isa.F32), dsl.Param[dsl.U32](k, "n")
		t := dsl.Tile{Type: isa.F16, Rows: 64, Cols: 64, Swizzle: dsl.Swizzle128}
		p := k.AsyncPipeline("p", 3, t)
		w := dsl.NewWarpTile[dsl.F32](k, dsl.MMAFor(isa.F16, isa.F32), 16, 64)
		row, unit := k.TID().X.ShrI(3), k.TID().X.AndI(7).ShlI(3)
		from := k.WarpIndex().MulI(16)
		p.Run(k.U32(8), func(step u32, s dsl.AsyncStage) {
			for i := range 4 {
				r := row.AddI(int64(16 * i))
				x.At(ids.Load(r).MulI(512)).At(step.MadI(64, unit)).CopyAsync(
					dsl.Element[dsl.F16](s.Tile(0), r, unit), 8, r.LT(n), step.LTI(9))
			}
		}, func(_ u32, s dsl.AsyncStage) { w.MMA(s.Tile(0), from, s.Tile(0), k.U32(0)) })
		w.Store(d.Sized(n, n), from, k.U32(0))
	}, "cp.async.cg.shared.global"},
	{"a left factor of mma.sync that the kernel computes", "sm_80", func(m *dsl.Module) {
		k := m.Kernel("k", dsl.Threads(32))
		d := k.Matrix("d", isa.F32)
		y := k.SharedTile("y", dsl.Tile{Type: isa.F16, Rows: 16, Cols: 32, Swizzle: dsl.Swizzle64})
		for col := range k.RangeI(0, 32) {
			dsl.Element[dsl.F16](y, k.Lane().AndI(15), col).StoreFirst(k.F16(1))
		}
		k.Sync()
		w := dsl.NewWarpTile[dsl.F32](k, dsl.MMAFor(isa.F16, isa.F32), 32, 16)
		left := w.AFragmentsFunc(32, func(step, rows int) (cell []dsl.Reg[dsl.B32]) {
			for r := range 4 {
				cell = append(cell, dsl.Bits[dsl.B32](k.Lane().AddI(int64(r+8*step+16*rows))))
			}
			return cell
		})
		w.MMAFragments(left, y, k.U32(0))
		w.Store(d.Sized(k.U32(32), k.U32(16)), k.U32(0), k.U32(0))
	}, "mma.sync"},
}

// hopper multiplies the tiles of a stage in two warpgroups, and stores the F32 result through the
// TMA. The A operand has the given box.
func hopper(m *dsl.Module, left dsl.Box,
	multiply func(k *dsl.Kernel, acc *dsl.Accumulator, half u32, a, b dsl.SharedTile)) {
	k := m.Kernel("k", dsl.Warpgroups(3))
	right := dsl.Box{Rows: 64, Cols: 128}
	if left.Rows == 128 {
		right = dsl.Box{Rows: 128, Cols: 128}
	}
	a, b := k.TensorMap("a", isa.Bf16, left, dsl.Swizzle128),
		k.TensorMap("b", isa.Bf16, right, dsl.Swizzle128)
	d, steps := k.TensorMap("d", isa.F32, dsl.Box{Rows: 64, Cols: 128}, dsl.Swizzle128),
		dsl.Param[dsl.U32](k, "steps")
	p, out := k.Pipeline("p", 3, a.Feed(), b.Feed()), k.Output("out", d, 2)
	k.Roles(
		dsl.OnWarpgroup(0, "load", func() {
			for s := range p.Produce(steps) {
				s.Load(a, dsl.TileAt(s.Iteration(), k.U32(0)))
				s.Load(b, dsl.TileAt(s.Iteration(), k.U32(0)))
			}
		}).Regs(40),
		dsl.OnWarpgroups(1, 2, "multiply", func(half u32) {
			acc := k.Accumulator(64, 128, isa.F32)
			for s := range p.Consume(steps) {
				multiply(k, acc, half, s.Tile(a), s.Tile(b))
			}
			out.Store(acc, 0, half, half.MulI(64), k.U32(0))
			out.Wait()
		}).Regs(232),
	)
}

// resident multiplies by a tile that is written once, and released at the end.
func resident(m *dsl.Module) {
	k := m.Kernel("k", dsl.Warpgroups(2))
	x := k.TensorMap("x", isa.Bf16, dsl.Box{Rows: 128, Cols: 64}, dsl.Swizzle128)
	d := k.TensorMap("d", isa.Bf16, dsl.Box{Rows: 128, Cols: 64}, dsl.Swizzle128)
	w, steps := dsl.Global[dsl.BF16](k, "w"), dsl.Param[dsl.U32](k, "steps")
	p, acc, out := k.Pipeline("p", 3, x.Feed()), k.TMEM("acc", 128, 64, 1), k.Output("out", d, 1)
	tile := k.SharedTile("weights",
		dsl.Tile{Type: isa.Bf16, Rows: 64, Cols: 64, Swizzle: dsl.Swizzle128})
	row, half := k.Thread().AndI(63), k.Thread().ShrI(6)
	dsl.Element[dsl.BF16](tile, row,
		half.MulI(16)).StoreFirstVec(w.LoadVec(row.MadI(64, half.MulI(16)), 8))
	k.FenceAsync()
	k.Sync()
	done := k.Barrier("done", 1)
	k.Roles(
		dsl.OnWarp(0, "load", func() {
			for s := range p.Produce(steps) {
				s.Load(x, dsl.TileAt(s.Iteration(), k.U32(0)))
			}
		}),
		dsl.OnWarp(1, "multiply", func() {
			acc.Fill(func(d *dsl.AccumulatorStage) {
				for s := range p.Consume(steps) {
					d.MMA(s.Tile(x), tile)
				}
				done.ArriveAfterMMA()
			})
		}),
		dsl.OnWarpgroup(1, "write", func() {
			done.Wait(k.U32(0))
			w.Store(k.Thread().AndI(127),
				dsl.Element[dsl.BF16](tile, k.Thread().AndI(63), k.U32(0)).LoadFirst())
			acc.Drain(func(d *dsl.AccumulatorStage) { out.StoreTMEM(d, k.U32(0), k.U32(0)) })
			out.Wait()
		}),
	)
}
