// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package annotated runs analyzers on the annotations that package dsl records: which builder
// calls the author wrote, under which conditions, and in which role. The analyzers run when a
// module is built. They do not trace paths through the kernel, and their findings have the
// position of a builder call. Kernels lifted from PTX have no annotations and are skipped.
package annotated

import (
	"fmt"
	"slices"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/passes/analysis/thread"
)

// An Analyzer detects one kind of mistake. It is a static value.
type Analyzer struct {
	Name string
	Doc  string // what the analyzer reports, and what it cannot detect
	// Rules lists the rules of package annotated that the analyzer reports.
	Rules []*diag.Rule
	// Replaces lists the rules of hazard analyzers that report the same mistakes, with less detail.
	Replaces []string
	// Final is set if the analyzers after this one skip a kernel in which this one reports an
	// error, because their findings may be consequences of the error.
	Final bool
	// Late is set if the analyzer runs only if no error was found before, because its findings
	// may be consequences of an error.
	Late bool
	Run  func(*Pass)
}

// A Finding is a diagnostic whose position has not been resolved to a source line yet.
type Finding struct {
	Pos ir.Pos
	diag.Diagnostic
	Replaces []string // copied from the analyzer
	Repair   Repair
}

// A Repair is a change to the builder call of a finding that removes the finding.
type Repair struct {
	Kind RepairKind
	Name string // the argument to drop, for DropArgument
}

// A RepairKind is a way to change a builder call.
type RepairKind byte

// The kinds of repairs.
const (
	// several changes are possible, or the call is not the place to change
	NoRepair     RepairKind = iota
	AssignResult            // assign the result of the operation to the variable
	DropArgument            // remove an argument
)

// A Pass is the state of one kernel while analyzers check it.
type Pass struct {
	Module *ir.Module
	Func   *ir.Func
	Notes  *ir.Annotations
	// Analyzer is the analyzer that is running.
	Analyzer *Analyzer
	list     *[]Finding
	first    int // index of the first finding of the kernel
	eval     *thread.Eval
}

// Run runs the analyzers on every kernel and function of m that has annotations.
func Run(m *ir.Module, list []*Analyzer) []Finding {
	var all []Finding
	for _, f := range m.Funcs() {
		if f.Annotations == nil {
			continue
		}
		p := &Pass{Module: m, Func: f, Notes: f.Annotations, list: &all, first: len(all)}
		p.run(list)
		if p.eval != nil {
			p.eval.End()
		}
	}
	return all
}

// run runs the analyzers in order on the kernel of p.
func (p *Pass) run(list []*Analyzer) {
	for _, a := range list {
		if a.Late && hasError(*p.list) {
			continue
		}
		n := len(*p.list)
		p.Analyzer = a
		a.Run(p)
		if a.Final && hasError((*p.list)[n:]) {
			return
		}
	}
}

// hasError reports whether one of the findings has severity error.
func hasError(list []Finding) bool {
	return slices.ContainsFunc(list, func(f Finding) bool { return f.Severity == diag.Error })
}

// Eval returns the evaluator of the kernel. It is created by the first call, and the analyzers
// share it.
func (p *Pass) Eval() *thread.Eval {
	if p.eval == nil {
		p.eval = thread.New(p.Func)
	}
	return p.eval
}

// Report records that the builder call at pos breaks a rule. The caller can add a repair to the
// finding.
func (p *Pass) Report(pos ir.Pos, rule *diag.Rule, format string, args ...any) *Finding {
	*p.list = append(*p.list, Finding{
		Pos: pos,
		Diagnostic: diag.Diagnostic{Rule: rule.ID, Severity: rule.Severity,
			Message: fmt.Sprintf(format, args...)},
		Replaces: p.Analyzer.Replaces,
	})
	return &(*p.list)[len(*p.list)-1]
}

// Warn records a finding as Report does, but as a warning, for code that may be intended.
func (p *Pass) Warn(pos ir.Pos, rule *diag.Rule, format string, args ...any) *Finding {
	warning := *rule
	warning.Severity = diag.Warning
	return p.Report(pos, &warning, format, args...)
}

// Reported reports whether a finding of this kernel has the same source position as pos.
func (p *Pass) Reported(pos ir.Pos) bool {
	return slices.ContainsFunc((*p.list)[p.first:],
		func(f Finding) bool { return p.Module.Same(f.Pos, pos) })
}
