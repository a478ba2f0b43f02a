// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package trial is what an example's kernel is tried with on a device: random numbers, and comparisons with what a reference makes of
// the same numbers.
package trial

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/runtime"
)

// A T is a device and a source of numbers.
type T struct {
	Device *runtime.Device
	Rand   *rand.Rand
	Notes  []string // what is worth telling beside success
	// Worst is the largest error that Holds has met, as a part of what it takes the tolerance times.
	Worst float64
	// Edit, where it is not nil, is done to every module before it is loaded.
	Edit func(*dsl.Module) error
	// Work bounds the sizes that are tried, where it is not zero: for devices that are slow.
	Work int
}

// SmallWork is a bound on sizes with which an emulated device is done in seconds.
const SmallWork = 300_000

// Within returns the sizes of list whose work does not exceed t.Work, all of them where there is no bound.
func Within[S any](t *T, work func(S) int, list ...S) []S {
	if t.Work == 0 {
		return list
	}
	var small []S
	for _, s := range list {
		if work(s) <= t.Work {
			small = append(small, s)
		}
	}
	return small
}

// Count is the work of n elements.
func Count(n int) int { return n }

// Area is the work of a matrix.
func Area(size [2]int) int { return size[0] * size[1] }

// Note adds to the notes.
func (t *T) Note(format string, args ...any) { t.Notes = append(t.Notes, fmt.Sprintf(format, args...)) }

// ErrSkip is the error of a trial that the device cannot run.
var ErrSkip = errors.New("skipped")

// Skip is such an error.
func Skip(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrSkip, fmt.Sprintf(format, args...))
}

// Needs is a skip where the device is not from the first generation on that has something, and before another that has it no more; 0 is none.
func (t *T) Needs(what string, from, before int) error {
	if c := t.Device.Info().Capability; c < from || before > 0 && c >= before {
		return Skip("%s came with sm_%d, and this is %s", what, from, t.Target())
	}
	return nil
}

// Target is what modules for the device are built for.
func (t *T) Target() string { return t.Device.Info().Target }

// Kernel builds a module for the device, loads it, and finds a kernel.
func (t *T) Kernel(name string, build func(*dsl.Module)) (*runtime.Kernel, error) {
	m := dsl.New(name+".ptx", t.Target())
	build(m)
	loaded, err := t.Load(m)
	if err != nil {
		return nil, err
	}
	return loaded.Kernel(name)
}

// Load loads a module that has been built.
func (t *T) Load(m *dsl.Module) (*runtime.Module, error) {
	if t.Edit != nil {
		if err := t.Edit(m); err != nil {
			return nil, err
		}
	}
	return t.Device.Load(m)
}

// Floats are n random numbers in [-1, 1].
func (t *T) Floats(n int) []float32 {
	xs := make([]float32, n)
	for i := range xs {
		xs[i] = 2*t.Rand.Float32() - 1
	}
	return xs
}

// Integers are n random integers.
func (t *T) Integers(n int) []uint32 {
	xs := make([]uint32, n)
	for i := range xs {
		xs[i] = t.Rand.Uint32()
	}
	return xs
}

// BF16 is what xs is in bfloat16, and rounds xs to that.
func BF16(xs []float32) []runtime.BF16 {
	out := make([]runtime.BF16, len(xs))
	for i, x := range xs {
		out[i] = runtime.ToBF16(x)
		xs[i] = out[i].Float32()
	}
	return out
}

// F16 is what xs is in half precision, and rounds xs to that.
func F16(xs []float32) []runtime.F16 {
	out := make([]runtime.F16, len(xs))
	for i, x := range xs {
		out[i] = runtime.ToF16(x)
		xs[i] = out[i].Float32()
	}
	return out
}

// Median is how long a launch takes, the median of 30 on the device's own clock, after a tenth of a second of launches that do not count: a device
// that had nothing to do runs slower.
func (t *T) Median(launch func() error) (time.Duration, error) {
	first, e1 := t.Device.Event()
	last, e2 := t.Device.Event()
	if err := errors.Join(e1, e2); err != nil {
		return 0, err
	}
	var list []time.Duration
	for begin := time.Now(); len(list) < 30; {
		warm := time.Since(begin) > time.Second/10
		if err := errors.Join(first.Record(nil), launch(), last.Record(nil), last.Sync()); err != nil {
			return 0, err
		}
		took, err := last.Since(first)
		if err != nil {
			return 0, err
		}
		if warm {
			list = append(list, took)
		}
	}
	slices.Sort(list)
	return list[len(list)/2], errors.Join(first.Close(), last.Close())
}
