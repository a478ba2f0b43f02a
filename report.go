// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package ptxdsl

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/passes/verify"
)

// A Report is the result of [Verify] for one text.
type Report struct {
	Name     string
	Findings diag.List // sorted by place
	// Hazards has the results by kernel. It is nil if the kernels could not be analyzed because
	// of form errors.
	Hazards *verify.Report
	Fixed   int // number of fixes that [Fix] applied

	unfollowed string // why the kernels could not be analyzed although the forms are correct, or ""
	selected   bool   // only selected rules were checked
}

// Verdict returns the worst verdict of all kernels, or a worse one if a finding outside the
// kernels requires it.
func (r *Report) Verdict() verify.Verdict {
	worst := verify.Clean
	if r.unfollowed != "" {
		worst = verify.Incomplete
	}
	if r.Hazards != nil {
		for _, k := range r.Hazards.Kernels {
			worst = max(worst, k.Verdict)
		}
	}
	for _, d := range r.Findings {
		switch d.Severity {
		case diag.Error:
			worst = verify.Error
		case diag.Review:
			worst = max(worst, verify.Review)
		}
	}
	return worst
}

// Summary returns a line with the verdict and the number of findings, followed by indented lines
// that list what was checked, what the verdict assumes, and what was not checked. The text has no
// final newline. Print it beside the findings: without it, a reader cannot tell which hazards were
// not checked.
func (r *Report) Summary() string {
	s := fmt.Sprintf("%s: %s: %s", r.Name, r.Verdict(), r.counts())
	lines := []string{s}
	for _, what := range r.checked() {
		lines = append(lines, "  checked: "+what)
	}
	for _, what := range r.Assumed() {
		lines = append(lines, "  assumed: "+what)
	}
	for _, what := range r.NotChecked() {
		lines = append(lines, "  not checked: "+what)
	}
	return strings.Join(lines, "\n")
}

// counts returns the number of findings of each severity but notes, the fixes and the suppressed
// findings, and the command that explains the first three rules.
func (r *Report) counts() string {
	n := map[diag.Severity]int{}
	var ids []string
	for _, d := range r.Findings {
		n[d.Severity]++
		if d.Rule != "" && d.Severity != diag.Note {
			ids = union(ids, []string{d.Rule})
		}
	}
	var parts []string
	if n[diag.Error] > 0 {
		parts = append(parts, plural(n[diag.Error], "error"))
	}
	if n[diag.Warning] > 0 {
		parts = append(parts, plural(n[diag.Warning], "warning"))
	}
	if n[diag.Review] > 0 {
		parts = append(parts, plural(n[diag.Review], "finding")+" to review")
	}
	if len(parts) == 0 {
		parts = []string{"no findings"}
	}
	if r.Fixed > 0 {
		parts = append(parts, fmt.Sprintf("%d fixed", r.Fixed))
	}
	if r.Hazards != nil && r.Hazards.Suppressed > 0 {
		parts = append(parts, fmt.Sprintf("%d suppressed", r.Hazards.Suppressed))
	}
	s := strings.Join(parts, ", ")
	if len(ids) > 0 {
		s += "; see ptxdsl explain " + strings.Join(ids[:min(3, len(ids))], " ")
	}
	return s
}

// checked returns descriptions of what was checked: the text, and the kernels with the hazards that
// their instructions can cause.
func (r *Report) checked() []string {
	list := []string{"syntax, operands, versions and targets"}
	if r.selected {
		list[0] = "only the selected rules"
	}
	if r.Hazards == nil || len(r.Hazards.Kernels) == 0 {
		return list
	}
	full := 0
	var classes []string
	for _, k := range r.Hazards.Kernels {
		classes = union(classes, k.Checked)
		if len(k.Missed) == 0 {
			full++
		}
	}
	all := len(r.Hazards.Kernels)
	s := "hazards of " + plural(all, "kernel")
	switch {
	case full == 0 && all == 1:
		s += ", in part"
	case full < all:
		s += fmt.Sprintf(", %d of them in part", all-full)
	}
	if len(classes) > 0 {
		s += ": " + strings.Join(classes, ", ")
	}
	return append(list, s)
}

// NotChecked returns descriptions of what was not checked, with the reasons.
func (r *Report) NotChecked() []string {
	const all = "synchronization, asynchronous copies, fences and races"
	switch {
	case r.unfollowed != "":
		return []string{all + ": " + r.unfollowed}
	case r.Hazards == nil:
		return []string{all + ", because the text has errors"}
	case len(r.Hazards.Kernels) == 0:
		return []string{all + ": the file has no kernel, or no such rule is selected"}
	}
	var missed, unchecked []string
	for _, k := range r.Hazards.Kernels {
		missed, unchecked = union(missed, k.Missed), union(unchecked, k.Unchecked)
	}
	const shown = 3
	if len(missed) > shown {
		missed = append(missed[:shown], fmt.Sprintf("and %d more", len(missed)-shown))
	}
	return append(missed, unchecked...)
}

// Assumed returns descriptions of what the verdict assumes: block sizes that no directive fixes,
// loop iterations that were not analyzed, and values that were tried for parameters.
func (r *Report) Assumed() []string {
	if r.Hazards == nil {
		return nil
	}
	var blocks, tried []string
	iterations := 0
	for _, k := range r.Hazards.Kernels {
		iterations = max(iterations, k.Iterations)
		switch {
		case k.Guessed:
			blocks = union(blocks, []string{fmt.Sprintf("blocks have %d threads, from the sizes "+
				"of shared-memory arrays", k.Threads)})
		case k.Threads > 0:
			blocks = union(blocks, []string{fmt.Sprintf("blocks have %d threads, from .maxntid",
				k.Threads)})
		}
		tried = union(tried, k.Tried)
	}
	const shown = 4
	if len(tried) > shown {
		tried = append(tried[:shown], plural(len(tried)-shown, "more input"))
	}
	list := blocks
	if iterations > 0 {
		list = append(list,
			fmt.Sprintf("bugs in a loop show in its first %d iterations", iterations))
	}
	if len(tried) > 0 {
		list = append(list, "parameters have one of the values that were tried: "+
			strings.Join(tried, " and "))
	}
	return list
}

// union appends the elements of more that are not in list.
func union(list, more []string) []string {
	for _, word := range more {
		if !slices.Contains(list, word) {
			list = append(list, word)
		}
	}
	return list
}

func plural(n int, word string) string {
	if n != 1 {
		word += "s"
	}
	return fmt.Sprintf("%d %s", n, word)
}
