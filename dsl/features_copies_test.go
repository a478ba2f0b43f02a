// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl_test

import (
	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

// copies are kernels with scans and special copies.
var copies = []feature{
	{"scans", "sm_80", func(m *dsl.Module) {
		k := m.Kernel("k", dsl.Threads(96))
		x, out := dsl.Global[dsl.F32](k, "x"), dsl.Global[dsl.F32](k, "out")
		add := func(a, b f32) f32 { return a.Add(b) }
		base := k.F32(0).Var()
		for i := range k.RangeI(0, 4) {
			at := i.MadI(96, k.TID().X)
			scan, all := dsl.BlockScan(x.Load(at), "sums", add)
			before, _ := dsl.BlockExclusiveScan(x.Load(at), k.F32(0), "before", add)
			out.Store(at, base.Add(scan).Add(before))
			base.Set(base.Add(all))
		}
	}, "shfl.sync.up.b32"},
	{"vectors of atomics", "sm_90", func(m *dsl.Module) {
		k := m.Kernel("k", dsl.Threads(32))
		x, h, b := dsl.Global[dsl.F32](k, "x"), dsl.Global[dsl.F16](k, "h"),
			dsl.Global[dsl.BF16x2](k, "b")
		i := k.TID().X.ShlI(2)
		x.ReduceVec("add", i, []f32{k.F32(1), k.F32(2), k.F32(3), k.F32(4)})
		h.ReduceVec("max", i, []dsl.Reg[dsl.F16]{k.F16(1), k.F16(2), k.F16(3), k.F16(4)},
			dsl.Release, dsl.ScopeSys)
		was := b.AtomicVec("add", i, []dsl.Reg[dsl.BF16x2]{b.LoadI(0), b.LoadI(1)})
		b.StoreVec(i, was)
	}, "red.relaxed.gpu.global.add.v4.f32"},
	{"shared memory of any size", "sm_80", func(m *dsl.Module) {
		k := m.Kernel("k", dsl.Threads(32))
		n, out := dsl.Param[dsl.U32](k, "n"), dsl.Global[dsl.U32](k, "out")
		bins, one := dsl.DynamicShared[dsl.U32](k, "bins"), dsl.Shared[dsl.U32](k, "one", 1)
		k.When(k.TID().X.EQI(0), func() { one.StoreI(0, n) })
		for i := range k.RangeStep(k.TID().X, n, k.U32(32)) {
			bins.Store(i, i)
		}
		k.Sync()
		out.Store(k.TID().X, bins.Load(one.LoadI(0).SubI(1)))
	}, ".extern .shared .align 16 .u32 k_bins[]"},
	{"shared memory of any size behind a lot", "sm_90", func(m *dsl.Module) {
		k := m.Kernel("k", dsl.Threads(32))
		out := dsl.Global[dsl.F32](k, "out")
		rest, a := dsl.DynamicShared[dsl.F32](k, "rest"), dsl.Shared[dsl.F32](k, "a", 20000)
		a.Store(k.TID().X, out.LoadI(0))
		rest.Store(k.TID().X, out.LoadI(1))
		k.Sync()
		out.Store(k.TID().X, a.LoadI(19999).Add(rest.Load(k.TID().X)))
	}, "// 80000: rest, the rest"},
	{"matrices of registers", "sm_90", func(m *dsl.Module) {
		k := m.Kernel("k", dsl.Threads(32))
		out := dsl.Global[dsl.U32](k, "out")
		t := k.SharedTile("t", dsl.Tile{Type: isa.F16, Rows: 16, Cols: 64, Swizzle: dsl.Swizzle128})
		row, unit := k.Lane().AndI(15), k.Lane().ShrI(4)
		t.StoreMatrices(row, unit,
			[4]dsl.Reg[dsl.B32]{dsl.Const[dsl.B32](k, 1), dsl.Const[dsl.B32](k, 2),
				dsl.Const[dsl.B32](k, 3), dsl.Const[dsl.B32](k, 4)}, dsl.Trans)
		k.Sync()
		out.Store(k.TID().X, dsl.Bits[dsl.U32](t.LoadMatrices(row, unit, dsl.Trans)[0]))
	}, "stmatrix.sync.aligned.m8n8.x4.trans.shared.b16"},
	{"copies of the threads", "sm_80", func(m *dsl.Module) {
		k := m.Kernel("k", dsl.Threads(64))
		n, out := dsl.Param[dsl.U32](k, "n"), dsl.Global[dsl.F16](k, "out")
		t := k.SharedTile("t", dsl.Tile{Type: isa.F16, Rows: 16, Cols: 64, Swizzle: dsl.Swizzle128})
		k.Matrix("x", isa.F16).Sized(n, n).CopyAsync(t, k.U32(0))
		k.CommitCopies()
		k.WaitCopies(0)
		k.Sync()
		out.Store(k.TID().X, dsl.Element[dsl.F16](t, k.U32(3), k.TID().X).LoadFirst())
	}, "cp.async.wait_group"},
	{"products whose fragments are read ahead", "sm_80",
		func(m *dsl.Module) { ahead(m, isa.F16, 64) }, "// the first fragments"},
	{"products of one step a stage", "sm_80", func(m *dsl.Module) { ahead(m, isa.F16, 16) },
		"mov.b32"},
	{"products of one step a stage in three parts", "sm_80",
		func(m *dsl.Module) { ahead(m, isa.F32, 8) }, "sub.rn.f32"},
	{"bulk copies", "sm_90", func(m *dsl.Module) {
		k := m.Kernel("k", dsl.Threads(64), dsl.Cluster(2))
		x, out := dsl.Global[dsl.F32](k, "x"), dsl.Global[dsl.F32](k, "out")
		a, b := dsl.Shared[dsl.F32](k, "a", 64), dsl.Shared[dsl.F32](k, "b", 64)
		loaded, sent := k.Barrier("loaded", 1), k.Barrier("sent", 1)
		first := k.TID().X.EQI(0)
		n := k.U32(64)
		k.When(first, func() {
			x.BulkPrefetch(n)
			loaded.ArriveExpect(k.U32(256))
			sent.ArriveExpect(k.U32(256))
			x.BulkLoad(a, n, loaded)
		})
		loaded.Wait(k.U32(0))
		k.When(first, func() { a.BulkSend(b, n, k.ClusterRank().XorI(1), sent) })
		sent.Wait(k.U32(0))
		b.Store(k.TID().X, a.Load(k.TID().X).Add(b.Load(k.TID().X)))
		k.FenceAsync()
		k.Sync()
		k.When(first, func() {
			out.BulkReduce("add", b, n)
			out.AtI(64).BulkStore(b, n)
			k.CommitStores()
			k.WaitStores(0)
		})
		k.SyncCluster()
	}, "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes"},
	{"chunks", "sm_90", func(m *dsl.Module) {
		k := m.Kernel("k", dsl.Threads(160))
		x, out, n := dsl.Global[dsl.F32](k, "x"), dsl.Global[dsl.F32](k, "out"),
			dsl.Param[dsl.U32](k, "n")
		chunk := dsl.ChunkOf(x, 512)
		p := k.Pipeline("p", 3, chunk.Feed())
		k.Roles(
			dsl.OnWarp(4, "load", func() {
				for s := range p.Produce(n) {
					chunk.Load(s, s.Iteration())
				}
			}),
			dsl.OnWarpgroup(0, "sum", func() {
				sum := k.F32(0).Var()
				for s := range p.Consume(n) {
					for _, v := range chunk.InStage(s).LoadVec(k.TID().X.ShlI(2), 4) {
						sum.Set(sum.Add(v))
					}
				}
				out.Store(k.TID().X, sum)
			}),
		)
	}, "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes"},
	{"boxes", "sm_90", func(m *dsl.Module) {
		k := m.Kernel("k", dsl.Threads(32))
		line, cube := k.Tensor("line", isa.F32, []int{64}, dsl.NoSwizzle),
			k.Tensor("cube", isa.F32, []int{4, 8, 16}, dsl.Swizzle64)
		many := k.Tensor("many", isa.Bf16, []int{1, 2, 4, 8, 64}, dsl.Swizzle128)
		a, b, c := k.SharedTile("a", line.Tile()), k.SharedTile("b", cube.Tile()),
			k.SharedTile("c", many.Tile())
		full := k.Barrier("full", 1)
		zero, before := k.U32(0), dsl.Bits[dsl.U32](k.S32(-1))
		k.When(k.TID().X.EQI(0), func() {
			many.Prefetch(zero, zero, zero, zero, zero)
			full.ArriveExpect(k.U32(a.Bytes() + b.Bytes() + c.Bytes()))
			line.Load(a, []u32{zero}, full)
			cube.Load(b, []u32{before, zero, zero}, full)
			many.Load(c, []u32{zero, zero, zero, zero, zero}, full)
		})
		full.Wait(zero)
		k.When(k.TID().X.EQI(0), func() {
			cube.Store(b, zero, zero, k.U32(16))
			line.Reduce("add", a, k.U32(64))
			k.CommitStores()
			k.WaitStores(0)
		})
	}, "cp.async.bulk.tensor.5d"},
	{"images", "sm_90", func(m *dsl.Module) {
		k := m.Kernel("k", dsl.Threads(32))
		x := k.Im2col("x", isa.F16, 4, 32, 64, dsl.Swizzle128)
		a := k.SharedTile("a", x.Tile())
		full := k.Barrier("full", 1)
		zero := k.U32(0)
		k.When(k.TID().X.EQI(0), func() {
			full.ArriveExpect(k.U32(a.Bytes()))
			x.LoadIm2col(a, []u32{zero, zero, zero, zero}, []dsl.Reg[dsl.U16]{k.U16(1), k.U16(2)},
				full)
		})
		full.Wait(zero)
		k.When(k.TID().X.EQI(0), func() {
			x.Store(a, zero, zero, zero, zero)
			k.CommitStores()
			k.WaitStores(0)
		})
	}, ".im2col_no_offs"},
	{"a convolution", "sm_100a", func(m *dsl.Module) { convolution(m, 3) },
		".im2col.mbarrier::complete_tx::bytes"},
	{"a convolution of a pair", "sm_100a",
		func(m *dsl.Module) { convolution(m, 3, dsl.Cluster(2)) },
		".im2col.mbarrier::complete_tx::bytes.cta_group::2"},
	{"rows from anywhere", "sm_100a", func(m *dsl.Module) {
		k := m.Kernel("k", dsl.Threads(32))
		x := k.RowTensor("x", isa.Bf16, 64, dsl.Swizzle128)
		rows := dsl.Global[dsl.U32](k, "rows").LoadVec(k.U32(0), 4)
		a := k.SharedTile("a", dsl.Tile{Type: isa.Bf16, Rows: 8, Cols: 64, Swizzle: dsl.Swizzle128})
		full := k.Barrier("full", 1)
		four := [4]u32{rows[0], rows[1], rows[2], rows[3]}
		k.When(k.TID().X.EQI(0), func() {
			full.ArriveExpect(k.U32(a.Bytes()))
			x.Gather(a, 0, four, k.U32(0), full)
			x.Gather(a, 4, four, k.U32(64), full)
		})
		full.Wait(k.U32(0))
		k.When(k.TID().X.EQI(0), func() {
			x.Scatter(a, 4, four, k.U32(128))
			k.CommitStores()
			k.WaitStores(0)
		})
	}, ".tile::scatter4"},
	{"boxes in stages", "sm_90", func(m *dsl.Module) {
		k := m.Kernel("k", dsl.Threads(160))
		cube, out := k.Tensor("cube", isa.F32, []int{4, 8, 32}, dsl.Swizzle128),
			dsl.Global[dsl.F32](k, "out")
		p := k.Pipeline("p", 2, cube.Feed())
		k.Roles(
			dsl.OnWarp(4, "load", func() {
				for s := range p.Produce(k.U32(4)) {
					cube.LoadStage(s, s.Iteration().ShlI(2), k.U32(0), k.U32(0))
				}
			}),
			dsl.OnWarpgroup(0, "sum", func() {
				sum := k.F32(0).Var()
				for s := range p.Consume(k.U32(4)) {
					sum.Set(sum.Add(dsl.Element[dsl.F32](cube.InStage(s), k.WarpIndex(),
						k.Lane()).LoadFirst()))
				}
				out.Store(k.TID().X, sum)
			}),
		)
	}, "cp.async.bulk.tensor.3d"},
}

// ahead multiplies tiles with double-buffered fragments, for a type and depth. The B tile is
// transposed if possible.
func ahead(m *dsl.Module, t isa.Type, depth int) {
	k := m.Kernel("k", dsl.Threads(128))
	a, b, d := k.Matrix("a", t), k.Matrix("b", t), k.Matrix("d", isa.F32)
	n := dsl.Param[dsl.U32](k, "n")
	a, b, d = a.Sized(k.U32(64), n), b.Sized(n, k.U32(64)), d.Sized(k.U32(64), k.U32(64))
	left := dsl.Tile{Type: t, Rows: 64, Cols: depth, Swizzle: dsl.Swizzle32}
	right := dsl.Tile{Type: t, Rows: depth, Cols: 64, Swizzle: dsl.Swizzle128}
	turned := t.Bits() == 16
	if !turned {
		right, b = left, b.Sized(k.U32(64), n)
	}
	ab := k.AsyncPipeline("ab", 3, left, right)
	w := dsl.NewWarpTile[dsl.F32](k, dsl.MMAFor(t, isa.F32), 32, 32)
	row, col := w.Origin(k.WarpIndex(), 2)
	ab.Multiply(n.DivI(int64(depth)),
		func(step u32, s dsl.AsyncStage) {
			at := step.MulI(int64(depth))
			a.CopyAsync(s.Tile(0), at)
			if turned {
				b.RowsFrom(at).CopyAsync(s.Tile(1), k.U32(0))
			} else {
				b.CopyAsync(s.Tile(1), at)
			}
		},
		func(s dsl.AsyncStage) dsl.MMAStep {
			y := s.Tile(1)
			if turned {
				y = y.Transposed()
			}
			return w.MMAStep(s.Tile(0), row, y, col)
		})
	w.Store(d, row, col)
}

// convolution computes a convolution with a square filter as a GEMM: one row per pixel, and K is
// channels times filter elements.
func convolution(m *dsl.Module, filter int, options ...dsl.KernelOption) {
	k := m.Kernel("k", append(options, dsl.Warpgroups(2))...)
	share := 1
	if len(options) > 0 {
		k.CTAPair()
		share = 2
	}
	x := k.Im2col("x", isa.Bf16, 4, 128, 64, dsl.Swizzle128)
	w := k.TensorMap("w", isa.Bf16, dsl.Box{Rows: 128 / share, Cols: 64}, dsl.Swizzle128)
	d := k.TensorMap("d", isa.Bf16, dsl.Box{Rows: 128, Cols: 128}, dsl.Swizzle128)
	image, line, col, channels := dsl.Param[dsl.U32](k, "image"), dsl.Param[dsl.U32](k, "line"),
		dsl.Param[dsl.U32](k, "col"), dsl.Param[dsl.U32](k, "channels")
	p, acc, out := k.Pipeline("p", 3, x.Feed(), w.Feed()), k.TMEM("acc", 128*share, 128, 1),
		k.Output("out", d, 1)
	deep := channels.CeilDiv(64)
	steps := deep.MulI(int64(filter * filter))
	k.Roles(
		dsl.OnWarp(0, "load", func() {
			for s := range p.Produce(steps) {
				at, of := s.Iteration().Div(deep), s.Iteration().Rem(deep)
				x.LoadStageIm2col(s, []u32{image, line, col, of.MulI(64)},
					[]dsl.Reg[dsl.U16]{dsl.To[dsl.U16](at.DivI(int64(filter))),
						dsl.To[dsl.U16](at.RemI(int64(filter)))})
				s.Load(w, dsl.TileAt(k.ClusterRank(), s.Iteration()))
			}
		}),
		dsl.OnWarp(1, "multiply", func() {
			acc.Fill(func(d *dsl.AccumulatorStage) {
				for s := range p.Consume(steps) {
					d.MMA(x.InStage(s), s.Tile(w))
				}
			})
		}),
		dsl.OnWarpgroup(1, "write", func() {
			acc.Drain(func(d *dsl.AccumulatorStage) { out.StoreTMEM(d, image.MulI(128), k.U32(0)) })
			out.Wait()
		}),
	)
}
