// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/diag"
)

// A Subsumption lists rules whose findings explain the findings that a check would make. The
// check calls Pass.Subsumed and reports nothing if it returns true. An analyzer runs after the
// analyzers that report rules in its subsumptions.
type Subsumption struct {
	Errors   []*diag.Rule // an error of one of these rules suffices
	Findings []*diag.Rule // any finding of one of these rules suffices
}

// A Replacement specifies that an error of rule By on an instruction replaces the findings of
// Rule on the same instruction, because both report the same mistake.
type Replacement struct{ Rule, By *diag.Rule }

// Subsumed reports whether the kernel already has a finding that explains the findings that a
// check would make.
func (p *Pass) Subsumed(s *Subsumption) bool {
	return slices.ContainsFunc(p.kernelState.list, func(f *Finding) bool {
		return f.Severity == diag.Error && hasRule(s.Errors, f.Rule) || hasRule(s.Findings, f.Rule)
	})
}

func hasRule(rules []*diag.Rule, id string) bool {
	return slices.ContainsFunc(rules, func(r *diag.Rule) bool { return r.ID == id })
}

// waitsFor reports whether analyzer a must run after other, because other reports rules in the
// subsumptions of a.
func (a *Analyzer) waitsFor(other *Analyzer) bool {
	return a != other && slices.ContainsFunc(a.Subsumes, func(s *Subsumption) bool {
		told := func(r diag.Rule) bool {
			return hasRule(s.Errors, r.ID) || hasRule(s.Findings, r.ID)
		}
		return slices.ContainsFunc(other.Rules, told) || slices.ContainsFunc(other.Tells, told)
	})
}

// sortAnalyzers returns the analyzers in an order in which each runs after the analyzers that it
// waits for. Otherwise it keeps their order.
func sortAnalyzers(list []*Analyzer) []*Analyzer {
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

// isReplaced reports whether another finding on the same instruction replaces f.
func (s *kernelState) isReplaced(f *Finding) bool {
	return slices.ContainsFunc(s.replacements, func(r Replacement) bool {
		return f.Rule == r.Rule.ID && slices.ContainsFunc(s.list, func(g *Finding) bool {
			return g.Rule == r.By.ID && g.Severity == diag.Error && g.in != nil && g.in == f.in
		})
	})
}
