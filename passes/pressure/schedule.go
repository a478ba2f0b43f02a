// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package pressure

import "slices"

// A tally counts the live registers while ops are stepped over, forward or backward.
type tally struct {
	s    *words
	live []int32 // a word is live if its entry equals the current stamp
	mark int32
	now  int
	warp int // words in uniform registers
	flag int // predicates
}

func (t *tally) start(out []word) {
	t.mark++
	t.now, t.warp, t.flag = 0, 0, 0
	for _, w := range out {
		t.enter(w)
	}
}

func (t *tally) enter(w word) bool {
	if t.live[w] == t.mark {
		return false
	}
	t.live[w] = t.mark
	switch t.s.class[w] {
	case general:
		t.now++
	case uniform:
		t.warp++
	case predicate:
		t.flag++
	}
	return true
}

func (t *tally) clearBlock(w word) bool {
	if t.live[w] != t.mark {
		return false
	}
	t.live[w] = 0
	switch t.s.class[w] {
	case general:
		t.now--
	case uniform:
		t.warp--
	case predicate:
		t.flag--
	}
	return true
}

// back steps backward over an op. It returns the number of registers that are live while the op
// executes.
func (t *tally) back(o *op) int {
	for _, d := range o.defs {
		t.enter(d) // a result that is never read still needs a register
	}
	during := t.now
	for _, d := range o.defs {
		t.clearBlock(d)
	}
	for _, u := range o.uses {
		t.enter(u)
	}
	return max(during, t.now) + o.temps
}

// A peak is the maximum number of live registers.
type peak struct {
	count     int
	block, at int // in the order in which ops were examined
	warp      int // maximum number of words in uniform registers
	flags     int // maximum number of predicates
	inner     int // maximum in loops of one block
}

// inOrder returns the peak when ops run in the order of the text.
func (g *graph) inOrder(out [][]word) peak {
	t := &tally{s: g.words, live: make([]int32, len(g.words.alias))}
	var p peak
	for b := range g.ops {
		t.start(out[b])
		loop := slices.Contains(g.flow.Succs[b], b)
		for i := len(g.ops[b]) - 1; i >= 0; i-- {
			n := t.back(&g.ops[b][i])
			if n > p.count {
				p.count, p.block, p.at = n, b, i
			}
			if loop {
				p.inner = max(p.inner, n)
			}
			p.warp = max(p.warp, t.warp)
			p.flags = max(p.flags, t.flag)
		}
	}
	return p
}

// edges holds the dependences between the ops of a block: for each op, the later ops that depend on
// it.
type edges struct {
	succs [][]edge
	preds []int32 // number of predecessors
}

// An edge is a dependence of a later op. The later op either reads the result of the earlier op, or
// must only stay after it without waiting for its result.
type edge struct {
	to   int32
	read bool
}

// wait returns the latency of an edge for computing the critical path: the minimum number of cycles
// between the two ops.
func (e edge) wait(o *op) int32 {
	if e.read {
		return int32(o.latency)
	}
	return 1
}

// stall returns how many cycles the scheduler delays the later op if other ops are ready. ptxas
// leaves the latency of global memory to other warps, and covers only short latencies.
func (e edge) stall(o *op) int32 {
	if e.read {
		return int32(o.stall)
	}
	return 1
}
