// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
	"github.com/ptxdsl/ptxdsl/passes/analysis/value"
)

// A Finding can be modified until its pass ends.
type Finding struct {
	diag.Diagnostic
	in          *ir.Instr
	kernelState *kernelState
	plain       string // the message without a count of further findings
	with        string // the end of the message, which names the values tried
	joined      bool   // it is shown as part of another finding
}

// Report records that an instruction breaks a rule. Of several findings of one rule at one
// place, the first is kept unless a later one is more severe.
func (p *Pass) Report(rule *diag.Rule, in *ir.Instr, format string, args ...any) *Finding {
	f := &Finding{in: in, kernelState: p.kernelState}
	f.Diagnostic = diag.Diagnostic{Place: p.kernelState.place(in), Rule: rule.ID,
		Severity: rule.Severity, Message: fmt.Sprintf(format, args...)}
	if in != nil {
		_, f.From = p.Module.At(in.Pos)
	}
	for from := p.Callers[in]; from != nil; from = from.From {
		f.Also(from.Call, "called from here")
	}
	p.kernelState.list = append(p.kernelState.list, f)
	return f
}

// place returns the source position of an instruction.
func (s *kernelState) place(in *ir.Instr) diag.Place {
	if in == nil {
		return diag.Place{File: s.module.Name}
	}
	at, _ := s.module.At(in.Pos)
	if in.Guard.Reg == nil && at.IsValid() && at.EndLine == at.Line {
		at.EndColumn = at.Column + len(in.Op)
	}
	return at
}

// As sets the severity.
func (f *Finding) As(s diag.Severity) *Finding {
	f.Severity = s
	return f
}

// Also adds a related place to the finding.
func (f *Finding) Also(in *ir.Instr, format string, args ...any) *Finding {
	if in != nil {
		f.Related = append(f.Related,
			diag.Related{Place: f.kernelState.place(in), Message: fmt.Sprintf(format, args...)})
	}
	return f
}

// Join turns f into a related place of another finding about the same mistake. f is then no longer
// a finding of its own. The number of places is limited.
func (f *Finding) Join(other *Finding, format string, args ...any) {
	const few = 8
	f.joined = true
	known := slices.ContainsFunc(other.Related, func(r diag.Related) bool {
		return r.Place == f.Place
	})
	if !known && f.in != other.in && len(other.Related) < few {
		other.Also(f.in, format, args...)
	}
}

// On adds the path: the branches of a trace up to an event, or the last four of them.
func (f *Finding) On(t *trace.Trace, upto int) *Finding {
	last := make(map[*ir.Instr]int)
	var list []trace.Choice
	for _, c := range t.Choices {
		if a, _ := c.Cond.Condition(); a != nil && a.Op == value.OpDone {
			continue
		}
		if i, again := last[c.In]; again {
			list[i] = c
			continue
		}
		last[c.In] = len(list)
		list = append(list, c)
	}
	if len(list) > 4 {
		list = list[len(list)-4:]
	}
	for _, c := range list {
		word := "is not taken"
		if c.Taken {
			word = "is taken"
		}
		f.Also(c.In, "on this path, the branch %s", word)
	}
	if t.Facts.With != "" {
		f.with = ", where " + t.Facts.With
		f.Message += f.with
	}
	return f
}

// Instr returns the instruction that the finding is about, or nil if it is about the whole kernel.
func (f *Finding) Instr() *ir.Instr { return f.in }

// ForAllValues makes f an error, because it occurs for all values that were tried. Its message then
// does not name the values of one path.
func (f *Finding) ForAllValues() {
	f.Severity = diag.Error
	f.Message = strings.TrimSuffix(f.Message, f.with)
}

// OnlyWith makes f a review that names the values that the path of t needs.
func (f *Finding) OnlyWith(t *trace.Trace) {
	f.Severity = diag.Review
	if few := t.Facts.Few(); f.with == "" && few != "" {
		f.Message += ", where " + few
	}
}

// maxShown limits the findings of one rule and severity per kernel. The last one specifies how many
// more there are. Unrolled loops repeat their mistakes.
func maxShown(s diag.Severity) int {
	switch s {
	case diag.Error:
		return 4
	case diag.Review:
		return 2
	}
	return math.MaxInt
}

// settle selects the findings to keep: for each rule and position the most severe one, the first of
// equals, and a limited number of each rule.
func (s *kernelState) settle(rules map[string]bool) []*Finding {
	type key struct {
		at   ir.Pos // a function has one position, however many calls it has
		rule string
	}
	best := make(map[key]int)
	var list []*Finding
	for _, f := range s.list {
		if f.joined || s.replaced(f) || rules != nil && !rules[f.Rule] {
			continue
		}
		k := key{rule: f.Rule}
		if f.in != nil {
			k.at = f.in.Pos
		}
		if i, ok := best[k]; ok {
			if f.Severity < list[i].Severity {
				list[i] = f
			}
			continue
		}
		best[k] = len(list)
		list = append(list, f)
	}
	type kind struct {
		rule     string
		severity diag.Severity
	}
	alike := make(map[kind][]*Finding)
	return slices.DeleteFunc(list, func(f *Finding) bool {
		k, few := kind{f.Rule, f.Severity}, maxShown(f.Severity)
		alike[k] = append(alike[k], f)
		n := len(alike[k])
		if n <= few {
			return false
		}
		last := alike[k][few-1]
		if n == few+1 {
			last.plain = last.Message
		}
		last.Message = fmt.Sprintf("%s (and %d more in this kernel)", last.plain, n-few)
		return true
	})
}
