// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package passes

import (
	"math/bits"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// A Set is a set of registers of one function, by their numbers in Func.Regs.
type Set []uint64

// Has reports whether number n is in s.
func (s Set) Has(n int) bool { return s[n/64]>>(n%64)&1 != 0 }

// Add puts number n into s.
func (s Set) Add(n int) { s[n/64] |= 1 << (n % 64) }

// Remove takes number n out of s.
func (s Set) Remove(n int) { s[n/64] &^= 1 << (n % 64) }

// Len is the number of registers in s.
func (s Set) Len() int {
	n := 0
	for _, w := range s {
		n += bits.OnesCount64(w)
	}
	return n
}

// A Liveness says which registers of a function are read later: at the start of each block, and at its
// end.
type Liveness struct {
	Flow   *ir.Flow
	Number map[*ir.Reg]int // in Func.Regs
	In     []Set
	Out    []Set
}

// LivenessOf works out what is live in g's function. A result of the function that is a register is live
// wherever control leaves.
func LivenessOf(g *ir.Flow) *Liveness {
	f := g.Func
	l := &Liveness{Flow: g, Number: make(map[*ir.Reg]int, len(f.Regs))}
	for i, r := range f.Regs {
		l.Number[r] = i
	}
	words := (len(f.Regs) + 63) / 64
	room := make(Set, 2*words*len(f.Blocks))
	take := func() Set {
		s := room[:words:words]
		room = room[words:]
		return s
	}
	for range f.Blocks {
		l.In, l.Out = append(l.In, take()), append(l.Out, take())
	}
	results := make(Set, words)
	for _, v := range f.Results {
		if n, ok := l.Number[v.Reg]; ok && v.Reg != nil {
			results.Add(n)
		}
	}
	live := make(Set, words)
	for changed := true; changed; {
		changed = false
		for b := len(f.Blocks) - 1; b >= 0; b-- {
			out := l.Out[b]
			if g.Leaves[b] {
				merge(out, results)
			}
			for _, s := range g.Succs[b] {
				merge(out, l.In[s])
			}
			copy(live, out)
			for i := len(f.Blocks[b].Instrs) - 1; i >= 0; i-- {
				l.Step(f.Blocks[b].Instrs[i], live)
			}
			changed = merge(l.In[b], live) || changed
		}
	}
	return l
}

// merge adds the registers of from to s and reports whether there were new ones.
func merge(s, from Set) bool {
	grown := false
	for i, w := range from {
		if w&^s[i] != 0 {
			s[i] |= w
			grown = true
		}
	}
	return grown
}

// Step turns what is live behind in into what is live before it.
func (l *Liveness) Step(in *ir.Instr, live Set) {
	in.Registers(func(r *ir.Reg, a isa.Access) {
		if n, ok := l.Number[r]; ok && a == isa.Write {
			live.Remove(n)
		}
	})
	in.Registers(func(r *ir.Reg, a isa.Access) {
		if n, ok := l.Number[r]; ok && a != isa.Write {
			live.Add(n)
		}
	})
}
