// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package value

import "github.com/ptxdsl/ptxdsl/isa"

// Sources lists what an atom depends on, directly or indirectly. They are cached, because many
// atoms share them.
type Sources uint8

// Sources of an atom.
const (
	Variables Sources = 1 << iota // the address of a variable
	Private                       // contents of memory other than global
	Answers                       // responses to clusterlaunchcontrol requests
)

// Deep is the largest nesting depth at which predicates are still decomposed.
const Deep = 128

// ReadsGlobal reports whether a is a value read from global or constant memory.
func (a *Atom) ReadsGlobal() bool {
	s, ok := a.Ref.(isa.Space)
	return a.Op == OpLoad && ok && (s == isa.Global || s == isa.Const)
}

// ReadsShared reports whether a is a value read from shared memory.
func (a *Atom) ReadsShared() bool {
	s, ok := a.Ref.(isa.Space)
	return a.Op == OpLoad && ok && s.Base() == isa.Shared
}

// inherited returns the sources that an atom inherits from its operands. A loaded value does not
// inherit those of its address. A pointer that a call returns may point into any variable.
func inherited(op Op, of Sources) Sources {
	if op == OpLoad {
		return of &^ Variables
	}
	return of
}

// sources returns the sources of an atom itself.
func sources(op Op, ref any) Sources {
	switch {
	case op == OpVariable:
		return Variables
	case op == OpLoad && ref != isa.Global && ref != isa.Const:
		return Private
	}
	return 0
}

// Answer marks v, an atom, as the answer to a request for more work.
func Answer(v *Value) { v.Single().Sources |= Answers }
