// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package isa

// A Kind is what an instruction does, apart from its modifiers: add, ld, mbarrier.arrive. Forms that
// differ in spelling alone, such as those of bar and barrier, are of one kind. The constants are
// generated from the names of the instructions in spec/*.isa.
type Kind uint16

// NoKind is the zero Kind.
const NoKind Kind = 0

// Kinds returns the number of kinds: each Kind is less.
func Kinds() int { return len(kindNames) }

// String returns the name of the kind as the spec has it: "mbarrier.arrive".
func (k Kind) String() string {
	if int(k) >= len(kindNames) {
		return ""
	}
	return kindNames[k]
}
