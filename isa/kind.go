// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package isa

// A Kind is the operation of an instruction, apart from its modifiers: add, ld, mbarrier.arrive.
// Forms that only differ in spelling, such as those of bar and barrier, have the same kind. The
// constants are generated from the names of the instructions in spec/*.isa.
type Kind uint16

// NoKind is the zero Kind.
const NoKind Kind = 0

// Kinds returns the number of kinds. Every Kind is less.
func Kinds() int { return len(kindNames) }

// String returns the name of the kind in the spec, such as "mbarrier.arrive".
func (k Kind) String() string {
	if int(k) >= len(kindNames) {
		return ""
	}
	return kindNames[k]
}

// KindOf returns the kind of an opcode, with or without modifiers, or NoKind if its name is
// unknown. An instruction that has a form has its kind there.
func KindOf(op string) Kind {
	s := Standard()
	entries, _, _ := s.split(op)
	if len(entries) == 0 {
		return NoKind
	}
	return s.instruction(int(entries[0])).Forms[0].Kind
}

// A Head is the first word of the name of a kind. It groups kinds: HeadMul is the head of mul.lo,
// mul.hi and mul.wide. The heads of bar.sync and membar are those of their kinds, barrier and
// fence.
type Head uint8

// NoHead is the head of NoKind.
const NoHead Head = 0

// Head returns the head of k.
func (k Kind) Head() Head {
	if int(k) >= len(kindHeads) {
		return NoHead
	}
	return kindHeads[k]
}

// String returns the text of the head, such as "mbarrier".
func (h Head) String() string {
	if int(h) >= len(headNames) {
		return ""
	}
	return headNames[h]
}
