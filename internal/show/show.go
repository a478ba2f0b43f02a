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
	"slices"
	"strconv"
	"strings"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/internal/trial"
	"github.com/ptxdsl/ptxdsl/isa"
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
		options = append(options, dsl.LineInfo())
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

// Choice is a flag whose value is one of a few, the first of them unless the command line says otherwise. Word is how a value is written.
func Choice[T any](name, usage string, word func(T) string, values ...T) *T {
	chosen := new(T)
	words := make([]string, len(values))
	for i, v := range values {
		words[i] = word(v)
	}
	*chosen = values[0]
	list := strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
	flag.Func(name, usage+": "+list+"; "+words[0]+" without it", func(given string) error {
		i := slices.Index(words, given)
		if i < 0 {
			return fmt.Errorf("%s is expected", list)
		}
		*chosen = values[i]
		return nil
	})
	return chosen
}

// Type is a Choice of types, the flag -type.
func Type(types ...isa.Type) *isa.Type {
	return Choice("type", "type of the numbers", func(t isa.Type) string { return strings.TrimPrefix(t.String(), ".") }, types...)
}

// Number is a Choice of numbers.
func Number(name, usage string, numbers ...int) *int {
	return Choice(name, usage, strconv.Itoa, numbers...)
}

// try runs a check.
func try(name, device string, check func(*trial.T) error) {
	if check == nil {
		fmt.Fprintf(os.Stderr, "%s has no check: no GPU of its kind was there to try one\n", name)
		os.Exit(2)
	}
	d, err := runtime.Open(device)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	t := &trial.T{Device: d, Rand: rand.New(rand.NewPCG(1, 2))}
	if d.Info().Emulated {
		t.Work = trial.SmallWork
	}
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
