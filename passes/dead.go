// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package passes

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

func dropDead() *Pass {
	return &Pass{
		Name: "drop-dead",
		Doc: "removes instructions that only compute values that are never read, and the " +
			"registers that become unused.",
		Edits: true,
		Run: func(s *Step) {
			for _, f := range s.Module.Funcs() {
				if n := dropDeadInstrs(f); n > 0 {
					s.Changes += n
					trim(f)
				}
			}
		},
	}
}

// dropDeadInstrs removes dead instructions in f and returns their number. It repeats until nothing
// changes, because removing an instruction in one block can make instructions in other blocks dead.
func dropDeadInstrs(f *ir.Func) int {
	g := ir.FlowOf(f)
	total := 0
	for {
		n := 0
		l := LivenessOf(g)
		needed := needs(f, l)
		live := make(Set, len(f.Regs)/64+1)
		for i, b := range f.Blocks {
			l.Out(i, live)
			n += deadIn(b, l, live, needed)
		}
		if n == 0 {
			return total
		}
		total += n
	}
}

// The carryIndex flag between add.cc and addc is treated as an additional register, which follows
// all others in the sets of this pass. It may be live across blocks.
func carryIndex(l *Liveness) int { return len(l.Number) }

func readsCarry(in *ir.Instr) bool {
	switch in.Kind().Head() {
	case isa.HeadAddc, isa.HeadSubc, isa.HeadMadc:
		return true
	}
	return false
}

// needs returns the registers on which instructions with an effect depend. A value that a loop
// computes only for itself is read in each iteration, but is not needed.
func needs(f *ir.Func, l *Liveness) Set {
	needed := make(Set, len(f.Regs)/64+1)
	writers := make([][]*ir.Instr, len(f.Regs)+1)
	var work []int
	need := func(n int) {
		if !needed.Has(n) {
			needed.Add(n)
			work = append(work, n)
		}
	}
	want := func(in *ir.Instr) {
		in.Registers(func(r *ir.Reg, a isa.Access) {
			if n, ok := l.Number[r]; ok && a != isa.Write {
				need(n)
			}
		})
		if readsCarry(in) {
			need(carryIndex(l))
		}
	}
	for _, b := range f.Blocks {
		for _, in := range b.Instrs {
			if !hasNoEffect(in) {
				want(in)
				continue
			}
			in.Registers(func(r *ir.Reg, a isa.Access) {
				if n, ok := l.Number[r]; ok && a != isa.Read {
					writers[n] = append(writers[n], in)
				}
			})
			if in.HasMod(isa.ModCC) {
				writers[carryIndex(l)] = append(writers[carryIndex(l)], in)
			}
		}
	}
	// The caller reads the results of a function.
	for _, v := range f.Results {
		if n, ok := l.Number[v.Reg]; ok {
			need(n)
		}
	}
	for len(work) > 0 {
		n := work[len(work)-1]
		work = work[:len(work)-1]
		for _, in := range writers[n] {
			want(in)
		}
	}
	return needed
}

// deadIn removes dead instructions in a block, from its end to its start; live are the registers
// live at its end.
func deadIn(b *ir.Block, l *Liveness, live, needed Set) int {
	kept := make([]*ir.Instr, 0, len(b.Instrs))
	n := 0
	live.Add(carryIndex(l))
	for i := len(b.Instrs) - 1; i >= 0; i-- {
		in := b.Instrs[i]
		// Comments before an instruction may apply to several following instructions, so they
		// move to the next instruction.
		if hasNoEffect(in) && (!isLive(in, l, live) || !isLive(in, l, needed)) &&
			(len(in.Doc()) == 0 || len(kept) > 0) {
			if doc := in.Doc(); len(doc) > 0 {
				next := kept[len(kept)-1]
				next.Comment(slices.Concat(doc, next.Doc()), next.Note())
			}
			n++
			continue
		}
		l.Step(in, live)
		if in.HasMod(isa.ModCC) && in.Guard.Reg == nil {
			live.Remove(carryIndex(l))
		}
		if readsCarry(in) {
			live.Add(carryIndex(l))
		}
		kept = append(kept, in)
	}
	if n > 0 {
		slices.Reverse(kept)
		b.Instrs = kept
	}
	return n
}

// hasNoEffect reports whether an instruction has no effect besides its results.
func hasNoEffect(in *ir.Instr) bool {
	if in.Has(isa.EffectConvergent) || in.Has(isa.EffectVolatile) || in.Has(isa.EffectAsync) {
		return false
	}
	return in.Has(isa.EffectPure) || in.Kind() == isa.KindLd &&
		in.HasMod(isa.ModParam, isa.ModConst) && !in.HasMod(isa.ModVolatile)
}

// isLive reports whether a result of an instruction is live after the instruction.
func isLive(in *ir.Instr, l *Liveness, live Set) bool {
	found, wrote := in.HasMod(isa.ModCC) && live.Has(carryIndex(l)), false
	in.Registers(func(r *ir.Reg, a isa.Access) {
		if a == isa.Read {
			return
		}
		wrote = true
		n, ok := l.Number[r]
		found = found || !ok || live.Has(n)
	})
	return found || !wrote
}
