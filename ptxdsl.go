// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package ptxdsl reads, checks, formats and measures PTX text. The ptxdsl command, the emulator
// and the tests use it. It can also be used in editors, build tools and tests of compilers:
//
//	r := ptxdsl.Verify("kernel.ptx", text, ptxdsl.Options{})
//	for _, d := range r.Findings {
//		fmt.Println(d.Place, d.Rule, d.Message)
//	}
//	fmt.Println(r.Summary())
//
// Package dsl builds kernels in Go, and package runtime runs kernels on a GPU or in the emulator.
package ptxdsl

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/form"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/lift"
	"github.com/ptxdsl/ptxdsl/passes/pressure"
	"github.com/ptxdsl/ptxdsl/passes/verify"
	"github.com/ptxdsl/ptxdsl/passes/verify/suite"
	"github.com/ptxdsl/ptxdsl/ptx"
)

// Load parses a PTX text, makes the checks that ptxas makes, and returns the module in the
// representation of package ir. Findings are sorted by position; name is their file name. If any
// of them is an error, the module is nil.
func Load(name, text string) (*ir.Module, diag.List) {
	file, findings := forms(name, text, form.Options{})
	if findings.Errors() > 0 {
		return nil, findings
	}
	m, faults := lift.Module(file)
	if faults.Errors() > 0 {
		m = nil
	}
	return m, append(findings, faults...).Sort()
}

// forms parses a text and checks the form of its statements.
func forms(name, text string, o form.Options) (*ptx.File, diag.List) {
	file, findings := ptx.Parse(name, text)
	return file, append(findings, form.Check(file, o)...).Sort()
}

// Format formats a PTX text in the style of ptxdsl fmt, which docs/reference/format.md describes.
// If the text has syntax errors, Format returns them and an empty text.
func Format(name, text string) (string, diag.List) { return ptx.Format(name, text) }

// Stats returns estimates for each kernel of a module: the registers per thread, spills and
// occupancy.
func Stats(m *ir.Module) []pressure.Kernel { return pressure.Of(m) }

// Options select what [Verify] checks and reports. The zero value checks and reports everything.
type Options struct {
	// Whole specifies that the module is not linked with others: all functions that it calls must
	// be defined in it.
	Whole bool
	// Rules are the ids of the rules to report, or nil for all.
	Rules map[string]bool
	// Errors are the ids of rules whose reviews are reported as errors.
	Errors map[string]bool
	// Effort multiplies the limits of the search through each kernel; 0 means 1. The maximum is
	// [verify.MostEffort].
	Effort int
	// Block is the block size, in threads, of kernels that do not declare one. Grid is the grid
	// size of all kernels, in blocks. Zeros mean that the size is unknown.
	Block, Grid [3]int
}

// Rules returns every rule that [Verify] can report, sorted by id.
func Rules() diag.Rules {
	return diag.Rules(slices.Concat(ptx.Rules(), isa.Rules(), form.Rules(), suite.Rules())).Sorted()
}

// Verify checks a PTX text: first the form of its statements, as an assembler does, and if these
// have no errors, the hazards of each kernel, such as races, missing barriers and missing fences.
// The kernels are analyzed, not executed.
func Verify(name, text string, o Options) *Report {
	r := &Report{Name: name, selected: o.Rules != nil}
	file, findings := forms(name, text, form.Options{Whole: o.Whole})
	if r.Findings = findings; findings.Errors() == 0 {
		m, faults := lift.Module(file)
		if faults.Errors() > 0 {
			r.unfollowed = faults[0].Message
		} else {
			r.Hazards = suite.Run(m,
				verify.Options{Rules: o.Rules, Effort: o.Effort, Block: o.Block, Grid: o.Grid})
			r.Findings = append(r.Findings, r.Hazards.Findings...).Sort()
		}
	}
	if o.Rules != nil {
		r.Findings = slices.DeleteFunc(r.Findings, func(d diag.Diagnostic) bool {
			return !o.Rules[d.Rule]
		})
	}
	for i := range r.Findings {
		if d := &r.Findings[i]; d.Severity == diag.Review && o.Errors[d.Rule] {
			d.Severity = diag.Error
		}
	}
	return r
}

// Fix applies the fixes that are certain, and returns the new text with the report on the
// remaining findings. It repeats until no fix is left, since one mistake may hide another. An
// iteration that does not reduce the number of findings is discarded.
func Fix(name, text string, o Options) (string, *Report) {
	r := Verify(name, text, o)
	for {
		next, made, _ := diag.ApplyFixes(text, r.Findings)
		if made == 0 {
			return text, r
		}
		after := Verify(name, next, o)
		if after.Findings.Errors() >= r.Findings.Errors() &&
			len(after.Findings) >= len(r.Findings) {
			return text, r
		}
		after.Fixed = r.Fixed + made
		text, r = next, after
	}
}
