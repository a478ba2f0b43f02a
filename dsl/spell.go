// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"github.com/ptxdsl/ptxdsl/internal/slab"
	"github.com/ptxdsl/ptxdsl/isa"
)

// An opcode is the parts of an opcode's text, but for its modifiers.
type opcode struct {
	head  string
	space isa.Space // of a memory access
	count uint8     // elements of a vector; 0 or 1 for one
	typ   isa.Type
	from  isa.Type // what a conversion is from
	value bool     // it is an operation on values, of which not all modifiers are told
}

// A spelling is an opcode with its modifiers, and the text of both; "" where nobody has written it out.
type spelling struct {
	opcode
	some  uint8 // how many modifiers there are
	mods  [4]Mod
	text  string
	forms [2]settled // that it had last
	next  *spelling  // of the same hash
}

// A settled is the form that an opcode has with operands of some kinds; see compute.
type settled struct {
	kinds kinds
	form  *isa.Candidate
}

// kinds are what the operands of an instruction on values of one type are, two bits each behind a one.
type kinds uint16

// The kinds of values.
const (
	aRegister kinds = iota
	aWhole
	aSingle
	aDouble
)

// form is the form for operands of some kinds, nil if that is not known.
func (s *spelling) form(of kinds) *isa.Candidate {
	for i := range s.forms {
		if s.forms[i].kinds == of {
			return s.forms[i].form
		}
	}
	return nil
}

// keep remembers the form for operands of some kinds.
func (s *spelling) keep(of kinds, form *isa.Candidate) {
	s.forms[1] = s.forms[0]
	s.forms[0] = settled{of, form}
}

// spellings are opcodes by a hash of their parts: a kernel writes the same ones again and again.
type spellings struct {
	known  [256]*spelling
	made   slab.Of[spelling]
	lately [64]met // by where their heads stand in memory
}

// A met is a spelling that was asked for lately, and what was asked, by where the texts stand in memory.
type met struct {
	head, mod *byte
	rest      uint32
	*spelling
}

// asked is what is looked for: a head on values, or as it stands, with modifiers. It reports false where that is not looked for lately.
func asked(head string, t isa.Type, mods []Mod, value bool) (m met, ok bool) {
	m = met{head: unsafe.StringData(head), rest: uint32(t) | uint32(len(head))<<8}
	if value {
		m.rest |= 1 << 31
	}
	if len(mods) > 0 {
		if len(mods) > 1 || mods[0] == "" || len(mods[0]) > 99 {
			return m, false
		}
		m.mod = unsafe.StringData(string(mods[0]))
		m.rest |= uint32(len(mods[0])) << 20
	}
	return m, true
}

// same reports whether m and o were asked for alike.
func (m *met) same(o *met) bool { return m.head == o.head && m.mod == o.mod && m.rest == o.rest }

// at is where in lately m is looked for first; its neighbour is the other place.
func (m *met) at() uintptr {
	return (uintptr(unsafe.Pointer(m.head))*0x9E3779B1>>16 ^ uintptr(m.rest) ^ uintptr(m.rest)>>17) % uintptr(len(spellings{}.lately))
}

// met is the spelling of what was asked for lately, or nil.
func (s *spellings) met(o *met) *spelling {
	h := o.at()
	if m := &s.lately[h]; m.same(o) {
		return m.spelling
	}
	if m := &s.lately[h^1]; m.same(o) {
		return m.spelling
	}
	return nil
}

// keep lets met find a spelling.
func (s *spellings) keep(o met, found *spelling) {
	h := o.at()
	o.spelling = found
	s.lately[h], s.lately[h^1] = o, s.lately[h]
}

// of is the spelling of o with modifiers.
func (s *spellings) of(o opcode, mods []Mod) *spelling {
	h := uint(len(o.head)) + uint(o.head[0])<<1 + uint(o.head[len(o.head)-1])<<3 + uint(o.typ)*5 + uint(o.from)*11 + uint(o.count)*17
	if o.value {
		h += 41
	}
	for _, m := range mods {
		if m != "" {
			h = h*3 + uint(m[0]) + uint(m[len(m)-1])
		}
	}
	first := &s.known[h%uint(len(s.known))]
	for known := *first; known != nil; known = known.next {
		if int(known.some) == len(mods) && known.opcode == o && (len(mods) == 0 || slices.Equal(known.mods[:known.some], mods)) {
			return known
		}
	}
	fresh := s.made.One()
	fresh.opcode = o
	if len(mods) <= len(fresh.mods) {
		fresh.some = uint8(copy(fresh.mods[:], mods))
		fresh.next, *first = *first, fresh
	}
	return fresh
}

