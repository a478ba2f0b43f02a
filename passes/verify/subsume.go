// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/diag"
)

// A Subsumption lists rules whose findings explain what a check would report. The check calls
// Pass.Subsumed to find out. An analyzer runs after those that report rules in its subsumptions.
type Subsumption struct {
	Errors   []*diag.Rule // an error of one of them is enough
	Findings []*diag.Rule // any finding of one of them is enough
}

// A Replacement specifies that an error of rule By on an instruction replaces the findings of Rule
// there: both report the same mistake.
type Replacement struct{ Rule, By *diag.Rule }

// Subsumed reports whether a finding for the kernel explains what a check would report.
func (p *Pass) Subsumed(s *Subsumption) bool {
	return slices.ContainsFunc(p.kernelState.list, func(f *Finding) bool {
		return f.Severity == diag.Error && holds(s.Errors, f.Rule) || holds(s.Findings, f.Rule)
	})
}

func holds(rules []*diag.Rule, id string) bool {
	return slices.ContainsFunc(rules, func(r *diag.Rule) bool { return r.ID == id })
}

// waitsFor reports whether analyzer a must run after other, because other reports rules in the
// subsumptions of a.
func (a *Analyzer) waitsFor(other *Analyzer) bool {
	return a != other && slices.ContainsFunc(a.Subsumes, func(s *Subsumption) bool {
		told := func(r diag.Rule) bool { return holds(s.Errors, r.ID) || holds(s.Findings, r.ID) }
		return slices.ContainsFunc(other.Rules, told) || slices.ContainsFunc(other.Tells, told)
	})
}

// ordered sorts analyzers so that each runs after those that it waits for, and otherwise keeps
// their order.
func ordered(list []*Analyzer) []*Analyzer {
	left, sorted := slices.Clone(list), make([]*Analyzer, 0, len(list))
	for len(left) > 0 {
		ready := slices.IndexFunc(left, func(a *Analyzer) bool {
			return !slices.ContainsFunc(left, a.waitsFor)
		})
		if ready < 0 {
			panic("bug: analyzers wait for each other")
		}
		sorted = append(sorted, left[ready])
		left = slices.Delete(left, ready, ready+1)
	}
	return sorted
}

// replaced reports whether a finding is replaced by another one on its instruction.
func (s *kernelState) replaced(f *Finding) bool {
	return slices.ContainsFunc(s.replacements, func(r Replacement) bool {
		return f.Rule == r.Rule.ID && slices.ContainsFunc(s.list, func(g *Finding) bool {
			return g.Rule == r.By.ID && g.Severity == diag.Error && g.in != nil && g.in == f.in
		})
	})
}
