// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package code

import "github.com/ptxdsl/ptxdsl/dsl"

// Control shows branches and loops.
func Control(m *dsl.Module) {
	k := m.Kernel("control", dsl.Threads(256))
	y := dsl.Global[dsl.U32](k, "y")
	n, x := dsl.Param[dsl.U32](k, "n"), dsl.Param[dsl.U32](k, "x")
	t := k.TID().X

	//cuda: `if (t < n) { ... } else { ... }`
	k.If(t.LT(n), func() {
		y.Store(t, n)
	}, func() {
		y.Store(t, x)
	})

	//cuda: a short `if` that should become predicated instructions
	k.When(t.EQI(0), func() { y.StoreI(0, n) })

	//cuda: `for (unsigned i = 0; i < n; i++)`
	for i := range k.Range(k.U32(0), n) {
		y.Store(i, x)
	}

	//cuda: `for (unsigned i = t; i < n; i += 256)`
	for i := range k.RangeStep(t, n, k.U32(256)) {
		y.Store(i, x)
	}

	//cuda: `#pragma unroll` with constant bounds
	for i := range 4 {
		y.StoreI(int64(i), x)
	}

	//cuda: `#pragma unroll 1`
	for i := range k.NoUnroll(k.RangeI(0, 16)) {
		y.Store(i, x)
	}

	//cuda: `while (v > 1) v /= 2;`
	v := x.Var()
	k.While(func() pred { return v.GTI(1) }, func() { v.Set(v.ShrI(1)) })

	//cuda: `for (;;) { ...; if (v == 0) break; }`
	k.Loop(func() {
		v.Set(v.ShrI(1))
		k.BreakIf(v.EQI(0))
	})

	//cuda: `switch (x) { case 0: ...; case 1: ...; default: ... }`
	k.SwitchDefault(x, func() { y.StoreI(0, x) },
		func() { y.StoreI(1, x) },
		func() { y.StoreI(2, x) })

	//cuda: `if (t >= n) return;`
	k.ReturnIf(t.GE(n))

	//cuda: `if constexpr (kSm >= 90)`
	if m.Has(90) {
		y.StoreI(3, x)
	}

	//cuda: `__trap()`
	k.If(x.EQI(99), func() { k.Trap() })

	use(v)
}
