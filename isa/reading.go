// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package isa

import "slices"

// A reading is one way to understand modifiers that do not go together: what is wrong with them then, and what opcodes may be
// meant.
type reading struct {
	Problem
	ops  []string
	less bool // a word is too many; that is said only where the operands show it
	far  bool // a type would be another kind of number
}

// read finds the first reading of an opcode with which the operands go; nil if none is.
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

// fits reports whether operands go with one of the opcodes of a reading.
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
