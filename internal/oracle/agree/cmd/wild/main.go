// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Command wild changes one place in each of many whole modules, and prints the differences
// between the verdicts of verify and of ptxas on the changed modules.
package main

import (
	"context"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"github.com/ptxdsl/ptxdsl/internal/oracle/agree"
	"github.com/ptxdsl/ptxdsl/internal/ptxas"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "wild:", err)
		os.Exit(1)
	}
}

func run() error {
	count := flag.Int("n", 2000, "modules to make")
	seed := flag.Uint64("seed", 1, "seed")
	largest := flag.Int64("largest", 40_000, "leave out files with more bytes")
	flag.Usage = func() {
		fmt.Fprintln(os.Stderr, "usage: wild [flags] folder ...")
		flag.PrintDefaults()
	}
	flag.Parse()
	names, texts, err := read(flag.Args(), *largest)
	if err != nil {
		return err
	}
	if len(texts) == 0 {
		return fmt.Errorf("no .ptx files of at most %d bytes", *largest)
	}
	tool, err := ptxas.Find()
	if err != nil {
		return err
	}
	spoiler := agree.NewSpoiler(*seed, texts)
	rng := rand.New(rand.NewPCG(*seed, 2))
	made := make([]agree.Wild, 0, *count)
	for tries := 0; len(made) < *count && tries < 2**count; tries++ {
		i := rng.IntN(len(texts))
		if w, ok := spoiler.Spoil(names[i], texts[i]); ok {
			made = append(made, w)
		}
	}
	disputes, err := agree.Judge(context.Background(), tool, made)
	if err != nil {
		return err
	}
	for _, d := range disputes {
		fmt.Printf("%s:%d: %s\n\twas   %s\n\tis    %s\n\tptxas %s\n\tours  %s\n", d.From, d.Line,
			d.What, d.Was, d.Is, d.Ptxas, d.Ours)
	}
	fmt.Printf("%d modules, %d verdicts differ: %.3f %% agree\n", len(made), len(disputes),
		100-100*float64(len(disputes))/float64(len(made)))
	return nil
}

// read reads all .ptx files of at most largest bytes in the directories.
func read(roots []string, largest int64) (names, texts []string, err error) {
	for _, root := range roots {
		err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".ptx") {
				return err
			}
			if info, err := d.Info(); err != nil || info.Size() > largest {
				return err
			}
			text, err := os.ReadFile(path)
			names, texts = append(names, path), append(texts, string(text))
			return err
		})
		if err != nil {
			return nil, nil, err
		}
	}
	return names, texts, nil
}
