// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/form"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/lift"
	"github.com/ptxdsl/ptxdsl/lower"
	"github.com/ptxdsl/ptxdsl/passes"
	"github.com/ptxdsl/ptxdsl/ptx"
)

func optCommand() *command {
	var list strings.Builder
	for _, p := range passes.List() {
		fmt.Fprintf(&list, "\n    %-18s %s", p.Name, strings.Join(wrapped(p.Doc, 56), "\n"+strings.Repeat(" ", 23)))
	}
	return &command{
		name:  "opt",
		args:  "[flags] file.ptx|-",
		short: "take PTX through the intermediate representation",
		long: `
Opt reads a module, checks its forms, turns it into the intermediate
representation that all passes work on, runs the passes that are named, turns
the result back into PTX and prints it. Without a pass it shows what the
representation makes of a file: names in one scope, constants worked out,
declarations in order; the assembled code is the same byte for byte.

The passes:
` + list.String() + `

Exit codes: 0 done, 1 the module has errors, 2 it could not be read.`,
		examples: `
    ptxdsl opt a.ptx                                     there and back
    ptxdsl opt -passes=drop-unreachable,drop-dead a.ptx  clean up
    ptxdsl opt -passes=drop-dead -dump=before:drop-dead - < a.ptx`,
		run: runOpt,
	}
}

// optFlags are the flags of opt.
type optFlags struct {
	all, time bool
	list      []*passes.Pass
	dump      []string // before:NAME, after:NAME
}

func runOpt(c *call) int {
	var f optFlags
	names := c.flags.String("passes", "", "run these passes, in this order: `list` of names with commas between")
	dump := c.flags.String("dump", "", "print the module to standard error after:NAME or before:NAME of a pass;\n`list` of such places with commas between")
	c.flags.BoolVar(&f.all, "e", false, "report all errors, not the first ten")
	c.flags.BoolVar(&f.time, "time", false, "print to standard error what each pass did, and how long it took")
	if code, ok := c.parse(); !ok {
		return code
	}
	if c.flags.NArg() != 1 {
		return c.misuse("one file is expected, or - for standard input")
	}
	if err := f.choose(*names, *dump); err != nil {
		return c.misuse("%v", err)
	}
	name, text, err := c.one(c.flags.Arg(0))
	if err != nil {
		return c.trouble(err)
	}
	return f.module(c, name, text)
}

// choose finds the passes that are named, and the places to print at.
func (f *optFlags) choose(names, dump string) error {
	var err error
	if f.list, err = passes.Named(words(names)...); err != nil {
		return err
	}
	for _, place := range words(dump) {
		when, name, ok := strings.Cut(place, ":")
		if !ok || when != "after" && when != "before" {
			return fmt.Errorf("-dump=%s: after:NAME or before:NAME is expected", place)
		}
		if !slices.ContainsFunc(f.list, func(p *passes.Pass) bool { return p.Name == name }) {
			return fmt.Errorf("-dump=%s: %s is not among the passes that run", place, name)
		}
	}
	f.dump = words(dump)
	return nil
}

// words splits a list with commas; an empty one has no words.
func words(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' })
}

// module does the work on one text.
func (f *optFlags) module(c *call, name, text string) int {
	start := time.Now()
	file, l := ptx.Parse(name, text)
	l = append(l, form.Check(file, form.Options{})...).Sort()
	l = slices.DeleteFunc(l, func(d diag.Diagnostic) bool { return d.Severity != diag.Error })
	if len(l) > 0 {
		c.findings(c.stderr, name, text, l, f.all)
		return exitFindings
	}
	m, l := lift.Module(file)
	if l.Errors() > 0 {
		c.findings(c.stderr, name, text, l, f.all)
		return exitFindings
	}
	f.say(c, "lift", 0, time.Since(start))
	if len(f.list) > 0 {
		f.print(c, m, "before", f.list[0])
	}
	i := 0
	passes.Run(m, f.list, func(s *passes.Step) bool {
		f.say(c, s.Pass.Name, s.Changes, s.Took)
		c.findings(c.stderr, name, text, s.Findings, f.all)
		f.print(c, m, "after", s.Pass)
		if i++; i < len(f.list) {
			f.print(c, m, "before", f.list[i])
		}
		return true
	})
	start = time.Now()
	out := lower.Text(m)
	f.say(c, "lower", 0, time.Since(start))
	fmt.Fprint(c.stdout, out)
	return exitClean
}

// print prints the module where -dump asks for it.
func (f *optFlags) print(c *call, m *ir.Module, when string, p *passes.Pass) {
	if slices.Contains(f.dump, when+":"+p.Name) {
		fmt.Fprintf(c.stderr, "// %s %s\n%s\n", when, p.Name, lower.Text(m))
	}
}

// say is the line of -time.
func (f *optFlags) say(c *call, what string, changes int, took time.Duration) {
	if f.time {
		fmt.Fprintf(c.stderr, "%-18s %5d changes %10s\n", what, changes, took.Round(time.Microsecond))
	}
}

// wrapped breaks a sentence into lines.
func wrapped(text string, width int) []string {
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
