// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl_test

import (
	"testing"

	"github.com/ptxdsl/ptxdsl/dsl"
)

// races are kernels without a barrier between a store and a load, and kernels with code that never
// executes or results that are discarded.
var races = []wrongKernel{
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) {
		x, s, tid := dsl.Global[dsl.F32](k, "x"), dsl.Shared[dsl.F32](k, "s", 256), k.TID().X
		s.Store(tid, x.Load(tid))
		x.Store(tid, s.Load(k.U32(255).Sub(tid))) // want `D501: data race: thread 0 reads what thread 255 of another warp stored to s, without a barrier in between; add Sync after the store`
	}},
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) {
		x, s, tid := dsl.Global[dsl.F32](k, "x"), dsl.Shared[dsl.F32](k, "s", 257), k.TID().X
		s.Store(tid.AddI(1), x.Load(tid))
		k.Sync()
		y := s.Load(tid.AddI(1).AndI(255))
		s.Store(tid, y) // want `D501: data race: thread 32 overwrites what thread 31 of another warp reads from s, without a barrier in between; add Sync after the read`
		k.Sync()
		x.Store(tid, s.Load(tid))
	}},
	// bit reversal and other pure integer instructions
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) {
		x, s, tid := dsl.Global[dsl.U32](k, "x"), dsl.Shared[dsl.U32](k, "s", 256), k.TID().X
		s.Store(tid.Reverse().ShrI(24), tid)
		x.Store(tid, s.Load(tid)) // want `D501: data race: thread 1 reads what thread 128 of another warp stored to s, without a barrier in between; add Sync after the store`
	}},
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) {
		s, tid := dsl.Shared[dsl.U32](k, "s", 256), k.TID().X
		s.Store(tid.Reverse().ShrI(23), tid) // want `D301: out of bounds: thread 1 accesses byte 1024 of s, which has 1024`
	}},
	// a store under a data-dependent condition, and an atomic ticket
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) {
		x, s, tid := dsl.Global[dsl.U32](k, "x"), dsl.Shared[dsl.U32](k, "s", 2), k.TID().X
		k.If(tid.EQI(0), func() { s.StoreI(0, x.Atomic("add", k.U32(0), k.U32(1))) })
		k.Sync()
		n := s.LoadI(0)
		k.If(k.WarpIndex().EQI(0), func() {
			k.If(n.NEI(0), func() { s.StoreI(1, n) }, func() { s.StoreI(1, k.U32(7)) })
		})
		x.Store(tid.AddI(1), n.Add(s.LoadI(1))) // want `D501: data race: thread 32 reads what thread 0 of another warp stored to s, without a barrier in between; add Sync after the store`
	}},
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) { // in a loop, in the same iteration
		x, s, tid := dsl.Global[dsl.U32](k, "x"), dsl.Shared[dsl.U32](k, "s", 256), k.TID().X
		for i := range k.Range(k.U32(0), dsl.Param[dsl.U32](k, "n")) {
			k.Sync()
			s.Store(tid, i)
			x.Store(tid, s.Load(tid.XorI(32))) // want `D501: data race: thread 0 reads what thread 32 of another warp stored to s, without a barrier in between; add Sync after the store`
		}
	}},
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) {
		x, n := dsl.Global[dsl.U32](k, "x"), dsl.Param[dsl.U32](k, "n")
		k.If(k.Lane().EQI(32), func() { x.StoreI(0, n) })         // want `D501: condition is never true: no thread of the block has the value 32 here`
		k.If(k.TID().X.AndI(4).EQI(1), func() { x.StoreI(1, n) }) // want `D501: condition is never true: no thread of the block has the value 1 here`
		for i := range k.Range(n, k.U32(0)) {                     // want `D501: loop never runs: it counts up to 0; the first argument is the start, the second the exclusive end`
			x.Store(i, n)
		}
	}},
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) {
		x, n := dsl.Global[dsl.U32](k, "x"), dsl.Param[dsl.U32](k, "n")
		count, at := k.U32(0).Var(), n.Var()
		for i := range k.Range(k.U32(0), n) {
			k.If(x.Load(i).GTI(3), func() { count.AddI(1) }) // want `D501: result of add on a variable that is never assigned is unused: operations return a new value, so assign the result with Set`
			at.AddI(1).And(n)                                // want `D501: result of and on a variable that is never assigned is unused: operations return a new value, so assign the result with Set`
		}
		x.Store(at, count)
	}},
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) {
		x, n := dsl.Global[dsl.U64](k, "x"), dsl.Param[dsl.U32](k, "n")
		x.CompareAndSwap(n, k.U64(0), x.Load(n, dsl.NC)) // want `D301: NC load of x, which the kernel writes, may return stale data; leave NC out`
	}},
}

// TestRaces checks the findings about races.
func TestRaces(t *testing.T) { testWrong(t, "races_test.go", races, false) }
