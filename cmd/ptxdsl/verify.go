// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/form"
	"github.com/ptxdsl/ptxdsl/passes/verify"
)

func verifyCommand() *command {
	return &command{
		name:  "verify",
		args:  "[flags] [path ...]",
		short: "find what is wrong with PTX",
		long: `
Verify reads PTX and reports what the assembler would refuse, each finding at
its line with the nearest legal form and, where it is one edit, the edit. Each
file is judged for the version and the target that it names itself.

Without a path it reads standard input. Of a folder it reads all files in and
under it whose names end in .ptx and do not begin with a dot.

It checks forms: opcodes, modifiers, operands, versions and targets, names and
types, functions and calls, directives. Where they are right it follows the ways
that threads can take through each kernel and checks what they do to memory and
to one another: barriers, copies in the background, fences and proxies, barrier
objects, wgmma and tcgen05, clusters, register pools. Nothing runs. An error of
this kind shows the way on which a rule is broken; a review is legal under a
condition that could not be decided; what was not looked at is said in the last
line. A clean file is passed in silence; -v says what its verdict rests on.

A comment // ptxdsl:ignore RULE REASON before or behind an instruction suppresses
findings of one rule there.

Exit codes: 0 no errors, 1 errors found, 2 a file could not be read, or there
was none.`,
		examples: `
    ptxdsl verify a.ptx             one file
    ptxdsl verify -e kernels        every finding in a folder
    ptxdsl verify -json . | jq .    one object a finding, one finding a line
    ptxdsl verify -rules=F4 a.ptx   only what concerns versions and targets
    ptxdsl verify -rules=form a.ptx only forms
    ptxdsl verify -fix a.ptx        make the fixes that leave no choice
    ptxdsl verify -effort=16 a.ptx  a module of many large kernels, however long it takes
    ptxdsl explain F201             what a rule means, with PTX wrong and right`,
		run: runVerify,
	}
}

// verifyFlags are the flags of verify.
type verifyFlags struct {
	format                          string
	rules                           string
	json, sarif, all, fix, say, mum bool
	whole                           bool
	effort                          int
	selected                        map[string]bool // by id; nil for all
}

func runVerify(c *call) int {
	var f verifyFlags
	c.flags.BoolVar(&f.all, "e", false, "report all findings, not the first ten of a file")
	c.flags.IntVar(&f.effort, "effort", 1, "do up to `n` times the usual work where that is not enough")
	c.flags.BoolVar(&f.fix, "fix", false, "make the fixes that leave no choice, and report what remains;\na guess (did you mean ...) is never made")
	c.flags.StringVar(&f.format, "format", "text", "`kind` of report: text, json, sarif or github")
	c.flags.BoolVar(&f.json, "json", false, "the same as -format=json: one object a finding, one finding a line")
	c.flags.BoolVar(&f.mum, "q", false, "print no report, only set the exit code")
	c.flags.StringVar(&f.rules, "rules", "", "check only these rules: `list` of ids (F203), beginnings of ids (F2)\nand layers (form, proxies), with commas between")
	c.flags.BoolVar(&f.sarif, "sarif", false, "the same as -format=sarif: a SARIF 2.1.0 log")
	c.flags.BoolVar(&f.say, "v", false, "name clean files too, with what was checked")
	c.flags.BoolVar(&f.whole, "whole", false, "the module is not linked with others: what it calls must be in it")
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
		return c.misuse("-json and -sarif exclude one another")
	} else if !slices.Contains(kinds, f.format) {
		return c.misuse("-format=%s: no such kind%s (text, json, sarif, github)", f.format, didYouMean("", diag.Nearest(f.format, kinds)))
	}
	var err error
	if f.selected, err = selectRules(f.rules, rules()); err != nil {
		return c.misuse("%v", err)
	}
	if f.effort < 1 || f.effort > verify.MostEffort {
		return c.misuse("-effort=%d: 1 to %d times the usual work can be done", f.effort, verify.MostEffort)
	}
	inputs := func(yield func(input) bool) { walk(c.flags.Args(), yield) }
	if c.flags.NArg() == 0 {
		if f.fix {
			return c.trouble(errors.New("error: cannot use -fix with standard input"))
		}
		inputs = func(yield func(input) bool) { yield(input{name: standardInput}) }
	}
	r := newReport(c, &f)
	each(c, inputs, "verifying", func(in *input) verified { return f.verify(c, in) }, r.add)
	return r.finish()
}

