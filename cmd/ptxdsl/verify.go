// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"

	"github.com/ptxdsl/ptxdsl"
	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/passes/verify"
)

func verifyCommand() *command {
	return &command{
		name:  "verify",
		args:  "[flags] [path ...]",
		short: "find errors in PTX",
		long: `
Verify reads PTX and reports what the assembler would reject. Each finding has
its line, the nearest legal form and, where one edit fixes it, the edit. Each
file is checked for the PTX version and the target that it declares.

Without a path, and for -, it reads standard input. In a directory, verify reads
all regular files in and below it whose names end in .ptx and do not start with a
dot. At most 2 GiB of a file are read, and 256 MiB of standard input, a pipe or a
device.

It first checks the form of each statement: opcodes, modifiers, operands, versions
and targets, names and types, functions and calls, directives. If all forms are
correct, it executes each kernel symbolically and checks synchronization: barriers,
asynchronous copies, fences and proxies, mbarriers, wgmma and tcgen05, clusters, and
register allocation by setmaxnreg. The kernel does not run. An error shows a path on
which a rule is broken, for every tried value with which the path is executed. A
review is a finding that a person must decide: the rule is broken only for particular
values, which are named, or under a condition that verify cannot decide.

A summary follows the findings. Its first line has the verdict: error, review,
incomplete or clean. A file is incomplete if something was not checked; the summary
lists what. It also lists the hazards that were checked, and what the verdict
assumes: the block size if no directive fixes it, the number of loop iterations that
were analyzed, and the values that were tried for parameters. A clean verdict holds
only under these assumptions. A larger -effort analyzes more paths, but does not
remove the assumptions. There is no summary for a file that is clean without
assumptions, unless standard output is a terminal or -v is set.

A kernel that does not declare its block size with .reqntid is checked with the size
that -block gives, or else with an assumed size. With -grid=1, no race between blocks
is reported.

A comment // ptxdsl:ignore RULE REASON before or after an instruction suppresses
findings of one rule there.

Exit codes: 0 no errors, 1 errors found (with -strict also reviews), 2 if a file
could not be read or none was found.`,
		examples: `
    ptxdsl verify a.ptx             one file
    ptxdsl verify -e kernels        every finding in a directory
    ptxdsl verify -json . | jq .    one JSON object per finding and line
    ptxdsl verify -rules=F4 a.ptx   only versions and targets
    ptxdsl verify -rules=form a.ptx only forms
    ptxdsl verify -strict a.ptx     exit with 1 on reviews too
    ptxdsl verify -error=M7,B8 .    report reviews of M7 and B8 as errors
    ptxdsl verify -fix a.ptx        apply the fixes that are certain
    ptxdsl verify -block=256 a.ptx  kernels without .reqntid have 256 threads
    ptxdsl verify -effort=16 a.ptx  search further in a module of many large kernels
    ptxdsl explain F201             the page of a rule, with wrong and right PTX`,
		run: runVerify,
	}
}

// verifyFlags holds the flags of verify.
type verifyFlags struct {
	format                                string
	rules                                 string
	json, sarif, all, fix, verbose, quiet bool
	whole                                 bool
	effort                                int
	strict                                bool
	errors                                string
	block, grid                           string
	threads, blocks                       [3]int // from block and grid; zeros if not given
	// rule ids; nil selects all rules and promotes none
	selected, promoted map[string]bool
}

func runVerify(c *call) int {
	var f verifyFlags
	c.flags.BoolVar(&f.all, "e", false, "report all findings, not only the first ten of a file")
	c.flags.StringVar(&f.block, "block", "",
		"block size in threads of kernels that do not declare "+
			"theirs: x or `x,y,z`")
	c.flags.StringVar(&f.grid, "grid", "", "grid size in blocks of all kernels: x or `x,y,z`")
	c.flags.IntVar(&f.effort, "effort", 1, "raise the work limit to `n` times the default where "+
		"it is needed")
	c.flags.BoolVar(&f.fix, "fix", false, "apply the fixes that are certain, and report the "+
		"remaining findings;\na guess (did you mean ...) is never applied")
	c.flags.StringVar(&f.errors, "error", "", "report reviews of these rules as errors: a "+
		"`list` as for -rules")
	c.flags.StringVar(&f.format, "format", "text", "`kind` of report: text, json, sarif or github")
	c.flags.BoolVar(&f.json, "json", false, "same as -format=json: one JSON object per finding "+
		"and line")
	c.flags.BoolVar(&f.quiet, "q", false, "print no report, only set the exit code")
	c.flags.StringVar(&f.rules, "rules", "", "check only these rules: a comma-separated `list` "+
		"of ids (F203), prefixes\nof ids (F2) and layers (form, proxies)")
	c.flags.BoolVar(&f.sarif, "sarif", false, "same as -format=sarif: a SARIF 2.1.0 log")
	c.flags.BoolVar(&f.strict, "strict", false, "exit with 1 if there are reviews")
	c.flags.BoolVar(&f.verbose, "v", false, "also list clean files, with what was checked")
	c.flags.BoolVar(&f.whole, "whole", false, "the module is not linked with others: all "+
		"functions it calls must be in it")
	if code, ok := c.parse(); !ok {
		return code
	}
	if f.json {
		f.format = "json"
	}
	if f.sarif {
		f.format = "sarif"
	}
	if kinds := []string{"text", "json", "sarif", "github"}; f.json && f.sarif {
		return c.reportMisuse("-json and -sarif cannot be used together")
	} else if !slices.Contains(kinds, f.format) {
		return c.reportMisuse("-format=%s: unknown format%s (text, json, sarif or github)",
			f.format,
			didYouMean("", diag.Nearest(f.format, kinds)))
	}
	var err error
	if f.selected, err = selectRules("-rules", f.rules, ptxdsl.Rules()); err != nil {
		return c.reportMisuse("%v", err)
	}
	if f.promoted, err = selectRules("-error", f.errors, ptxdsl.Rules()); err != nil {
		return c.reportMisuse("%v", err)
	}
	if f.effort < 1 || f.effort > verify.MostEffort {
		return c.reportMisuse("-effort=%d: expected 1 to %d", f.effort, verify.MostEffort)
	}
	if f.threads, err = parseExtents("block", f.block); err != nil {
		return c.reportMisuse("%v", err)
	}
	if f.blocks, err = parseExtents("grid", f.grid); err != nil {
		return c.reportMisuse("%v", err)
	}
	inputs, code, ok := c.inputs(map[bool]string{true: "-fix"}[f.fix])
	if !ok {
		return code
	}
	r := newReport(c, &f)
	each(c, inputs, "verifying", func(in *input) verifyResult { return f.verify(c, in) }, r.add)
	return r.finish()
}

