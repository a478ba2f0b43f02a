// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl_test

import (
	"strings"
	"testing"

	"github.com/ptxdsl/ptxdsl/dsl"
)

// TestPaths builds correct kernels that resemble the mistakes in wrongWays.
func TestPaths(t *testing.T) {
	m := dsl.New("ways", "sm_90")
	f, g := m.Func("f"), m.Func("g")
	x := dsl.Arg[dsl.U32](f, "x")
	g.If(dsl.Arg[dsl.U32](g, "x").EQI(0), func() { dsl.ReturnValue(g, g.U32(1)) },
		func() { dsl.ReturnValue(g, g.U32(2)) })
	dsl.ReturnValue(f, dsl.Call[dsl.U32](f.Kernel, g, x))

	k := m.Kernel("k", dsl.MaxThreads(256), dsl.MinBlocks(8))
	out := dsl.Global[dsl.U32](k, "out")
	p := k.TID().X.LTI(7)
	guarded, branched, ended, looped := dsl.NewReg[dsl.U32](k), dsl.NewReg[dsl.U32](k),
		dsl.NewReg[dsl.U32](k), dsl.NewReg[dsl.U32](k)
	k.When(p, func() { guarded.Set(k.U32(1)) })
	k.If(p, func() { branched.Set(k.U32(2)) })
	k.When(p, func() { out.StoreI(0, guarded) })
	k.If(p, func() { out.StoreI(1, branched) })
	k.If(k.CTAID().X.LTI(7), func() { ended.Set(k.U32(3)) }, k.Return)
	out.StoreI(2, ended)
	k.Loop(func() {
		looped.Set(out.LoadI(3))
		k.BreakIf(looped.EQI(0))
	})
	out.StoreI(3, looped)
	k.If(k.WarpIndex().LTI(2), func() { k.Ins("bar.sync", 1, 64) })
	k.If(k.WarpIndex().LTI(4), func() { k.NamedBarrier(128).Sync() })
	out.Reduce("add", k.U32(4), k.U32(1))
	out.Store(k.TID().X.Var().Named("tid"), dsl.Call[dsl.U32](k, f, k.U32(0)))
	text, err := m.Text()
	if err != nil {
		t.Fatal(err)
	}
	if callee, caller := strings.Index(text, ") g("), strings.Index(text, ") f("); callee < 0 ||
		callee > caller {
		t.Errorf("g must precede f, which calls it:\n%s", text)
	}
	for _, want := range []string{"bar.sync 1, 64;", "bar.sync 2, 128;",
		"red.relaxed.gpu.global.add.u32 [%out+16], 1;", "%tid_value"} {
		if !strings.Contains(strings.Join(strings.Fields(text), " "), want) {
			t.Errorf("%q is missing:\n%s", want, text)
		}
	}
}
