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

// Summary returns a line of text: the verdict, the number of findings, what was checked, what the
// verdict assumes, and what was not checked. Print it beside the findings: without it, a reader
// cannot tell which hazards were not checked.
func (r *Report) Summary() string {
	n := map[diag.Severity]int{}
	var ids []string
	for _, d := range r.Findings {
		n[d.Severity]++
		if d.Rule != "" && d.Severity != diag.Note {
			ids = union(ids, []string{d.Rule})
		}
	}
	counts := []string{plural(n[diag.Error], "error")}
	if n[diag.Warning] > 0 {
		counts = append(counts, plural(n[diag.Warning], "warning"))
	}
	counts = append(counts, plural(n[diag.Review], "review"))
	if r.Fixed > 0 {
		counts = append(counts, fmt.Sprintf("%d fixed", r.Fixed))
	}
	parts := []string{strings.Join(counts, ", "), "checked: forms" + r.hazards()}
	if r.selected {
		parts[1] += ", selected rules only"
	}
	if list := r.Assumed(); len(list) > 0 {
		parts = append(parts, "assumed: "+strings.Join(list, ", "))
	}
	if list := r.NotChecked(); len(list) > 0 {
		parts = append(parts, "not checked: "+strings.Join(list, "; "))
	}
	s := fmt.Sprintf("%s: %s: %s.", r.Name, r.Verdict(), strings.Join(parts, "; "))
	if len(ids) > 0 {
		s += " See: ptxdsl explain " + strings.Join(ids[:min(3, len(ids))], " ")
	}
	return s
}

// hazards returns the part of the summary that describes what was checked beyond forms.
func (r *Report) hazards() string {
	if r.Hazards == nil || len(r.Hazards.Kernels) == 0 {
		return ""
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
	s := ", hazards of " + plural(all, "kernel")
	switch {
	case full == 0 && all == 1:
		s += " partially"
	case full < all:
		s += fmt.Sprintf(" (%d fully)", full)
	}
	if len(classes) > 0 {
		s += " (" + strings.Join(classes, ", ") + ")"
	}
	if r.Hazards.Suppressed > 0 {
		s += fmt.Sprintf(" (%d suppressed)", r.Hazards.Suppressed)
	}
	return s
}

// NotChecked returns descriptions of what was not checked, with the reasons.
func (r *Report) NotChecked() []string {
	const all = "synchronization, asynchronous copies, fences and races"
	switch {
	case r.unfollowed != "":
		return []string{all + ": " + r.unfollowed}
	case r.Hazards == nil:
		return []string{all + ", because the file has form errors"}
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
			blocks = union(blocks, []string{fmt.Sprintf("blocks of %d threads, as shared-memory "+
				"arrays suggest", k.Threads)})
		case k.Threads > 0:
			blocks = union(blocks, []string{fmt.Sprintf("blocks of %d threads, as .maxntid allows",
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
		list = append(list, fmt.Sprintf("up to %d iterations of a loop", iterations))
	}
	if len(tried) > 0 {
		list = append(list, "values tried: "+strings.Join(tried, " and "))
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
