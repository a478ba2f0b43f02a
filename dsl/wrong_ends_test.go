// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl_test

import (
	"testing"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

// wrongEnds are loops that nothing ends, code that nothing leads to, barriers that nobody waits at, and products that some lanes do not come to.
var wrongEnds = []wrongKernel{
	// Loops that nothing ends.
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { k.Loop(func() {}) }}, // want `D208: a loop that nothing ends: Break, BreakIf, Return or Exit in its body would`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		k.While(func() dsl.Reg[dsl.Pred] { return k.U32(1).LTI(2) }, k.Sync) // want `D208: a loop that nothing ends once it has begun`
	}},
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		n, i := dsl.Param[dsl.U32](k, "n"), k.U32(0).Var()
		k.While(func() dsl.Reg[dsl.Pred] { return i.MulI(2).LT(n) }, func() { i.AddI(1) }) // want `D208: a loop that nothing ends once it has begun: its turns change nothing that its condition rests on, as Set of a variable does`
	}},
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		x := dsl.Global[dsl.U32](k, "x")
		flag := x.LoadI(0)
		k.While(func() dsl.Reg[dsl.Pred] { return flag.EQI(0).And(k.TID().X.LTI(3)) }, k.SyncWarp) // want `D208: a loop that nothing ends once`
	}},
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		k.Loop(func() { // want `D208: a loop that nothing ends: Break`
			k.Loop(func() { k.BreakIf(k.Clock().EQI(0)) })
		})
	}},
	{"sm_90a", func(m *dsl.Module, _ *dsl.Kernel) {
		f := m.Func("f")
		dsl.ReturnValue(f, dsl.Arg[dsl.F32](f, "x"))
		f = m.Func("g")
		f.Sync()
		k := m.Kernel("q")
		k.Loop(func() { k.Call(f) }) // want `D208: a loop that nothing ends`
	}},
	// Code that nothing leads to.
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		o := dsl.Global[dsl.U32](k, "o")
		k.Return()
		o.StoreI(0, k.U32(1)) // want `D208: nothing leads here: what stands before it ends the thread, or leaves the turn of the loop, in any case`
		o.StoreI(1, k.U32(1))
	}},
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		for i := range k.RangeI(0, 8) {
			k.Continue()
			dsl.Global[dsl.U32](k, "o").Store(i, i) // want `D208: nothing leads here`
		}
		k.If(k.Lane().EQI(0), k.Trap)
		k.If(k.Lane().EQI(1), func() { k.Exit() })
		k.If(k.Lane().EQI(2), func() {
			k.Return()
			k.SyncWarp() // want `D208: nothing leads here`
		})
	}},
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		l := k.NewLabel("l")
		k.Branch(l)
		k.Clock() // want `D208: nothing leads here`
		k.PlaceLabel(l)
	}},
	// Named barriers.
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { k.NamedBarrier(256).Arrive() }}, // want `D501: warps arrive at named barrier 1, and none waits there: Sync is for those that do`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { k.NamedBarrier(128).Sync() }},   // want `D501: Sync of a barrier for 128 threads, to which 256 come here at once`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		b := k.NamedBarrier(64)
		k.If(k.WarpIndex().LTI(4), b.Sync) // want `D501: Sync of a barrier for 64 threads, to which 128 come here at once`
	}},
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		b := k.NamedBarrier(64)
		k.Roles(
			dsl.OnWarps(0, 4, "four", func(u32) { b.Sync() }), // want `D501: Sync of a barrier for 64 threads, to which 128 come here at once`
			dsl.OnWarps(4, 2, "two", func(u32) { b.Sync() }),
		)
	}},
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		k.If(k.Lane().EQI(0), k.NamedBarrier(256).Sync) // want `D501: Sync where some lanes of a warp do not come: thread 0 does, and thread 1 does not`
	}},
	// What all lanes of a warp do.
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) {
		w, t := sumsOf(k, 32), k.SharedTile("t", tileOf(isa.Bf16, 16))
		k.If(k.Lane().LTI(16), func() { w.MMA(t, k.U32(0), t, k.U32(0)) }) // want `D501: MMA where some lanes of a warp do not come: thread 0 does, and thread 16 does not`
	}},
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) {
		w, t := sumsOf(k, 32), k.SharedTile("t", tileOf(isa.Bf16, 16))
		k.If(k.TID().X.LTI(200), func() {
			left := w.LoadFragments(t, k.U32(0)) // want `D501: Left where some lanes of a warp do not come: thread 192 does, and thread 200 does not`
			w.MMAFragments(left, t, k.U32(0))    // want `D501: MMALeft where some lanes`
			t.LoadMatrices(k.Lane(), k.U32(0))   // want `D501: Matrices where some lanes`
			w.MMA(t, k.U32(0), t, k.U32(32))     // want `D501: MMA where some lanes`
		})
	}},
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		t := k.SharedTile("t", tileOf(isa.Bf16, 16))
		k.If(k.Lane().LTI(8), func() {
			t.StoreMatrices(k.Lane(), k.U32(0), [4]dsl.Reg[dsl.B32]{}) // want `D501: PutMatrices where some lanes|D201: a \.b32 value that no builder call made`
		})
	}},
	{"sm_90", func(m *dsl.Module, _ *dsl.Kernel) {
		k := m.Kernel("q", dsl.Threads(64), dsl.Cluster(2))
		k.If(k.WarpIndex().EQI(0), k.SyncCluster) // want `D501: SyncCluster where some warps of the block do not come`
	}},
	// The same in roles.
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		k.Roles(
			dsl.OnWarps(0, 4, "return", func(u32) { k.ReturnIf(k.Lane().EQI(0)) }),
			dsl.OnWarps(4, 4, "vote", func(u32) {
				k.If(k.Lane().LTI(16), func() { k.Ballot(k.Lane().EQI(0)) }) // want `D501: Ballot where some lanes of a warp do not come: thread 128 does, and thread 144 does not`
			}),
		)
	}},
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		s := dsl.Shared[dsl.F32](k, "s", 128)
		k.Roles(
			dsl.OnWarps(0, 4, "first", func(u32) { s.Store(k.TID().X, k.F32(1)) }),
			dsl.OnWarps(4, 4, "second", func(u32) {
				s.Store(k.TID().X, k.F32(1)) // want `D301: thread 128 is at byte 512 of s, which has 512`
			}),
		)
	}},
	{"sm_90a", func(_ *dsl.Module, k *dsl.Kernel) {
		p, a, b := ringOf(k)
		acc := k.Accumulator(64, 128, isa.F32)
		k.Roles(
			dsl.OnWarp(4, "load", func() {
				for s := range p.Produce(k.U32(4)) {
					s.Load(a, dsl.TileAt(k.U32(0), s.Iteration()))
					s.Load(b, dsl.TileAt(k.U32(0), s.Iteration()))
				}
			}),
			dsl.OnWarpgroup(0, "multiply", func() {
				for s := range p.Consume(k.U32(4)) {
					k.If(k.Lane().LTI(16), func() { acc.MMA(s.Tile(a), s.Tile(b)) }) // want `D501: MMA where some lanes of a warp do not come: thread 0 does, and thread 16 does not`
				}
			}),
		)
	}},
	// What held at a call that was looked at is not what holds later.
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		k.If(k.Lane().LTI(16), k.SyncWarp) // want `D501: SyncWarp where some lanes of a warp do not come: thread 0 does, and thread 16 does not`
		k.If(k.Lane().EQI(0), func() { k.Barrier("b", 1).Arrive() })
	}},
	// Copies that nobody waits for.
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		a := k.TensorMap("a", isa.Bf16, dsl.Box{Rows: 64, Cols: 64}, dsl.Swizzle128)
		k.If(k.TID().X.EQI(0), func() {
			a.Store(k.SharedTile("t", a.Tile()), k.U32(0), k.U32(0)) // want `D501: nothing waits for what is stored here: the block may leave while its shared memory is still read; CommitStores and then WaitStores`
			k.CommitStores()
		})
	}},
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		x := k.Tensor("x", isa.F32, []int{2, 8, 32}, dsl.NoSwizzle)
		k.If(k.TID().X.EQI(0), func() {
			x.Reduce("add", k.SharedTile("t", x.Tile()), k.U32(0), k.U32(0), k.U32(0)) // want `D501: what is stored here is in no group, so that WaitStores does not wait for it; CommitStores makes one`
			k.WaitStoresRead(0)
		})
	}},
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		x, s := dsl.Global[dsl.F32](k, "x"), dsl.Shared[dsl.F32](k, "s", 64)
		k.If(k.TID().X.EQI(0), func() { x.BulkStore(s, k.U32(64)) }) // want `D501: nothing waits for what is stored here`
	}},
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) {
		a := k.Matrix("a", isa.Bf16).Sized(k.U32(64), k.U32(64))
		a.CopyAsync(k.SharedTile("t", tileOf(isa.Bf16, 16)), k.U32(0)) // want `D501: nothing waits for what is copied here: CommitCopies, WaitCopies and Sync do, before it is read`
		k.CommitCopies()
		k.Sync()
	}},
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) {
		p, a := k.AsyncPipeline("p", 3, tileOf(isa.Bf16, 16), tileOf(isa.Bf16, 16)), k.Matrix("a", isa.Bf16).Sized(k.U32(64), k.U32(64))
		p.Run(k.U32(4), func(step u32, s dsl.AsyncStage) { a.CopyAsync(s.Tile(0), step.MulI(64)) }, func(u32, dsl.AsyncStage) {}) // want `D501: what loads pipeline p does nothing to tile 1 of a stage, 64x64 \.bf16`
	}},
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) {
		p, a := k.AsyncPipeline("p", 3, tileOf(isa.Bf16, 16)), k.Matrix("a", isa.Bf16).Sized(k.U32(64), k.U32(64))
		p.Run(k.U32(4), func(step u32, s dsl.AsyncStage) {
			a.CopyAsync(s.Tile(0), step.MulI(64))
			k.CommitCopies() // want `D501: CommitCopies in what loads pipeline p, which makes a group of each stage: with more of them it would wait for the wrong ones`
		}, func(u32, dsl.AsyncStage) {})
	}},
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { k.Barrier("b", 1).Wait(k.U32(0)) }}, // want `D501: nothing arrives at barrier b, and its phase never ends: Arrive counts a thread, and Expect one and the bytes of its copies`
	// What those that have left do not bring, and variables of the module.
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		k.ReturnIf(k.TID().X.GEI(100))
		k.SyncWarp()
		k.F32(1).Var().WarpSum()             // want `D501: a shuffle where some lanes of a warp do not come: thread 96 does, and thread 100 does not`
		dsl.BlockReduce(k.F32(1), "s", both) // want `D501: BlockReduce where some lanes|D501: a shuffle where some lanes`
	}},
	{"sm_90", func(m *dsl.Module, k *dsl.Kernel) { dsl.ConstantVariable[dsl.F32](m, "t", 1, 2).In(k).Load(k.TID().X) }}, // want `D301: thread 2 is at byte 8 of t, which has 8`
	{"sm_90", func(m *dsl.Module, k *dsl.Kernel) {
		dsl.GlobalVariable[dsl.U32](m, "t", 8).In(k).Store(k.TID().X, k.U32(1)) // want `D301: thread 8 is at byte 32 of t, which has 32`
	}},
	// Sums that nobody made.
	{"sm_100a", func(_ *dsl.Module, k *dsl.Kernel) {
		p, a, b := ringOf(k)
		acc, out := k.TMEM("acc", 64, 128, 1), dsl.Global[dsl.F32](k, "out")
		k.Roles(
			dsl.OnWarp(4, "load", func() {
				for s := range p.Produce(k.U32(4)) {
					s.Load(a, dsl.TileAt(k.U32(0), s.Iteration()))
					s.Load(b, dsl.TileAt(k.U32(0), s.Iteration()))
				}
			}),
			dsl.OnWarp(5, "multiply", func() {
				acc.Fill(func(*dsl.AccumulatorStage) { // want `D501: the body of Fill multiplies nothing into acc, and Drain would read what nobody made`
					for s := range p.Consume(k.U32(4)) {
						s.Tile(a)
					}
				})
			}),
			dsl.OnWarpgroup(0, "store", func() {
				acc.Drain(func(d *dsl.AccumulatorStage) { out.Store(k.TID().X, d.Load(0, 8)[0]) })
			}),
		)
	}},
}

