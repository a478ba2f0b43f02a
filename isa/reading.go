// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package isa

import "slices"

// A interpretation is one interpretation of modifiers that are not a legal combination: the problem
// to report, and the opcodes that may be intended.
type interpretation struct {
	Problem
	ops          []string
	removes      bool // removes a modifier; reported only if the operands fit
	changesClass bool // replaces a type by one of another class
}

// interpret returns the first interpretation of an opcode for which the operands fit, or nil.
func (m *Matcher) interpret(o *Opcode, args []Arg) *interpretation {
	if len(o.interpretations) < 2 {
		return nil
	}
	var far *interpretation
	for i := range o.interpretations {
		r := &o.interpretations[i]
		if r.changesClass && far != nil || !m.fits(r, args) {
			continue
		}
		if !r.changesClass {
			return r
		}
		far = r
	}
	return far
}

// fits reports whether the operands fit one of the opcodes of an interpretation.
func (m *Matcher) fits(r *interpretation, args []Arg) bool {
	return slices.ContainsFunc(r.ops, func(op string) bool {
		fits := m.Opcode(op).fits
		for i := range fits {
			if fits[i].accepts(m, args) {
				return true
			}
		}
		return false
	})
}
