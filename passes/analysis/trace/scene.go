// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/passes/analysis/graph"
	"github.com/ptxdsl/ptxdsl/passes/analysis/value"
)

// Scenes combines traces into compatible sets, called scenes. A scene has one trace for every
// thread of the block, or of each block of the cluster if blocks are analyzed separately. Scenes
// returns at most most scenes, those with the longest traces first. whole reports whether every
// event of a trace occurs in some scene, also in each iteration of an inner loop and in the
// iterations before the loop ends.
func (k *Kernel) Scenes(most int) (list [][]*Trace, whole bool) {
	if !k.together.isFor(k.Traces) {
		k.together = scenes{traces: k.Traces}
		k.together.list, k.together.whole = k.computeScenes()
	}
	return k.together.list[:min(most, len(k.together.list))], k.together.whole
}

// scenes caches the result of Scenes for a list of traces.
type scenes struct {
	traces []*Trace
	list   [][]*Trace
	whole  bool
}

// isFor reports whether s was computed for the given traces.
func (s *scenes) isFor(traces []*Trace) bool {
	return len(s.traces) == len(traces) && len(traces) > 0 && &s.traces[0] == &traces[0]
}

// computeScenes returns all scenes without duplicates.
func (k *Kernel) computeScenes() (list [][]*Trace, whole bool) {
	seen, used := make(map[string]bool), make(map[*Trace]bool)
	agree := newAgreement(k.Traces)
	seeds := slices.Clone(k.Traces)
	slices.SortStableFunc(seeds, func(a, b *Trace) int { return len(b.Events) - len(a.Events) })
	for _, first := range seeds {
		scene := k.sceneOf(first, agree)
		if scene == nil {
			continue
		}
		for _, t := range scene {
			used[t] = true
		}
		key := make([]byte, len(k.Traces))
		for i, t := range k.Traces {
			if slices.Contains(scene, t) {
				key[i] = 1
			}
		}
		if !seen[string(key)] {
			seen[string(key)] = true
			list = append(list, scene)
		}
	}
	spreadConstants(list)
	if len(used) == len(k.Traces) {
		return list, true
	}
	all, shown := make(map[*ir.Instr]executionCount), make(map[*ir.Instr]executionCount)
	for _, t := range k.Traces {
		for in, n := range k.countExecutions(t) {
			all[in] = all[in].max(n.most)
			if used[t] {
				shown[in] = shown[in].max(n.most)
			}
		}
	}
	for in, n := range all {
		if m := shown[in]; m.times < min(n.times, outerIterations) ||
			m.iterations < min(n.iterations, outerIterations) {
			return list, false
		}
	}
	return list, true
}

// spreadConstants orders scenes so that each set of constants appears once before any set
// repeats. The first few scenes thus cover all sets.
func spreadConstants(list [][]*Trace) {
	met, place := make(map[int]int), make(map[*[]*Trace]int)
	order := make([]*[]*Trace, len(list))
	for i := range list {
		scene := list[i]
		order[i] = &scene
		set := scene[0].Facts.set
		place[order[i]] = met[set]
		met[set]++
	}
	slices.SortStableFunc(order, func(a, b *[]*Trace) int { return place[a] - place[b] })
	for i, scene := range order {
		list[i] = *scene
	}
}

// sameGrants reports whether two traces assume the same responses to clusterlaunchcontrol
// requests.
func sameGrants(a, b *Trace) bool {
	x, y := a.grants(), b.grants()
	return len(x) == 0 || len(y) == 0 || slices.Equal(x, y)
}

// grants returns the responses to clusterlaunchcontrol requests that a trace assumes, in order.
func (t *Trace) grants() []bool {
	if t.grantsKnown {
		return t.granted
	}
	t.grantsKnown = true
	for _, c := range t.Choices {
		if a, not := c.Cond.Condition(); a != nil && Answered(a) {
			t.granted = append(t.granted, c.Taken != not)
		}
	}
	return t.granted
}

