// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"slices"
	"strconv"
	"strings"

	"github.com/ptxdsl/ptxdsl/passes/analysis/value"
)

// describeConstants describes the substituted constants for messages. It lists the inputs with
// names, and then the values in memory.
func (p *program) describeConstants(order []*value.Atom, known map[*value.Atom]int64) string {
	const names, numbers = 10, 3
	var list, rest []string
	for _, a := range order {
		n := strconv.FormatInt(known[a], 10)
		switch name := p.inputName(a); {
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

// inputName returns the name of a kernel input: a parameter, a register, or a memory location to
// which a parameter points. It returns "" for other values.
func (p *program) inputName(a *value.Atom) string {
	return inputNameOf(a, p.k.Func.Name+"_") // the prefix that compilers use
}

// inputNameOf returns the name of a kernel input, without the prefix that all parameters have.
func inputNameOf(a *value.Atom, prefix string) string {
	if a.Op != value.OpLoad {
		return strings.TrimPrefix(strings.TrimSuffix(a.Name, "+0"), prefix)
	}
	if len(a.Args) != 1 || len(a.Args[0].Terms) != 1 {
		return ""
	}
	at := a.Args[0]
	to := at.Terms[0]
	if to.Factor != 1 || to.Atom.Op != value.OpParameter {
		return ""
	}
	name := inputNameOf(to.Atom, prefix)
	if at.K != 0 {
		name += "+" + strconv.FormatInt(at.K, 10)
	}
	return "[" + name + "]"
}

// triedConstants lists the constants of each input in the attempts that were analyzed to the end.
func (p *program) triedConstants(order []*value.Atom, all []attempt) []string {
	var list []string
	for _, a := range order {
		name := p.inputName(a)
		if name == "" {
			name = "a value in memory"
		}
		var values []int64
		for i := range all {
			if all[i].whole {
				values = append(values, all[i].known[a])
			}
		}
		if text := name + " = " + formatRanges(values); !slices.Contains(list, text) {
			list = append(list, text)
		}
	}
	return list
}

// formatRanges formats a set of integers, such as "0 to 7, 9".
func formatRanges(list []int64) string {
	slices.Sort(list)
	list = slices.Compact(list)
	var words []string
	for i := 0; i < len(list); {
		j := i
		for j+1 < len(list) && list[j+1] == list[j]+1 {
			j++
		}
		word := strconv.FormatInt(list[i], 10)
		switch {
		case j == i+1:
			word += ", " + strconv.FormatInt(list[j], 10)
		case j > i:
			word += " to " + strconv.FormatInt(list[j], 10)
		}
		words = append(words, word)
		i = j + 1
	}
	return strings.Join(words, ", ")
}
