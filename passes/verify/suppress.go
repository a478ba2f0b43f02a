// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"embed"
	"fmt"
	"strings"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/ir"
)

// suppressPrefix is the start of a comment that suppresses findings, as in "// ptxdsl:ignore A1 the
// reader is the writer".
const suppressPrefix = "ptxdsl:ignore"

// A suppression is a comment that suppresses findings of a rule on the instruction before or after
// the comment.
type suppression struct {
	in     *ir.Instr
	rule   string
	reason string
	used   bool
}

type suppressionList struct {
	module *ir.Module
	list   []*suppression
	at     map[*ir.Instr][]*suppression
}

// readSuppressions reads the suppressing comments of a module.
func readSuppressions(m *ir.Module) *suppressionList {
	n := &suppressionList{module: m, at: make(map[*ir.Instr][]*suppression)}
	for _, f := range m.Funcs() {
		for _, b := range f.Blocks {
			for _, in := range b.Instrs {
				for _, text := range in.Doc() {
					n.read(in, text)
				}
				n.read(in, in.Note())
			}
		}
	}
	return n
}

func (n *suppressionList) read(in *ir.Instr, text string) {
	_, rest, found := strings.Cut(text, suppressPrefix)
	if !found {
		return
	}
	rest = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "*/"))
	rule, reason, _ := strings.Cut(rest, " ")
	s := &suppression{in: in, rule: rule, reason: strings.TrimSpace(reason)}
	n.list = append(n.list, s)
	n.at[in] = append(n.at[in], s)
}

// suppresses reports whether a comment suppresses a finding. The comment must give a reason.
func (n *suppressionList) suppresses(f *Finding) bool {
	for _, s := range n.at[f.in] {
		if s.rule == f.Rule && s.reason != "" {
			s.used = true
			return true
		}
	}
	return false
}

// findings returns findings about the comments themselves: without a reason, or without effect, and
// about other comments that start like them.
func (n *suppressionList) findings(rules map[string]bool) diag.List {
	var l diag.List
	for _, s := range n.list {
		at, from := n.module.At(s.in.Pos)
		d := diag.Diagnostic{Place: at, From: from, Severity: diag.Warning}
		switch {
		case s.rule == "" || s.reason == "":
			d.Rule, d.Message = ruleReason.ID,
				fmt.Sprintf("%s gives no reason: write the rule and why it does not apply here",
					suppressPrefix)
			if s.rule == "" {
				d.Message = fmt.Sprintf(
					"%s names no rule: write the rule and why it does not apply here",
					suppressPrefix)
			}
		case !s.used && rules == nil:
			d.Rule, d.Message = ruleUnused.ID,
				fmt.Sprintf("%s %s suppresses nothing", suppressPrefix, s.rule)
		default:
			continue
		}
		if rules == nil || rules[d.Rule] {
			l = append(l, d)
		}
	}
	if rules == nil || rules[ruleUnused.ID] {
		l = append(l, unknownComments(n.module)...)
	}
	return l
}

var (
	ruleIncomplete = diag.Rule{ID: "V101", Layer: "verify", Severity: diag.Note}
	ruleReason     = diag.Rule{ID: "V102", Layer: "verify", Severity: diag.Warning}
	ruleUnused     = diag.Rule{ID: "V103", Layer: "verify", Severity: diag.Warning}
)

// Rules returns the rules of package verify itself.
func Rules() diag.Rules {
	return diag.Rules{ruleIncomplete, ruleReason, ruleUnused}.WithPages(pages)
}

//go:embed rules/*.md
var pages embed.FS
