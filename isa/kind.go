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
