// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package protocol

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
	"github.com/ptxdsl/ptxdsl/passes/analysis/value"
	"github.com/ptxdsl/ptxdsl/passes/verify"
)

// A scene is one trace for every thread of the block, none of which contradicts another.
type scene struct {
	traces []*trace.Trace
}

// scenes puts traces together, at most so many times. It is not whole where no other traces go with one.
func scenes(p *verify.Pass, most int) (list []scene, whole bool) {
	whole = true
	seen := make(map[string]bool)
	// Long traces tell most, so they come first.
	seeds := slices.Clone(p.Traces)
	slices.SortStableFunc(seeds, func(a, b *trace.Trace) int { return len(b.Events) - len(a.Events) })
	for _, first := range seeds {
		if len(list) == most {
			return list, whole
		}
		s := scene{traces: []*trace.Trace{first}}
		left := p.Pool.All().Minus(first.Threads)
		for !left.Empty() {
			t := next(p, &s, left)
			if t == nil {
				break
			}
			s.traces = append(s.traces, t)
			left = left.Minus(t.Threads)
		}
		if !left.Empty() {
			whole = false
			continue
		}
		key := make([]byte, 0, 2*len(p.Traces))
		in := make(map[*trace.Trace]bool)
		for _, t := range s.traces {
			in[t] = true
		}
		for _, t := range p.Traces {
			if in[t] {
				key = append(key, '1')
			} else {
				key = append(key, '0')
			}
		}
		if !seen[string(key)] {
			seen[string(key)] = true
			list = append(list, s)
		}
	}
	return list, whole
}

// next is a trace for the lowest thread that is left, which agrees with those of the scene. Of several the
// one that shares most decisions is taken.
func next(p *verify.Pass, s *scene, left value.Set) *trace.Trace {
	lowest := left.Least()
	for _, t := range p.Traces {
		if !t.Threads.Has(lowest) || t.Threads.Minus(left) != (value.Set{}) {
			continue
		}
		fits := true
		for _, o := range s.traces {
			fits = fits && o.Facts.Agree(t.Facts)
		}
		if fits {
			return t
		}
	}
	return nil
}

// free reports whether what a trace decided is the same for the whole block: where single threads choose
// by data, others may not have chosen alike.
func free(t *trace.Trace) bool {
	for _, c := range t.Choices {
		a, _ := c.Cond.Condition()
		if a == nil || a.Tid || a.Op == "done" || c.Soft {
			continue
		}
		if c.Cond.Level() > value.Block {
			return false
		}
	}
	return true
}
