// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package emu

import (
	"fmt"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// named returns the operand that has the given name in the instruction table, or nil if the
// instruction does not have this operand. The name of an address is that of its base.
func (d *decoder) named(name string) *ir.Operand { return namedIn(d.in.Form.Args, d.in.Args, name) }

func namedIn(wants []isa.Want, args []ir.Operand, name string) *ir.Operand {
	required := 0
	for i := range wants {
		if always(&wants[i]) {
			required++
		}
	}
	spare := len(args) - required // number of optional operands that are present
	at := 0
	for i := range wants {
		w := &wants[i]
		switch {
		case w.Presence == isa.Never:
			continue
		case !always(w):
			if spare == 0 {
				continue
			}
			spare--
		}
		if at >= len(args) {
			return nil
		}
		o := &args[at]
		at++
		if w.Operand != nil && w.Name == name {
			return o
		}
		if len(w.Inside) == 0 || o.Kind != ir.Address {
			continue
		}
		if w.Inside[0].Name == name {
			return o
		}
		if x := namedIn(w.Inside, o.Args(), name); x != nil {
			return x
		}
	}
	return nil
}

// always reports whether an operand is always present with the given modifiers.
func always(w *isa.Want) bool { return w.Presence == isa.Always || w.Presence == isa.PresentIf }

// registersNamed returns the registers of a named operand, or nil if the instruction does not have
// it.
func (d *decoder) registersNamed(name string) []ref {
	o := d.named(name)
	if o == nil {
		return nil
	}
	return d.flatten(nil, o)
}

// valueNamed returns the first register of a named operand, or nil if the instruction does not have
// it.
func (d *decoder) valueNamed(name string) *ref {
	if list := d.registersNamed(name); len(list) > 0 {
		return &list[0]
	}
	return nil
}

// addressNamed returns the address operand with the given name in the instruction table.
func (d *decoder) addressNamed(name string) (addressRef, error) {
	o := d.named(name)
	if o == nil {
		return addressRef{}, fmt.Errorf("it has no address operand %s", name)
	}
	if o.Kind == ir.Address {
		return d.addressOf(o)
	}
	list := d.flatten(nil, o) // an address without brackets
	if len(list) != 1 {
		return addressRef{}, fmt.Errorf("it has no address operand %s", name)
	}
	a := addressRef{base: list[0], keep: ^uint64(0), limit: ^uint64(0),
		fixed: list[0].kind == refConstant}
	if a.base.bits == 32 {
		a.keep = 0xffffffff
	}
	return a, nil
}
