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
	Answers                       // responses to clusterlaunchcontrol requests
)

// Deep is the largest nesting of a predicate that is still decomposed.
const Deep = 128

// inherited returns the sources that an atom inherits from its operands. A loaded value does not
// inherit those of its address. A pointer that a call returns may point into any variable.
func inherited(op string, of Sources) Sources {
	if op == "load" {
		return of &^ Variables
	}
	return of
}

// sources returns the sources of an atom itself.
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
