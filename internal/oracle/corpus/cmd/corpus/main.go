// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Command corpus compiles the corpus, or selects the part of it that the repository contains.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"

	"github.com/ptxdsl/ptxdsl/internal/oracle/corpus"
)

func main() {
	tools := flag.String("tools", ".tools/corpus", "folder of the compilers")
	output := flag.String("out", ".corpus", "folder for the PTX files")
	match := flag.String("match", "", "make only files whose names match")
	slice := flag.String("slice", "",
		"write the slice of the corpus to this archive and make nothing")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *tools, *output, *match, *slice); err != nil {
		fmt.Fprintln(os.Stderr, "corpus:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, tools, output, match, slice string) error {
	if slice != "" {
		return corpus.WriteSlice(slice, output)
	}
	m := &corpus.Maker{Tools: tools, Output: output}
	if match != "" {
		rx, err := regexp.Compile(match)
		if err != nil {
			return err
		}
		m.Match = rx.MatchString
	}
	m.Progress = func(made, of int, what string) {
		fmt.Fprintf(os.Stderr, "corpus: %d of %d: %s\n", made, of, what)
	}
	made, err := m.Make(ctx)
	fmt.Printf("corpus: %d files made in %s\n", made, output)
	return err
}
