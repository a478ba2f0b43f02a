// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Command roundtrip formats every PTX module in the given directories, archives and files,
// assembles it before and after, and compares the machine code and the verdicts.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"time"

	"github.com/ptxdsl/ptxdsl"
	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/form"
	"github.com/ptxdsl/ptxdsl/internal/oracle/roundtrip"
	"github.com/ptxdsl/ptxdsl/internal/ptxas"
	"github.com/ptxdsl/ptxdsl/lower"
	"github.com/ptxdsl/ptxdsl/passes"
	"github.com/ptxdsl/ptxdsl/ptx"
)

func main() {
	quick := flag.Bool("quick", false,
		"do not assemble a formatted text whose tokens are the original's")
	quiet := flag.Bool("q", false, "no progress")
	names := flag.String("passes", "",
		"run these passes before lowering: `list` of names with commas between")
	flag.Parse()
	if flag.NArg() == 0 {
		fmt.Fprintln(os.Stderr, "usage: roundtrip [-quick] [-q] folder|archive.tar.gz|file.ptx ...")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	bad, err := run(ctx, flag.Args(), *names, *quick, *quiet)
	if err != nil {
		fmt.Fprintln(os.Stderr, "roundtrip:", err)
		os.Exit(2)
	}
	if bad {
		os.Exit(1)
	}
}

func run(ctx context.Context, paths []string, names string,
	quick, quiet bool) (bad bool, err error) {
	chosen, err := passes.Named(strings.FieldsFunc(names, func(r rune) bool { return r == ',' })...)
	if err != nil {
		return false, err
	}
	tool, err := ptxas.Find()
	if err != nil {
		return false, err
	}
	var list []roundtrip.Source
	for _, path := range paths {
		more, err := roundtrip.Sources(path)
		if err != nil {
			return false, err
		}
		list = append(list, more...)
	}
	c := roundtrip.Config{Tool: tool, Format: ptx.Format, Check: check,
		Rewrite: func(name, text string) (string, diag.List) { return rewrite(name, text, chosen) },
		Quick:   quick}
	if !quiet {
		c.Progress = progress(os.Stderr)
	}
	start := time.Now()
	reports, err := roundtrip.Run(ctx, c, list)
	if err != nil {
		return false, err
	}
	bad = roundtrip.Summary(os.Stdout, reports)
	fmt.Fprintf(os.Stderr, "roundtrip: %.1f s\n", time.Since(start).Seconds())
	return bad, nil
}

func check(name, text string) diag.List {
	file, list := ptx.Parse(name, text)
	return append(list, form.Check(file, form.Options{})...).Sort()
}

// rewrite lifts a module to the IR and lowers it again. Lifting the result must give an equal
// module.
func rewrite(name, text string, chosen []*passes.Pass) (string, diag.List) {
	m, list := ptxdsl.Load(name, text)
	if len(list) > 0 {
		return "", list
	}
	passes.Run(m, chosen, nil)
	return lower.Text(m), nil
}

// progress returns a function that writes a progress line at most every two seconds.
func progress(w io.Writer) func(done, of int) {
	last := time.Now()
	return func(done, of int) {
		if time.Since(last) > 2*time.Second {
			last = time.Now()
			fmt.Fprintf(w, "roundtrip: %d of %d\n", done, of)
		}
	}
}
