// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package isa

import "iter"

// Unread returns the generated instruction set in its initial state, with nothing decoded.
func Unread() *Set { return newStandard() }

// Kept returns all forms, as decoded with their instructions and as decoded for opcodes.
func (s *Set) Kept() iter.Seq2[*Form, *Form] {
	return func(yield func(*Form, *Form) bool) {
		i := 0
		for ins := range s.All() {
			o := s.outline(i)
			for j := range ins.Forms {
				if !yield(&ins.Forms[j], s.form(&o.forms[j])) {
					return
				}
			}
			i++
		}
	}
}
