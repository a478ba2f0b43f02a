// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package value

import "github.com/ptxdsl/ptxdsl/isa"

// Sources is a set of sources on which an atom depends, directly or indirectly. It is stored in
// the atom, because many atoms share operands.
type Sources uint8

// These are the sources that analyzers distinguish.
const (
	Variables Sources = 1 << iota // the address of a variable
	Private                       // contents of memory that is neither global nor constant
	Answers                       // responses to clusterlaunchcontrol requests
)

// MaxNested is the largest nesting depth at which predicates are split into their parts.
const MaxNested = 128

// ReadsGlobal reports whether a is a value loaded from global or constant memory.
func (a *Atom) ReadsGlobal() bool {
	s, ok := a.Ref.(isa.Space)
	return a.Op == OpLoad && ok && (s == isa.Global || s == isa.Const)
}

// ReadsShared reports whether a is a value loaded from shared memory.
func (a *Atom) ReadsShared() bool {
	s, ok := a.Ref.(isa.Space)
	return a.Op == OpLoad && ok && s.Base() == isa.Shared
}

// inheritedSources returns the sources that an atom inherits from its operands. A loaded value does
// not inherit the variables in its address. A pointer that a call returns may point into any
// variable.
func inheritedSources(op Op, of Sources) Sources {
	if op == OpLoad {
		return of &^ Variables
	}
	return of
}

// ownSources returns the sources of an atom, without those of its operands.
func ownSources(op Op, ref any) Sources {
	switch {
	case op == OpVariable:
		return Variables
	case op == OpLoad && ref != isa.Global && ref != isa.Const:
		return Private
	}
	return 0
}

// Answer marks v, an atom, as the response to a clusterlaunchcontrol request.
func Answer(v *Value) { v.Single().Sources |= Answers }
