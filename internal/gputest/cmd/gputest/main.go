// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Command gputest runs the checks of package gputest on a GPU and prints a table.
package main

import (
	"flag"
	"fmt"
	"os"
	"regexp"

	"github.com/ptxdsl/ptxdsl/internal/gputest"
)

func main() {
	device := flag.String("device", "cuda:0", "device, as runtime.Open takes it")
	pattern := flag.String("run", ".", "run the checks whose name, group/name, matches the regular expression")
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
	failed, err := gputest.Run(os.Stdout, *device, expression, gputest.All())
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	case failed > 0:
		os.Exit(1)
	}
}
