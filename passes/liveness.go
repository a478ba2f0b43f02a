// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package passes

import (
	"math/bits"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// A Set is a set of registers of one function, by their indices in Func.Regs.
type Set []uint64

// Has reports whether register n is in s.
func (s Set) Has(n int) bool { return s[n/64]>>(n%64)&1 != 0 }

// Add adds register n to s.
func (s Set) Add(n int) { s[n/64] |= 1 << (n % 64) }

// Remove removes register n from s.
func (s Set) Remove(n int) { s[n/64] &^= 1 << (n % 64) }

// Len returns the number of registers in s.
func (s Set) Len() int {
	n := 0
	for _, w := range s {
		n += bits.OnesCount64(w)
	}
	return n
}

// A Liveness specifies which registers of a function are live at the start and at the end of each
// block. It stores only the registers that are live across blocks; most are live only in the block
// that writes them.
type Liveness struct {
	Flow   *ir.Flow
	Number map[*ir.Reg]int // index in Func.Regs
	// indexes of the registers that some block reads before it writes them, or that are results
	wide   []int32
	slot   []int32 // position of each register in wide, or -1
	in     []Set   // sets of positions, by block
	leaves Set     // registers that are live where control leaves the function
}

// LivenessOf computes the liveness of g's function. A register that the function returns is
// live wherever control leaves.
func LivenessOf(g *ir.Flow) *Liveness {
	f := g.Func
	l := &Liveness{Flow: g, Number: make(map[*ir.Reg]int, len(f.Regs)),
		slot: make([]int32, len(f.Regs))}
	for i, r := range f.Regs {
		l.Number[r] = i
		l.slot[i] = -1
	}
	l.findCrossing(f)
	words := (len(l.wide) + 63) / 64
	room := make(Set, words*len(f.Blocks))
	l.in = make([]Set, len(f.Blocks))
	for b := range f.Blocks {
		l.in[b], room = room[:words:words], room[words:]
	}
	l.leaves = make(Set, words)
	for _, v := range f.Results {
		if n, ok := l.Number[v.Reg]; ok && v.Reg != nil {
			l.leaves.Add(int(l.slot[n]))
		}
	}
	live := make(Set, words)
	for changed := true; changed; {
		changed = false
		for b := len(f.Blocks) - 1; b >= 0; b-- {
			l.blockEnd(b, live)
			for i := len(f.Blocks[b].Instrs) - 1; i >= 0; i-- {
				l.step(f.Blocks[b].Instrs[i], live, l.place)
			}
			changed = merge(l.in[b], live) || changed
		}
	}
	return l
}

// findCrossing finds the registers that may be live from one block to another.
func (l *Liveness) findCrossing(f *ir.Func) {
	keep := func(n int) {
		if l.slot[n] < 0 {
			l.slot[n] = int32(len(l.wide))
			l.wide = append(l.wide, int32(n))
		}
	}
	written := make([]int, len(f.Regs)) // the block plus one that last wrote each register
	for i, b := range f.Blocks {
		for _, in := range b.Instrs {
			in.Registers(func(r *ir.Reg, a isa.Access) {
				if n, ok := l.Number[r]; ok && a != isa.Write && written[n] != i+1 {
					keep(n)
				}
			})
			in.Registers(func(r *ir.Reg, a isa.Access) {
				if n, ok := l.Number[r]; ok && a == isa.Write {
					written[n] = i + 1
				}
			})
		}
	}
	for _, v := range f.Results {
		if n, ok := l.Number[v.Reg]; ok && v.Reg != nil {
			keep(n)
		}
	}
}

// place returns the position of a register in the stored sets, or -1.
func (l *Liveness) place(n int) int { return int(l.slot[n]) }

// blockEnd stores in live the positions that are live at the end of block b.
func (l *Liveness) blockEnd(b int, live Set) {
	clear(live)
	if l.Flow.Leaves[b] {
		merge(live, l.leaves)
	}
	for _, s := range l.Flow.Succs[b] {
		merge(live, l.in[s])
	}
}

// toRegisters converts a set of positions to a set of indexes in Func.Regs, in s.
func (l *Liveness) toRegisters(from, s Set) {
	clear(s)
	for i, w := range from {
		for ; w != 0; w &= w - 1 {
			s.Add(int(l.wide[64*i+bits.TrailingZeros64(w)]))
		}
	}
}

// In stores in s the registers that are live at the start of block b; s must have space for
// the registers of the function.
func (l *Liveness) In(b int, s Set) { l.toRegisters(l.in[b], s) }

// Out stores in s the registers that are live at the end of block b.
func (l *Liveness) Out(b int, s Set) {
	live := make(Set, len(l.leaves))
	l.blockEnd(b, live)
	l.toRegisters(live, s)
}

// merge adds the registers of from to s and reports whether s has grown.
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

// Step turns live from the registers that are live after in into those that are live before in.
func (l *Liveness) Step(in *ir.Instr, live Set) { l.step(in, live, func(n int) int { return n }) }

// step does what Step does for sets in which register n has the index place(n). Registers with a
// negative index are not in the sets.
func (l *Liveness) step(in *ir.Instr, live Set, place func(n int) int) {
	in.Registers(func(r *ir.Reg, a isa.Access) {
		if n, ok := l.Number[r]; ok && a == isa.Write && place(n) >= 0 {
			live.Remove(place(n))
		}
	})
	in.Registers(func(r *ir.Reg, a isa.Access) {
		if n, ok := l.Number[r]; ok && a != isa.Write && place(n) >= 0 {
			live.Add(place(n))
		}
	})
}
