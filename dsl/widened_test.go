// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl_test

import (
	"strings"
	"testing"

	"github.com/ptxdsl/ptxdsl/dsl"
)

// TestWidened checks that an index of several arrays is converted to a byte offset once, as long as
// it does not change and the conversion is on every path.
func TestWidened(t *testing.T) {
	for name, test := range map[string]struct {
		products int
		build    func(k *dsl.Kernel, x, y dsl.Array[dsl.F32], i dsl.Reg[dsl.U32])
	}{
		"one index": {1, func(k *dsl.Kernel, x, y dsl.Array[dsl.F32], i dsl.Reg[dsl.U32]) {
			y.Store(i, x.Load(i))
		}},
		"two indices": {2, func(k *dsl.Kernel, x, y dsl.Array[dsl.F32], i dsl.Reg[dsl.U32]) {
			y.Store(i.AddI(1), x.Load(i))
		}},
		"two sizes": {2, func(k *dsl.Kernel, x, y dsl.Array[dsl.F32], i dsl.Reg[dsl.U32]) {
			dsl.Global[dsl.F64](k, "z").Store(i, dsl.To[dsl.F64](x.Load(i)))
		}},
		"a variable that changes": {2,
			func(k *dsl.Kernel, x, y dsl.Array[dsl.F32], i dsl.Reg[dsl.U32]) {
				v := i.Var()
				f := x.Load(v)
				v.Set(v.AddI(32))
				y.Store(v, f)
			}},
		"a variable that changes by hand": {2,
			func(k *dsl.Kernel, x, y dsl.Array[dsl.F32], i dsl.Reg[dsl.U32]) {
				v := i.Var()
				f := x.Load(v)
				k.Ins("add.u32", v, v, 32)
				y.Store(v, f)
			}},
		"a product by hand, in a variable": {2,
			func(k *dsl.Kernel, x, y dsl.Array[dsl.F32], i dsl.Reg[dsl.U32]) {
				v := dsl.NewReg[dsl.U64](k)
				k.Ins("mul.wide.u32", v, i, 4)
				k.Ins("add.u64", v, v, 8)
				y.Store(i, k.F32(1))
			}},
		"under a guard": {2, func(k *dsl.Kernel, x, y dsl.Array[dsl.F32], i dsl.Reg[dsl.U32]) {
			k.When(i.LTI(7), func() { x.Store(i, k.F32(1)) })
			y.Store(i, k.F32(1))
		}},
		"behind a guard": {1, func(k *dsl.Kernel, x, y dsl.Array[dsl.F32], i dsl.Reg[dsl.U32]) {
			x.Store(i, k.F32(1))
			k.When(i.LTI(7), func() { y.Store(i, k.F32(1)) })
		}},
		"in a branch": {2, func(k *dsl.Kernel, x, y dsl.Array[dsl.F32], i dsl.Reg[dsl.U32]) {
			k.If(i.LTI(7), func() { x.Store(i, k.F32(1)) })
			y.Store(i, k.F32(1))
		}},
	} {
		m := dsl.New("m", "sm_90")
		k := m.Kernel("k", dsl.Threads(32))
		test.build(k, dsl.Global[dsl.F32](k, "x"), dsl.Global[dsl.F32](k, "y"), k.TID().X)
		s, err := m.Text()
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if n := strings.Count(s, "mul.wide.u32"); n != test.products {
			t.Errorf("%s: %d products, want %d\n%s", name, n, test.products, s)
		}
	}
}
