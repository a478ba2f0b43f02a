// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package isa

import (
	"strings"
	"sync"
	"sync/atomic"
)

// A Set is an instruction set: the generated one, or one read from spec files.
type Set struct {
	Instructions []Instruction
	Mods         []string
	Ignored      []Mod // modifiers that the assembler skips on every instruction

	once    sync.Once
	names   map[string][]*Instruction
	longest int // of the names, in bytes
	mods    map[string]Mod
	// meanings are what the words of Mods say.
	meanings []meaning

	mu   sync.Mutex
	met  map[place]*senses // opcodes, by where they were met
	kept atomic.Int32      // how many of them
}

// Standard is the instruction set of the generated tables.
func Standard() *Set { return standard() }

var standard = sync.OnceValue(func() *Set {
	return &Set{Instructions: instructions(), Mods: modWords, Ignored: ignoredMods}
})

func (s *Set) build() {
	s.once.Do(func() {
		s.names = make(map[string][]*Instruction, len(s.Instructions))
		all := make([]*Instruction, len(s.Instructions)) // most names have one instruction: a part of this
		for i := range s.Instructions {
			ins := &s.Instructions[i]
			all[i] = ins
			if others := s.names[ins.Name]; others == nil {
				s.names[ins.Name] = all[i : i+1 : i+1]
			} else {
				s.names[ins.Name] = append(others, ins)
			}
			s.longest = max(s.longest, len(ins.Name))
		}
		s.mods = make(map[string]Mod, len(s.Mods))
		s.meanings = make([]meaning, len(s.Mods))
		for i, m := range s.Mods {
			s.mods[m] = Mod(i)
			s.meanings[i] = meaningOf(m)
		}
	})
}

// Named is the instructions of a name: one per family that has it.
func (s *Set) Named(name string) []*Instruction {
	s.build()
	return s.names[name]
}

// split finds the longest name that op begins with, at a dot, and what follows it.
func (s *Set) split(op string) (list []*Instruction, name, rest string) {
	s.build()
	end := 0
	for {
		dot := strings.IndexByte(op[end:], '.')
		if dot < 0 {
			end = len(op)
		} else {
			end += dot
		}
		if l := s.names[op[:end]]; l != nil {
			list, name, rest = l, op[:end], op[end:]
		}
		if end == len(op) || end >= s.longest {
			return list, name, rest
		}
		end++
	}
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

// SpecialRegister finds a special register by name, without component: "%tid".
func SpecialRegister(name string) (*Special, bool) {
	s, ok := index().specials[name]
	return s, ok
}

// DirectiveNamed finds a directive by name, dot included.
func DirectiveNamed(name string) (DirectiveInfo, bool) {
	for _, d := range Directives {
		if d.Name == name {
			return d, true
		}
	}
	return DirectiveInfo{}, false
}
