// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package isa

// A Kind is the operation of an instruction without its modifiers: add, ld, mbarrier.arrive.
// Forms that differ only in spelling, such as those of bar and barrier, have the same kind. The
// constants are generated from the instruction names in spec/*.isa.
type Kind uint16

// NoKind is the zero Kind.
const NoKind Kind = 0

// Kinds returns the number of kinds, including NoKind. Every Kind is less than this number.
func Kinds() int { return len(kindNames) }

// String returns the name of the kind in the spec, such as "mbarrier.arrive".
func (k Kind) String() string {
	if int(k) >= len(kindNames) {
		return ""
	}
	return kindNames[k]
}

// KindOf returns the kind of an opcode, with or without modifiers, or NoKind if its name is
// unknown. It is for opcodes without a form: a form has a field Kind.
func KindOf(op string) Kind {
	s := Standard()
	entries, _, _ := s.split(op)
	if len(entries) == 0 {
		return NoKind
	}
	return s.instruction(int(entries[0])).Forms[0].Kind
}

// A Head is the first component of a kind's name. It groups kinds: HeadMul is the head of mul.lo,
// mul.hi and mul.wide. bar.sync has the head barrier and membar has the head fence, because they
// are aliases of instructions of those kinds.
type Head uint8

// NoHead is the head of NoKind.
const NoHead Head = 0

// Head returns the head of k, or NoHead if k is invalid.
func (k Kind) Head() Head {
	if int(k) >= len(kindHeads) {
		return NoHead
	}
	return kindHeads[k]
}

// String returns the text of h, such as "mbarrier".
func (h Head) String() string {
	if int(h) >= len(headNames) {
		return ""
	}
	return headNames[h]
}
