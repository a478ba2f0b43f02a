// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl_test

import (
	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

// valueFeatures are kernels with types that are smaller in memory than in registers, and with
// pointers.
var valueFeatures = []feature{
	{"small floats one by one", "sm_89", func(m *dsl.Module) {
		k := m.Kernel("k", dsl.Threads(32))
		x, y := dsl.Global[dsl.E4M3](k, "x"), dsl.Global[dsl.E5M2](k, "y")
		y.Store(k.Lane(), dsl.To[dsl.E5M2](dsl.To[dsl.F32](x.Load(k.Lane())).MulF(2)))
	}, "cvt.rn.f16x2.e4m3x2"},
	{"scale factors one by one", "sm_100a", func(m *dsl.Module) {
		k := m.Kernel("k", dsl.Threads(32))
		x, y := dsl.Global[dsl.UE8M0](k, "x"), dsl.Global[dsl.F32](k, "y")
		y.Store(k.Lane(), dsl.To[dsl.F32](x.Load(k.Lane())))
		x.Store(k.Lane(), dsl.To[dsl.UE8M0](y.Load(k.Lane())))
	}, "cvt.rp.satfinite.ue8m0x2.f32"},
	{"vectors of bytes", "sm_75", func(m *dsl.Module) {
		k := m.Kernel("k", dsl.Threads(32))
		x := dsl.Global[dsl.S8](k, "x")
		v := x.LoadVec(k.Lane().ShlI(4), 16)
		v[0] = dsl.To[dsl.S8](dsl.To[dsl.S32](v[0]).Add(dsl.To[dsl.S32](v[15])), dsl.Sat)
		x.StoreVec(k.Lane().ShlI(4), v)
		y := dsl.Global[dsl.U8](k, "y")
		y.StoreVec(k.Lane().ShlI(3), y.LoadVec(k.Lane().ShlI(3), 8))
	}, "ld.global.v4.b32"},
	{"sums of BF16 before sm_90", "sm_80", func(m *dsl.Module) {
		k := m.Kernel("k", dsl.Threads(32))
		x, n := dsl.Global[dsl.BF16](k, "x"), dsl.Global[dsl.S32](k, "n")
		a, b := x.LoadI(0), x.LoadI(1)
		x.StoreI(0, dsl.Select(a.LT(b), a.Add(b).Sub(a).Mul(b), b.Exp2().Tanh()))
		n.StoreI(0, dsl.To[dsl.S32](a))
		dsl.Global[dsl.F16](k, "h").StoreI(0, dsl.To[dsl.F16](b))
	}, "fma.rn.bf16"},
	{"exponentials of BF16", "sm_90", func(m *dsl.Module) {
		k := m.Kernel("k", dsl.Threads(32))
		x := dsl.Global[dsl.BF16x2](k, "x")
		x.StoreI(0, x.LoadI(1).Exp2())
	}, "ex2.approx.ftz.bf16x2"},
	{"redux without redux", "sm_75", func(m *dsl.Module) {
		k := m.Kernel("k", dsl.Threads(32))
		x, y := dsl.Global[dsl.U32](k, "x"), dsl.Global[dsl.F32](k, "y")
		x.StoreI(0, x.Load(k.Lane()).Redux("or"))
		y.StoreI(0, y.Load(k.Lane()).Redux("max"))
	}, "shfl.sync.bfly.b32"},
	{"pointers", "sm_80", func(m *dsl.Module) {
		f := m.Func("put")
		to, v := dsl.Global[dsl.F32](f.Kernel, "to"), dsl.Arg[dsl.F32](f, "v")
		to.StoreI(0, v)
		k := m.Kernel("k", dsl.Threads(32))
		type table struct {
			Rows dsl.Array[dsl.U64]
			N    dsl.Reg[dsl.U32]
		}
		t := dsl.Struct[table](k, "t")
		row := dsl.Pointer[dsl.F32](t.Rows.Load(k.Lane()), isa.Generic)
		k.Call(f, dsl.Global[dsl.F32](k, "x").At(t.N), row.LoadI(1))
		k.Call(f, row, k.F32(1))
		s := dsl.Shared[dsl.F32](k, "s", 4)
		dsl.Pointer[dsl.U32](s.Addr().Value(), isa.Shared).StoreI(1, t.N)
		four := []dsl.Reg[dsl.F32]{dsl.NewReg[dsl.F32](k), dsl.NewReg[dsl.F32](k)}
		k.Ins("ld.shared.v2.f32", four, s)
		row.StoreVec(k.U32(2), four)
	}, "cvta.global.u64"},
	{"dependencies where kernels wait for one another", "sm_80", func(m *dsl.Module) {
		k := m.Kernel("k", dsl.Threads(32))
		k.LaunchDependents()
		k.WaitDependencies()
		k.Sync()
	}, "bar.sync 0"},
	{"factors that lie either way", "sm_80", func(m *dsl.Module) {
		k := m.Kernel("k", dsl.Threads(128))
		wide := dsl.Tile{Type: isa.F16, Rows: 64, Cols: 128, Swizzle: dsl.Swizzle128} // two slabs
		x, y := k.SharedTile("x", wide),
			k.SharedTile("y", dsl.Tile{Type: isa.F16, Rows: 64, Cols: 64, Pad: 16})
		from := k.Matrix("from", isa.F16).Sized(k.U32(640), k.U32(128)).At(k.CTAID().Y)
		from.CopyAsync(x, k.U32(0))
		from.CopyAsync(y, k.U32(0))
		k.CommitCopies()
		k.WaitCopies(0)
		k.Sync()
		w := dsl.NewWarpTile[dsl.F16](k, dsl.MMAFor(isa.F16, isa.F16), 16, 64)
		row, _ := w.Origin(k.WarpIndex(), 1)
		w.MMA(y.Transposed(), row, x.Transposed(), k.U32(16))
		w.Map(func(c dsl.Cell, x dsl.Reg[dsl.F16]) dsl.Reg[dsl.F16] {
			return dsl.Select(c.Col().LE(c.Row()), x, k.F16(0))
		})
		then := dsl.NewWarpTile[dsl.F32](k, dsl.MMAFor(isa.F16, isa.F32), 16, 128)
		then.MMAFragments(w.ToFragments(isa.F16), x.Transposed(), k.U32(0))
		most := then.RowReduce(func(a, b f32) f32 { return a.Max(b) })
		then.Map(func(c dsl.Cell, x f32) f32 { return x.Sub(most[c.LocalRow]) })
		square := dsl.NewWarpTile[dsl.F32](k, dsl.MMAFor(isa.F16, isa.F32), 16, 64)
		square.MMAFragments(square.LoadFragments(x, row), x.Transposed().Transposed(), k.U32(0))
		then.Store(k.Matrix("to", isa.Bf16).Sized(k.U32(64), k.U32(128)), row, k.U32(0))
		square.Store(k.Matrix("scores", isa.F32).Sized(k.U32(64), k.U32(64)), row, k.U32(0))
	}, "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16"},
	{"sparse integers in tensor memory", "sm_100a",
		func(m *dsl.Module) { sparseSums[dsl.S32](m, isa.S8) },
		"tcgen05.mma.sp.cta_group::1.kind::i8"},
	{"sparse small floats in tensor memory", "sm_100a",
		func(m *dsl.Module) { sparseSums[dsl.F32](m, isa.E5m2) },
		"tcgen05.mma.sp.cta_group::1.kind::f8f6f4"},
	{"sparse halves in tensor memory", "sm_100a",
		func(m *dsl.Module) { sparseSums[dsl.F32](m, isa.Bf16) },
		"tcgen05.mma.sp.cta_group::1.kind::f16"},
	{"sparse floats in tensor memory", "sm_100f",
		func(m *dsl.Module) { sparseSums[dsl.F32](m, isa.Tf32) },
		"tcgen05.mma.sp.cta_group::1.kind::tf32"},
	{"a left factor in tensor memory", "sm_100a",
		func(m *dsl.Module) { leftFactor(m, isa.Bf16, 32) },
		"tcgen05.st.sync.aligned.32x32b.x16.b32"},
	{"a left factor of small floats in tensor memory", "sm_100f",
		func(m *dsl.Module) { leftFactor(m, isa.E4m3, 128) },
		"tcgen05.st.sync.aligned.32x32b.x32.b32"},
	{"sums of wgmma", "sm_90a", func(m *dsl.Module) {
		k := m.Kernel("k", dsl.Warpgroups(2))
		a := k.TensorMap("a", isa.S8, dsl.Box{Rows: 128, Cols: 128}, dsl.Swizzle128)
		out := dsl.Global[dsl.S32](k, "out")
		p := k.Pipeline("p", 2, a.Feed())
		k.Roles(
			dsl.OnWarp(4, "load", func() {
				for s := range p.Produce(k.U32(4)) {
					s.Load(a, dsl.TileAt(k.U32(0), s.Iteration()))
				}
			}),
			dsl.OnWarpgroup(0, "multiply", func() {
				acc := k.Accumulator(128, 128, isa.S32)
				for s := range p.Consume(k.U32(4)) {
					acc.MMA(s.Tile(a), s.Tile(a))
				}
				dsl.EachElement(acc, func(row, col u32, x, y dsl.Reg[dsl.S32]) {
					out.StoreVec(row.MadI(128, col), []dsl.Reg[dsl.S32]{x, y})
				})
			}),
		)
	}, "wgmma.mma_async.sync.aligned.m64n128k32.s32.s8.s8"},
	{"sums of wgmma as a factor of the next product", "sm_90a", func(m *dsl.Module) {
		k := m.Kernel("k", dsl.Warpgroups(2))
		q := k.TensorMap("q", isa.Bf16, dsl.Box{Rows: 64, Cols: 128}, dsl.Swizzle128)
		keys, values := k.TensorMap("keys", isa.Bf16, dsl.Box{Rows: 64, Cols: 128}, dsl.Swizzle128),
			k.TensorMap("values", isa.Bf16, dsl.Box{Rows: 64, Cols: 128}, dsl.Swizzle128)
		to := k.TensorMap("to", isa.Bf16, dsl.Box{Rows: 64, Cols: 128}, dsl.Swizzle128)
		n := dsl.Param[dsl.U32](k, "n")
		kv := k.Pipeline("kv", 2, q.Feed(), keys.Feed(), values.Feed())
		out := k.Output("out", to, 1)
		k.Roles(
			dsl.OnWarpgroup(0, "load", func() {
				for s := range kv.Produce(n) {
					s.Load(q, dsl.TileAt(k.CTAID().X, k.U32(0)))
					s.Load(keys, dsl.TileAt(s.Iteration(), k.U32(0)))
					s.Load(values, dsl.TileAt(s.Iteration(), k.U32(0)))
				}
			}).Regs(40),
			dsl.OnWarpgroup(1, "multiply", func() {
				sum := k.Accumulator(64, 128, isa.F32)
				for s := range kv.Consume(n) {
					scores := k.Accumulator(64, 64, isa.F32)
					scores.MMA(s.Tile(q), s.Tile(keys))
					scores.Wait()
					most := scores.RowReduce(func(a, b f32) f32 { return a.Max(b) })
					scores.Map(func(c dsl.Cell, x f32) f32 {
						return dsl.Select(c.Col().LE(c.Row()), x.Sub(most[c.LocalRow]),
							k.F32(-100)).Exp2()
					})
					sum.MMAFragments(scores.ToFragments(isa.Bf16), s.Tile(values).Transposed())
				}
				out.Store(sum, 0, k.U32(0), k.CTAID().X.MulI(64), k.U32(0))
				out.Wait()
			}).Regs(232),
		)
	}, "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16"},
	{"cases and what is none", "sm_75", func(m *dsl.Module) {
		k := m.Kernel("k", dsl.Threads(32))
		out := dsl.Global[dsl.U32](k, "out")
		put := func(n int) func() { return func() { out.Store(k.TID().X, k.U32(n)) } }
		k.SwitchDefault(k.TID().X, put(7), put(0), put(1), k.Return)
		k.SwitchDefault(k.Lane(), put(8))
		k.Switch(k.Lane(), put(9))
	}, "default:"},
	{"what another block of the cluster wrote", "sm_90", func(m *dsl.Module) {
		k := m.Kernel("k", dsl.Threads(32), dsl.Cluster(2))
		out := dsl.Global[dsl.U32](k, "out")
		there, box := k.Barrier("there", 32), dsl.Shared[dsl.U32](k, "box", 32)
		other := k.ClusterRank().XorI(1)
		box.InBlock(other).Store(k.Lane(), k.Lane())
		there.ArriveAt(other)
		there.WaitCluster(k.U32(0))
		out.Store(k.CTAID().X.MadI(32, k.Lane()), box.Load(k.Lane()))
		k.SyncCluster()
	}, "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64"},
	{"a block of several dimensions", "sm_90", func(m *dsl.Module) {
		k := m.Kernel("k", dsl.Threads(16, 4, 2))
		x := dsl.Global[dsl.F32](k, "x")
		full := k.Barrier("full", 128)
		full.Arrive()
		full.Wait(k.U32(0))
		sum := dsl.BlockReduce(x.Load(k.Thread()), "sums", func(a, b f32) f32 { return a.Add(b) })
		k.If(k.Thread().EQI(0), func() { x.StoreI(0, sum) })
	}, "mad.lo.u32"},
	{"a large parameter", "sm_90", func(m *dsl.Module) {
		k := m.Kernel("k", dsl.Threads(32))
		s := dsl.Struct[struct{ X [2000]dsl.Reg[dsl.F32] }](k, "s")
		dsl.Global[dsl.F32](k, "x").StoreI(0, s.X[1999])
	}, "[s+7996]"},
}

// sparseSums multiplies tiles with a sparse A operand, and stores the accumulators without
// conversion.
func sparseSums[C dsl.Scalar](m *dsl.Module, t isa.Type) {
	k := m.Kernel("k", dsl.Warpgroups(2))
	kept := 128 * 8 / t.Bits()
	a := k.TensorMap("a", t, dsl.Box{Rows: 128, Cols: kept}, dsl.Swizzle128)
	b := k.TensorMap("b", t, dsl.Box{Rows: 128, Cols: 2 * kept}, dsl.Swizzle128)
	e := k.SparsityMap("e", a)
	out := dsl.Global[C](k, "out")
	p := k.Pipeline("p", 2, a.Feed(), b.Feed(), e.Feed())
	acc := k.TMEM("acc", 128, 128, 1).Sparsity(a)
	k.Roles(
		dsl.OnWarp(0, "load", func() {
			for s := range p.Produce(k.U32(4)) {
				for _, m := range []*dsl.TensorMap{a, b, e} {
					s.Load(m, dsl.TileAt(k.U32(0), s.Iteration()))
				}
			}
		}),
		dsl.OnWarp(1, "multiply", func() {
			acc.Fill(func(d *dsl.AccumulatorStage) {
				for s := range p.Consume(k.U32(4)) {
					d.SparseMMA(s.Tile(a), s.Tile(e), s.Tile(b))
				}
			})
		}),
		dsl.OnWarpgroup(1, "write", func() {
			acc.Drain(func(d *dsl.AccumulatorStage) {
				row := k.TID().X.AndI(127)
				for col := 0; col < 128; col += 32 {
					for i, x := range dsl.LoadAccumulator[C](d, col, 32) {
						out.Store(row.MadI(128, k.U32(col+i)), x)
					}
				}
			})
		}),
	)
}

// leftFactor multiplies an A operand that threads write to tensor memory, `each` elements at a
// time, by a transposed tile.
func leftFactor(m *dsl.Module, t isa.Type, each int) {
	k := m.Kernel("k", dsl.Warpgroups(2))
	const depth = 128
	b := k.TensorMap("b", t, dsl.Box{Rows: depth, Cols: 64}, dsl.Swizzle64)
	x, out := dsl.Global[dsl.F32](k, "x"), dsl.Global[dsl.F32](k, "out")
	p := k.Pipeline("p", 2, b.Feed())
	left, acc := k.TMEMOperand("left", t, depth, 2), k.TMEM("acc", 128, 64, 2)
	n := k.U32(4)
	k.Roles(
		dsl.OnWarp(0, "load", func() {
			for s := range p.Produce(n) {
				s.Load(b, dsl.TileAt(s.Iteration(), k.U32(0)))
			}
		}),
		dsl.OnWarp(1, "multiply", func() {
			for s := range p.Consume(n) {
				left.Drain(func(f *dsl.TMEMOperandStage) {
					acc.Fill(func(d *dsl.AccumulatorStage) {
						d.MMAFromTMEM(f, s.Tile(b).Transposed())
					})
				})
			}
		}),
		dsl.OnWarpgroup(1, "write", func() {
			for range k.Range(k.U32(0), n) {
				left.Fill(func(f *dsl.TMEMOperandStage) {
					for col := 0; col < depth; col += each {
						list := make([]dsl.Reg[dsl.F32], each)
						for i := range list {
							list[i] = x.Load(k.Thread().AndI(127).MadI(depth, k.U32(col+i)))
						}
						f.Store(col, list)
					}
				})
				acc.Drain(func(d *dsl.AccumulatorStage) {
					for i, y := range d.Load(0, 64) {
						out.Store(d.Row().MadI(64, k.U32(i)), y)
					}
				})
			}
		}),
	)
}
