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

// A Set is an instruction set: the generated standard set, or a set that is read from spec files.
type Set struct {
	Mods    []string
	Ignored []Mod // modifiers that ptxas ignores on every instruction

	sorted  []Mod // indices of Mods, sorted by word
	entries []entry
	byName  []uint16 // indices of entries, sorted by name

	reading    sync.Mutex
	cache      weak.Pointer[unpackedCache]
	formCache  map[int]*Form // cached forms, by position in the packed table
	formReader reader        // decoder for these forms

	mu           sync.Mutex
	opcodeCaches map[versionTarget]*opcodeCache // opcode caches, by version and target
	opcodeCount  atomic.Int32                   // number of opcodes in all caches
}

// Standard returns the instruction set of the generated tables.
func Standard() *Set { return standard() }

var standard = sync.OnceValue(newStandard)

func newStandard() *Set {
	s := &Set{Mods: modWords, Ignored: ignoredMods, sorted: modsSorted}
	s.unpack()
	return s
}

// NewSet returns an instruction set. mods holds the words of the modifiers, with index 0 unused.
// ignored holds the modifiers that ptxas ignores on every instruction.
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

// All returns the instructions, family by family. Each call may decode them again, so use Form.Is
// to compare forms.
func (s *Set) All() iter.Seq[*Instruction] {
	return func(yield func(*Instruction) bool) {
		s.reading.Lock()
		lib := s.unpacked()
		s.reading.Unlock()
		// keep the decoded instructions in memory during the iteration
		defer runtime.KeepAlive(lib)
		for i := range s.entries {
			if !yield(s.instruction(i)) {
				return
			}
		}
	}
}

// mod returns the modifier with the given word, including its dot.
func (s *Set) mod(word string) (Mod, bool) {
	i, ok := slices.BinarySearchFunc(s.sorted, word, func(m Mod, word string) int {
		return strings.Compare(s.Mods[m], word)
	})
	if !ok {
		return NoMod, false
	}
	return s.sorted[i], true
}

// Named returns the instructions with a name, one for each family that has the name. Each call
// may decode them again, so use Form.Is to compare forms.
func (s *Set) Named(name string) []*Instruction {
	list, _ := s.named(name)
	return s.instructions(list)
}

// named returns the entries whose name is text. begun reports whether some name begins with text.
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

// split splits op into the longest instruction name that it begins with, up to a dot, and the
// modifiers after the name. found holds the entries with this name, or is nil.
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

// SpecialRegister returns the special register with the given name, without its component:
// "%tid".
func SpecialRegister(name string) (*Special, bool) {
	s, ok := index().specials[name]
	return s, ok
}

// DirectiveNamed returns the directive with the given name, including the dot.
func DirectiveNamed(name string) (DirectiveInfo, bool) {
	for _, d := range Directives {
		if d.Name == name {
			return d, true
		}
	}
	return DirectiveInfo{}, false
}

// FirstWord returns the part of an opcode before its first dot.
func FirstWord(op string) string {
	word, _, _ := strings.Cut(op, ".")
	return word
}

// Abbreviate returns the first words of an opcode, for messages. It ends before the first word
// with "::", before .sync, and after five words.
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

// IsDirective reports whether op is a directive and not an opcode.
func IsDirective(op string) bool { return strings.HasPrefix(op, ".") }
