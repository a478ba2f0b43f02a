// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package corpus builds a corpus of PTX from compilers: the CUDA C++ and Triton kernels in this
// directory, compiled for every architecture and with several options. The formatter and the
// checks are tested with it. A compressed part of the corpus is in the repository, so that tests
// need no compiler.
package corpus

import (
	"fmt"
	"slices"
	"strings"
)

// A Unit is one file of the corpus to compile.
type Unit struct {
	Source  string   // base name without extension
	Target  string   // such as sm_90a
	Variant string   // name of the set of compiler options
	Flags   []string // options of nvcc
}

// Name returns the name of the PTX file.
func (u Unit) Name() string { return u.Source + "." + u.Target + "." + u.Variant + ".ptx" }

// flags returns the nvcc options of a variant, such as -Xcicc -O0 for "noopt".
func flags(variant string) []string {
	switch variant {
	case "plain":
		return nil
	case "noopt":
		return []string{"-Xcicc", "-O0"}
	case "o1":
		return []string{"-Xcicc", "-O1"}
	case "debug":
		return []string{"-G"}
	case "lines":
		return []string{"-lineinfo"}
	case "source":
		return []string{"-lineinfo", "-src-in-ptx"}
	case "fast":
		return []string{"--use_fast_math"}
	case "nofma":
		return []string{"-fmad=false", "-prec-div=false"}
	case "rdc":
		return []string{"-rdc=true"}
	case "regs":
		return []string{"-maxrregcount=40"}
	}
	panic("bug: no variant " + variant)
}

// A rule compiles each of the sources for each of the targets in each of the variants; all are
// lists of words.
type rule struct{ sources, targets, variants string }

// plan returns what is compiled. Sources that require a particular architecture are compiled for
// that architecture and its family. Other sources are compiled for a selection of targets, such
// that each target occurs.
func plan() []rule {
	return []rule{
		{"arith intrinsics warp calls control memory",
			"75 80 86 87 88 89 90 90a 100 100a 100f 103 103a 107 107a 110 110a 120 120a 121 121a",
			"plain"},
		{"arith atomics warp coop texture narrow calls control memory apps", "75 90",
			"noopt lines"},
		{"intrinsics", "75 90", "lines"},
		{"atomics coop texture narrow", "75 80 89 90 100a 103f 120f 121f", "plain"},
		{"math", "75 90 100 120", "plain"},
		{"math", "80", "fast noopt"},
		{"apps crypto", "75 80 90 100 107f 110f 120", "plain"},
		{"apps crypto", "86", "fast nofma o1 regs"},
		{"calls control memory apps coop", "90", "rdc debug source"},
		{"calls texture narrow", "100a", "debug"},
		{"matrix", "75 80 89 90 120a", "plain"},
		{"async", "80 90 100", "plain lines debug"},
		{"bulk", "90 90a 100a 103a 110a 120a", "plain"},
		{"bulk", "90", "noopt debug"},
		{"wgmma", "90a", "plain noopt lines"},
		{"tcgen", "100a 103a 110a", "plain"},
		{"tcgen", "100a", "noopt debug"},
		{"inline", "75 80 90 90a 100a 120a", "plain"},
		{"library", "75 80 90 100", "plain"},
		{"library", "90", "lines noopt"},
		{"library", "89", "debug"},
		{"sorting", "80 90 120", "plain"},
		{"standard", "75 90 100a", "plain noopt"},
	}
}

// Units returns the CUDA C++ part of the corpus, without duplicates.
func Units() []Unit {
	var list []Unit
	seen := make(map[string]bool)
	for _, r := range plan() {
		for _, source := range strings.Fields(r.sources) {
			for _, target := range strings.Fields(r.targets) {
				for _, variant := range strings.Fields(r.variants) {
					u := Unit{source, "sm_" + target, variant, flags(variant)}
					if !seen[u.Name()] {
						seen[u.Name()] = true
						list = append(list, u)
					}
				}
			}
		}
	}
	slices.SortFunc(list, func(a, b Unit) int { return strings.Compare(a.Name(), b.Name()) })
	return list
}

// String describes the unit in progress messages.
func (u Unit) String() string {
	return fmt.Sprintf("%s for %s, %s", u.Source, u.Target, u.Variant)
}
