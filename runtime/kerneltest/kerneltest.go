// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package kerneltest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/runtime"
)

// A T runs the checks of a kernel on one device.
type T struct {
	Device *runtime.Device
	Rand   *rand.Rand // source of random inputs, with a fixed seed
	// Budget limits the sizes that Sizes and Lengths return. Zero means no limit.
	Budget int
	// Edit, if not nil, is applied to each module before it is loaded. It returns the module to
	// load.
	Edit func(m *dsl.Module) (runtime.Source, error)
	// Keep records all computed elements in Result.All, to compare them with those of another
	// device.
	Keep bool

	notes   []string
	results []Result
	loaded  map[string]loadedModule // by PTX
}

// EmulatorBudget is a Budget with which a check takes a few seconds in the emulator.
const EmulatorBudget = 70_000

// New returns a T for a device. If the device is emulated, Budget is EmulatorBudget.
func New(d *runtime.Device) *T {
	t := &T{Device: d, Rand: rand.New(rand.NewPCG(1, 2))}
	if d.Info().Emulated {
		t.Budget = EmulatorBudget
	}
	return t
}

// Target returns the target for which modules are built, such as sm_90a.
func (t *T) Target() string { return t.Device.Info().Target }

// Kernel returns a kernel of the module that Module returns.
func (t *T) Kernel(name string, build func(*dsl.Module)) (*runtime.Kernel, error) {
	loaded, err := t.Module(name+".ptx", build)
	if err != nil {
		return nil, err
	}
	return loaded.Kernel(name)
}

// Module builds a module for the target and loads it. If an earlier call has loaded the same
// module, Module returns that one, so that a check that runs a kernel for several sizes analyzes
// and decodes it once. Variables of the module then keep their values. With Edit, each call loads
// a module.
func (t *T) Module(name string, build func(*dsl.Module)) (*runtime.Module, error) {
	// without the hazard analyzers, which take most of the time
	quick := dsl.New(name, t.Target(), dsl.SkipHazards())
	build(quick)
	text, err := quick.Text()
	if old, ok := t.loaded[text]; ok && err == nil && old.about == about(quick, old.module) {
		return old.module, nil
	}
	m := dsl.New(name, t.Target())
	build(m)
	loaded, err := t.Load(m)
	if err == nil && t.Edit == nil {
		if t.loaded == nil {
			t.loaded = make(map[string]loadedModule)
		}
		t.loaded[text] = loadedModule{loaded, about(quick, loaded)}
	}
	return loaded, err
}

// A loadedModule is a module that Module has loaded.
type loadedModule struct {
	module *runtime.Module
	about  string
}

// about returns what launches of the kernels of loaded read from m besides the PTX.
func about(m *dsl.Module, loaded *runtime.Module) string {
	var b strings.Builder
	for _, name := range loaded.Kernels() {
		bytes, _ := m.DynamicShared(name)
		fmt.Fprintln(&b, name, bytes)
		kernel, err := loaded.Kernel(name)
		if err != nil {
			continue
		}
		for _, p := range kernel.Params() {
			element, _ := m.Element(name, p.Name)
			boxElement, sizes, pixels, swizzle, _ := m.Box(name, p.Name)
			fmt.Fprintln(&b, p.Name, element, boxElement, sizes, pixels, swizzle)
		}
	}
	return b.String()
}

// Load loads a module, after Edit.
func (t *T) Load(m *dsl.Module) (*runtime.Module, error) {
	var source runtime.Source = m
	if t.Edit != nil {
		var err error
		if source, err = t.Edit(m); err != nil {
			return nil, err
		}
	}
	return t.Device.Load(source)
}

// ErrSkip is the error of a check that the device cannot run.
var ErrSkip = errors.New("skipped")

// Skip returns an error that wraps ErrSkip, with the reason as its text.
func Skip(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrSkip, fmt.Sprintf(format, args...))
}

// Needs returns an error that wraps ErrSkip if the device lacks a feature that was introduced with
// compute capability from (such as 90 for sm_90) and removed in before. A before of 0 means that
// the feature was not removed.
func (t *T) Needs(feature string, from, before int) error {
	c := t.Device.Info().Capability
	switch {
	case c < from:
		return Skip("%s requires sm_%d or later, and the device is %s", feature, from, t.Target())
	case before > 0 && c >= before:
		return Skip("%s exists only before sm_%d, and the device is %s", feature, before,
			t.Target())
	}
	return nil
}

// Sizes returns the sizes whose cost is within t.Budget, so that the same list can be used for
// the emulator and for a GPU. cost should return about the number of elements that a launch
// computes. The first size is always included.
func Sizes[S any](t *T, cost func(S) int, list ...S) []S {
	var within []S
	for i, s := range list {
		if i == 0 || t.Budget == 0 || cost(s) <= t.Budget {
			within = append(within, s)
		}
	}
	return within
}

// Lengths returns the lengths that do not exceed t.Budget. The first one is always included.
func (t *T) Lengths(list ...int) []int {
	return Sizes(t, func(n int) int { return n }, list...)
}

// Note adds a line to the printed results.
func (t *T) Note(format string, args ...any) {
	t.notes = append(t.notes, fmt.Sprintf(format, args...))
}

// Notes returns the lines that Note added.
func (t *T) Notes() []string { return t.notes }

// Results returns the results of all comparisons so far.
func (t *T) Results() []Result { return t.results }
