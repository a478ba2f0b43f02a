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

	"github.com/ptxdsl/ptxdsl/internal/gputest"
)

func main() {
	device := flag.String("device", "cuda:0", "device, as runtime.Open takes it")
	pattern := flag.String("run", ".", "run the checks whose name, group/name, matches the regular expression")
	both := flag.String("both", "", "instead, compare the examples and all variants with the emulator, and write the verdicts to this `file`")
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
	if *both != "" {
		failed, err = compare(*both, *device, expression)
	} else {
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
