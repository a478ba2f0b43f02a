// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ptxdsl/ptxdsl"
	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/internal/diff"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/lower"
	"github.com/ptxdsl/ptxdsl/passes"
)

func optCommand() *command {
	var list strings.Builder
	for _, p := range passes.List() {
		fmt.Fprintf(&list, "\n    %-18s %s", p.Name,
			strings.Join(wrapText(p.Doc, 56), "\n"+strings.Repeat(" ", 23)))
	}
	return &command{
		name:  "opt",
		args:  "[flags] [path ...]",
		short: "run optimization passes on PTX",
		long: `
Opt reads a module, checks its forms, converts it to the intermediate
representation that all passes work on, runs the named passes, and prints the
result as PTX. Without a pass, it shows how the representation reads a file:
names in one scope, constants evaluated, declarations in order. The assembled
code is then byte-identical.

Without a path, and for -, it reads standard input. A file is read whatever its
name is; in a directory, opt reads all regular files in and below it whose names
end in .ptx and do not start with a dot. At most 2 GiB of a file are read, and 256
MiB of standard input, a pipe or a device. The results go to standard output one
after another, or with -w back into the files as ptxdsl fmt writes them.

The passes, in the order in which -passes=all runs them (docs/reference/passes.md):
` + list.String() + `

Exit codes: 0 success, 1 if a module has errors, or with -d if anything differs,
2 if a file could not be read or written.`,
		examples: `
    ptxdsl opt a.ptx                                     convert and print
    ptxdsl opt -passes=drop-unreachable,drop-dead a.ptx  remove dead code
    ptxdsl opt -passes=all -time -w kernels              run all passes in place
    ptxdsl opt -passes=all -dump=after:drop-dead < a.ptx show an intermediate state`,
		run: runOpt,
	}
}

// optFlags holds the flags of opt.
type optFlags struct {
	write, names, diff, all, time bool
	list                          []*passes.Pass
	dump                          []string // points of -dump: before:NAME, after:NAME
}

func runOpt(c *call) int {
	var f optFlags
	names := c.flags.String("passes", "", "run these passes in this order: a comma-separated "+
		"`list` of names, or all")
	dump := c.flags.String("dump", "", "print the module to standard error before or after a "+
		"pass: a\ncomma-separated `list` of before:NAME and after:NAME")
	c.flags.BoolVar(&f.diff, "d", false, "print diffs instead of the text")
	c.flags.BoolVar(&f.all, "e", false, "report all errors, not only the first ten of a file")
	c.flags.BoolVar(&f.names, "l", false, "list the files that change")
	c.flags.BoolVar(&f.time, "time", false, "print to standard error what each pass did and how "+
		"long it took")
	c.flags.BoolVar(&f.write, "w", false, "write the result to the file instead of standard output")
	if code, ok := c.parse(); !ok {
		return code
	}
	if err := f.choose(*names, *dump); err != nil {
		return c.reportMisuse("%v", err)
	}
	inputs, code, ok := c.inputs(map[bool]string{true: "-w"}[f.write])
	if !ok {
		return code
	}
	each(c, inputs, "optimizing", func(in *input) optResult { return f.module(c, in) },
		func(r optResult) {
			code = max(code, f.report(c, &r))
		})
	return code
}

// choose parses the lists of passes, and of the points at which -dump prints the module.
func (f *optFlags) choose(names, dump string) error {
	switch {
	case names == "all":
		f.list = passes.List()
	case names != "" && len(words(names)) == 0:
		return fmt.Errorf("-passes=%s: expected names of passes", names)
	case dump != "" && len(words(dump)) == 0:
		return fmt.Errorf("-dump=%s: expected after:NAME or before:NAME", dump)
	default:
		var err error
		if f.list, err = passes.Named(words(names)...); err != nil {
			return err
		}
	}
	var running []string
	for _, p := range f.list {
		running = append(running, p.Name)
	}
	f.dump = words(dump)
	for _, place := range f.dump {
		when, name, ok := strings.Cut(place, ":")
		switch {
		case !ok || when != "after" && when != "before":
			return fmt.Errorf("-dump=%s: expected after:NAME or before:NAME", place)
		case len(running) == 0:
			return fmt.Errorf("-dump=%s: no passes run; name them with -passes", place)
		case !slices.Contains(running, name):
			return fmt.Errorf("-dump=%s: %s is not one of the passes that run%s", place, name,
				didYouMean("", diag.Nearest(name, running)))
		}
	}
	return nil
}

