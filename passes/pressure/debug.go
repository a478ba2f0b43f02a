// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package pressure

import (
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// Register conventions of code compiled for a debugger (-g).
const (
	savedFirst  = 16 // the first callee-saved register
	returnFirst = 20 // first of the two registers with the return address
	callLeast   = 22 // least register count of a kernel that calls functions
	describing  = 2  // registers with the descriptor of global memory, always live
)

// describes is the number of the first target on which accesses to global memory need a descriptor:
// sm_80.
const describes = 80

// debugged measures a function compiled for a debugger: instructions stay in text order, and
// nothing is folded or removed. Words take the lowest free registers, except words that are live
// across a call.
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
		p.clearBlock(g.ops[b], out[b])
	}
	x.debugRegisters(a.used + extra)
	x.graph, x.out = g, out
}

// global reports whether an instruction may access global memory, and thus needs the descriptor.
func global(in *ir.Instr) bool {
	switch in.Kind().Head() {
	case isa.HeadLd, isa.HeadSt, isa.HeadAtom, isa.HeadRed:
		return !in.HasMod(isa.ModParam, isa.ModShared, isa.ModLocal)
	}
	return false
}

// debugRegisters sets the register count, which does not depend on the style because nothing is
// reordered.
func (x *measure) debugRegisters(n int) {
	x.registers, x.registersLoops = [3]int{n, n, n}, n
	x.lean, x.leanLoops, x.earlyLoops, x.earlyFull, x.earlyLoopsFull = n, n, n, n, n
	for i := range x.early {
		x.early[i] = n
	}
}

// vectorWords returns the number of words of the longest vector of an op. The vector is loaded into
// adjacent registers and then moved to the registers of its elements.
func vectorWords(o *op) int {
	n := 0
	for i := range o.in.Args {
		if a := &o.in.Args[i]; a.Kind == ir.Vector {
			n = max(n, len(a.Args()))
		}
	}
	return n
}

// crossing returns the words that are live across calls of functions.
func (g *graph) crossing(out [][]word) []bool {
	list := make([]bool, len(g.words.alias))
	t := &tally{s: g.words, live: make([]int32, len(g.words.alias))}
	for b := range g.ops {
		t.start(out[b])
		now := append([]word(nil), out[b]...)
		for i := len(g.ops[b]) - 1; i >= 0; i-- {
			o := &g.ops[b][i]
			if o.in.Kind() == isa.KindCall {
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

// text returns the indices of ops in the order of the PTX text.
func text(ops []op) []int32 {
	order := make([]int32, len(ops))
	for i := range order {
		order[i] = int32(i)
	}
	return order
}
