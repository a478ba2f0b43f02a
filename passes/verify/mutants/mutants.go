// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package mutants breaks correct kernels, one line at a time, to test the analyzers. It drops,
// repeats or moves a fence, an arrival, a wait or a commit; it changes a count, a parity, a
// byte count, a scope, an mbarrier or a predicate; it lets lanes exit; it swaps two lines. The
// choice of mutants is determined by a seed.
package mutants

import (
	"math/rand/v2"
	"slices"
	"strings"
)

// An adder adds a mutant in which edited replaces the taken lines that start at index line.
type adder func(kind string, line, taken int, what string, edited ...string)

// A Mutant is a text with one mistake.
type Mutant struct {
	Kind string // one of Plain or of Further
	Line int    // line number, starting at 1
	What string // description of the change
	Text string
}

// Plain returns the kinds of mutants that change one line. The kinds that remove an instruction
// occur three times as often as other kinds.
func Plain() []string {
	return []string{"drop", "count", "parity", "bytes", "scope", "place", "predicate", "swap"}
}

// Further returns the kinds of mutants that involve several lines or finer changes. Instructions
// move past a barrier or a wait, or into or out of a loop; lanes or warps exit early; an
// operation is repeated or applied to a neighboring mbarrier; masks, ranks, ring depths, parity
// bits, bounds, elections and branches change.
func Further() []string {
	return []string{"order", "past", "loop", "return", "double", "object", "mask", "rank", "ring",
		"bit", "bound", "elect", "branch", "word", "number"}
}

// Of returns up to n mutants of a PTX text, distributed over the given kinds. The same seed
// yields the same mutants.
func Of(text string, seed uint64, n int, kinds []string) []Mutant {
	lines := strings.Split(text, "\n")
	byKind := make(map[string][]Mutant)
	plain := Plain()
	seen := map[string]bool{text: true} // the original and the mutants generated so far
	add := func(kind string, line, taken int, what string, edited ...string) {
		out := strings.Join(slices.Concat(lines[:line], edited, lines[line+taken:]), "\n")
		again := seen[out] && !slices.Contains(plain, kind)
		seen[out] = true
		if !again && slices.Contains(kinds, kind) {
			byKind[kind] = append(byKind[kind], Mutant{kind, line + 1, what, out})
		}
	}
	for i, line := range lines {
		mutate(lines, i, line, add)
	}
	b := &body{lines, joinTries(statements(lines)), add}
	b.addOrders()
	b.addLoopMoves()
	b.addReturns()
	b.addDoubles()
	b.addObjects()
	for _, s := range b.list {
		b.addWords(s)
	}
	return choose(byKind, seed, n, kinds)
}

// choose selects n mutants, one of each kind in turn, in an order that depends on the seed.
func choose(byKind map[string][]Mutant, seed uint64, n int, kinds []string) []Mutant {
	if !slices.Equal(kinds, Plain()) {
		at := int(4 * seed % uint64(len(kinds)))
		kinds = slices.Concat(kinds[at:], kinds[:at])
	}
	r := rand.New(rand.NewPCG(seed, 1))
	for _, k := range kinds {
		list := byKind[k]
		r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	}
	var out []Mutant
	for left := true; left && len(out) < n; {
		left = false
		for _, k := range kinds {
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