// Answered reports whether a predicate depends on the response to a clusterlaunchcontrol request.
func Answered(a *value.Atom) bool {
	return a.Sources&value.Answers != 0
}

// An executionCount holds how many times a path executes an instruction, in total and in the
// current execution of the innermost loop.
type executionCount struct{ times, iterations int }

// max returns the maximum of each count.
func (o executionCount) max(n executionCount) executionCount {
	return executionCount{max(o.times, n.times), max(o.iterations, n.iterations)}
}

// A tally counts the executions of an instruction up to an event of a trace.
type tally struct {
	executionCount
	visit int // number of times that the loop of iterations was entered
	most  executionCount
}

// countExecutions returns how often each instruction is executed in a trace.
func (k *Kernel) countExecutions(t *Trace) map[*ir.Instr]*tally {
	n := make(map[*ir.Instr]*tally)
	var list []tally                    // tallies to reuse
	visits := make(map[*graph.Loop]int) // number of times that each loop was left
	var last *graph.Loop                // innermost loop of the previous event
	at := func(block int) {
		for ; last != nil && !last.Has(block); last = last.Parent {
			visits[last]++
		}
		last = k.loops[block]
	}
	choices := t.Choices
	for i := range t.Events {
		e := &t.Events[i]
		for len(choices) > 0 && choices[0].At <= i {
			at(choices[0].Block)
			choices = choices[1:]
		}
		at(e.Block)
		h := n[e.In]
		if h == nil {
			if len(list) == 0 {
				list = make([]tally, 64)
			}
			h, list = &list[0], list[1:]
			n[e.In] = h
		}
		h.times++
		if v := visits[last]; v != h.visit {
			h.visit, h.iterations = v, 0
		}
		h.iterations++
		h.most = h.most.max(h.executionCount)
	}
	return n
}

// An agreement caches which pairs of traces are compatible, because each pair occurs in many
// scenes.
type agreement struct {
	number map[*Trace]int
	known  []answer // for each pair of traces, by their numbers
}

// An answer is the cached result of a comparison: yes, no, or not computed yet.
type answer uint8

const (
	unasked answer = iota
	yes
	no
)

func newAgreement(traces []*Trace) *agreement {
	g := &agreement{make(map[*Trace]int, len(traces)), make([]answer, len(traces)*len(traces))}
	for i, t := range traces {
		g.number[t] = i
	}
	return g
}

// agree reports whether two traces are compatible.
func (g *agreement) agree(a, b *Trace) bool {
	known := &g.known[g.number[a]*len(g.number)+g.number[b]]
	if *known == unasked {
		*known = no
		if a.Facts.Agree(b.Facts) && sameGrants(a, b) {
			*known = yes
		}
	}
	return *known == yes
}

// sceneOf returns a scene that contains the trace first, or nil if some threads have no compatible
// trace.
func (k *Kernel) sceneOf(first *Trace, agree *agreement) []*Trace {
	list := []*Trace{first}
	for rank := range k.Ranks {
		left := k.Pool.All()
		if rank == first.Rank {
			left = left.Minus(first.Threads)
		}
		for !left.Empty() {
			t := k.compatibleTrace(list, rank, left, agree)
			if t == nil {
				return nil
			}
			list = append(list, t)
			left = left.Minus(t.Threads)
		}
	}
	return list
}

// compatibleTrace returns a trace for the lowest thread in left that is compatible with the
// scene, or nil.
func (k *Kernel) compatibleTrace(scene []*Trace, rank int, left value.Set,
	agree *agreement) *Trace {
	lowest := left.Least()
	for _, t := range k.Traces {
		if t.Rank != rank || !t.Threads.Has(lowest) || t.Threads.Minus(left) != (value.Set{}) {
			continue
		}
		if !slices.ContainsFunc(scene, func(o *Trace) bool { return !agree.agree(o, t) }) {
			return t
		}
	}
	return nil
}
