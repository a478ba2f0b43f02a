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

// hazards says in the last line on a file what was checked beyond forms, and what was not.
func hazards(v *verified) (checked, not string) {
	r := v.report
	if r == nil {
		return "", "synchronization, asynchronous copies, fences and races, because the file has " +
			"form errors"
	}
	if len(r.Kernels) == 0 {
		return "", "synchronization, asynchronous copies, fences and races: the file has no " +
			"kernel, or no such rule is selected"
	}
	full, turns, cases := 0, 0, 0
	most, guessed := false, false // threads of a block
	var why []string
	for _, k := range r.Kernels {
		turns, cases = max(turns, k.Turns), max(cases, k.Cases)
		most, guessed = most || k.Threads > 0 && !k.Guessed, guessed || k.Guessed
		if len(k.Missed) == 0 {
			full++
			continue
		}
		for _, reason := range k.Missed {
			if !slices.Contains(why, reason) {
				why = append(why, reason)
			}
		}
	}
	checked = fmt.Sprintf(", hazards of %s", plural(len(r.Kernels), "kernel"))
	switch {
	case full == 0 && len(r.Kernels) == 1:
		checked += " partially"
	case full < len(r.Kernels):
		checked += fmt.Sprintf(" (%d fully)", full)
	}
	if turns > 0 {
		checked += fmt.Sprintf(" (loops for up to %d iterations)", turns)
	}
	if most {
		checked += " (assuming the largest block that .maxntid allows)"
	}
	if guessed {
		checked += " (assuming a block size that matches the shared-memory arrays)"
	}
	if cases > 0 {
		checked += fmt.Sprintf(" (trying small values for %s)", plural(cases, "parameter"))
	}
	if r.Suppressed > 0 {
		checked += fmt.Sprintf(" (%d suppressed)", r.Suppressed)
	}
	const shown = 3
	if len(why) > shown {
		why = append(why[:shown], fmt.Sprintf("and %d more", len(why)-shown))
	}
	return checked, strings.Join(append(why, "behaviour that depends on run-time data"), "; ")
}

// partial reports whether some kernel was not checked in full.
func partial(r *verify.Report) bool {
	return r != nil && slices.ContainsFunc(r.Kernels, func(k verify.Result) bool { return len(k.Missed) > 0 })
}