// parseExtents returns the size that a flag specifies, or zeros.
func parseExtents(flag, text string) (n [3]int, err error) {
	if text == "" {
		return n, nil
	}
	x, yz, err := sizes(flag, text)
	if err != nil {
		return n, err
	}
	n = [3]int{x, 1, 1}
	copy(n[1:], yz)
	if slices.Min(n[:]) < 1 {
		return n, fmt.Errorf("-%s=%s: expected positive numbers", flag, text)
	}
	if flag == "block" && n[0]*n[1]*n[2] > 1024 {
		return n, fmt.Errorf("-block=%s: a block has at most 1024 threads", text)
	}
	return n, nil
}

// A verifyResult is the result of verify for one file.
type verifyResult struct {
	*ptxdsl.Report
	in   *input
	text string // text after fixes
	err  error
}

// verify checks one file. If -fix is given, it applies fixes first.
func (f *verifyFlags) verify(c *call, in *input) verifyResult {
	v := verifyResult{in: in}
	before, err := in.read(c.stdin)
	if err != nil {
		v.err = err
		return v
	}
	o := ptxdsl.Options{Whole: f.whole, Rules: f.selected, Errors: f.promoted, Effort: f.effort,
		Block: f.threads, Grid: f.blocks}
	if v.text = before; !f.fix {
		v.Report = ptxdsl.Verify(in.name, before, o)
		return v
	}
	if v.text, v.Report = ptxdsl.Fix(in.name, before, o); v.text != before {
		v.err = replaceFile(in.name, in.info, v.text)
	}
	return v
}

// isSilent reports whether nothing is printed for the file, because it is clean without
// assumptions.
func (v *verifyResult) isSilent() bool {
	return len(v.Findings) == 0 && v.Fixed == 0 && v.Verdict() == verify.Clean &&
		len(v.Assumed()) == 0
}

// A report prints verdicts as they become available, and collects what is printed at the end.
type report struct {
	c    *call
	f    *verifyFlags
	code int

	findings diag.List // for SARIF, whose output is one document
	texts    map[string]string
	failures []string
}

func newReport(c *call, f *verifyFlags) *report {
	return &report{c: c, f: f, texts: map[string]string{}}
}

// add prints the result for the next file.
func (r *report) add(v verifyResult) {
	if isHarmless(v.err) {
		fmt.Fprintln(r.c.stderr, v.err)
		return
	}
	if v.err != nil {
		r.code = exitTrouble
		r.failures = append(r.failures, v.err.Error())
		fmt.Fprintln(r.c.stderr, v.err)
		return
	}
	if v.Findings.Errors() > 0 || r.f.strict && v.Verdict() == verify.Review {
		r.code = max(r.code, exitFindings)
	}
	if r.f.quiet {
		return
	}
	src := diag.Texts(map[string]string{v.in.name: v.text})
	switch r.f.format {
	case "json":
		_ = diag.JSON(r.c.stdout, v.Findings) // stdout stores the error
	case "github":
		_ = diag.GitHub(r.c.stdout, src, v.Findings)
	case "sarif":
		r.findings = append(r.findings, v.Findings...)
		if len(v.Findings) > 0 {
			r.texts[v.in.name] = v.text
		}
	default:
		shown := v.Findings
		if !r.f.verbose {
			// the summary line lists what was not checked
			shown = slices.DeleteFunc(slices.Clone(shown), func(d diag.Diagnostic) bool {
				return d.Severity == diag.Note
			})
		}
		r.c.findings(r.c.stdout, v.in.name, v.text, shown, r.f.all)
		if r.f.verbose || r.c.stdout.terminal() || !v.isSilent() {
			fmt.Fprintln(r.c.stdout, v.Summary())
		}
	}
}

// finish prints the collected results and returns the exit code.
func (r *report) finish() int {
	if r.f.format == "sarif" && !r.f.quiet {
		_ = diag.SARIF(r.c.stdout, diag.Run{
			Tool:    "ptxdsl",
			Version: version(),
			URI:     homePage,
			Help:    homePage + "/blob/main/docs/reference/rules.md#%s",
			Rules: slices.DeleteFunc(ptxdsl.Rules(), func(d diag.Rule) bool {
				return r.f.selected != nil && !r.f.selected[d.ID]
			}),
			Failures: r.failures,
			Source:   diag.Texts(r.texts),
		}, r.findings)
	}
	return r.code
}
