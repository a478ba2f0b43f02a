// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"slices"
	"strings"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/dsl/internal/callsite"
	"github.com/ptxdsl/ptxdsl/dsl/internal/source"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/lower"
)

// A Module is a set of kernels and device functions for one target. It becomes one PTX file. A
// module must be built by one goroutine; different modules can be built concurrently.
type Module struct {
	ir      *ir.Module
	binder  *ir.Binder
	calls   callsite.Calls
	faults  diag.List
	refused standIns
	names   map[string]bool // names used in the module
	lines   bool
	// skipHazards leaves out the analyzers of passes/verify.
	skipHazards bool
	kernels     []*Kernel
	built       bool
	sealed      bool // the module was built, so that instructions added now are lost
	stray       bool // not created by New
	// spellings caches the opcodes that builder calls have used.
	spellings spellings
}

// An Option changes how a Module is built.
type Option func(*Module)

// LineInfo emits .file and .loc directives, so that debuggers and profilers show the Go source.
func LineInfo() Option { return func(m *Module) { m.sound().lines = true } }

// SkipHazards makes Build and Text skip the hazard analyzers, which check each kernel for races and
// misuse of barriers, asynchronous copies, fences and tensor memory, as ptxdsl verify does. The
// checks of the builder itself still run. Such a module builds faster, and may contain hazards.
func SkipHazards() Option { return func(m *Module) { m.sound().skipHazards = true } }

// Version requests a PTX version, such as "8.6", instead of the lowest that supports the module.
func Version(version string) Option {
	return func(m *Module) {
		m = m.sound()
		v, err := isa.ParseVersion(version)
		if err != nil || !v.Known() {
			m.fault(&ruleTarget, "%q is not a known PTX version; the newest is %s", version,
				isa.Newest())
			return
		}
		m.ir.Version = v
		if v < isa.MakeVersion(2, 3) {
			m.ir.Bits = 0 // .address_size requires PTX 2.3
		}
	}
}

// New returns a module for a target, such as "sm_90a". The name appears in messages and as a
// comment in the PTX.
func New(name, target string, options ...Option) *Module {
	m := new(Module)
	m.start(name, target, options)
	return m
}

// start initializes m as a module for a target. An unknown target is reported.
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
		var fix source.Edit
		if near := diag.Nearest(target, names); near != "" {
			hint = "; did you mean " + near + "?"
			fix = source.ReplaceString(target, near)
		}
		m.fault(&ruleTarget, "%q is not a known target%s", target, hint).withFix(fix)
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

// version returns the newest PTX version whose forms the module may use: the version from the
// option Version, or else the newest known version.
func (m *Module) version() isa.Version {
	if v := m.ir.Version; v != 0 {
		return v
	}
	return isa.Newest()
}

// Name returns the name that was passed to New.
func (m *Module) Name() string { return m.sound().ir.Name }

// Target returns the target of the module, such as "sm_90a".
func (m *Module) Target() string { return m.sound().ir.Target.String() }

// Has reports whether the target has the features introduced with an architecture: Has(80) for
// cp.async, Has(90) for bulk copies. A kernel can use it to support several targets.
func (m *Module) Has(number int) bool { return m.sound().ir.Target.Info().Number >= number }

// hasVersion reports whether the module may use forms that require PTX version v.
func (m *Module) hasVersion(v isa.Version) bool { return m.version() >= v }

// Is reports whether the target of the module is one of the given targets, such as "sm_90a".
func (m *Module) Is(targets ...string) bool {
	m = m.sound()
	for _, t := range targets {
		if t == m.Target() {
			return true
		}
	}
	return false
}

// Build completes the module and returns it in the representation of package ir, with all
// findings: those of the builder and, unless [SkipHazards] is given, those of the hazard
// analyzers. Later calls return the same results. A module with errors must not be lowered to
// PTX.
func (m *Module) Build() (*ir.Module, diag.List) {
	m = m.sound()
	if !m.built {
		m.built = true
		m.finish()
		m.calls.Complete(m.faults)
		m.sealed = true
	}
	m.faults = m.faults.Sort() // Sort also drops duplicates on one line
	return m.ir, slices.Clone(m.faults)
}

// Text returns the module as PTX. If Build finds an error, Text returns an *Error that holds all
// findings.
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

// Findings returns all findings of Build: errors, which Text also returns, and warnings, reviews
// and notes. The verb %v formats the list as an error message. golden.Clean fails if any finding
// is not a note.
func (m *Module) Findings() diag.List {
	_, list := m.Build()
	return list
}

// Places returns a function that maps a line of the given text, as returned by Text, to the Go
// position that emitted it and the call stack that led there, innermost call first. ok is false
// if the position is unknown.
func (m *Module) Places(text string) func(line int) (at diag.Place, from []diag.Place, ok bool) {
	m = m.sound()
	return lower.MapOf(m.ir, text).Place
}

// An Error holds the findings of a module that could not be built.
type Error struct {
	Name string
	List diag.List
}

// Error returns the first ten findings, one per line.
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
		b.WriteString(e.Name + ": more findings are omitted\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// uniqueName reserves and returns an unused name in the module: name, or name with a numeric
// suffix.
func (m *Module) uniqueName(name string) string {
	free := unique(name, m.names)
	m.names[free] = true
	return free
}
