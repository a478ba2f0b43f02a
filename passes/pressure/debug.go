// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package pressure

import "github.com/ptxdsl/ptxdsl/ir"

// What code for a debugger keeps in registers by convention.
const (
	savedFirst  = 16 // the first register that a function that is called leaves as it is
	returnFirst = 20 // two that hold where it returns to
	callLeast   = 22 // registers that there are where functions are called
	describing  = 2  // registers that describe global memory, all the time
)

// describes is the first target whose accesses to global memory need a description of it.
const describes = 80

// debugged measures a function that is translated for a debugger: instruction by instruction in the order of the text, with
// nothing folded or dropped. Words take the lowest registers that are free, but those that are in use across a call.
func (x *measure) debugged(f *ir.Func) {
	s := newWords(f, x.number)
	g := s.graph(x.number, nil, nil)
	out := g.live()
	g.behind = out
	extra := 0
	for b := range g.ops {
		for i := range g.ops[b] {
			o := &g.ops[b][i]
			o.temps += vectorWords(o)
			if x.number >= describes && global(o.in) {
				extra = describing
			}
		}
	}
	x.order = g.inOrder(out)
	g.point = g.pointAt(out, x.order)
	x.loops = x.order
	a := newAllocator(s, dense, maxRegister)
	for b := range g.ops {
		for i := range g.ops[b] {
			a.gather(&g.ops[b][i])
		}
	}
	a.crossing = g.crossing(out)
	p := g.planner()
	p.allocators = []*allocator{a}
	for b := range g.ops {
		for _, w := range out[b] {
			p.stamp[w] = true
		}
		p.assign(g.ops[b], text(g.ops[b]), out[b])
		p.leave(g.ops[b], out[b])
	}
	x.debugRegisters(a.most + extra)
	x.graph, x.out = g, out
}

// global reports whether an instruction may access global memory.
func global(in *ir.Instr) bool {
	switch in.Head() {
	case "ld", "st", "atom", "red":
		return !in.Mod("param") && !in.Mod("shared") && !in.Mod("local")
	}
	return false
}

// debugRegisters sets the registers that are taken, which for code that is ordered as the text is are the same by every measure.
func (x *measure) debugRegisters(n int) {
	x.registers, x.registersLoops = [3]int{n, n, n}, n
	x.lean, x.leanLoops, x.earlyLoops, x.earlyFull, x.earlyLoopsFull = n, n, n, n, n
	for i := range x.early {
		x.early[i] = n
	}
}

// vectorWords returns the words of the longest vector of an op. It is made side by side and then
// moved to where its parts belong.
func vectorWords(o *op) int {
	n := 0
	for i := range o.in.Args {
		if a := &o.in.Args[i]; a.Kind == ir.Vector {
			n = max(n, len(a.Args()))
		}
	}
	return n
}

// crossing returns the words that are in use across calls.
func (g *graph) crossing(out [][]word) []bool {
	list := make([]bool, len(g.words.alias))
	t := &tally{s: g.words, live: make([]int32, len(g.words.alias))}
	for b := range g.ops {
		t.start(out[b])
		now := append([]word(nil), out[b]...)
		for i := len(g.ops[b]) - 1; i >= 0; i-- {
			o := &g.ops[b][i]
			if o.in.Head() == "call" {
				kept := now[:0]
				for _, w := range now {
					if t.live[w] == t.mark {
						kept = append(kept, w)
						list[w] = list[w] || !has(o.defs, w)
					}
				}
				now = kept
			}
			t.back(o)
			now = append(now, o.uses...)
		}
	}
	return list
}

// text returns the order in which ops stand.
func text(ops []op) []int32 {
	order := make([]int32, len(ops))
	for i := range order {
		order[i] = int32(i)
	}
	return order
}
