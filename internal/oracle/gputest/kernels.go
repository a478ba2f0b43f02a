// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package gputest

import (
	"fmt"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/runtime"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// kernels returns a module of small kernels for the checks of the runtime.
func kernels(target string) *dsl.Module {
	m := dsl.New("kernels", target)
	m.Kernel("empty", dsl.Threads(32))

	k := m.Kernel("add", dsl.Threads(256))
	a, b, c := dsl.Global[dsl.F32](k, "a"), dsl.Global[dsl.F32](k, "b"), dsl.Global[dsl.F32](k, "c")
	n := dsl.Param[dsl.U32](k, "n")
	i := k.CTAID().X.Mad(k.NTID().X, k.TID().X)
	k.If(i.LT(n), func() { c.Store(i, a.Load(i).Add(b.Load(i))) })

	k = m.Kernel("increment", dsl.Threads(256))
	x := dsl.Global[dsl.U32](k, "x")
	n, by := dsl.Param[dsl.U32](k, "n"), dsl.Param[dsl.U32](k, "by")
	for i := range k.GridStride(n) {
		x.Store(i, x.Load(i).Add(by))
	}

	k = m.Kernel("double", dsl.Threads(1))
	wide := dsl.Global[dsl.F32](k, "x")
	four := wide.LoadFirstVec(4)
	for i := range four {
		four[i] = four[i].Add(four[i])
	}
	wide.StoreFirstVec(four)

	// a kernel that reads parameters of every type
	k = m.Kernel("mixed", dsl.Threads(1))
	out := dsl.Global[dsl.F64](k, "out")
	p8, p16, p32 := dsl.Param[dsl.U8](k, "b"), dsl.Param[dsl.S16](k, "h"),
		dsl.Param[dsl.S32](k, "i")
	p64, f32, f64 := dsl.Param[dsl.U64](k, "l"), dsl.Param[dsl.F32](k, "f"),
		dsl.Param[dsl.F64](k, "d")
	out.StoreI(0, dsl.To[dsl.F64](dsl.To[dsl.U32](p8)))
	out.StoreI(1, dsl.To[dsl.F64](dsl.To[dsl.S32](p16)))
	out.StoreI(2, dsl.To[dsl.F64](p32))
	out.StoreI(3, dsl.To[dsl.F64](p64))
	out.StoreI(4, dsl.To[dsl.F64](f32))
	out.StoreI(5, f64)

	k = m.Kernel("spin", dsl.Threads(1))
	clocks := dsl.Param[dsl.U64](k, "clocks")
	start := k.Clock()
	k.While(func() dsl.Reg[dsl.Pred] { return k.Clock().Sub(start).LT(clocks) }, func() {})
	return m
}

// invalidStore returns a module whose kernel writes to an invalid address.
func invalidStore(target string) *dsl.Module {
	m := dsl.New("wild", target)
	k := m.Kernel("wild", dsl.Threads(32))
	x := dsl.Global[dsl.U32](k, "x")
	at := dsl.Param[dsl.U64](k, "at")
	x.At64(at).StoreI(0, k.U32(1))
	return m
}

// load loads the module of small kernels and returns one of them.
func (t *T) load(name string) (*runtime.Kernel, error) {
	m, err := t.Device.Load(kernels(t.Device.Info().Target))
	if err != nil {
		return nil, err
	}
	return m.Kernel(name)
}

// compareNear compares results. The tolerance is relative for values above one, and absolute
// below.
func compareNear(t *T, what string, got, want []float32, tolerance float64) error {
	if tolerance == 0 {
		return kerneltest.Equal(t.T, what, got, want)
	}
	return kerneltest.Compare(t.T, what, got, want,
		kerneltest.Abs(tolerance/2).Plus(kerneltest.Rel(tolerance/2)))
}

// roundToBF16 rounds xs in place and returns the elements as BF16.
func roundToBF16(xs []float32) []runtime.BF16 {
	out := make([]runtime.BF16, len(xs))
	for i, x := range xs {
		out[i] = runtime.ToBF16(x)
		xs[i] = out[i].Float32()
	}
	return out
}

// want returns an error if ok is false.
func want(ok bool, format string, args ...any) error {
	if ok {
		return nil
	}
	return fmt.Errorf(format, args...)
}
