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

// examine is the findings of a text, and what its kernels were held against: nil where the forms have
// errors, since nothing can be said of what they do then. Rules are the ids that are selected, nil for all.
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
		return "", "barriers, copies, fences and races, since the forms have errors"
	}
	if len(r.Kernels) == 0 {
		return "", "barriers, copies, fences and races: there is no kernel, or no rule of them is selected"
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
		checked += " in part"
	case full < len(r.Kernels):
		checked += fmt.Sprintf(" (%d in full)", full)
	}
	if turns > 0 {
		checked += fmt.Sprintf(" (loops for up to %d turns)", turns)
	}
	if most {
		checked += " (of as many threads as .maxntid allows)"
	}
	if guessed {
		checked += " (of as many threads as arrays in shared memory have room for)"
	}
	if cases > 0 {
		checked += fmt.Sprintf(" (for small numbers in place of %s)", plural(cases, "parameter"))
	}
	if r.Suppressed > 0 {
		checked += fmt.Sprintf(" (%d suppressed)", r.Suppressed)
	}
	const shown = 3
	if len(why) > shown {
		why = append(why[:shown], fmt.Sprintf("and %d more", len(why)-shown))
	}
	return checked, strings.Join(append(why, "what only an execution shows"), "; ")
}

// partial reports whether some kernel was not checked in full.
func partial(r *verify.Report) bool {
	return r != nil && slices.ContainsFunc(r.Kernels, func(k verify.Result) bool { return len(k.Missed) > 0 })
}
