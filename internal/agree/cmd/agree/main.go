// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Command agree compares the instruction table with ptxas and prints the differences. It exits with
// 1 if agreement is below the required level.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ptxdsl/ptxdsl/internal/agree"
	"github.com/ptxdsl/ptxdsl/internal/gen"
	"github.com/ptxdsl/ptxdsl/internal/ptxas"
	"github.com/ptxdsl/ptxdsl/isa"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "agree:", err)
		os.Exit(1)
	}
}

func run() error {
	year, week := time.Now().ISOWeek()
	families := flag.String("family", "", "families to probe, separated by commas; all by default")
	only := flag.String("only", "", "instructions whose name begins so")
	spec := flag.String("spec", "", "read the table from this folder of spec files, not from the program")
	perForm := flag.Int("per-form", 20000, "legal combinations per form")
	variants := flag.Int("variants", 4, "operand choices per combination, beside the plain one")
	mutants := flag.Int("mutants", 330, "mutants per form")
	discover := flag.Int("discover", 700, "random combinations per instruction")
	slice := flag.Bool("slice", false, "a small slice of everything, as CI runs it")
	seed := flag.Uint64("seed", uint64(year*100+week), "seed; a new one each week by default")
	show := flag.Int("show", 40, "disputes to print per family")
	exceptions := flag.String("exceptions", filepath.Join("isa", "spec", "exceptions"), "file of known differences")
	excused := flag.Bool("excused", false, "print how many probes each exception excused")
	save := flag.String("report", "", "write the report to this file, as a page of docs")
	tally := flag.String("tally", "", "write the counts and disputes to this file, for -merge")
	merge := flag.String("merge", "", "probe nothing; merge these files of -tally, separated by commas")
	quiet := flag.Bool("q", false, "no progress")
	harvested := flag.Bool("harvest", false, "throw every word at every form instead, and print what the table lacks; with -slice, a part of them")
	flag.Parse()
	if *slice {
		*perForm, *variants, *mutants, *discover = 40, 1, 12, 20
	}
	set := isa.Standard()
	table := *spec != ""
	if table {
		loaded, err := load(*spec)
		if err != nil {
			return err
		}
		set = loaded
	}
	tool, err := ptxas.Find()
	if err != nil {
		return err
	}
	c := agree.Config{
		Only: *only, PerForm: *perForm, Variants: *variants, Mutants: *mutants, Discover: *discover, Seed: *seed, Table: table,
	}
	if *families != "" {
		c.Families = strings.Split(*families, ",")
	}
	if _, err := os.Stat(*exceptions); err == nil {
		if c.Exceptions, err = agree.ReadExceptions(*exceptions); err != nil {
			return err
		}
	}
	if !*quiet {
		c.Progress = os.Stderr
	}
	if *harvested {
		h := agree.HarvestConfig{Families: c.Families, Only: c.Only, Exceptions: c.Exceptions, Progress: c.Progress}
		if *slice {
			h.Part = 40
		}
		return harvest(set, tool, h, !*slice && *only == "" && *families == "")
	}
	start := time.Now()
	var report *agree.Report
	if *merge != "" {
		report, err = agree.ReadReports(strings.Split(*merge, ","))
	} else {
		report, err = agree.Run(context.Background(), set, tool, c)
	}
	if err != nil {
		return err
	}
	if !*quiet {
		fmt.Fprintln(os.Stderr)
	}
	if *merge == "" {
		report.Took = time.Since(start)
	}
	if *tally != "" {
		if err := report.WriteFile(*tally); err != nil {
			return err
		}
	}
	report.WriteDisputes(os.Stdout, *show)
	report.WriteTable(os.Stdout)
	report.WriteSummary(os.Stdout)
	if *excused {
		for _, u := range c.Exceptions.Uses() {
			fmt.Printf("excused %d: %s -- %s\n", u.Hits, u.Pattern, u.Reason)
		}
	}
	if *save != "" {
		release, err := tool.Release(context.Background())
		if err != nil {
			return err
		}
		if err := os.WriteFile(*save, report.Page(release, time.Now(), c), 0o666); err != nil {
			return err
		}
	}
	return report.Verdict()
}

// load reads spec files. A file with errors is reported and left out, so that work on one family
// does not block work on another.
func load(dir string) (*isa.Set, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.isa"))
	if err != nil {
		return nil, err
	}
	var good []string
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".isa")
		if _, err := gen.Load(dir, name); err != nil {
			fmt.Fprintf(os.Stderr, "left out: %v\n", err)
			continue
		}
		good = append(good, name)
	}
	s, err := gen.Load(dir, good...)
	if err != nil {
		return nil, err
	}
	return s.Set(), nil
}
