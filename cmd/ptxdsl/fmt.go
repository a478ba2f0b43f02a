// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"path/filepath"
	"sync"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/internal/diff"
	"github.com/ptxdsl/ptxdsl/ptx"
)

func fmtCommand() *command {
	return &command{
		name:  "fmt",
		args:  "[flags] [path ...]",
		short: "format PTX",
		long: `
Fmt formats PTX in the one style described in docs/reference/format.md. It changes only
white space and the order of modifiers that ptxas accepts in any order. The
assembled code stays byte-identical.

Without a path, and for -, it formats standard input to standard output. A file
is formatted whatever its name is. In a directory, fmt formats all regular files in
and below it whose names end in .ptx and do not start with a dot. Without a flag,
the formatted text of all files goes to standard output in the given order. At most
2 GiB of a file are read, and 256 MiB of standard input, a pipe or a device.

With -w, a file is replaced in one step by a new one. If the path is a symbolic
link, its target is replaced. A file with several hard links is written in place,
so that all its names keep naming one file.

Line ends become LF. Unknown instructions, such as those of a future PTX
version, are formatted like any other. A file that is not valid PTX is left
unchanged, and its errors go to standard error.

Exit codes: 0 success, 1 with -d if anything differs, 2 if a file could not be
read, parsed or written.`,
		examples: `
    ptxdsl fmt < a.ptx          format standard input
    ptxdsl fmt -l .             list the files whose formatting differs
    ptxdsl fmt -d a.ptx         show what would change
    ptxdsl fmt -w kernels a.ptx rewrite a directory and a file`,
		run: runFmt,
	}
}

// fmtFlags holds the flags of fmt, which have the same meanings as those of gofmt.
type fmtFlags struct {
	list, write, diff, all bool

	parsers sync.Pool // pool of *ptx.Parser, which reuse memory
}

func runFmt(c *call) int {
	var f fmtFlags
	c.flags.BoolVar(&f.diff, "d", false, "print diffs instead of the text")
	c.flags.BoolVar(&f.all, "e", false, "report all errors, not only the first ten of a file")
	c.flags.BoolVar(&f.list, "l", false, "list the files whose formatting differs")
	c.flags.BoolVar(&f.write, "w", false, "write the result to the file instead of standard output")
	if code, ok := c.parse(); !ok {
		return code
	}
	inputs, code, ok := c.inputs(map[bool]string{true: "-w"}[f.write])
	if !ok {
		return code
	}
	each(c, inputs, "formatting", func(in *input) formatResult { return f.format(c, in) },
		func(r formatResult) {
			code = max(code, f.report(c, &r))
		})
	return code
}

// A formatResult is the result of fmt for one file.
type formatResult struct {
	in       *input
	text     string // text of the file
	result   string
	diff     string // set if -d is given
	findings diag.List
	err      error
}

// format formats one file. If -w is given, it also writes the file.
func (f *fmtFlags) format(c *call, in *input) formatResult {
	r := formatResult{in: in}
	if r.text, r.err = in.read(c.stdin); r.err != nil {
		return r
	}
	if in.weight() > largeFile {
		r.result, r.findings = ptx.Format(in.name, r.text)
	} else {
		p, ok := f.parsers.Get().(*ptx.Parser)
		if !ok {
			p = &ptx.Parser{}
		}
		r.result, r.findings = p.Format(in.name, r.text)
		f.parsers.Put(p)
	}
	if r.findings.Errors() > 0 || r.result == r.text {
		return r
	}
	if f.write {
		r.err = replaceFile(in.name, in.info, r.result)
	}
	if f.diff {
		name := filepath.ToSlash(in.name)
		r.diff = diff.Unified(name+".orig", r.text, name, r.result)
	}
	return r
}

// report prints the result for one file, and returns its exit code.
func (f *fmtFlags) report(c *call, r *formatResult) int {
	switch {
	case r.err != nil:
		return c.reportUnread(r.err)
	case r.findings.Errors() > 0:
		c.findings(c.stderr, r.in.name, r.text, r.findings, f.all)
		return exitTrouble
	}
	if r.result != r.text {
		if f.list {
			fmt.Fprintln(c.stdout, r.in.name)
		}
		if f.diff {
			fmt.Fprint(c.stdout, r.diff)
			return exitFindings
		}
	}
	if !f.list && !f.write && !f.diff {
		fmt.Fprint(c.stdout, r.result)
	}
	return exitClean
}

// maxShown is the number of findings per file that are printed without -e.
const maxShown = 10

// findings prints the findings of one file with their source lines.
func (c *call) findings(w *output, name, text string, l diag.List, all bool) {
	rest := 0
	if !all && len(l) > maxShown {
		rest = len(l) - maxShown
		l = l[:maxShown]
	}
	p := diag.Printer{Source: diag.Texts(map[string]string{name: text}), Color: w.color()}
	_ = p.Print(w, l) // w stores the error
	if rest > 0 {
		fmt.Fprintf(c.stderr, "%s: and %d more; use -e to show all\n", name, rest)
	}
}
