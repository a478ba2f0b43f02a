// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"slices"
	"strings"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/lower"
)

// A Module is a set of kernels and device functions for one target: what becomes one PTX file. It is
// built by one goroutine; several modules may be built at once.
type Module struct {
	ir      *ir.Module
	binder  *ir.Binder
	calls   calls
	faults  diag.List
	names   map[string]bool // of the module
	lines   bool
	verify  bool
	kernels []*Kernel
	built   bool
	sealed  bool // what is added now is lost
	stray   bool // New did not make it
	// spellings are the opcodes that were written out.
	spellings spellings
}

// An Option changes how a Module is built.
type Option func(*Module)

// Lines asks for .file and .loc lines that lead debuggers and profilers to the Go source.
func Lines() Option { return func(m *Module) { m.sound().lines = true } }

// Verify makes Build follow the ways that threads take through each kernel, and hold barriers, copies, fences and tensor memory against the
// rules of the PTX manual, as ptxdsl verify does for text. It takes some tenths of a second for a large kernel.
func Verify() Option { return func(m *Module) { m.sound().verify = true } }

// Version asks for a PTX version, such as "8.6", instead of the smallest that holds what the module uses.
func Version(version string) Option {
	return func(m *Module) {
		m = m.sound()
		v, err := isa.ParseVersion(version)
		if err != nil || !v.Known() {
			m.fault(&ruleTarget, "%q is no PTX version that the instruction set knows; the newest is %s", version, isa.Newest())
			return
		}
		m.ir.Version = v
		if v < isa.MakeVersion(2, 3) {
			m.ir.Bits = 0 // .address_size came with PTX 2.3
		}
	}
}

// New starts a module for a target, such as "sm_90a".
func New(name, target string, options ...Option) *Module {
	m := new(Module)
	m.start(name, target, options)
	return m
}

// start makes m a module for a target.
func (m *Module) start(name, target string, options []Option) {
	m.ir, m.names = &ir.Module{Name: name, Bits: 64}, make(map[string]bool)
	m.ir.Source = &m.calls
	t, ok := isa.ParseTarget(target)
	if !ok {
		var names []string
		for _, info := range isa.Targets {
			names = append(names, info.Name)
		}
		hint := ""
		if near := diag.Nearest(target, names); near != "" {
			hint = "; did you mean " + near + "?"
		}
		m.fault(&ruleTarget, "%q is no target%s", target, hint)
		t, _ = isa.ParseTarget("sm_100a")
	}
	m.ir.Target = t
	for _, option := range options {
		if option != nil {
			option(m)
		}
	}
	m.binder = ir.NewBinder(m.version(), t)
}

// version is the newest PTX version whose forms the module may use.
func (m *Module) version() isa.Version {
	if v := m.ir.Version; v != 0 {
		return v
	}
	return isa.Newest()
}

// Name is the name that New was given.
func (m *Module) Name() string { return m.sound().ir.Name }

// Target is the target of the module: "sm_90a".
func (m *Module) Target() string { return m.sound().ir.Target.String() }

// Has reports whether the module's target has what came with an architecture: Has(80) for cp.async,
// Has(90) for bulk copies. One kernel source can serve several targets so.
func (m *Module) Has(number int) bool { return m.sound().ir.Target.Info().Number >= number }

// atLeast reports whether the module may use forms that came with a PTX version.
func (m *Module) atLeast(v isa.Version) bool { return m.version() >= v }

// Is reports whether the module is for one of the targets named.
func (m *Module) Is(targets ...string) bool {
	m = m.sound()
	for _, t := range targets {
		if t == m.Target() {
			return true
		}
	}
	return false
}

// Build ends the module and returns it in the terms of package ir, with everything that was found
// wrong. A module with errors must not be lowered.
func (m *Module) Build() (*ir.Module, diag.List) {
	m = m.sound()
	if !m.built {
		m.built = true
		m.finish()
		m.sealed = true
	}
	m.faults = m.faults.Sort() // which leaves out what was said of a line already
	return m.ir, slices.Clone(m.faults)
}

// Text is the module as PTX. The error, an *Error, holds every finding of Build if one is an error.
func (m *Module) Text() (string, error) {
	m = m.sound()
	built, faults := m.Build()
	if faults.Errors() > 0 {
		return "", &Error{Name: m.Name(), List: faults}
	}
	if m.lines {
		return lower.Text(built, lower.Lines()), nil
	}
	return lower.Text(built), nil
}

// Findings is everything that Build finds: what Text's error has, and besides what is no error: warnings, and with [Verify] reviews and notes. Printed
// with %v it reads as an error does; golden.Clean wants none in a test.
func (m *Module) Findings() diag.List {
	_, list := m.Build()
	return list
}

// Places tells where the lines of text come from, which is what Text gave: the author's line of Go, and those that called it.
func (m *Module) Places(text string) func(line int) (at diag.Place, from []diag.Place, ok bool) {
	m = m.sound()
	return lower.MapOf(m.ir, text).Place
}

// An Error is what kept a module from being built.
type Error struct {
	Name string
	List diag.List
}

// Error is the findings, a line each, the first ten of them.
func (e *Error) Error() string {
	const most = 10
	list := e.List
	if len(list) > most {
		list = list[:most]
	}
	var b strings.Builder
	if err := (diag.Printer{}).Print(&b, list); err != nil {
		b.WriteString(err.Error())
	}
	if left := len(e.List) - len(list); left > 0 {
		b.WriteString(e.Name + ": more findings are left out\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// claim takes a name of the module, or makes one like it that is free.
func (m *Module) claim(name string) string {
	free := unique(name, m.names)
	m.names[free] = true
	return free
}
