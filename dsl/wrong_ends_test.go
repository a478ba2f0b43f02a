// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl_test

import (
	"testing"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

// wrongEnds are infinite loops, unreachable code, barriers without a wait, and MMAs that some lanes
// do not execute.
var wrongEnds = []wrongKernel{
	// Loops without an exit.
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { k.Loop(func() {}) }}, // want `D208: infinite loop: the body has no Break, BreakIf, Return or Exit`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		k.While(func() dsl.Reg[dsl.Pred] { return k.U32(1).LTI(2) }, k.Sync) // want `D208: infinite loop: the body does not change what its condition depends on; assign to a variable with Set`
	}},
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		n, i := dsl.Param[dsl.U32](k, "n"), k.U32(0).Var()
		k.While(func() dsl.Reg[dsl.Pred] { return i.MulI(2).LT(n) }, func() { i.AddI(1) }) // want `D208: infinite loop: the body does not change what its condition depends on; assign to a variable with Set`
	}},
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		x := dsl.Global[dsl.U32](k, "x")
		flag := x.LoadI(0)
		k.While(func() dsl.Reg[dsl.Pred] { return flag.EQI(0).And(k.TID().X.LTI(3)) }, k.SyncWarp) // want `D208: infinite loop: the body does not change what its condition depends on; assign to a variable with Set`
	}},
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		k.Loop(func() { // want `D208: infinite loop: the body has no Break, BreakIf, Return or Exit`
			k.Loop(func() { k.BreakIf(k.Clock().EQI(0)) })
		})
	}},
	{"sm_90a", func(m *dsl.Module, _ *dsl.Kernel) {
		f := m.Func("f")
		dsl.ReturnValue(f, dsl.Arg[dsl.F32](f, "x"))
		f = m.Func("g")
		f.Sync()
		k := m.Kernel("q")
		k.Loop(func() { k.Call(f) }) // want `D208: infinite loop: the body has no Break, BreakIf, Return or Exit`
	}},
	// Unreachable code.
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		o := dsl.Global[dsl.U32](k, "o")
		k.Return()
		o.StoreI(0, k.U32(1)) // want `D208: unreachable code: the code before it always ends the thread or the iteration`
		o.StoreI(1, k.U32(1))
	}},
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		for i := range k.RangeI(0, 8) {
			k.Continue()
			dsl.Global[dsl.U32](k, "o").Store(i, i) // want `D208: unreachable code: the code before it always ends the thread or the iteration`
		}
		k.If(k.Lane().EQI(0), k.Trap)
		k.If(k.Lane().EQI(1), func() { k.Exit() })
		k.If(k.Lane().EQI(2), func() {
			k.Return()
			k.SyncWarp() // want `D208: unreachable code: the code before it always ends the thread or the iteration`
		})
	}},
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		l := k.NewLabel("l")
		k.Branch(l)
		k.Clock() // want `D208: unreachable code: the code before it always ends the thread or the iteration`
		k.PlaceLabel(l)
	}},
	// Named barriers.
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { k.NamedBarrier(256).Arrive() }}, // want `D501: warps arrive at named barrier 1, but no warp waits there; call Sync in the warps that must wait`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { k.NamedBarrier(128).Sync() }},   // want `D501: Sync: barrier expects 128 threads, but 256 arrive`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		b := k.NamedBarrier(64)
		k.If(k.WarpIndex().LTI(4), b.Sync) // want `D501: Sync: barrier expects 64 threads, but 128 arrive`
	}},
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		b := k.NamedBarrier(64)
		k.Roles(
			dsl.OnWarps(0, 4, "four", func(u32) { b.Sync() }), // want `D501: Sync: barrier expects 64 threads, but 128 arrive`
			dsl.OnWarps(4, 2, "two", func(u32) { b.Sync() }),
		)
	}},
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		k.If(k.Lane().EQI(0), k.NamedBarrier(256).Sync) // want `D501: divergent Sync: thread 0 of a warp executes it, but thread 1 does not; move it out of the condition`
	}},
	// Operations of all lanes of a warp.
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) {
		w, t := sumsOf(k, 32), k.SharedTile("t", tileOf(isa.Bf16, 16))
		k.If(k.Lane().LTI(16), func() { w.MMA(t, k.U32(0), t, k.U32(0)) }) // want `D501: divergent MMA: thread 0 of a warp executes it, but thread 16 does not; move it out of the condition`
	}},
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) {
		w, t := sumsOf(k, 32), k.SharedTile("t", tileOf(isa.Bf16, 16))
		k.If(k.TID().X.LTI(200), func() {
			left := w.LoadFragments(t, k.U32(0)) // want `D501: divergent LoadFragments: thread 192 of a warp executes it, but thread 200 does not; move it out of the condition`
			w.MMAFragments(left, t, k.U32(0))    // want `D501: divergent MMAFragments: thread 192 of a warp executes it, but thread 200 does not; move it out of the condition`
			t.LoadMatrices(k.Lane(), k.U32(0))   // want `D501: divergent LoadMatrices: thread 192 of a warp executes it, but thread 200 does not; move it out of the condition`
			w.MMA(t, k.U32(0), t, k.U32(32))     // want `D501: divergent MMA: thread 192 of a warp executes it, but thread 200 does not; move it out of the condition`
		})
	}},
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		t := k.SharedTile("t", tileOf(isa.Bf16, 16))
		k.If(k.Lane().LTI(8), func() {
			t.StoreMatrices(k.Lane(), k.U32(0), [4]dsl.Reg[dsl.B32]{}) // want `D201: Reg of type \.b32 is a zero value, not created by a builder call`
		})
	}},
	{"sm_90", func(m *dsl.Module, _ *dsl.Kernel) {
		k := m.Kernel("q", dsl.Threads(64), dsl.Cluster(2))
		k.If(k.WarpIndex().EQI(0), k.SyncCluster) // want `D501: deadlock: divergent SyncCluster: thread 0 executes it, but thread 32, of another warp, does not; all threads of the block must`
	}},
	// The same in roles.
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		k.Roles(
			dsl.OnWarps(0, 4, "return", func(u32) { k.ReturnIf(k.Lane().EQI(0)) }),
			dsl.OnWarps(4, 4, "vote", func(u32) {
				k.If(k.Lane().LTI(16), func() { k.Ballot(k.Lane().EQI(0)) }) // want `D501: divergent Ballot: thread 128 of a warp executes it, but thread 144 does not; move it out of the condition`
			}),
		)
	}},
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		s := dsl.Shared[dsl.F32](k, "s", 128)
		k.Roles(
			dsl.OnWarps(0, 4, "first", func(u32) { s.Store(k.TID().X, k.F32(1)) }),
			dsl.OnWarps(4, 4, "second", func(u32) {
				s.Store(k.TID().X, k.F32(1)) // want `D301: out of bounds: thread 128 accesses byte 512 of s, which has 512; an index counts elements, and If can exclude threads`
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
					k.If(k.Lane().LTI(16), func() { acc.MMA(s.Tile(a), s.Tile(b)) }) // want `D501: divergent MMA: thread 0 of a warp executes it, but thread 16 does not; move it out of the condition`
				}
			}),
		)
	}},
	// Conditions at an earlier call do not apply to a later one.
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		k.If(k.Lane().LTI(16), k.SyncWarp) // want `D501: divergent SyncWarp: thread 0 of a warp executes it, but thread 16 does not; move it out of the condition`
		k.If(k.Lane().EQI(0), func() { k.Barrier("b", 1).Arrive() })
	}},
	// Copies without a wait.
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		a := k.TensorMap("a", isa.Bf16, dsl.Box{Rows: 64, Cols: 64}, dsl.Swizzle128)
		k.If(k.TID().X.EQI(0), func() {
			a.Store(k.SharedTile("t", a.Tile()), k.U32(0), k.U32(0)) // want `D501: bulk store is never waited for: the block may exit while the TMA still reads its shared memory; call CommitStores and WaitStores in the same thread`
			k.CommitStores()
		})
	}},
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		x := k.Tensor("x", isa.F32, []int{2, 8, 32}, dsl.NoSwizzle)
		k.If(k.TID().X.EQI(0), func() {
			x.Reduce("add", k.SharedTile("t", x.Tile()), k.U32(0), k.U32(0), k.U32(0)) // want `D501: bulk store belongs to no group, so WaitStores does not wait for it; call CommitStores after it`
			k.WaitStoresRead(0)
		})
	}},
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		x, s := dsl.Global[dsl.F32](k, "x"), dsl.Shared[dsl.F32](k, "s", 64)
		k.If(k.TID().X.EQI(0), func() { x.BulkStore(s, k.U32(64)) }) // want `D501: bulk store is never waited for: the block may exit while the TMA still reads its shared memory; call CommitStores and WaitStores in the same thread`
	}},
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) {
		a := k.Matrix("a", isa.Bf16).Sized(k.U32(64), k.U32(64))
		a.CopyAsync(k.SharedTile("t", tileOf(isa.Bf16, 16)), k.U32(0)) // want `D501: asynchronous copy is never waited for; call CommitCopies, WaitCopies and Sync before the data is read`
		k.CommitCopies()
		k.Sync()
	}},
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) {
		p, a := k.AsyncPipeline("p", 3, tileOf(isa.Bf16, 16), tileOf(isa.Bf16, 16)),
			k.Matrix("a", isa.Bf16).Sized(k.U32(64), k.U32(64))
		p.Run(k.U32(4), func(step u32, s dsl.AsyncStage) { a.CopyAsync(s.Tile(0), step.MulI(64)) }, func(u32, dsl.AsyncStage) {}) // want `D501: load function of pipeline p does not write tile 1 of the stage \(64x64 \.bf16\): the MMA would read stale data`
	}},
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) {
		p, a := k.AsyncPipeline("p", 3, tileOf(isa.Bf16, 16)),
			k.Matrix("a", isa.Bf16).Sized(k.U32(64), k.U32(64))
		p.Run(k.U32(4), func(step u32, s dsl.AsyncStage) {
			a.CopyAsync(s.Tile(0), step.MulI(64))
			k.CommitCopies() // want `D501: CommitCopies is called in the load function of pipeline p, which already commits a group for each stage: the pipeline would wait for the wrong groups`
		}, func(u32, dsl.AsyncStage) {})
	}},
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { k.Barrier("b", 1).Wait(k.U32(0)) }}, // want `D501: deadlock: no thread arrives at mbarrier b, so its phase never completes; use Arrive, or ArriveExpect for copies`
	// Missing values of threads that have exited, and variables of the module.
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		k.ReturnIf(k.TID().X.GEI(100))
		k.SyncWarp()
		k.F32(1).Var().WarpSum()             // want `D501: divergent shuffle: thread 96 of a warp executes it, but thread 100 does not; move it out of the condition`
		dsl.BlockReduce(k.F32(1), "s", both) // want `D501: divergent BlockReduce: thread 96 of a warp executes it, but thread 100 does not; move it out of the condition`
	}},
	{"sm_90", func(m *dsl.Module, k *dsl.Kernel) { dsl.ConstantVariable[dsl.F32](m, "t", 1, 2).In(k).Load(k.TID().X) }}, // want `D301: out of bounds: thread 2 accesses byte 8 of t, which has 8; an index counts elements, and If can exclude threads`
	{"sm_90", func(m *dsl.Module, k *dsl.Kernel) {
		dsl.GlobalVariable[dsl.U32](m, "t", 8).In(k).Store(k.TID().X, k.U32(1)) // want `D301: out of bounds: thread 8 accesses byte 32 of t, which has 32; an index counts elements, and If can exclude threads`
	}},
	// Accumulators that no MMA writes.
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
				acc.Fill(func(*dsl.AccumulatorStage) { // want `D501: body of Fill issues no MMA into acc: Drain would read undefined values`
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

// ringOf declares a pipeline of tiles of 64 and 128 rows.
func ringOf(k *dsl.Kernel) (p *dsl.Pipeline, a, b *dsl.TensorMap) {
	a = k.TensorMap("a", isa.Bf16, dsl.Box{Rows: 64, Cols: 64}, dsl.Swizzle128)
	b = k.TensorMap("b", isa.Bf16, dsl.Box{Rows: 128, Cols: 64}, dsl.Swizzle128)
	return k.Pipeline("p", 4, a.Feed(), b.Feed()), a, b
}

// TestEnds checks that loops with an exit, and reachable code, have no findings.
func TestEnds(t *testing.T) {
	for name, build := range map[string]func(m *dsl.Module, k *dsl.Kernel){
		"break": func(_ *dsl.Module, k *dsl.Kernel) {
			k.Loop(func() { k.If(k.Clock().GTI(9), k.Break) })
		},
		"return": func(_ *dsl.Module, k *dsl.Kernel) {
			k.Loop(func() { k.ReturnIf(k.Clock().GTI(9)) })
		},
		"trap": func(_ *dsl.Module, k *dsl.Kernel) {
			k.Loop(func() { k.If(k.Lane().EQI(0), k.Trap) })
		},
		"by hand": func(_ *dsl.Module, k *dsl.Kernel) {
			k.Loop(func() { k.When(k.Lane().EQI(0), func() { k.Ins("exit") }) })
		},
		"nested": func(_ *dsl.Module, k *dsl.Kernel) {
			k.Loop(func() { k.Loop(k.Break); k.Break() })
		},
		"outer way": func(_ *dsl.Module, k *dsl.Kernel) {
			k.Loop(func() { k.Loop(func() { k.ReturnIf(k.Clock().GTI(9)) }) })
		},
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
