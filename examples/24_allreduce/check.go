// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"errors"
	"fmt"
	"math"
	"sync"
	"unsafe"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime"
	"github.com/ptxdsl/ptxdsl/runtime/emu"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// Targets are the PTX targets for which the kernel is built.
var Targets = []string{"sm_90", "sm_100"}

// Types are the supported element types.
var Types = []isa.Type{isa.F32, isa.F16, isa.Bf16}

// Check adds the vectors of two and of three emulated devices, and compares the sums with a host
// reference. Some elements are edge values. On a GPU the check is skipped, because package
// runtime does not support multicast memory of GPUs.
func Check(t *kerneltest.T) error {
	var errs []error
	for _, typ := range Types {
		errs = append(errs, checkType(t, typ, 2), checkType(t, typ, 3))
	}
	return errors.Join(errs...)
}

// Variants returns one test configuration for each type.
func Variants() []kerneltest.Variant {
	var list []kerneltest.Variant
	for _, typ := range Types {
		list = append(list, kerneltest.Variant{
			Option: "multimem all-reduce on two devices", Name: typ.String()[1:],
			Targets: Targets[:1],
			Build:   func(m *dsl.Module) { Build(m, typ) },
			Check:   func(t *kerneltest.T) error { return checkType(t, typ, 2) },
			Why:     "the sum of two elements is rounded once",
		})
	}
	return list
}

// checkType runs the check for vectors of one type.
func checkType(t *kerneltest.T, typ isa.Type, devices int) error {
	if !t.Device.Info().Emulated {
		return kerneltest.Skip("multicast memory exists only on emulated devices")
	}
	switch typ {
	case isa.F16:
		return check(t, typ, kerneltest.F16, devices)
	case isa.Bf16:
		return check(t, typ, kerneltest.BF16, devices)
	}
	return check(t, typ, kerneltest.F32, devices)
}

// check adds the vectors of several devices, and compares the sums with a host reference. The
// number of 16-byte vectors is not a multiple of the number of devices. With two devices, some
// elements are edge values. With more devices, all elements are positive: the order of the
// additions is not defined, and if all signs are equal, the error of each rounding is at most
// half a unit in the last place of the result.
func check[E runtime.Element](t *kerneltest.T, typ isa.Type, f kerneltest.Format[E],
	devices int) error {
	const vectors, blocks = 1001, 3
	n := vectors * 128 / typ.Bits()
	var backs []*emu.Device
	for i := range devices {
		d, err := emu.New(emu.Options{Number: i, Target: t.Target()})
		if err != nil {
			return err
		}
		defer d.Close()
		backs = append(backs, d)
	}
	size := int64(vectors * 16)
	vector, e1 := emu.NewMulticast(size, backs...)
	counter, e2 := emu.NewMulticast(4, backs...)
	if err := errors.Join(e1, e2); err != nil {
		return err
	}
	want := make([]float64, n)
	kernels := make([]*runtime.Kernel, devices)
	for i, d := range backs {
		zero, xs := uint32(0), kerneltest.Random(t, f.Within(0.5, 1), n)
		if devices == 2 {
			xs = kerneltest.RandomEdges(t, f, n)
		}
		for j, x := range xs {
			want[j] += flush(typ, f.Float(x))
		}
		err := errors.Join(
			d.Upload(vector.Parts[i], unsafe.Pointer(&xs[0]), size, 0, false),
			d.Upload(counter.Parts[i], unsafe.Pointer(&zero), 4, 0, false),
		)
		if err != nil {
			return err
		}
		m := dsl.New("allreduce", t.Target())
		Build(m, typ)
		loaded, err := runtime.On(d).Load(m)
		if err != nil {
			return err
		}
		if kernels[i], err = loaded.Kernel(Name(typ)); err != nil {
			return err
		}
	}
	for i, x := range want {
		want[i] = flush(typ, f.Float(f.From(x))) // too large sums become infinite
	}
	var all sync.WaitGroup
	errs := make([]error, devices)
	for i, k := range kernels {
		all.Go(func() {
			errs[i] = k.Launch(runtime.Grid(blocks), vector.Address, counter.Address,
				counter.Parts[i],
				vectors, i, devices)
		})
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	tolerance := kerneltest.Tolerance{}
	if devices > 2 {
		tolerance = f.ULPs(1)
	}
	for i, d := range backs {
		got := make([]E, n)
		if err := d.Download(unsafe.Pointer(&got[0]), vector.Parts[i], size, 0, false); err != nil {
			return err
		}
		what := fmt.Sprintf("%s, device %d of %d, %d elements", f.Name, i, devices, n)
		if err := kerneltest.Compare(t, what, f.Decode(got), want, tolerance); err != nil {
			return err
		}
	}
	return nil
}

// flush replaces subnormal F32 numbers by zero, like atomic F32 additions in global memory.
func flush(typ isa.Type, x float64) float64 {
	if typ == isa.F32 && math.Abs(x) < 0x1p-126 {
		return 0
	}
	return x
}
