// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl_test

import (
	"reflect"
	"regexp"
	"runtime/debug"
	"testing"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/dsl/op"
	"github.com/ptxdsl/ptxdsl/isa"
)

// TestStrays calls every method of zero and nil kernels, functions and modules. None panics, and
// zero values report that they are zero values.
func TestStrays(t *testing.T) {
	k := dsl.New("m", "sm_100a").Kernel("k", dsl.Threads(256))
	some := &stranger{pool: make(map[reflect.Type][]reflect.Value)}
	some.know(k)
	some.seed(k)
	for _, stray := range []func() any{
		func() any { return (*dsl.Kernel)(nil) }, func() any { return new(dsl.Kernel) },
		func() any { return (*dsl.Module)(nil) }, func() any { return new(dsl.Module) },
		func() any { return new(dsl.Func) },
		func() any { return &dsl.Func{Kernel: new(dsl.Kernel)} },
	} {
		x := stray()
		for i := range reflect.TypeOf(x).NumMethod() {
			// a new value for each call, and one value for all
			some.nothing(t, reflect.ValueOf(stray()), i)
			some.nothing(t, reflect.ValueOf(x), i)
		}
	}
}

// strayCalls returns calls of all functions that take a kernel, a function or a module.
func strayCalls(k *dsl.Kernel, f *dsl.Func, m *dsl.Module) []func() {
	other := dsl.New("other", "sm_90").Func("f")
	return []func(){
		func() { dsl.Global[dsl.F32](k, "x").Load(k.TID().X) },
		func() { dsl.Shared[dsl.F32](k, "s", 4).StoreI(0, k.F32(1)) },
		func() { dsl.DynamicShared[dsl.F32](k, "s") },
		func() { dsl.Local[dsl.F32](k, "l", 4) },
		func() { dsl.Param[dsl.U32](k, "n").AddI(1) },
		func() { dsl.Struct[struct{ N dsl.Reg[dsl.U32] }](k, "s") },
		func() { dsl.FloatParam(k, "x", isa.F16).Load(k.U32(0)) },
		func() { dsl.CallParam[dsl.U32](k, "a") },
		func() { dsl.NewByte(k) },
		func() { dsl.NewReg[dsl.F16](k).Neg() },
		func() { dsl.Const[dsl.U8](k, 3) },
		func() { dsl.ConstF[dsl.F16](k, 3) },
		func() { dsl.Special[dsl.U32](k, "%laneid") },
		func() { dsl.Result[dsl.U32](k, "mov.u32", 1) },
		func() { dsl.NewWarpTile[dsl.F32](k, dsl.MMAFor(isa.F16, isa.F32), 16, 8) },
		func() { dsl.Call[dsl.F32](k, f, k.F32(1)) },
		func() { dsl.Call[dsl.F32](k, nil) },
		func() { dsl.Call[dsl.F32](k, other) },
		func() { k.Call(f) },
		func() { k.Call(other) },
		func() { k.Ins("call", f) },
		func() { k.CallTargets(f, nil, other) },
		func() { dsl.Arg[dsl.F32](f, "x") },
		func() { dsl.ReturnValue(f, k.F32(1)) },
		func() { dsl.GlobalVariable[dsl.F32](m, "v", 4).In(k).LoadI(0) },
		func() { dsl.ConstantVariable[dsl.F32](m, "t", 1, 2).In(k).LoadI(0) },
		func() { dsl.Variable[dsl.F32]{}.In(k) },
		func() { op.On(k).Bar().Sync().Do(0) },
		func() { op.On(k).Mov().U32().Do(k.U32(1).Var(), 1) },
		func() {
			for _, option := range []dsl.KernelOption{dsl.Threads(32), dsl.MaxThreads(32),
				dsl.MinBlocks(2), dsl.MaxRegs(32), dsl.Cluster(2)} {
				option(k)
			}
			for _, option := range []dsl.Option{dsl.LineInfo(), dsl.Version("8.6"),
				dsl.IndependentSamplers()} {
				option(m)
			}
		},
	}
}

