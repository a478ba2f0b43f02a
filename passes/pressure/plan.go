// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package pressure

import "github.com/ptxdsl/ptxdsl/ir"

// scheduled returns the peak of a function whose blocks are scheduled for speed with each of the
// register targets, and the least peak found. The schedule for the last target is used to assign
// registers.
func (g *graph) scheduled(out [][]word, rooms []int,
	allocators ...*allocator) (leanest int, peaks []int) {
	p := g.planner()
	p.allocators = allocators
	peaks = make([]int, len(rooms))
	for b := range g.ops {
		if len(g.ops[b]) > 0 {
			leanest = max(leanest, p.block(g.ops[b], out[b], rooms, peaks))
		}
	}
	return leanest, peaks
}

// A planner schedules blocks; it reuses its buffers for every block.
type planner struct {
	g          *graph
	t          *tally
	last       map[word]int32
	readers    map[word][]int32
	users      map[word][]int32
	uses       []int32
	stamp      []bool // words live at the end of the block
	allocators []*allocator
}

func (g *graph) planner() *planner {
	n := len(g.words.alias)
	return &planner{
		g: g, t: &tally{s: g.words, live: make([]int32, n)}, last: make(map[word]int32),
		readers: make(map[word][]int32), users: make(map[word][]int32),
		uses: make([]int32, n), stamp: make([]bool, n),
	}
}

// peakOf returns the peak of live registers when the ops run in the given order.
func (p *planner) peakOf(ops []op, out []word, order []int32) int {
	n := 0
	p.t.start(out)
	for i := len(order) - 1; i >= 0; i-- {
		n = max(n, p.t.back(&ops[order[i]]))
	}
	return n
}

// block raises the peaks to those of a block, and returns the smallest peak of the block.
func (p *planner) block(ops []op, out []word, rooms, peaks []int) int {
	e := p.g.order(ops, p.last, p.readers)
	for _, w := range out {
		p.stamp[w] = true
	}
	base := scheduleLean(ops, e, p.t, out, p.users)
	least := p.peakOf(ops, out, base)
	p.count(ops, 0)
	p.count(ops, 1)
	for _, other := range [][]int32{scheduleDeep(ops, e, p.g.words, p.uses, p.stamp, p.users),
		text(ops)} {
		if n := p.peakOf(ops, out, other); n <= least {
			base, least = other, n
		}
	}
	p.peakOf(ops, out, base)
	entered := p.t.now
	for i, room := range rooms {
		p.count(ops, 0)
		p.count(ops, 1)
		order := scheduleFast(ops, e, p.g.words, p.uses, p.stamp, room, entered, base)
		peaks[i] = max(peaks[i], p.peakOf(ops, out, order))
		if i == len(rooms)-1 {
			p.assign(ops, order, out)
		}
	}
	p.clearBlock(ops, out)
	return least
}

// assign assigns registers to the words of a block, whose ops run in the given order.
func (p *planner) assign(ops []op, order []int32, out []word) {
	for _, a := range p.allocators {
		p.count(ops, 0)
		p.count(ops, 1)
		a.block(ops, order, p.t, out, p.uses, p.stamp, p.users)
	}
}

// clearBlock clears the state of a block.
func (p *planner) clearBlock(ops []op, out []word) {
	p.count(ops, 0)
	for _, w := range out {
		p.stamp[w] = false
	}
}

// count resets the use counts of the words of a block, or adds to them.
func (p *planner) count(ops []op, add int32) {
	for i := range ops {
		for _, u := range ops[i].uses {
			if add == 0 {
				p.uses[u] = 0
			}
			p.uses[u] += add
		}
	}
}

// livePlace returns the words that are live at a peak and occupy registers of their own.
func (g *graph) livePlace(out [][]word, p peak) []word {
	if len(g.ops) == 0 || p.count == 0 {
		return nil
	}
	t := &tally{s: g.words, live: make([]int32, len(g.words.alias))}
	t.start(out[p.block])
	ops := g.ops[p.block]
	for i := len(ops) - 1; i > p.at; i-- {
		t.back(&ops[i])
	}
	for _, d := range ops[p.at].defs {
		t.enter(d)
	}
	during := t.now
	behind := append([]int32(nil), t.live...)
	t.back(&ops[p.at])
	live := t.live
	if during > t.now {
		live = behind
	}
	var list []word
	for w, mark := range live {
		if mark == t.mark && g.words.class[w] == general {
			list = append(list, word(w))
		}
	}
	return list
}

// atPeak returns the number of words at a peak whose registers satisfy kind.
func (g *graph) atPeak(out [][]word, p peak, kind func(*ir.Reg) bool) int {
	n := 0
	for _, w := range g.livePlace(out, p) {
		if kind(g.words.f.Regs[g.words.owner[w]]) {
			n++
		}
	}
	return n
}
