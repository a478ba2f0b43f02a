// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/form"
	"github.com/ptxdsl/ptxdsl/lift"
	"github.com/ptxdsl/ptxdsl/passes/verify"
	"github.com/ptxdsl/ptxdsl/passes/verify/suite"
	"github.com/ptxdsl/ptxdsl/ptx"
)

// examine returns the findings of a text and the hazard report of its kernels. The report is
// nil if the forms have errors, because the kernels cannot be analyzed then. Rules are the
// selected ids, nil for all.
func examine(name, text string, opt form.Options, how verify.Options) (diag.List, *verify.Report) {
	file, l := ptx.Parse(name, text)
	l = append(l, form.Check(file, opt)...)
	if l.Errors() > 0 {
		return l.Sort(), nil
	}
	m, faults := lift.Module(file)
	if faults.Errors() > 0 {
		return l.Sort(), nil
	}
	r := suite.Run(m, how)
	return append(l, r.Findings...).Sort(), r
}

// A coverage is the part about hazards in the last line of a file.
type coverage struct {
	checked string   // continues "forms"
	assumed []string // what the verdict depends on
	not     []string // what was not checked, and why
}

// hazards summarizes what was checked beyond forms, and what was not.
func hazards(r *verify.Report) (c coverage) {
	if r == nil {
		c.not = []string{"synchronization, asynchronous copies, fences and races, because the file has " +
			"form errors"}
		return c
	}
	if len(r.Kernels) == 0 {
		c.not = []string{"synchronization, asynchronous copies, fences and races: the file has no " +
			"kernel, or no such rule is selected"}
		return c
	}
	full := 0
	var missed, unchecked, classes []string
	for _, k := range r.Kernels {
		classes = union(classes, k.Checked)
		missed, unchecked = union(missed, k.Missed), union(unchecked, k.Unchecked)
		if len(k.Missed) == 0 {
			full++
		}
	}
	c.checked = fmt.Sprintf(", hazards of %s", plural(len(r.Kernels), "kernel"))
	switch {
	case full == 0 && len(r.Kernels) == 1:
		c.checked += " partially"
	case full < len(r.Kernels):
		c.checked += fmt.Sprintf(" (%d fully)", full)
	}
	if len(classes) > 0 {
		c.checked += " (" + strings.Join(classes, ", ") + ")"
	}
	if r.Suppressed > 0 {
		c.checked += fmt.Sprintf(" (%d suppressed)", r.Suppressed)
	}
	c.assumed = assumptions(r.Kernels)
	const shown = 3
	if len(missed) > shown {
		missed = append(missed[:shown], fmt.Sprintf("and %d more", len(missed)-shown))
	}
	c.not = append(missed, unchecked...)
	return c
}

// assumptions lists what the verdicts on kernels depend on: block sizes that no directive fixes,
// iterations of loops that were not all followed, and values that were tried for parameters.
func assumptions(kernels []verify.Result) []string {
	var blocks, tried []string
	iterations := 0
	for _, k := range kernels {
		iterations = max(iterations, k.Turns)
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

// union appends the elements of more that list lacks.
func union(list, more []string) []string {
	for _, word := range more {
		if !slices.Contains(list, word) {
			list = append(list, word)
		}
	}
	return list
}

// silent reports whether nothing is printed for a file: it is clean without assumptions.
func silent(v *verified) bool {
	return len(v.findings) == 0 && v.fixed == 0 && overall(v) == verify.Clean &&
		(v.report == nil || len(assumptions(v.report.Kernels)) == 0)
}
