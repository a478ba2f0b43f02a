// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package agree

import (
	"math/rand/v2"
	"slices"

	"github.com/ptxdsl/ptxdsl/isa"
)

// combinations returns legal combinations of a form's modifiers: all of them if they are at most
// limit, otherwise a random sample of that size. whole reports whether these are all.
func combinations(f *isa.Form, limit int, rng *rand.Rand) (list [][]isa.Mod, whole bool) {
	domains := domains(f)
	total := 0.0
	for _, d := range domains {
		total += product(d)
	}
	if total <= float64(8*limit) {
		for _, d := range domains {
			list = append(list, allCombinations(f, d)...)
		}
		list = distinct(list)
		if len(list) <= limit {
			return list, true
		}
		rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		return list[:limit], false
	}
	for tries := 0; len(list) < limit && tries < 20*limit; tries++ {
		d := domains[rng.IntN(len(domains))]
		slots := make([]isa.Mod, len(d))
		for i, values := range d {
			slots[i] = values[rng.IntN(len(values))]
		}
		if f.Allows(slots) {
			list = append(list, slots)
		}
	}
	return distinct(list), false
}

// domains returns lists of the values that each slot can have, one list for each row of the
// form's first table. This keeps the number of combinations small for forms with tables.
func domains(f *isa.Form) [][][]isa.Mod {
	open := make([][]isa.Mod, len(f.Slots))
	for i, s := range f.Slots {
		if !s.Required {
			open[i] = append(open[i], isa.NoMod)
		}
		for _, v := range s.Values {
			open[i] = append(open[i], v.Mod)
		}
	}
	if len(f.Tables) == 0 {
		return [][][]isa.Mod{open}
	}
	var out [][][]isa.Mod
	t := &f.Tables[0]
rows:
	for _, row := range t.Rows {
		d := slices.Clone(open)
		for i, cell := range row.Cells {
			slot := t.Columns[i].Slot
			if cell == nil || slot < 0 {
				continue
			}
			var both []isa.Mod
			for _, m := range d[slot] {
				if slices.Contains(cell, m) {
					both = append(both, m)
				}
			}
			if both == nil {
				continue rows
			}
			d[slot] = both
		}
		out = append(out, d)
	}
	return out
}

func product(d [][]isa.Mod) float64 {
	n := 1.0
	for _, values := range d {
		n *= float64(len(values))
	}
	return n
}

func allCombinations(f *isa.Form, d [][]isa.Mod) (out [][]isa.Mod) {
	slots := make([]isa.Mod, len(d))
	var fill func(i int)
	fill = func(i int) {
		if i == len(d) {
			if f.Allows(slots) {
				out = append(out, slices.Clone(slots))
			}
			return
		}
		for _, m := range d[i] {
			slots[i] = m
			fill(i + 1)
		}
	}
	fill(0)
	return out
}

func distinct(list [][]isa.Mod) [][]isa.Mod {
	slices.SortFunc(list, slices.Compare[[]isa.Mod])
	return slices.CompactFunc(list, slices.Equal[[]isa.Mod])
}
