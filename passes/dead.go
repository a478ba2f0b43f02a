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
		Name:  "drop-dead",
		Doc:   "drops instructions that do nothing but compute values that nobody reads, and the registers that fall free.",
		Edits: true,
		Run: func(s *Step) {
			for _, f := range s.Module.Funcs() {
				if n := dead(f); n > 0 {
					s.Changes += n
					trim(f)
				}
			}
		},
	}
}

// dead drops what is dead in f, round after round: what is dropped in one block makes dead what feeds it
// from another. A value that a loop computes for nobody but itself counts as read.
func dead(f *ir.Func) int {
	g := ir.FlowOf(f)
	total := 0
	for {
		n := 0
		l := LivenessOf(g)
		live := make(Set, (len(f.Regs)+63)/64)
		for i, b := range f.Blocks {
			copy(live, l.Out[i])
			n += deadIn(b, l, live)
		}
		if n == 0 {
			return total
		}
		total += n
	}
}

// deadIn drops what is dead in a block, from its end on, where live is what is read behind it.
func deadIn(b *ir.Block, l *Liveness, live Set) int {
	kept := make([]*ir.Instr, 0, len(b.Instrs))
	n := 0
	for i := len(b.Instrs) - 1; i >= 0; i-- {
		in := b.Instrs[i]
		// Comments before an instruction may speak of all that follows, so they go to the next one.
		if free(in) && !wanted(in, l, live) && (len(in.Doc) == 0 || len(kept) > 0) {
			if len(in.Doc) > 0 {
				next := kept[len(kept)-1]
				next.Doc = append(slices.Clone(in.Doc), next.Doc...)
			}
			n++
			continue
		}
		l.Step(in, live)
		kept = append(kept, in)
	}
	if n > 0 {
		slices.Reverse(kept)
		b.Instrs = kept
	}
	return n
}

// free reports whether an instruction does nothing but write its results.
func free(in *ir.Instr) bool {
	if in.Has("convergent") || in.Has("volatile") || in.Has("async") {
		return false
	}
	return in.Has("pure") || in.Head() == "ld" && (in.Mod("param") || in.Mod("const")) && !in.Mod("volatile")
}

// wanted reports whether something that an instruction writes is read behind it.
func wanted(in *ir.Instr, l *Liveness, live Set) bool {
	found, wrote := false, false
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
