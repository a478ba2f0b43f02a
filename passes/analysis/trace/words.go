// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"strconv"
	"strings"

	"github.com/ptxdsl/ptxdsl/passes/analysis/value"
)

// text says what was put in: for what has a name one by one, and of the rest how many there are, with the first of them.
func (p *program) text(order []*value.Atom, known map[*value.Atom]int64) string {
	const names, numbers = 10, 3
	var list, rest []string
	for _, a := range order {
		n := strconv.FormatInt(known[a], 10)
		switch name := p.leaf(a); {
		case name == "":
			rest = append(rest, n)
		default:
			list = append(list, name+" is "+n)
		}
	}
	if more := len(list) - names; more > 1 {
		list = append(list[:names:names], strconv.Itoa(more)+" more inputs have fixed values")
	}
	switch n := len(rest); {
	case n == 1:
		list = append(list, "a value in memory is "+rest[0])
	case n > numbers+1:
		list = append(list, strconv.Itoa(n)+" values in memory are "+strings.Join(rest[:numbers],
			", ")+" and others")
	case n > 1:
		list = append(list, strconv.Itoa(n)+" values in memory are "+strings.Join(rest[:n-1],
			", ")+" and "+rest[n-1])
	}
	return strings.Join(list, ", ")
}

// leaf names a kernel input: a parameter, a register, or a place in memory that a parameter
// points to; "" if it has no name.
func (p *program) leaf(a *value.Atom) string {
	if a.Op != "load" {
		return strings.TrimPrefix(strings.TrimSuffix(a.Name, "+0"), p.k.Func.Name+"_") // as compilers name them
	}
	if len(a.Args) != 1 || len(a.Args[0].Terms) != 1 {
		return ""
	}
	at := a.Args[0]
	to := at.Terms[0]
	if to.Factor != 1 || to.Atom.Op != "parameter" {
		return ""
	}
	name := p.leaf(to.Atom)
	if at.K != 0 {
		name += "+" + strconv.FormatInt(at.K, 10)
	}
	return "[" + name + "]"
}