// TestStrayCalls passes zero and nil values to every function of strayCalls: new values for each
// call, and the same values for all.
func TestStrayCalls(t *testing.T) {
	strays := func(i int) (*dsl.Kernel, *dsl.Func, *dsl.Module) {
		return []*dsl.Kernel{nil, new(dsl.Kernel)}[i%2],
			[]*dsl.Func{nil, new(dsl.Func), {Kernel: new(dsl.Kernel)}}[i%3],
			[]*dsl.Module{nil, new(dsl.Module)}[i%2]
	}
	for i := range 6 {
		all := strayCalls(strays(i))
		for n := range all {
			for _, call := range []func(){strayCalls(strays(i))[n], all[n]} {
				func() {
					defer func() {
						if r := recover(); r != nil {
							t.Errorf("call %d with strays %d: %v\n%s", n, i, r, debug.Stack())
						}
					}()
					call()
				}()
			}
		}
	}
}

// TestStrayFindings checks that a zero value is reported, also by the kernel or module that uses
// it.
func TestStrayFindings(t *testing.T) {
	for _, c := range []struct {
		name, want string
		// returns the module with the finding
		build func(m *dsl.Module, k *dsl.Kernel) *dsl.Module
	}{
		{"module", "D101 Module is a zero value without a target",
			func(*dsl.Module, *dsl.Kernel) *dsl.Module {
				m := new(dsl.Module)
				k := m.Kernel("k", dsl.Threads(32))
				dsl.Global[dsl.F32](k, "x").Store(k.TID().X, k.F32(1))
				return m
			}},
		{"kernel", "D103 Kernel is a zero value", func(*dsl.Module, *dsl.Kernel) *dsl.Module {
			k := new(dsl.Kernel)
			dsl.Global[dsl.F32](k, "x").Store(k.TID().X, k.F32(1))
			return k.Module()
		}},
		{"condition", "D203 value of kernel k is used in a zero Kernel",
			func(m *dsl.Module, k *dsl.Kernel) *dsl.Module {
				var nothing *dsl.Kernel
				nothing.If(k.Lane().LTI(3), func() {})
				return m
			}},
		{"address", "D203 address of kernel k is used in a zero Kernel",
			func(m *dsl.Module, k *dsl.Kernel) *dsl.Module {
				new(dsl.Kernel).Ins("st.global.u32", dsl.Global[dsl.U32](k, "x").Addr(), 1)
				return m
			}},
		{"variable", "D203 variable v of another module is used in stray",
			func(m *dsl.Module, _ *dsl.Kernel) *dsl.Module {
				dsl.GlobalVariable[dsl.U32](m, "v", 1).In(nil)
				return m
			}},
		{"function", "D303 called Func is a zero value, not created by a builder call",
			func(m *dsl.Module, k *dsl.Kernel) *dsl.Module {
				k.Call(new(dsl.Func))
				return m
			}},
		{"result",
			"D303 ReturnValue is called on a Func that is a zero value, not created by a builder call",
			func(m *dsl.Module, k *dsl.Kernel) *dsl.Module {
				dsl.ReturnValue(nil, k.F32(1))
				return m
			}},
	} {
		m := dsl.New("m", "sm_90")
		_, list := c.build(m, m.Kernel("k", dsl.Threads(32))).Build()
		if !finds(list, regexp.MustCompile(c.want)) {
			t.Errorf("%s: %v\nnot: %s", c.name, list, c.want)
		}
	}
}

// finds reports whether a finding of this file is among them.
func finds(list diag.List, want *regexp.Regexp) bool {
	for _, d := range list {
		if want.MatchString(d.Rule+" "+d.Message) && d.Place.File == "zerovalue_test.go" {
			return true
		}
	}
	return false
}
