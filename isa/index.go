// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package isa

import (
	"iter"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"weak"
)

// A Set is an instruction set: the generated one, or one read from spec files.
type Set struct {
	Mods    []string
	Ignored []Mod // modifiers that ptxas ignores on every instruction

	sorted  []Mod // Mods, sorted by word
	entries []entry
	byName  []uint16 // entries, sorted by name

	reading sync.Mutex
	library weak.Pointer[library]
	keeps   map[int]*Form // cached forms, by position in the packed table
	keeper  reader        // decoder for these forms

	mu   sync.Mutex
	met  map[place]*opcodeCache // caches of opcodes, by version and target
	kept atomic.Int32           // number of cached opcodes
}

// Standard returns the instruction set of the generated tables.
func Standard() *Set { return standard() }

var standard = sync.OnceValue(newStandard)

func newStandard() *Set {
	s := &Set{Mods: modWords, Ignored: ignoredMods, sorted: modsSorted}
	s.unpack()
	return s
}

// NewSet returns a set of the instructions in list. Mods are the words of their modifiers, and
// ignored are those that are ignored on all of them.
func NewSet(list []Instruction, mods []string, ignored []Mod) *Set {
	s := &Set{Mods: mods, Ignored: ignored, sorted: SortMods(mods),
		entries: make([]entry, len(list))}
	for i := range list {
		s.entries[i] = entry{name: list[i].Name, have: &list[i]}
	}
	s.byName = SortNames(list)
	return s
}

// SortMods sorts modifier indices by their words.
func SortMods(mods []string) []Mod {
	sorted := make([]Mod, len(mods))
	for i := range sorted {
		sorted[i] = Mod(i)
	}
	slices.SortFunc(sorted, func(a, b Mod) int { return strings.Compare(mods[a], mods[b]) })
	return sorted
}

// SortNames sorts instruction indices by name, keeping the order of equal names.
func SortNames(list []Instruction) []uint16 {
	sorted := make([]uint16, len(list))
	for i := range sorted {
		sorted[i] = uint16(i)
	}
	slices.SortStableFunc(sorted,
		func(a, b uint16) int { return strings.Compare(list[a].Name, list[b].Name) })
	return sorted
}

// All returns the instructions, family by family. Each call may decode them again: use Form.Is
// to compare forms.
func (s *Set) All() iter.Seq[*Instruction] {
	return func(yield func(*Instruction) bool) {
		s.reading.Lock()
		lib := s.books()
		s.reading.Unlock()
		// keeps the decoded instructions in memory during the iteration
		defer runtime.KeepAlive(lib)
		for i := range s.entries {
			if !yield(s.instruction(i)) {
				return
			}
		}
	}
}

// mod finds a modifier by its word, dot included.
func (s *Set) mod(word string) (Mod, bool) {
	i, ok := slices.BinarySearchFunc(s.sorted, word, func(m Mod, word string) int {
		return strings.Compare(s.Mods[m], word)
	})
	if !ok {
		return NoMod, false
	}
	return s.sorted[i], true
}

// Named returns the instructions of a name, one per family that has it. Each call may decode
// them again, as in All.
func (s *Set) Named(name string) []*Instruction {
	list, _ := s.named(name)
	return s.instructions(list)
}

// named returns the entries with a name, and whether some name begins with it.
func (s *Set) named(text string) (list []uint16, begun bool) {
	first, ok := slices.BinarySearchFunc(s.byName, text, func(i uint16, text string) int {
		return strings.Compare(s.entries[i].name, text)
	})
	end := first
	for ok && end < len(s.byName) && s.entries[s.byName[end]].name == text {
		end++
	}
	return s.byName[first:end], first < len(s.byName) &&
		strings.HasPrefix(s.entries[s.byName[first]].name, text)
}

// instructions returns the instructions of entries.
func (s *Set) instructions(entries []uint16) []*Instruction {
	if len(entries) == 0 {
		return nil
	}
	list := make([]*Instruction, len(entries))
	for i, e := range entries {
		list[i] = s.instruction(int(e))
	}
	return list
}

// split finds the longest instruction name that op begins with, up to a dot, and the rest of op.
func (s *Set) split(op string) (found []uint16, name, rest string) {
	for end, begun := 0, true; begun && end < len(op); end++ {
		if dot := strings.IndexByte(op[end:], '.'); dot < 0 {
			end = len(op)
		} else {
			end += dot
		}
		var l []uint16
		if l, begun = s.named(op[:end]); len(l) > 0 {
			found, name, rest = l, op[:end], op[end:]
		}
	}
	return found, name, rest
}

type wordIndex struct {
	types    map[string]Type
	targets  map[string]Target
	specials map[string]*Special
}

var index = sync.OnceValue(func() *wordIndex {
	x := &wordIndex{
		types:    make(map[string]Type, len(typeTable)),
		targets:  make(map[string]Target, 2*len(Targets)),
		specials: make(map[string]*Special, len(Specials)),
	}
	for i, t := range typeTable {
		x.types[t.Word] = Type(i)
	}
	delete(x.types, "")
	for i, t := range Targets {
		x.targets[t.Name] = Target(i)
		x.targets["compute_"+strings.TrimPrefix(t.Name, "sm_")] = Target(i)
	}
	for i := range Specials {
		x.specials[Specials[i].Name] = &Specials[i]
	}
	return x
})

// SpecialRegister finds a special register by name, without its component: "%tid".
func SpecialRegister(name string) (*Special, bool) {
	s, ok := index().specials[name]
	return s, ok
}

// DirectiveNamed finds a directive by name, including the dot.
func DirectiveNamed(name string) (DirectiveInfo, bool) {
	for _, d := range Directives {
		if d.Name == name {
			return d, true
		}
	}
	return DirectiveInfo{}, false
}

// FirstWord returns an opcode up to its first dot.
func FirstWord(op string) string {
	word, _, _ := strings.Cut(op, ".")
	return word
}

// Abbreviate returns the first words of an opcode, for messages: up to the first word with a scope,
// to .sync, or to five words.
func Abbreviate(op string) string {
	end := 0
	for i, w := range strings.Split(op, ".") {
		if strings.Contains(w, "::") || w == "sync" || i > 4 {
			return op[:max(end-1, 0)]
		}
		end += len(w) + 1
	}
	return op
}

// IsDirective reports whether the text in the place of an opcode is that of a directive.
func IsDirective(op string) bool { return strings.HasPrefix(op, ".") }
