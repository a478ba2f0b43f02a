// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl_test

import (
	"testing"

	"github.com/ptxdsl/ptxdsl/dsl"
)

// dropped are kernels whose reductions lose the values of some lanes, and kernels with unused
// results.
var dropped = []wrongKernel{
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		x := dsl.Global[dsl.F32](k, "x")
		v := x.Load(k.TID().X)
		v = v.WarpReduce(func(a, _ f32) f32 { return a.Add(a) }) // want `D501: combine function of WarpReduce ignores its second argument, so the result does not depend on all lanes`
		// neither associative nor a mistake that is reported
		v = v.WarpReduce(func(a, b f32) f32 { return a.Add(b).Sub(a.Mul(b)) })
		v = v.WarpScan(func(a, b f32) f32 { return b })                     // want `D501: combine function of WarpScan ignores its first argument, so the result does not depend on all lanes`
		v = v.WarpScan(func(a, b f32) f32 { return a.Sub(b) })              // want `D501: combine function of WarpScan uses sub, which is not associative; use an operation such as add, max or bitwise or`
		v = dsl.BlockReduce(v, "s", func(a, b f32) f32 { return b.Div(a) }) // want `D501: combine function of WarpReduce uses div, which is not associative; use an operation such as add, max or bitwise or`
		v = dsl.BlockReduce(v, "t", func(a, b f32) f32 { return a })        // want `D501: combine function of WarpReduce ignores its second argument, so the result does not depend on all lanes`
		// uses both operands
		v = dsl.BlockReduce(v, "u", func(a, b f32) f32 { return a.Add(b) })
		// so does this one
		v = v.WarpReduce(func(a, b f32) f32 { return dsl.Select(a.LT(b), b, a) })
		// and this one
		v = v.WarpReduce(func(a, b f32) f32 { return dsl.Select(a.LT(b), a, b) })
		// a reduction of a constant
		v = k.F32(1).WarpReduce(func(a, b f32) f32 { return a.Add(b) }).Add(v)
		x.Store(k.TID().X, v)
	}},
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		x, n := dsl.Global[dsl.F32](k, "x"), dsl.Param[dsl.U32](k, "n")
		sum, most := k.F32(0).Var(), k.F32(0).Var()
		for i := range k.GridStride(n) {
			v := x.Load(i)
			sum.Add(v) // want `D501: result of add is unused: operations return a new value and do not modify their operands; keep it with Set or Store`
			most.Set(most.Max(v))
			most.Max(v).Mul(v) // want `D501: result of mul is unused: operations return a new value and do not modify their operands; keep it with Set or Store`
			i.AddI(1)          // an unused index
		}
		x.Store(k.TID().X, sum.Add(most))
	}},
}

// TestDropped builds the kernels of dropped, which pass the form checks.
func TestDropped(t *testing.T) {
	testWrong(t, "combine_test.go", dropped, false)
}

// TestBuildTwice requests the findings of a module twice, including two findings on one line.
func TestBuildTwice(t *testing.T) {
	m := dsl.New("m", "sm_90")
	k := m.Kernel("k", dsl.Threads(256))
	x := dsl.Global[dsl.F32](k, "x")
	for range 2 {
		x.Load(k.TID().X).Add(x.Load(k.TID().X)) // a warning, twice on one line
	}
	_, first := m.Build()
	if len(first) != 1 || first.Errors() != 0 {
		t.Fatalf("%d findings, %d errors; one doubt is expected: %v", len(first), first.Errors(),
			first)
	}
	if _, err := m.Text(); err != nil {
		t.Errorf("Text behind Build: %v", err)
	}
	_, again := m.Build()
	if len(first) != 1 || len(again) != 1 || first[0].Message != again[0].Message ||
		first[0].Message == "" {
		t.Errorf("asked again, it is %v, and was %v", again, first)
	}
}
