// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package annotated runs analyzers on the annotations that package dsl records: which builder calls
// the author wrote, under which conditions, and in which role. The analyzers run when a module is
// built. They do not follow paths through the kernel, and report the builder call. Kernels lifted
// from PTX have no annotations and are skipped.
package annotated

import (
	"fmt"
	"slices"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/passes/analysis/thread"
)

// An Analyzer looks for one kind of mistake. It is a static value.
type Analyzer struct {
	Name string
	Doc  string // what it reports, and what it cannot detect
	// Rules are those of package annotated that it reports.
	Rules []*diag.Rule
	// Replaces lists the rules of hazard analyzers that report the same mistakes, with less detail.
	Replaces []string
	// Final says that if it reports an error, the analyzers after it do not check the kernel: their
	// findings may follow from the error.
	Final bool
	// Late analyzers run only if there is no error. Otherwise their findings may follow from it.
	Late bool
	Run  func(*Pass)
}

// A Finding is a diagnostic whose position has not been resolved to a source line yet.
type Finding struct {
	Pos ir.Pos
	diag.Diagnostic
	Replaces []string // from the analyzer
}

// A Pass is the run of an analyzer on one kernel.
type Pass struct {
	Module *ir.Module
	Func   *ir.Func
	Notes  *ir.Annotations
	// Analyzer is the one that runs.
	Analyzer *Analyzer
	list     *[]Finding
	first    int // index of the first finding of the kernel
	eval     *thread.Eval
}

// Run runs the analyzers on all kernels and functions with annotations.
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

// run runs the analyzers on the kernel.
func (p *Pass) run(list []*Analyzer) {
	for _, a := range list {
		if a.Late && errors(*p.list) {
			continue
		}
		n := len(*p.list)
		p.Analyzer = a
		a.Run(p)
		if a.Final && errors((*p.list)[n:]) {
			return
		}
	}
}

// errors reports whether one of the findings is an error.
func errors(list []Finding) bool {
	return slices.ContainsFunc(list, func(f Finding) bool { return f.Severity == diag.Error })
}

// Eval returns the evaluator of the kernel, which the analyzers share.
func (p *Pass) Eval() *thread.Eval {
	if p.eval == nil {
		p.eval = thread.New(p.Func)
	}
	return p.eval
}

// Report records that the call at a position breaks a rule.
func (p *Pass) Report(pos ir.Pos, rule *diag.Rule, format string, args ...any) {
	*p.list = append(*p.list, Finding{
		Pos: pos,
		Diagnostic: diag.Diagnostic{Rule: rule.ID, Severity: rule.Severity,
			Message: fmt.Sprintf(format, args...)},
		Replaces: p.Analyzer.Replaces,
	})
}

// Warn is like Report, for code that may be intended.
func (p *Pass) Warn(pos ir.Pos, rule *diag.Rule, format string, args ...any) {
	warning := *rule
	warning.Severity = diag.Warning
	p.Report(pos, &warning, format, args...)
}

// Reported reports whether there is a finding in the kernel about the call at a position.
func (p *Pass) Reported(pos ir.Pos) bool {
	return slices.ContainsFunc((*p.list)[p.first:],
		func(f Finding) bool { return p.Module.Same(f.Pos, pos) })
}
