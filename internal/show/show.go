// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package show is the command line that the examples share: it prints the PTX of a kernel for a target, or tries the example on a device.
package show

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/internal/trial"
	"github.com/ptxdsl/ptxdsl/runtime"
)

// Main prints the PTX of a module, for the target that -target names; with -run it tries the example instead, where there is a check. The
// program may have declared flags of its own.
func Main(name, target string, build func(*dsl.Module), check func(*trial.T) error) {
	flag.StringVar(&target, "target", target, "target to build for")
	lines := flag.Bool("lines", false, "add .loc lines that lead to the Go source")
	run := flag.Bool("run", false, "run the example on a device, and compare with its reference")
	device := flag.String("device", "", "device to run on, as runtime.Open takes it")
	flag.Parse()
	if *run {
		try(name, *device, check)
		return
	}
	var options []dsl.Option
	if *lines {
		options = append(options, dsl.Lines())
	}
	m := dsl.New(name, target, options...)
	build(m)
	text, err := m.Text()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Print(text)
}

// Want ends the program where a flag is not as it should be.
func Want(ok bool, format string, args ...any) {
	if !ok {
		fmt.Fprintf(os.Stderr, format+"\n", args...)
		os.Exit(2)
	}
}

// try runs a check.
func try(name, device string, check func(*trial.T) error) {
	Want(check != nil, "%s has no check to run", name)
	d, err := runtime.Open(device)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	t := &trial.T{Device: d, Rand: rand.New(rand.NewPCG(1, 2))}
	err = errors.Join(check(t), d.Close())
	for _, note := range t.Notes {
		fmt.Println(note)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Printf("%s: right on %s, %s\n", name, d, d.Info().Name)
}
