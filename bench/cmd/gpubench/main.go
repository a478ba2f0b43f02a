// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Command gpubench measures the examples on a GPU, compares them with the installed libraries, and
// prints a table.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/ptxdsl/ptxdsl/bench"
	"github.com/ptxdsl/ptxdsl/runtime"
)

func main() {
	device := flag.String("device", "cuda:0", "device, as runtime.Open takes it")
	rounds := flag.Int("rounds", 51, "rounds in which the contenders take turns")
	only := flag.String("only", "copy,rmsnorm,softmax,matmul,multistage", "what to measure")
	sizes := flag.String("sizes", "2048,4096,8192", "sizes of the square matrices")
	libraries := flag.String("libs", os.Getenv("PTXDSL_LIBS"), "folders with cuBLAS, with colons between; without it, $PTXDSL_LIBS, and then where PyTorch and the toolkit put it")
	file := flag.String("json", "", "file for the results as JSON")
	flag.Parse()
	if err := run(*device, *rounds, *only, *sizes, *libraries, *file); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(device string, rounds int, only, sizes, libraries, file string) (err error) {
	if rounds < 1 {
		return fmt.Errorf("%d rounds: one or more is expected", rounds)
	}
	d, err := runtime.Open(device)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	b, err := bench.New(d, rounds)
	if err != nil {
		return err
	}
	defer b.Close()
	l, err := bench.NewBLAS(b, bench.Folders(libraries))
	if err != nil {
		return err
	}
	info := b.Device.Info()
	r := &bench.Report{Device: info.Name + " (" + info.Target + ")", Driver: info.Driver, Rounds: rounds, Origin: append(l.Origin, b.Meter())}
	r.Header(os.Stdout)
	keep := func(list []bench.Result, err error) error {
		r.Results = append(r.Results, list...)
		return errors.Join(err, bench.Table(os.Stdout, list))
	}
	for _, what := range strings.Split(only, ",") {
		var errs []error
		switch what {
		case "copy":
			errs = append(errs, keep(bench.Copy(b)))
		case "rmsnorm":
			for _, s := range bench.Shapes() {
				errs = append(errs, keep(bench.RMSNorm(b, s[0], s[1])))
			}
		case "softmax":
			for _, s := range bench.Shapes() {
				errs = append(errs, keep(bench.Softmax(b, s[0], s[1])))
			}
		case "matmul", "multistage":
			measure := bench.Matmul
			if what == "multistage" {
				measure = bench.Multistage
			}
			for _, word := range strings.Split(sizes, ",") {
				n, err := strconv.Atoi(word)
				if err != nil || n < 256 || n%256 != 0 {
					return fmt.Errorf("size %q: a multiple of 256 is expected", word)
				}
				errs = append(errs, keep(measure(b, l, n)))
			}
		default:
			return fmt.Errorf("-only %q: copy, rmsnorm, softmax, matmul and multistage are known", what)
		}
		for _, err := range errs {
			if err != nil {
				fmt.Fprintln(os.Stderr, err)
			}
		}
		if err := errors.Join(errs...); err != nil {
			return errors.New("not everything was measured")
		}
	}
	if file == "" {
		return nil
	}
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	return errors.Join(r.JSON(f), f.Close())
}
