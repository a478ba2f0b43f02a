// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package agree

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/ptxdsl/ptxdsl/internal/ptxas"
	"github.com/ptxdsl/ptxdsl/isa"
)

// A Sample is a legal instruction of a form, with the simplest operands, at the first version
// that supports it and the lowest target of that version.
type Sample struct {
	Instruction *isa.Instruction
	Form        *isa.Form
	Slots       []isa.Mod // the modifier in each slot of the form
	Op          string
	Args        []isa.Arg
	Version     isa.Version
	Target      isa.Target

	made instance
}

// Module returns a module with one kernel k, whose only instruction is s.
func (s *Sample) Module() string {
	p := s.made.probe(place{s.Version, s.Target})
	return module(place{s.Version, s.Target}, &p)
}

// module returns a module with one kernel k, which contains a probe.
func module(at place, p *ptxas.Probe) string {
	var b strings.Builder
	fmt.Fprintf(&b, ".version %s\n.target %s\n", at.version, at.target)
	if at.version >= isa.MakeVersion(2, 3) {
		b.WriteString(".address_size 64\n")
	}
	for _, text := range p.Module {
		b.WriteString(text + "\n")
	}
	fmt.Fprintf(&b, ".entry k(%s) {\n", strings.Join(p.Params, ", "))
	for _, text := range slices.Concat(p.Decls, p.Body) {
		b.WriteString(text + "\n")
	}
	b.WriteString("}\n")
	return b.String()
}

// Samples returns legal instructions of a form for which wanted returns true, such that every
// value of each slot occurs. unseen has the values that occur in none of them, although the rules
// of the form allow them.
func Samples(set *isa.Set, ins *isa.Instruction, f *isa.Form,
	wanted func(op string) bool) (list []Sample, unseen []string, err error) {
	rng := rand.New(rand.NewPCG(1, 1))
	fillings, _ := combinations(f, maxFillings, rng)
	for i := -1; i < len(f.Slots); i++ {
		values := []isa.Value{{}} // no particular value
		if i >= 0 {
			values = f.Slots[i].Values
		}
	value:
		for _, v := range values {
			if i >= 0 &&
				slices.ContainsFunc(list, func(s Sample) bool { return s.Slots[i] == v.Mod }) ||
				i < 0 && list != nil {
				continue
			}
			narrow, whole := combinationsWith(f, i, v.Mod, rng)
			placed := false
			for _, slots := range slices.Concat(fillings, narrow) {
				if i >= 0 && slots[i] != v.Mod {
					continue
				}
				s, here, err := sample(set, ins, f, slots, rng)
				if err != nil {
					return nil, nil, err
				}
				placed = placed || here
				if s != nil && wanted(s.Op) {
					list = append(list, *s)
					continue value
				}
			}
			if placed || !whole { // otherwise the rules or gates of the form exclude the value
				unseen = append(unseen,
					fmt.Sprintf("%s: %s %s", f.Template, f.Slots[max(i, 0)].Name, set.Mods[v.Mod]))
			}
		}
	}
	return list, unseen, nil
}

// maxFillings is the maximum number of modifier combinations that are tried per form.
const maxFillings = 2000

// sample returns the sample of a combination of modifiers, or nil if its instruction matches
// another form. placed reports whether some version and target support the combination.
func sample(set *isa.Set, ins *isa.Instruction, f *isa.Form, slots []isa.Mod,
	rng *rand.Rand) (s *Sample, placed bool, err error) {
	at, ok := earliest(f, slots)
	if !ok {
		return nil, false, nil
	}
	op := set.Opcode(ins, slots)
	m := set.Matcher(at.version, at.target)
	cands, _ := m.Candidates(op)
	n := slices.IndexFunc(cands, func(c isa.Candidate) bool {
		return c.Form.Is(f) && slices.Equal(c.Slots, slots)
	})
	if n < 0 {
		return nil, true, nil
	}
	const tries = 40 // the simplest operands may match another form, so random operands follow
	for i := range tries {
		x, ok := (&operandMaker{rng: rng, plain: i == 0}).instance(op, &cands[n])
		if !ok {
			return nil, true, fmt.Errorf("%s: no operands can be made up", f.Template)
		}
		if got, _ := m.Match(op, x.isaArgs()); got != nil && got.Form.Is(f) {
			return &Sample{ins, f, slots, op, x.isaArgs(), at.version, at.target, x}, true, nil
		}
	}
	return nil, true, nil
}

// combinationsWith returns legal combinations in which the slot has modifier m. whole reports
// whether these are all such combinations.
func combinationsWith(f *isa.Form, slot int, m isa.Mod,
	rng *rand.Rand) (list [][]isa.Mod, whole bool) {
	if slot < 0 {
		return nil, false
	}
	narrow := *f
	narrow.Slots = slices.Clone(f.Slots)
	narrow.Slots[slot].Values = []isa.Value{*valueOf(&f.Slots[slot], m)}
	narrow.Slots[slot].Required = true
	return combinations(&narrow, maxFillings, rng)
}

func valueOf(s *isa.Slot, m isa.Mod) *isa.Value {
	for i := range s.Values {
		if s.Values[i].Mod == m {
			return &s.Values[i]
		}
	}
	panic("bug: a slot without the value that it was asked for")
}

// earliest returns the first version that supports a combination of modifiers, and the lowest
// target of that version. ok is false if no version supports the combination.
func earliest(f *isa.Form, slots []isa.Mod) (place, bool) {
	open, gone := f.Bounds(slots)
	for _, v := range isa.Versions {
		for i, info := range isa.Targets {
			p := place{v.Version, isa.Target(i)}
			if v.Version < info.Since || info.Until != 0 && v.Version > info.Until {
				continue
			}
			if p.isAllowed(open, gone) {
				return p, true
			}
		}
	}
	return place{}, false
}
