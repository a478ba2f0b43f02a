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

	"github.com/ptxdsl/ptxdsl/internal/gen"
	"github.com/ptxdsl/ptxdsl/internal/oracle/agree"
	"github.com/ptxdsl/ptxdsl/internal/ptxas"
	"github.com/ptxdsl/ptxdsl/isa"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "agree:", err)
		os.Exit(1)
	}
}

// options holds the values of the flags.
type options struct {
	agree.Config
	families, spec, exceptions, report, tally, merge string
	slice, excused, quiet, harvest                   bool
	show                                             int
}

func parse() *options {
	year, week := time.Now().ISOWeek()
	o := &options{}
	flag.StringVar(&o.families, "family", "",
		"families to probe, separated by commas; all by default")
	flag.StringVar(&o.Only, "only", "", "instructions whose name begins so")
	flag.StringVar(&o.spec, "spec", "",
		"read the table from this folder of spec files, not from the program")
	flag.IntVar(&o.PerForm, "per-form", 20000, "legal combinations per form")
	flag.IntVar(&o.Variants, "variants", 4, "operand choices per combination, beside the plain one")
	flag.IntVar(&o.Mutants, "mutants", 330, "mutants per form")
	flag.IntVar(&o.Discover, "discover", 700, "random combinations per instruction")
	flag.BoolVar(&o.slice, "slice", false, "a small slice of everything, as CI runs it")
	flag.Uint64Var(&o.Seed, "seed", uint64(year*100+week), "seed; a new one each week by default")
	flag.IntVar(&o.show, "show", 40, "disputes to print per family")
	flag.StringVar(&o.exceptions, "exceptions", filepath.Join("isa", "spec", "exceptions"),
		"file of known differences")
	flag.BoolVar(&o.excused, "excused", false, "print how many probes each exception excused")
	flag.StringVar(&o.report, "report", "", "write the report to this file, as a page of docs")
	flag.StringVar(&o.tally, "tally", "", "write the counts and disputes to this file, for -merge")
	flag.StringVar(&o.merge, "merge", "",
		"probe nothing; merge these files of -tally, separated by commas")
	flag.BoolVar(&o.quiet, "q", false, "no progress")
	flag.BoolVar(&o.harvest, "harvest", false,
		"throw every word at every form instead, and print what the table lacks; with -slice, a part of them")
	flag.Parse()
	if o.slice {
		o.PerForm, o.Variants, o.Mutants, o.Discover = 40, 1, 12, 20
	}
	if o.families != "" {
		o.Families = strings.Split(o.families, ",")
	}
	if !o.quiet {
		o.Progress = os.Stderr
	}
	o.Table = o.spec != ""
	return o
}

func run() error {
	o := parse()
	set := isa.Standard()
	if o.Table {
		loaded, err := load(o.spec)
		if err != nil {
			return err
		}
		set = loaded
	}
	tool, err := ptxas.Find()
	if err != nil {
		return err
	}
	if _, err := os.Stat(o.exceptions); err == nil {
		if o.Exceptions, err = agree.ReadExceptions(o.exceptions); err != nil {
			return err
		}
	}
	if o.harvest {
		h := agree.HarvestConfig{Families: o.Families, Only: o.Only, Exceptions: o.Exceptions,
			Progress: o.Progress}
		if o.slice {
			h.Part = 40
		}
		return harvest(set, tool, h, !o.slice && o.Only == "" && o.families == "")
	}
	report, err := o.compare(set, tool)
	if err != nil {
		return err
	}
	if err := o.write(report, tool); err != nil {
		return err
	}
	return report.CheckThresholds()
}

// compare compares the table with ptxas, or merges the reports of earlier runs.
func (o *options) compare(set *isa.Set, tool *ptxas.Tool) (*agree.Report, error) {
	if o.merge != "" {
		return agree.ReadReports(strings.Split(o.merge, ","))
	}
	start := time.Now()
	report, err := agree.Run(context.Background(), set, tool, o.Config)
	if err != nil {
		return nil, err
	}
	report.Took = time.Since(start)
	return report, nil
}

// write prints a report, and writes the files that the flags name.
func (o *options) write(report *agree.Report, tool *ptxas.Tool) error {
	if !o.quiet {
		fmt.Fprintln(os.Stderr)
	}
	if o.tally != "" {
		if err := report.WriteFile(o.tally); err != nil {
			return err
		}
	}
	report.WriteDisputes(os.Stdout, o.show)
	report.WriteTable(os.Stdout)
	report.WriteSummary(os.Stdout)
	if o.excused {
		for _, u := range o.Exceptions.Uses() {
			fmt.Printf("excused %d: %s -- %s\n", u.Hits, u.Pattern, u.Reason)
		}
	}
	if o.report == "" {
		return nil
	}
	release, err := tool.Release(context.Background())
	if err != nil {
		return err
	}
	return os.WriteFile(o.report, report.Page(release, time.Now(), o.Config), 0o666)
}

// load reads spec files. A file with errors is reported and ignored, so that work on one family
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