// op is head with modifiers and a type: "add" + RN + F32 is "add.rn.f32".
func (k *Kernel) op(head string, t isa.Type, mods ...Mod) string { return k.opcode(head, t, mods).text }

// opcode is op with what is known of it.
func (k *Kernel) opcode(head string, t isa.Type, mods []Mod) *spelling {
	want, lately := asked(head, t, mods, false)
	if lately {
		if s := k.m.spellings.met(&want); s != nil {
			return s
		}
	}
	s := k.m.spellings.of(opcode{head: head, typ: t}, mods)
	if s.text == "" {
		text := head + dotted(mods)
		if t != 0 {
			text += t.String()
		}
		s.text = k.m.binder.Shared(text)
	}
	if lately {
		k.m.spellings.keep(want, s)
	}
	return s
}

// conversion is head with modifiers and two types: "cvt" + RN + F32 from F64 is "cvt.rn.f32.f64".
func (k *Kernel) conversion(head string, to, from isa.Type, mods []Mod) string {
	s := k.m.spellings.of(opcode{head: head, typ: to, from: from}, mods)
	if s.text == "" {
		s.text = k.m.binder.Shared(head + dotted(mods) + to.String() + from.String())
	}
	return s.text
}

// access is the opcode of a load or store of n elements. The order of modifiers is the manual's.
func (k *Kernel) access(head string, space isa.Space, mods []Mod, n int, t isa.Type) string {
	s := k.m.spellings.of(opcode{head: head, space: space, count: uint8(n), typ: t}, mods)
	if s.text != "" {
		return s.text
	}
	early, late := "", ""
	for _, m := range mods {
		switch m {
		case Weak, Volatile, Relaxed, Acquire, Release, InCTA, InCluster, InGPU, InSystem:
			early += "." + string(m)
		default:
			late += "." + string(m)
		}
	}
	text := head + early
	if space != isa.Generic {
		text += space.String()
	}
	text += late
	if n > 1 {
		text += ".v" + strconv.Itoa(n)
	}
	s.text = k.m.binder.Shared(text + t.String())
	return s.text
}

// exact are the operations on floats that are told how to round.
var exact = []string{"div", "sqrt", "rcp", "fma"}

// rough are those that are approximations, of which F32 says so.
var rough = []string{"rsqrt", "ex2", "lg2", "sin", "cos", "tanh"}

// spelled is the opcode of an operation on values of t.
func (k *Kernel) spelled(head string, t isa.Type, mods []Mod) *spelling {
	want, lately := asked(head, t, mods, true)
	if lately {
		if s := k.m.spellings.met(&want); s != nil {
			return s
		}
	}
	s := k.m.spellings.of(opcode{head: head, typ: t, value: true}, mods)
	if s.text == "" {
		s.text = k.spell(head, t, mods)
	}
	if lately {
		k.m.spellings.keep(want, s)
	}
	return s
}

// spell fills in what an operation on values leaves open: which half of a product, how to round, how exact it is.
func (k *Kernel) spell(head string, t isa.Type, mods []Mod) string {
	var room [4]Mod
	switch {
	case integer(t):
		switch head {
		case "mul", "mad":
			head += ".lo"
		case "and", "or", "xor", "not", "shl", "brev":
			t = bits(t.Bits())
		}
	case t.Class() == isa.Pred && (head == "and" || head == "or" || head == "xor" || head == "not"):
	case t.Class() == isa.Bits:
	case slices.Contains(exact, head):
		told := slices.ContainsFunc(mods, func(m Mod) bool {
			return m == RN || m == RZ || m == RM || m == RP || m == Approx || m == Full
		})
		if !told {
			mods = append(append(room[:0], RN), mods...)
		}
	case slices.Contains(rough, head) && !slices.Contains(mods, Approx):
		list := append(room[:0], Approx)
		if (t == isa.Bf16 || t == isa.Bf16x2) && head == "ex2" && !slices.Contains(mods, FTZ) {
			list = append(list, FTZ) // the only way there is
		}
		mods = append(list, mods...)
	}
	return k.op(head, t, mods...)
}

// dotted is modifiers as they stand in an opcode.
func dotted(mods []Mod) string {
	var b strings.Builder
	for _, m := range mods {
		if m != "" {
			b.WriteByte('.')
			b.WriteString(string(m))
		}
	}
	return b.String()
}
