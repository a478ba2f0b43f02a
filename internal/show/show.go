// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package show is the command line that the examples share: it prints the PTX of a kernel for a target.
package show

import (
	"flag"
	"fmt"
	"os"

	"github.com/ptxdsl/ptxdsl/dsl"
)

// Main prints the PTX of a module, for the target that -target names. The program may have declared flags of its own.
func Main(name, target string, build func(*dsl.Module)) {
	flag.StringVar(&target, "target", target, "target to build for")
	lines := flag.Bool("lines", false, "add .loc lines that lead to the Go source")
	flag.Parse()
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
