// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package emu

import (
	"slices"
	"strings"

	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/isa/eval"
)

// Emulates reports whether the emulator runs instructions of a form. A form of which it runs only some
// types or modifiers counts if it runs the first.
func Emulates(ins *isa.Instruction, form *isa.Form) bool {
	e := newEntries()[form.Kind]
	if e.make != nil {
		return !slices.ContainsFunc(form.Slots, func(s isa.Slot) bool {
			return s.Required && !slices.ContainsFunc(s.Values, func(v isa.Value) bool { return !slices.Contains(e.without, v.Mod) })
		})
	}
	emulated := false
	opcodes(ins, form, func(op string) bool {
		_, err := eval.Of(op)
		emulated = err == nil
		return emulated
	})
	return emulated
}

// mostOpcodes is how many opcodes of a form are tried.
const mostOpcodes = 400

// opcodes visits opcodes of a form with its required modifiers, until visit returns true.
func opcodes(ins *isa.Instruction, form *isa.Form, visit func(op string) bool) {
	slots := make([]isa.Mod, len(form.Slots))
	tried := 0
	var fill func(i int) bool
	fill = func(i int) bool {
		if i == len(slots) {
			tried++
			if !form.Allows(slots) {
				return tried >= mostOpcodes
			}
			var b strings.Builder
			b.WriteString(ins.Name)
			for _, m := range slots {
				b.WriteString(m.String())
			}
			return visit(b.String()) || tried >= mostOpcodes
		}
		s := &form.Slots[i]
		if !s.Required {
			slots[i] = isa.NoMod
			return fill(i + 1)
		}
		for _, v := range s.Values {
			if slots[i] = v.Mod; fill(i + 1) {
				return true
			}
		}
		return false
	}
	fill(0)
}