// words splits a comma-separated list.
func words(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' })
}

// An optResult is the result of opt for one file.
type optResult struct {
	in       *input
	text     string // text of the file
	result   string
	notes    []byte    // output of -dump and -time
	findings diag.List // errors of the module, which end the run, or findings of passes
	failed   bool
	err      error
}

// module runs the passes on one file.
func (f *optFlags) module(c *call, in *input) (r optResult) {
	r.in = in
	if r.text, r.err = in.read(c.stdin); r.err != nil {
		return r
	}
	start := time.Now()
	m, faults := load(in.name, r.text)
	if r.findings = faults; m == nil {
		r.failed = true
		return r
	}
	f.logTime(&r, "lift", time.Since(start), "")
	if len(f.list) > 0 {
		f.print(&r, m, "before", f.list[0])
	}
	i := 0
	passes.Run(m, f.list, func(s *passes.Step) bool {
		f.logTime(&r, s.Pass.Name, s.Took, plural(s.Changes, "change"))
		r.findings = append(r.findings, s.Findings...)
		f.print(&r, m, "after", s.Pass)
		if i++; i < len(f.list) {
			f.print(&r, m, "before", f.list[i])
		}
		return true
	})
	start = time.Now()
	r.result = lower.Text(m)
	f.logTime(&r, "lower", time.Since(start), "")
	if f.write && r.result != r.text {
		r.err = replaceFile(in.name, in.info, r.result)
	}
	return r
}

// load returns the module of a text, or nil and its errors.
func load(name, text string) (*ir.Module, diag.List) {
	m, l := ptxdsl.Load(name, text)
	return m, slices.DeleteFunc(l, func(d diag.Diagnostic) bool { return d.Severity != diag.Error })
}

// report prints the result for one file, and returns its exit code.
func (f *optFlags) report(c *call, r *optResult) int {
	_, _ = c.stderr.Write(r.notes) // stderr stores the error
	if r.err != nil {
		return c.reportUnread(r.err)
	}
	c.findings(c.stderr, r.in.name, r.text, r.findings, f.all)
	if r.failed {
		return exitFindings
	}
	changed := r.result != r.text
	if f.names && changed {
		fmt.Fprintln(c.stdout, r.in.name)
	}
	if f.diff && changed {
		name := filepath.ToSlash(r.in.name)
		fmt.Fprint(c.stdout, diff.Unified(name+".orig", r.text, name, r.result))
		return exitFindings
	}
	if !f.names && !f.write && !f.diff {
		fmt.Fprint(c.stdout, r.result)
	}
	return exitClean
}

// print prints the module if -dump requests that at this point.
func (f *optFlags) print(r *optResult, m *ir.Module, when string, p *passes.Pass) {
	if slices.Contains(f.dump, when+":"+p.Name) {
		r.notes = fmt.Appendf(r.notes, "// %s %s of %s\n%s\n", when, p.Name, r.in.name,
			lower.Text(m))
	}
}

// logTime adds a line to the output of -time.
func (f *optFlags) logTime(r *optResult, what string, took time.Duration, done string) {
	if f.time {
		line := fmt.Sprintf("%s: %-16s %10s  %s", r.in.name, what, took.Round(time.Microsecond),
			done)
		r.notes = fmt.Appendln(r.notes, strings.TrimRight(line, " "))
	}
}

// wrapText divides a text into lines of at most width bytes.
func wrapText(text string, width int) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && len(line)+1+len(word) > width {
			lines = append(lines, line)
			line = ""
		}
		line = strings.TrimPrefix(line+" "+word, " ")
	}
	return append(lines, line)
}

// plural returns the number with the noun in singular or plural.
func plural(n int, word string) string {
	if n != 1 {
		word += "s"
	}
	return fmt.Sprintf("%d %s", n, word)
}
