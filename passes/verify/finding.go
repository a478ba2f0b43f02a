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

// A Finding is a diagnostic of an analyzer. The analyzer can modify it until its Run function
// returns.
type Finding struct {
	diag.Diagnostic
	in          *ir.Instr
	kernelState *kernelState
	plain       string // the message without the number of further findings
	with        string // the end of the message, which names the substituted values
	joined      bool   // the finding is shown as part of another finding
}

// Report records that an instruction breaks a rule. If a rule has several findings at one
// position, only the first of the most severe ones is kept.
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

// place returns the source position of an instruction, or the module's file if in is nil.
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

// As sets the severity of f, and returns f.
func (f *Finding) As(s diag.Severity) *Finding {
	f.Severity = s
	return f
}

// Also adds a related place to f, unless in is nil, and returns f.
func (f *Finding) Also(in *ir.Instr, format string, args ...any) *Finding {
	if in != nil {
		f.Related = append(f.Related,
			diag.Related{Place: f.kernelState.place(in), Message: fmt.Sprintf(format, args...)})
	}
	return f
}

// Join turns f into a related place of another finding about the same mistake, so that f is no
// longer shown separately. The number of related places is limited.
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

// On adds the path to f: the branches of trace t before event upto, at most the last four. It
// returns f.
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

// Instr returns the instruction that the finding is about, or nil if it is about the whole
// kernel.
func (f *Finding) Instr() *ir.Instr { return f.in }

// ForAllValues makes f an error, because it occurs for all values that were substituted. It
// removes the values of one path from the message.
func (f *Finding) ForAllValues() {
	f.Severity = diag.Error
	f.Message = strings.TrimSuffix(f.Message, f.with)
}

// OnlyWith makes f a review whose message names the values that the path of t requires.
func (f *Finding) OnlyWith(t *trace.Trace) {
	f.Severity = diag.Review
	if few := t.Facts.Few(); f.with == "" && few != "" {
		f.Message += ", where " + few
	}
}

// maxShown returns the largest number of findings that are shown per kernel, rule and severity.
// The last of them states how many more there are. Without the limit, unrolled loops would repeat
// their mistakes.
func maxShown(s diag.Severity) int {
	switch s {
	case diag.Error:
		return 4
	case diag.Review:
		return 2
	}
	return math.MaxInt
}

// selectFindings selects the findings to keep: the first of the most severe ones for each rule and
// position, and a limited number for each rule. If rules is not nil, it keeps only findings of
// these rules.
func (s *kernelState) selectFindings(rules map[string]bool) []*Finding {
	type key struct {
		at   ir.Pos // a function has one position, however often it is called
		rule string
	}
	best := make(map[key]int)
	var list []*Finding
	for _, f := range s.list {
		if f.joined || s.isReplaced(f) || rules != nil && !rules[f.Rule] {
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
