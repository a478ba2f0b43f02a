// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package agree

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/isa"
)

// discover adds probes with random combinations of the modifiers that any form of the instruction
// uses.
func (r *Runner) discover(ins *isa.Instruction, words []string, home place) {
	rng := r.rng(ins, -1)
	varied := &operandMaker{rng: rng}
	for range r.config.Discover {
		f := &ins.Forms[rng.IntN(len(ins.Forms))]
		op := ins.Name
		// Start from a legal combination and exchange some modifiers, so that the result is
		// nearly legal.
		for _, s := range f.Slots {
			switch n := rng.IntN(10); {
			case n < 6 && (s.Required || rng.IntN(2) == 0):
				op += r.set.Mods[s.Values[rng.IntN(len(s.Values))].Mod]
			case n < 7:
				op += words[rng.IntN(len(words))]
			case s.Required && n < 9:
				op += r.set.Mods[s.Values[rng.IntN(len(s.Values))].Mod]
			}
		}
		if rng.IntN(3) == 0 {
			op += words[rng.IntN(len(words))]
		}
		m := r.set.Matcher(home.version, home.target)
		x := instance{op: op}
		if cands, _ := m.Candidates(op); len(cands) > 0 {
			x, _ = varied.instance(op, &cands[0])
		} else if y, ok := r.randomInstance(ins, f, varied); ok {
			x.args = y.args
		}
		r.add(home, Random, "", f, x)
	}
}

// randomInstance returns an instruction of a form with a random legal combination of modifiers.
func (r *Runner) randomInstance(ins *isa.Instruction, f *isa.Form,
	mk *operandMaker) (instance, bool) {
	list, _ := combinations(f, 8, mk.rng)
	if len(list) == 0 {
		return instance{}, false
	}
	slots := list[mk.rng.IntN(len(list))]
	b, ok := boundaryOf(f.Bounds(slots))
	if !ok {
		return instance{}, false
	}
	op := r.set.Opcode(ins, slots)
	cands, _ := r.set.Matcher(b.newest.version, b.newest.target).Candidates(op)
	if len(cands) == 0 {
		return instance{}, false
	}
	return mk.instance(op, &cands[0])
}

// vocabulary returns the modifiers that the forms of all instructions with this name use.
func (r *Runner) vocabulary(ins *isa.Instruction) []string {
	var out []string
	for _, i := range r.set.Named(ins.Name) {
		for f := range i.Forms {
			for _, s := range i.Forms[f].Slots {
				for _, v := range s.Values {
					out = append(out, r.set.Mods[v.Mod])
				}
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
