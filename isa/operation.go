// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package isa

import (
	"slices"
	"strconv"
	"strings"
	"sync"
)

// An Operation describes the operation of an instruction: its kind, and its modifiers as typed
// values. Analyses and the emulator use it instead of the opcode's text.
type Operation struct {
	Kind  Kind
	Space Space // the first state space among the modifiers; Generic if there is none
	From  Space // the second state space, if there are two: the source of a copy
	Order Order
	Scope Scope
	Vec   int    // number of elements of a vector; 1 without .v2, .v4 or .v8
	Types []Type // type modifiers in the order of the opcode
	mods  []Mod
}

// An Order is the memory order of an access or a fence.
type Order uint8

// Memory orders.
const (
	NoOrder Order = iota // the modifiers specify no order
	Weak
	Relaxed
	Acquire
	Release
	AcqRel
	SeqCst
	Volatile
	MMIO
)

// A Scope is the set of threads for which a memory order holds.
type Scope uint8

// Each scope contains the scopes before it.
const (
	NoScope Scope = iota // the modifiers specify no scope
	ScopeCTA
	ScopeCluster
	ScopeGPU
	ScopeSys
)

// Operation returns the operation of c.
func (c *Candidate) Operation() Operation {
	op := Operation{Kind: c.Form.Kind, Vec: 1}
	classes := modClasses()
	spaces := 0
	for _, mod := range c.Slots {
		if mod == NoMod || int(mod) >= len(classes) {
			continue
		}
		op.mods = append(op.mods, mod)
		switch class := &classes[mod]; {
		case class.kind != 0:
			op.Types = append(op.Types, class.kind)
		case class.space != Generic:
			if spaces++; spaces == 1 {
				op.Space = class.space
			} else {
				op.From = class.space
			}
		case class.order != NoOrder:
			op.Order = max(op.Order, class.order)
		case class.scope != NoScope:
			op.Scope = class.scope
		case class.vec != 0:
			op.Vec = class.vec
		}
	}
	return op
}

// Has reports whether c has modifier mod.
func (c *Candidate) Has(mod Mod) bool { return mod != NoMod && slices.Contains(c.Slots, mod) }

// Has reports whether op has modifier mod.
func (op *Operation) Has(mod Mod) bool { return slices.Contains(op.mods, mod) }

// Mods returns the modifiers of op, without the words of its name, in the manual's order.
func (op *Operation) Mods() []Mod { return op.mods }

// Type returns the last type modifier of op, or the zero Type if it has none.
func (op *Operation) Type() Type {
	if len(op.Types) == 0 {
		return 0
	}
	return op.Types[len(op.Types)-1]
}

// Space returns the state space that m names, or Generic if m names none.
func (m Mod) Space() Space {
	if classes := modClasses(); int(m) < len(classes) {
		return classes[m].space
	}
	return Generic
}

// Type returns the type that m names, or the zero Type if m names none.
func (m Mod) Type() Type {
	if classes := modClasses(); int(m) < len(classes) {
		return classes[m].kind
	}
	return 0
}

// Elements returns the number of elements that a vector modifier names, such as 4 for .v4, or 0
// for other modifiers.
func (m Mod) Elements() int {
	if classes := modClasses(); int(m) < len(classes) {
		return classes[m].vec
	}
	return 0
}

// Times returns the repeat count that m names, such as 16 for .x16, or 0 for other modifiers.
func (m Mod) Times() int {
	if classes := modClasses(); int(m) < len(classes) {
		return classes[m].times
	}
	return 0
}

// Shape returns the rows, columns and depth that m names, such as 16, 8 and 32 for .m16n8k32.
// They are 0 for other modifiers.
func (m Mod) Shape() (rows, columns, depth int) {
	if classes := modClasses(); int(m) < len(classes) {
		s := classes[m].shape
		return int(s[0]), int(s[1]), int(s[2])
	}
	return 0, 0, 0
}

// String returns the word of m in the standard instruction set, with its dot.
func (m Mod) String() string {
	if int(m) >= len(modWords) {
		return ""
	}
	return modWords[m]
}

// ModsOf returns the modifiers in the text of an opcode, in their order. Words that are not
// modifiers of any instruction are omitted. It is for opcodes without a form.
func ModsOf(op string) []Mod {
	set := Standard()
	var mods []Mod
	_, rest, _ := strings.Cut(op, ".")
	for rest != "" {
		var word string
		word, rest, _ = strings.Cut(rest, ".")
		if m, ok := set.mod("." + word); ok {
			mods = append(mods, m)
		}
	}
	return mods
}

// A modClass holds the typed values of a modifier.
type modClass struct {
	kind  Type
	space Space
	order Order
	scope Scope
	vec   int
	times int
	shape [3]int16
}

// modClasses classifies the modifiers of the standard instruction set.
var modClasses = sync.OnceValue(func() []modClass {
	words := map[string]modClass{
		".weak": {order: Weak}, ".relaxed": {order: Relaxed}, ".acquire": {order: Acquire},
		".release": {order: Release}, ".acq_rel": {order: AcqRel}, ".sc": {order: SeqCst},
		".volatile": {order: Volatile}, ".mmio": {order: MMIO},
		".cta": {scope: ScopeCTA}, ".cluster": {scope: ScopeCluster}, ".gpu": {scope: ScopeGPU},
		".gl": {scope: ScopeGPU}, ".sys": {scope: ScopeSys},
		".v2": {vec: 2}, ".v4": {vec: 4}, ".v8": {vec: 8},
		".x1": {times: 1}, ".x2": {times: 2}, ".x4": {times: 4}, ".x8": {times: 8},
		".x16": {times: 16}, ".x32": {times: 32}, ".x64": {times: 64}, ".x128": {times: 128},
	}
	list := make([]modClass, len(modWords))
	for i, word := range modWords {
		if word == "" {
			continue
		}
		class := words[word]
		if t, ok := ParseType(word); ok {
			class.kind = t // .x32 is a type of the spec too
		} else if s, ok := ParseSpace(word); ok {
			class.space = s
		} else if strings.HasPrefix(word, ".m") {
			class.shape = shapeOf(word)
		}
		list[i] = class
	}
	return list
})

// shapeOf parses a shape such as .m16n8k32. It returns zeros for other words.
func shapeOf(word string) (shape [3]int16) {
	for i, letter := range "mnk" {
		_, rest, found := strings.Cut(word, string(letter))
		digits := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
		n, err := strconv.Atoi(rest[:digits])
		if !found || err != nil {
			return [3]int16{}
		}
		shape[i], word = int16(n), rest[digits:]
	}
	return shape
}
