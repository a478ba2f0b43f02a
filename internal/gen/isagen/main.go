// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Command isagen writes the generated files of packages isa and dsl/op from isa/spec. It runs in
// the folder of package isa, as `go generate` does.
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/ptxdsl/ptxdsl/internal/gen"
)

func main() {
	spec := flag.String("spec", "spec", "folder of the spec files")
	out := flag.String("out", ".", "folder of package isa, to write to")
	op := flag.String("op", "../dsl/op", "folder of package op, to write to")
	check := flag.Bool("check", false, "write nothing; fail where a file would change")
	flag.Parse()
	if err := gen.Generate(*spec, gen.Folders{Table: *out, Op: *op}, *check); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
