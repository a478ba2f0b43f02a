// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Command cleanups runs the clean-up passes on every PTX module in the given directories,
// archives and files, and compares the machine code before and after. It writes a line of JSON
// for each module.
package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"slices"
	"time"

	"github.com/ptxdsl/ptxdsl/internal/oracle/cleanups"
	"github.com/ptxdsl/ptxdsl/internal/oracle/roundtrip"
	"github.com/ptxdsl/ptxdsl/internal/ptxas"
	"github.com/ptxdsl/ptxdsl/passes"
)

func main() {
	keep := flag.String("keep", "",
		"append the reports to `file`, and skip the modules that it already contains")
	limit := flag.Duration("limit", 2*time.Minute, "longest time for one run of the assembler")
	code := flag.Bool("code", true, "compare machine code")
	flag.Parse()
	if flag.NArg() == 0 {
		fmt.Fprintln(os.Stderr,
			"usage: cleanups [-keep file] [-limit time] [-code=false] folder|archive.tar.gz|file.ptx ...")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	reports, err := run(ctx, flag.Args(), *keep, *limit, *code)
	if err != nil {
		fmt.Fprintln(os.Stderr, "cleanups:", err)
		os.Exit(2)
	}
	if summary(os.Stdout, reports) {
		os.Exit(1)
	}
}

func run(ctx context.Context, paths []string, keep string, limit time.Duration,
	code bool) ([]cleanups.Report, error) {
	tool, err := ptxas.Find()
	if err != nil {
		return nil, err
	}
	tool.Timeout = limit
	j := cleanups.Judge{Tool: tool, Passes: passes.List()}
	if code {
		if j.Lister = ptxas.Installed("nvdisasm"); j.Lister == "" {
			return nil, fmt.Errorf(
				"nvdisasm not found: run `make tools`, or leave the machine code out with -code=false")
		}
	}
	var list []roundtrip.Source
	for _, path := range paths {
		more, err := roundtrip.Sources(path)
		if err != nil {
			return nil, err
		}
		list = append(list, more...)
	}
	// Small files first, so that problems show early.
	slices.SortStableFunc(list, func(a, b roundtrip.Source) int {
		return cmp.Compare(len(a.Text), len(b.Text))
	})
	reports, to, err := readKnown(keep)
	if err != nil {
		return nil, err
	}
	if to != nil {
		defer to.Close()
	}
	for i, s := range list {
		if slices.ContainsFunc(reports, func(r cleanups.Report) bool { return r.Name == s.Name }) {
			continue
		}
		start := time.Now()
		r, err := j.Try(ctx, s)
		if err != nil {
			return reports, fmt.Errorf("%s: %w", s.Name, err)
		}
		reports = append(reports, r)
		fmt.Fprintf(os.Stderr, "%4d of %d %6.1f s %s\n", i+1, len(list),
			time.Since(start).Seconds(), s.Name)
		if to != nil {
			if err := json.NewEncoder(to).Encode(r); err != nil {
				return reports, err
			}
		}
	}
	return reports, nil
}

// readKnown reads the reports in a file, and opens the file to append more reports.
func readKnown(keep string) (reports []cleanups.Report, to *os.File, err error) {
	if keep == "" {
		return nil, nil, nil
	}
	f, err := os.OpenFile(keep, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o666)
	if err != nil {
		return nil, nil, err
	}
	in := json.NewDecoder(bufio.NewReader(f))
	for {
		var r cleanups.Report
		if err := in.Decode(&r); err == io.EOF {
			return reports, f, nil
		} else if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", keep, err)
		}
		reports = append(reports, r)
	}
}

// A tally holds the counts for one pass over all files.
type tally struct {
	files, changes, wrong, before, after int
	alike                                map[string]int
}

// summary writes the problems and the counts. It returns whether there are problems.
func summary(w io.Writer, reports []cleanups.Report) (bad bool) {
	tallies := make(map[string]*tally)
	refused := 0
	for _, r := range reports {
		if r.Refused != "" {
			refused++
			fmt.Fprintf(w, "%s: as it came: %s\n", r.Name, r.Refused)
		}
		for _, t := range r.Tries {
			sum := tallies[t.Pass]
			if sum == nil {
				sum = &tally{alike: make(map[string]int)}
				tallies[t.Pass] = sum
			}
			sum.add(&t)
			bad = bad || len(t.Problems) > 0
			for _, p := range t.Problems {
				fmt.Fprintf(w, "%s: %s: %s\n", r.Name, t.Pass, p)
			}
			for _, name := range slices.Sorted(maps.Keys(t.Differ)) {
				fmt.Fprintf(w, "%s: %s: %s: %s\n", r.Name, t.Pass, name, t.Differ[name])
			}
		}
	}
	fmt.Fprintf(w, "cleanups: %d modules, %d refused as they came\n", len(reports), refused)
	for _, name := range slices.Sorted(maps.Keys(tallies)) {
		t := tallies[name]
		fmt.Fprintf(w,
			"%-18s %7d changes in %3d modules, %d with problems; %d instructions, then %d; functions:",
			name, t.changes, t.files, t.wrong, t.before, t.after)
		for _, like := range slices.Sorted(maps.Keys(t.alike)) {
			fmt.Fprintf(w, " %s %d", like, t.alike[like])
		}
		fmt.Fprintln(w)
	}
	return bad
}

func (t *tally) add(o *cleanups.Trial) {
	t.files++
	t.changes += o.Changes
	t.before += o.Before
	t.after += o.After
	if len(o.Problems) > 0 {
		t.wrong++
	}
	for like, n := range o.Alike {
		t.alike[like] += n
	}
}