// A verified is what became of one file.
type verified struct {
	in       *input
	text     string
	findings diag.List
	report   *verify.Report // on hazards; nil where the forms have errors
	fixed    int
	err      error
}

// verify judges one file, and with -fix mends it first.
func (f *verifyFlags) verify(c *call, in *input) verified {
	v := verified{in: in}
	if v.text, v.err = in.read(c.stdin); v.err != nil {
		return v
	}
	v.findings, v.report = f.check(in.name, v.text)
	if f.fix {
		f.mend(&v)
	}
	return v
}

// check is the selected findings of a text, and the report on hazards.
func (f *verifyFlags) check(name, text string) (diag.List, *verify.Report) {
	l, r := examine(name, text, form.Options{Whole: f.whole}, verify.Options{Rules: f.selected, Effort: f.effort})
	if f.selected != nil {
		l = slices.DeleteFunc(l, func(d diag.Diagnostic) bool { return !f.selected[d.Rule] })
	}
	return l, r
}

// mend makes fixes until none is left, since one mistake may hide another. Each round must leave
// fewer findings than before, or it is not made.
func (f *verifyFlags) mend(v *verified) {
	before := v.text
	for {
		text, made, _ := diag.ApplyFixes(v.text, v.findings)
		if made == 0 {
			break
		}
		l, r := f.check(v.in.name, text)
		if l.Errors() >= v.findings.Errors() && len(l) >= len(v.findings) {
			break
		}
		v.text, v.findings, v.report = text, l, r
		v.fixed += made
	}
	if v.text != before {
		v.err = replace(v.in.name, v.in.info, v.text)
	}
}

// A report prints verdicts as they come, and keeps what only the end can tell.
type report struct {
	c    *call
	f    *verifyFlags
	code int

	findings diag.List // for SARIF, which is one document
	texts    map[string]string
	failures []string
}

func newReport(c *call, f *verifyFlags) *report {
	return &report{c: c, f: f, texts: map[string]string{}}
}

// add takes the verdict on the next file.
func (r *report) add(v verified) {
	if v.err != nil {
		r.code = exitTrouble
		r.failures = append(r.failures, v.err.Error())
		fmt.Fprintln(r.c.stderr, v.err)
		return
	}
	if v.findings.Errors() > 0 {
		r.code = max(r.code, exitFindings)
	}
	if r.f.mum {
		return
	}
	src := diag.Texts(map[string]string{v.in.name: v.text})
	switch r.f.format {
	case "json":
		_ = diag.JSON(r.c.stdout, v.findings) // stdout keeps its error
	case "github":
		_ = diag.GitHub(r.c.stdout, src, v.findings)
	case "sarif":
		r.findings = append(r.findings, v.findings...)
		if len(v.findings) > 0 {
			r.texts[v.in.name] = v.text
		}
	default:
		shown := v.findings
		if !r.f.say {
			// What was not checked is said in the last line.
			shown = slices.DeleteFunc(slices.Clone(shown), func(d diag.Diagnostic) bool { return d.Severity == diag.Note })
		}
		r.c.findings(r.c.stdout, v.in.name, v.text, shown, r.f.all)
		if len(v.findings) > 0 || v.fixed > 0 || r.f.say || partial(v.report) {
			fmt.Fprintln(r.c.stdout, verdict(&v, r.f.selected != nil))
		}
	}
}

// finish prints what is left to print and is the exit code of the run.
func (r *report) finish() int {
	if r.f.format == "sarif" && !r.f.mum {
		_ = diag.SARIF(r.c.stdout, diag.Run{
			Tool:     "ptxdsl",
			Version:  version(),
			URI:      home,
			Help:     home + "/blob/main/docs/reference/rules.md#%s",
			Rules:    slices.DeleteFunc(rules(), func(d diag.Rule) bool { return r.f.selected != nil && !r.f.selected[d.ID] }),
			Failures: r.failures,
			Source:   diag.Texts(r.texts),
		}, r.findings)
	}
	return r.code
}
