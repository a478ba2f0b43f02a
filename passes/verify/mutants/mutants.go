// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package mutants breaks kernels that are right, one line at a time, to see what the analyzers say: a
// fence, an arrival, a wait or a commit is dropped, a count, a parity, a number of bytes, a scope, a place or a
// predicate is changed, two lines are swapped. The choice of mutants follows from a seed.
package mutants

import (
	"math/rand/v2"
	"slices"
	"strings"
)

// A Mutant is a text with one thing wrong.
type Mutant struct {
	Kind string // one of Kinds
	Line int    // where, counted from 1
	What string // what was done
	Text string
}

// Kinds is what mutants there are. Of those that drop something there are three times as many as of others.
func Kinds() []string {
	return []string{"drop", "count", "parity", "bytes", "scope", "place", "predicate", "swap"}
}

// Of is up to n mutants of a text, spread over the kinds.
func Of(text string, seed uint64, n int) []Mutant {
	lines := strings.Split(text, "\n")
	byKind := make(map[string][]Mutant)
	add := func(kind string, line, taken int, what string, edited ...string) {
		out := slices.Concat(lines[:line], edited, lines[line+taken:])
		byKind[kind] = append(byKind[kind], Mutant{kind, line + 1, what, strings.Join(out, "\n")})
	}
	for i, line := range lines {
		mutate(lines, i, line, add)
	}
	return choose(byKind, seed, n)
}

// choose takes mutants of each kind in turn, in an order that the seed gives.
func choose(byKind map[string][]Mutant, seed uint64, n int) []Mutant {
	r := rand.New(rand.NewPCG(seed, 1))
	for _, k := range Kinds() {
		list := byKind[k]
		r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	}
	var out []Mutant
	for left := true; left && len(out) < n; {
		left = false
		for _, k := range Kinds() {
			take := 1
			if k == "drop" {
				take = 3
			}
			for range take {
				if len(byKind[k]) > 0 && len(out) < n {
					out = append(out, byKind[k][0])
					byKind[k] = byKind[k][1:]
					left = true
				}
			}
		}
	}
	return out
}
