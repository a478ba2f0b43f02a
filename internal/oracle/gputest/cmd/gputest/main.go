// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Command gputest runs the checks of package gputest on a GPU and prints a table.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"regexp"

	"github.com/ptxdsl/ptxdsl/internal/oracle/gputest"
)

func main() {
	device := flag.String("device", "cuda:0", "device, as runtime.Open takes it")
	pattern := flag.String("run", ".",
		"run the checks whose name, group/name, matches the regular expression")
	both := flag.String("both", "",
		"instead, compare the examples and all variants with the emulator, and write the verdicts to this `file`")
	pairs := flag.String("pairs", "",
		"instead, launch the pairs of `folder`, such as runtime/emu/check/testdata/pairs")
	twin := flag.String("twin", "", "instead, launch the kernel of `file`, one of a pair")
	launches := flag.Int("launches", 1000, "launches of each kernel of a pair")
	parallel := flag.Int("parallel", 8, "pairs that run at once")
	target := flag.String("target", "sm_90a", "target of the device, for -pairs")
	record := flag.String("record", "pairs.tsv", "file that -pairs writes")
	flag.Parse()
	if asked, err := gputest.Wild(); asked {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	expression, err := regexp.Compile(*pattern)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	failed, err := 0, error(nil)
	switch {
	case *both != "":
		failed, err = compare(*both, *device, expression)
	case *pairs != "":
		err = launch(*pairs, *target, *record, *launches, *parallel)
	case *twin != "":
		err = gputest.Twin(os.Stdout, *twin, *launches)
	default:
		failed, err = gputest.Run(os.Stdout, *device, expression, gputest.All())
	}
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	case failed > 0:
		os.Exit(1)
	}
}

// compare compares a device with the emulator and writes the verdicts to a file.
func compare(file, device string, pattern *regexp.Regexp) (failed int, err error) {
	var record bytes.Buffer
	if failed, err = gputest.Both(os.Stdout, &record, device, pattern); err != nil {
		return failed, err
	}
	return failed, os.WriteFile(file, record.Bytes(), 0o644)
}

// launch launches the pairs of a directory and writes the outcomes to a file.
func launch(folder, target, file string, launches, parallel int) error {
	var record bytes.Buffer
	if err := gputest.Pairs(os.Stdout, &record, folder, target, launches, parallel); err != nil {
		return err
	}
	return os.WriteFile(file, record.Bytes(), 0o644)
}
