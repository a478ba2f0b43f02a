// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package kernelcmd provides the main function of programs that generate one module. Such a
// program prints the PTX of the module, or runs its check (see package kerneltest) with -run:
//
//	func main() { kernelcmd.Main("saxpy", "sm_90", saxpy.Build, saxpy.Check) }
package kernelcmd

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// Main parses the command line, executes it, and exits with an error if that fails. Define the
// program's own flags before calling Main. check may be nil.
//
//	-target sm_90a  the target to build for, instead of the one given here
//	-lines          adds .loc lines that lead profilers to the Go source
//	-run            runs check on a GPU, or on the emulator where there is none
//	-device NAME    the device for -run, as runtime.Open takes it
func Main(name, target string, build func(*dsl.Module), check func(*kerneltest.T) error) {
	flag.StringVar(&target, "target", target, "target to build for")
	lines := flag.Bool("lines", false, "add .loc lines that lead to the Go source")
	run := flag.Bool("run", false, "run the kernel and compare it with its reference")
	device := flag.String("device", "",
		"device for -run: cuda:0, emu:sm_90a; the default is a GPU or else "+
			"the emulator")
	flag.Parse()
	var err error
	if *run {
		err = Run(os.Stdout, name, *device, target, check)
	} else {
		err = write(os.Stdout, name, target, build, *lines)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// write writes the PTX of a module to w.
func write(w io.Writer, name, target string, build func(*dsl.Module), lines bool) error {
	var options []dsl.Option
	if lines {
		options = append(options, dsl.LineInfo())
	}
	m := dsl.New(name, target, options...)
	build(m)
	text, err := m.Text()
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, text)
	return err
}

// Run runs a check on a device and writes the results. If device is "", Run uses the first GPU,
// or an emulated device for the target if there is no GPU.
func Run(w io.Writer, name, device, target string, check func(*kerneltest.T) error) (err error) {
	if check == nil {
		return fmt.Errorf("%s has no check to run", name)
	}
	d, note, err := open(device, target)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	info := d.Info()
	fmt.Fprintf(w, "%s on %s, %s%s\n", name, d, info.Name, note)
	t := kerneltest.New(d)
	err = check(t)
	for _, r := range t.Results() {
		fmt.Fprintf(w, "  %v\n    computed %s\n", r, formatFirst(r))
	}
	for _, n := range t.Notes() {
		fmt.Fprintf(w, "  %s\n", n)
	}
	if err != nil {
		return fmt.Errorf("%s on %s: %w", name, d, err)
	}
	_, err = fmt.Fprintf(w, "%s agrees with its reference\n", name)
	return err
}

// open opens a device. If it chooses an emulated device because there is no GPU, note explains
// that.
func open(device, target string) (d *runtime.Device, note string, err error) {
	if device == "" {
		device = "cuda:0"
		n, err := runtime.Count()
		if err != nil {
			return nil, "", err
		}
		if n == 0 {
			device, note = "emu:"+target, ": there is no GPU"
		}
	}
	d, err = runtime.Open(device)
	return d, note, err
}

// formatFirst formats the first elements of a result.
func formatFirst(r kerneltest.Result) string {
	var words []string
	for _, x := range r.First {
		words = append(words, strconv.FormatFloat(x, 'g', 6, 64))
	}
	if r.Elements > len(r.First) {
		words = append(words, "...")
	}
	return strings.Join(words, " ")
}

// OneOf defines a flag whose value is one of the given values. The default is the first value.
// word returns the text for a value.
func OneOf[T any](name, usage string, word func(T) string, values ...T) *T {
	chosen := new(T)
	words := make([]string, len(values))
	for i, v := range values {
		words[i] = word(v)
	}
	*chosen = values[0]
	last := len(words) - 1
	list := strings.Join(words[:last], ", ") + " or " + words[last]
	flag.Func(name, usage+": "+list+" (default "+words[0]+")", func(given string) error {
		i := slices.Index(words, given)
		if i < 0 {
			return fmt.Errorf("want %s", list)
		}
		*chosen = values[i]
		return nil
	})
	return chosen
}

// Type defines the flag -type, whose value is one of the given types.
func Type(types ...isa.Type) *isa.Type {
	return OneOf("type", "element type", func(t isa.Type) string {
		return strings.TrimPrefix(t.String(), ".")
	}, types...)
}

// Number defines a flag whose value is one of the given numbers.
func Number(name, usage string, numbers ...int) *int {
	return OneOf(name, usage, strconv.Itoa, numbers...)
}
