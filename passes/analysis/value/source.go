// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package value

import "strings"

// Sources lists what an atom depends on, directly or indirectly. They are cached, because many
// atoms share them.
type Sources uint8

// Sources of an atom.
const (
	Variables Sources = 1 << iota // the address of a variable
	Private                       // contents of memory other than global
	Answers                       // whether a request for more work was granted
)

// Deep is the largest nesting of a predicate that is still decomposed.
const Deep = 128

// inherited returns what an atom has of the sources of its operands. What memory holds is not made
// from the address that it is read at: a pointer that a call returns may be one into any variable.
func inherited(op string, of Sources) Sources {
	if op == "load" {
		return of &^ Variables
	}
	return of
}

// sources returns what an atom alone is.
func sources(op, name string) Sources {
	switch {
	case op == "variable":
		return Variables
	case op == "load" && name != "global" && name != "const":
		return Private
	case strings.HasPrefix(name, "clusterlaunchcontrol.query_cancel.is_canceled"):
		return Answers
	}
	return 0
}
