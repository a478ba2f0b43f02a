// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Command registers compares the register counts that passes/pressure predicts for kernels of PTX
// modules with the counts that ptxas reports. It can also fit a new correction model.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"

	"github.com/ptxdsl/ptxdsl/internal/oracle/registers"
	"github.com/ptxdsl/ptxdsl/internal/oracle/roundtrip"
	"github.com/ptxdsl/ptxdsl/internal/ptxas"
	"github.com/ptxdsl/ptxdsl/passes/pressure"
)

func main() {
	var o options
	flag.StringVar(&o.cache, "cache", "build/registers", "`folder` for what ptxas has said")
	flag.StringVar(&o.fit, "fit", "", "fit the model to all samples and write it to this `file`")
	flag.BoolVar(&o.heldOut, "held-out", false,
		"predict each producer's kernels with a model fitted to all other producers")
	flag.StringVar(&o.keep, "keep", "", "write the samples to this `file` (.gz)")
	flag.IntVar(&o.most, "most", 0, "keep at most so many samples of a program")
	flag.BoolVar(&o.families, "families", false, "score by collection of programs too")
	flag.StringVar(&o.only, "only", "", "score only files whose name holds this `text`")
	flag.IntVar(&o.worst, "worst", 0, "list so many of the worst predictions")
	flag.Parse()
	if flag.NArg() == 0 {
		fmt.Fprintln(os.Stderr,
			"usage: registers [flags] folder|archive.tar.gz|file.ptx|samples.gz ...")
		flag.PrintDefaults()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := o.run(ctx, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "registers:", err)
		os.Exit(2)
	}
}

type options struct {
	cache, fit, keep, only string
	worst, most            int
	families, heldOut      bool
}

func (o *options) run(ctx context.Context, paths []string) error {
	list, err := o.samples(ctx, paths)
	if err != nil {
		return err
	}
	if len(list) == 0 {
		return errors.New("ptxas reports register counts for none of the kernels")
	}
	if o.most > 0 {
		list = registers.Thin(registers.Distinct(list), o.most)
	}
	switch {
	case o.keep != "":
		if err := registers.Write(o.keep, list); err != nil {
			return err
		}
		fmt.Printf("%d samples\n", len(list))
	case o.fit != "":
		return o.refit(registers.Distinct(list))
	case o.heldOut:
		o.score(registers.Standard.CrossValidate(registers.Distinct(list)))
	default:
		o.score(registers.Predict(pressure.Calibrated(), list))
	}
	return nil
}

// refit fits a model to all samples and writes it, with the errors of cross-validation by
// producer.
func (o *options) refit(list []registers.Sample) error {
	heldOut := registers.Standard.CrossValidate(list)
	m := registers.Standard.Model(list)
	m.Errors = registers.Errors(heldOut)
	if err := os.WriteFile(o.fit, []byte(m.String()), 0o644); err != nil {
		return err
	}
	fmt.Println("each producer predicted by a model fitted to all others:")
	o.score(heldOut)
	return nil
}

// samples returns the samples in sample files and those of the kernels in PTX modules.
func (o *options) samples(ctx context.Context, paths []string) ([]registers.Sample, error) {
	var list []registers.Sample
	var modules []roundtrip.Source
	for _, path := range paths {
		if strings.HasSuffix(path, ".gz") && !strings.HasSuffix(path, ".tar.gz") {
			more, err := registers.Read(path)
			if err != nil {
				return nil, err
			}
			list = append(list, more...)
			continue
		}
		more, err := roundtrip.Sources(path)
		if err != nil {
			return nil, err
		}
		modules = append(modules, more...)
	}
	if len(modules) == 0 {
		return list, nil
	}
	tool, err := ptxas.Find()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(o.cache, 0o755); err != nil {
		return nil, err
	}
	c := &registers.Counter{Tool: tool, Folder: o.cache}
	more, left, err := c.Collect(ctx, modules)
	if left > 0 {
		fmt.Fprintf(os.Stderr, "registers: %d of %d modules do not lift and are left out\n", left,
			len(modules))
	}
	return append(list, more...), err
}

func (o *options) score(list []registers.Sample) {
	var chosen []registers.Sample
	for _, s := range list {
		if strings.Contains(s.File, o.only) {
			chosen = append(chosen, s)
		}
	}
	fmt.Print(registers.Table(chosen))
	if o.families {
		fmt.Print("\n" + registers.Families(chosen))
	}
	for _, s := range registers.Worst(chosen, o.worst) {
		fmt.Printf("%s %s %s: %d, predicted %d\n", s.File, s.Kernel, s.Target, s.Count, s.Predicted)
	}
}
