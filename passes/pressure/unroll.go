// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package pressure

import (
	"slices"
	"strings"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// Limits of unrolling in ptxas: it unrolls short single-block loops with a constant step, unless a
// pragma forbids it. ptxas unrolls loops with a known trip count completely; the simulation unrolls
// some iterations only, because the register count no longer grows.
const (
	unrollTimes = 4
	unrollMost  = 12
	unrollOps   = 48 // for a body that waits for memory
	unrollShort = 21 // for other bodies
)

// unroll repeats the bodies of short single-block loops as ptxas does.
func (g *graph) unroll() int {
	g.findStarted()
	n := 0
	for b := range g.ops {
		if times := g.counted(b); times > 1 {
			g.repeat(b, times)
			n++
		}
	}
	return n
}

// counted returns how many times ptxas repeats block b, or 0 if it does not unroll it. The loop
// must be short, and end when a value with a constant step reaches a loop-invariant value.
func (g *graph) counted(b int) int {
	ops := g.ops[b]
	if len(ops) < 2 || !isShort(ops) || !g.closes(b) || g.keepsRolled(b) {
		return 0
	}
	guard, ok := g.words.of(ops[len(ops)-1].in.Guard.Reg)
	if !ok {
		return 0
	}
	for i := range ops {
		in := ops[i].in
		if in.Kind() != isa.KindSetp || len(in.Args) < 3 || in.Args[0].Kind != ir.Register {
			continue
		}
		if n, ok := g.words.of(in.Args[0].Reg); ok && n == guard {
			return g.repeatCount(b, in)
		}
	}
	return 0
}

// closes reports whether block b ends with a conditional branch and may branch to itself.
func (g *graph) closes(b int) bool {
	last := g.ops[b][len(g.ops[b])-1].in
	return last.Kind() == isa.KindBra && last.Guard.Reg != nil &&
		slices.Contains(g.flow.Succs[b], b)
}

// keepsRolled reports whether a pragma forbids to unroll block b.
func (g *graph) keepsRolled(b int) bool {
	return slices.ContainsFunc(g.words.f.Blocks[b].Instrs, func(in *ir.Instr) bool {
		return in.Op == ".pragma" && len(in.Args) > 0 &&
			strings.Contains(in.Args[0].Text(), "nounroll")
	})
}

// isShort reports whether ptxas unrolls a body of this length. It does not unroll ops that it does
// not reorder.
func isShort(ops []op) bool {
	if len(ops) > unrollOps {
		return false
	}
	waits := false
	for i := range ops[:len(ops)-1] {
		o := &ops[i]
		if o.memory == ordered || o.slow {
			return false
		}
		waits = waits || o.memory != untouched
	}
	return waits || len(ops) <= unrollShort
}

// repeatCount returns how many times block b is repeated if the comparison in ends it: more often
// if both its first and its last value are constants, and 0 if the number of iterations is not
// computed.
func (g *graph) repeatCount(b int, in *ir.Instr) int {
	if in.HasMod(isa.ModF32, isa.ModF64) {
		return 0
	}
	fixed, times := 0, unrollTimes
	for i, a := range in.Args[1:3] {
		switch {
		case a.Kind == ir.Int:
			fixed++
			if g.starts(in.Args[2-i].Reg) {
				times = unrollMost
			}
		case a.Kind == ir.Register && !g.writes(b, a.Reg):
			fixed++
		case a.Kind == ir.Register && !g.steps(b, a.Reg):
			return 0
		}
	}
	if fixed != 1 {
		return 0
	}
	return times
}

// writes reports whether an op of block b writes a register.
func (g *graph) writes(b int, r *ir.Reg) bool {
	i, ok := g.words.of(r)
	if !ok {
		return true
	}
	w := g.words.find(g.words.first[i])
	if w == noWord {
		return false
	}
	for i := range g.ops[b] {
		if has(g.ops[b][i].defs, w) {
			return true
		}
	}
	return false
}

// steps reports whether block b updates a register by adding a constant to it.
func (g *graph) steps(b int, r *ir.Reg) bool {
	for range len(g.ops[b]) {
		o := g.lastWriter(b, r)
		if o == nil || len(o.in.Args) < 2 {
			return false
		}
		switch o.in.Kind() {
		case isa.KindMov:
			r = o.in.Args[1].Reg
		case isa.KindAdd, isa.KindSub:
			return len(o.in.Args) == 3 && o.in.Args[2].Kind == ir.Int
		default:
			return false
		}
	}
	return false
}

// lastWriter returns the last op of block b that writes a register.
func (g *graph) lastWriter(b int, r *ir.Reg) *op {
	i, ok := g.words.of(r)
	if !ok {
		return nil
	}
	w := g.words.find(g.words.first[i])
	for i := len(g.ops[b]) - 1; i >= 0 && w != noWord; i-- {
		if has(g.ops[b][i].defs, w) {
			return &g.ops[b][i]
		}
	}
	return nil
}

// starts reports whether some op initializes a register with a constant.
func (g *graph) starts(r *ir.Reg) bool {
	i, ok := g.words.of(r)
	if !ok {
		return false
	}
	return g.started[g.words.find(g.words.first[i])]
}

// findStarted marks the words that are set to a constant. Unrolling does not add such words.
func (g *graph) findStarted() {
	g.started = make(map[word]bool)
	for b := range g.ops {
		for i := range g.ops[b] {
			o := &g.ops[b][i]
			if o.in.Kind() == isa.KindMov && len(o.in.Args) == 2 && o.in.Args[1].Kind == ir.Int {
				for _, d := range o.defs {
					g.started[d] = true
				}
			}
		}
	}
}

// newWordLike returns a new word with the properties of w.
func (s *words) newWordLike(w word) word {
	n := word(len(s.alias))
	s.alias = append(s.alias, n)
	s.owner = append(s.owner, s.owner[w])
	s.class = append(s.class, s.class[w])
	s.made = append(s.made, true)
	return n
}
