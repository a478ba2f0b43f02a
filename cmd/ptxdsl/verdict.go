// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/passes/verify"
)

// verdict returns the last line about a file: the verdict in one word, the counts of findings, what
// was checked, under which assumptions, and what was not checked. Silence must never look like the
// absence of hazards.
func verdict(v *verified, selected bool) string {
	n := map[diag.Severity]int{}
	var ids []string
	for _, d := range v.findings {
		n[d.Severity]++
		if !slices.Contains(ids, d.Rule) && d.Rule != "" && d.Severity != diag.Note {
			ids = append(ids, d.Rule)
		}
	}
	words := []string{plural(n[diag.Error], "error")}
	if n[diag.Warning] > 0 {
		words = append(words, plural(n[diag.Warning], "warning"))
	}
	words = append(words, plural(n[diag.Review], "review"))
	if v.fixed > 0 {
		words = append(words, fmt.Sprintf("%d fixed", v.fixed))
	}
	h := hazards(v.report)
	parts := []string{strings.Join(words, ", "), "checked: forms" + h.checked}
	if selected {
		parts[1] += ", selected rules only"
	}
	if len(h.assumed) > 0 {
		parts = append(parts, "assumed: "+strings.Join(h.assumed, ", "))
	}
	if len(h.not) > 0 {
		parts = append(parts, "not checked: "+strings.Join(h.not, "; "))
	}
	s := fmt.Sprintf("%s: %s: %s.", v.in.name, overall(v), strings.Join(parts, "; "))
	if len(ids) > 0 {
		s += " See: ptxdsl explain " + strings.Join(ids[:min(3, len(ids))], " ")
	}
	return s
}

// overall returns the verdict on a file: that of its worst kernel, or of a worse finding outside of
// kernels.
func overall(v *verified) verify.Verdict {
	worst := verify.Clean
	if v.report != nil {
		for _, k := range v.report.Kernels {
			worst = max(worst, k.Verdict)
		}
	}
	for _, d := range v.findings {
		switch d.Severity {
		case diag.Error:
			worst = verify.Error
		case diag.Review:
			worst = max(worst, verify.Review)
		}
	}
	return worst
}

func plural(n int, word string) string {
	if n != 1 {
		word += "s"
	}
	return fmt.Sprintf("%d %s", n, word)
}
