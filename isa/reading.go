// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package isa

import "slices"

// A reading is one interpretation of modifiers that are not a legal combination: its problem, and
// the opcodes that may be intended.
type reading struct {
	Problem
	ops  []string
	less bool // it removes a word; reported only if the operands fit
	far  bool // it changes a type to another class
}

// read returns the first interpretation of an opcode that the operands fit, or nil.
func (m *Matcher) read(o *Opcode, args []Arg) *reading {
	if len(o.readings) < 2 {
		return nil
	}
	var far *reading
	for i := range o.readings {
		r := &o.readings[i]
		if r.far && far != nil || !m.fits(r, args) {
			continue
		}
		if !r.far {
			return r
		}
		far = r
	}
	return far
}

// fits reports whether operands fit one of the opcodes of an interpretation.
func (m *Matcher) fits(r *reading, args []Arg) bool {
	return slices.ContainsFunc(r.ops, func(op string) bool {
		fits := m.Opcode(op).fits
		for i := range fits {
			if fits[i].takes(m, args) {
				return true
			}
		}
		return false
	})
}
