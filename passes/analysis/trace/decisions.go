// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"iter"
	"maps"
	"slices"

	"github.com/ptxdsl/ptxdsl/passes/analysis/value"
)

// A decisions maps predicates to their outcomes. Early decisions are shared by all paths that
// branch off later. They are stored in immutable maps of increasing size.
type decisions struct {
	early  []map[*value.Atom]bool // immutable
	latest []decision
}

type decision struct {
	a     *value.Atom
	holds bool
}

// lookup returns the outcome of a predicate. known is false if the outcome is not decided.
func (d *decisions) lookup(a *value.Atom) (holds, known bool) {
	for _, x := range slices.Backward(d.latest) {
		if x.a == a {
			return x.holds, true
		}
	}
	for _, part := range slices.Backward(d.early) {
		if holds, known = part[a]; known {
			return holds, true
		}
	}
	return false, false
}

// record records the outcome of a predicate.
func (d *decisions) record(a *value.Atom, holds bool) {
	d.latest = append(d.latest, decision{a, holds})
	if len(d.latest) <= 16 {
		return
	}
	part, rest := make(map[*value.Atom]bool), d.early
	for len(rest) > 0 && len(rest[len(rest)-1]) <= 2*len(d.latest)+2*len(part) {
		older := maps.Clone(rest[len(rest)-1])
		maps.Copy(older, part)
		part, rest = older, rest[:len(rest)-1]
	}
	for _, x := range d.latest {
		part[x.a] = x.holds
	}
	*d = decisions{early: append(slices.Clip(rest), part)}
}

// all returns every decided predicate with its outcome. It returns some predicates more than
// once.
func (d *decisions) all() iter.Seq2[*value.Atom, bool] {
	return func(yield func(*value.Atom, bool) bool) {
		for _, x := range d.latest {
			if !yield(x.a, x.holds) {
				return
			}
		}
		for _, part := range d.early {
			for a, holds := range part {
				if !yield(a, holds) {
					return
				}
			}
		}
	}
}
