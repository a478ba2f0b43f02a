// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl_test

import (
	"testing"

	"github.com/ptxdsl/ptxdsl/dsl"
)

// apart are correct kernels that resemble those of races.
var apart = []wrongKernel{
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) { // each warp has its own part
		x, s, tid := dsl.Global[dsl.F32](k, "x"), dsl.Shared[dsl.F32](k, "s", 256), k.TID().X
		s.Store(tid, x.Load(tid))
		k.SyncWarp()
		x.Store(tid, s.Load(tid.XorI(31)))
	}},
	// either branch of a condition, taken by all threads
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) {
		x, s, tid, n := dsl.Global[dsl.U32](k, "x"), dsl.Shared[dsl.U32](k, "s", 256), k.TID().X,
			dsl.Param[dsl.U32](k, "n")
		s.Store(tid, n)
		k.Sync()
		k.If(n.GTI(3), func() { s.Store(tid, k.U32(1)) },
			func() { x.Store(tid, s.Load(tid.XorI(32))) })
		k.If(n.LEI(3), func() { x.Store(tid, s.Load(tid.XorI(64))) })
		k.If(x.Load(tid).EQI(3), func() { s.Store(tid, k.U32(1)) },
			func() { x.Store(tid, s.Load(tid.XorI(32))) })
	}},
	// all threads store the same value and read it
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) {
		x, s := dsl.Global[dsl.U32](k, "x"), dsl.Shared[dsl.U32](k, "s", 1)
		k.Comment("ptxdsl:ignore B8 all threads store the same value")
		s.StoreI(0, k.U32(5))
		k.Comment("ptxdsl:ignore B8 all threads store the same value")
		five := s.LoadI(0)
		x.Store(k.TID().X, five)
	}},
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) { // synchronized by a flag
		x, s, flag, tid := dsl.Global[dsl.U32](k, "x"), dsl.Shared[dsl.U32](k, "s", 1),
			dsl.Shared[dsl.U32](k, "flag", 1), k.TID().X
		k.If(tid.EQI(0), func() { flag.StoreI(0, k.U32(0)) })
		k.Sync()
		k.If(tid.EQI(0), func() {
			s.StoreI(0, x.LoadI(0))
			flag.StoreI(0, k.U32(1), dsl.Release, dsl.ScopeCTA)
		})
		k.While(func() dsl.Reg[dsl.Pred] { return flag.LoadI(0, dsl.Acquire, dsl.ScopeCTA).EQI(0) },
			func() {})
		x.Store(tid, s.LoadI(0))
	}},
	// some threads, synchronized by a named barrier
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) {
		x, s, tid := dsl.Global[dsl.U32](k, "x"), dsl.Shared[dsl.U32](k, "s", 64), k.TID().X
		b := k.NamedBarrier(64)
		k.If(k.WarpIndex().LTI(2), func() {
			s.Store(tid, x.Load(tid))
			b.Sync()
			x.Store(tid, s.Load(tid.XorI(32)))
		})
	}},
	// a copy of a variable that changes later, and a comparison that depends on the launch
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) {
		x, n := dsl.Global[dsl.U32](k, "x"), dsl.Param[dsl.U32](k, "n")
		at := n.Var()
		was := at.Var()
		at.Set(at.AddI(1))
		at.AddI(2)
		k.If(n.EQI(32), func() { x.Store(at, was) })
		for i := range k.Range(k.U32(0), k.U32(0)) {
			x.Store(i, n)
		}
	}},
}

// TestApart checks that correct kernels have no findings.
func TestApart(t *testing.T) {
	testWrong(t, "separate_test.go", apart, false)
}