func sumsOf(k *dsl.Kernel, n int) *dsl.WarpTile[dsl.F32] {
	return dsl.NewWarpTile[dsl.F32](k, dsl.MMAFor(isa.Bf16, isa.F32), n, n)
}

// ringOf is a pipeline of tiles of 64 and 128 rows.
func ringOf(k *dsl.Kernel) (p *dsl.Pipeline, a, b *dsl.TensorMap) {
	a = k.TensorMap("a", isa.Bf16, dsl.Box{Rows: 64, Cols: 64}, dsl.Swizzle128)
	b = k.TensorMap("b", isa.Bf16, dsl.Box{Rows: 128, Cols: 64}, dsl.Swizzle128)
	return k.Pipeline("p", 4, a.Feed(), b.Feed()), a, b
}

// TestEnds holds that loops which end in one way or another, and code that is reached, are taken for what they are.
func TestEnds(t *testing.T) {
	for name, build := range map[string]func(m *dsl.Module, k *dsl.Kernel){
		"break":  func(_ *dsl.Module, k *dsl.Kernel) { k.Loop(func() { k.If(k.Lane().EQI(0), k.Break) }) },
		"return": func(_ *dsl.Module, k *dsl.Kernel) { k.Loop(func() { k.ReturnIf(k.Clock().GTI(9)) }) },
		"trap":   func(_ *dsl.Module, k *dsl.Kernel) { k.Loop(func() { k.If(k.Lane().EQI(0), k.Trap) }) },
		"by hand": func(_ *dsl.Module, k *dsl.Kernel) {
			k.Loop(func() { k.When(k.Lane().EQI(0), func() { k.Ins("exit") }) })
		},
		"nested":    func(_ *dsl.Module, k *dsl.Kernel) { k.Loop(func() { k.Loop(k.Break); k.Break() }) },
		"outer way": func(_ *dsl.Module, k *dsl.Kernel) { k.Loop(func() { k.Loop(func() { k.ReturnIf(k.Clock().GTI(9)) }) }) },
		"label": func(_ *dsl.Module, k *dsl.Kernel) {
			l := k.NewLabel("l")
			k.Loop(func() { k.BranchIf(k.Clock().GTI(9), l) })
			k.PlaceLabel(l)
		},
		"callee": func(m *dsl.Module, k *dsl.Kernel) {
			f := m.Func("f")
			f.If(f.Lane().EQI(0), f.Exit)
			k.Loop(func() { k.Call(f) })
		},
		"clock": func(_ *dsl.Module, k *dsl.Kernel) {
			k.While(func() dsl.Reg[dsl.Pred] { return k.Clock().LTI(1000) }, func() {})
		},
		"memory": func(_ *dsl.Module, k *dsl.Kernel) {
			x := dsl.Global[dsl.U32](k, "x")
			k.While(func() dsl.Reg[dsl.Pred] { return x.LoadI(0, dsl.Volatile).EQI(0) }, func() {})
		},
		"variable of an outer loop": func(_ *dsl.Module, k *dsl.Kernel) {
			i, n := k.U32(0).Var(), dsl.Param[dsl.U32](k, "n")
			k.While(func() dsl.Reg[dsl.Pred] { return i.LT(n) }, func() {
				k.If(k.Lane().EQI(0), func() { i.Set(i.AddI(2)) }, func() { i.Set(i.AddI(1)) })
			})
		},
		"counter": func(_ *dsl.Module, k *dsl.Kernel) {
			last := k.U32(0).Var()
			k.While(func() dsl.Reg[dsl.Pred] { return last.LTI(8) }, func() {
				for i := range k.RangeI(0, 4) {
					last.Set(last.Add(i))
				}
			})
		},
		"waits by hand": func(_ *dsl.Module, k *dsl.Kernel) {
			x, s := dsl.Global[dsl.F32](k, "x"), dsl.Shared[dsl.F32](k, "s", 64)
			k.If(k.TID().X.EQI(0), func() {
				x.BulkStore(s, k.U32(64))
				k.Ins("cp.async.bulk.commit_group")
				k.Ins("cp.async.bulk.wait_group.read", 0)
			})
		},
		"half": func(_ *dsl.Module, k *dsl.Kernel) {
			b := k.NamedBarrier(256)
			k.If(k.WarpIndex().LTI(4), b.Sync, b.Arrive)
		},
		"a warp's": func(_ *dsl.Module, k *dsl.Kernel) {
			w, t := sumsOf(k, 32), k.SharedTile("t", tileOf(isa.Bf16, 16))
			k.If(k.WarpIndex().LTI(2), func() { w.MMA(t, k.U32(0), t, k.U32(0)) })
		},
	} {
		m := dsl.New("ends", "sm_90")
		build(m, m.Kernel("k", dsl.Threads(256)))
		if _, list := m.Build(); len(list) > 0 {
			t.Errorf("%s: %v", name, list)
		}
	}
}
