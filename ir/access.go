// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package ir

import "github.com/ptxdsl/ptxdsl/isa"

// Registers calls visit for every register in an instruction, with how the instruction
// accesses it. A register that is written partly or under a guard is both read and written,
// because part of its old value may remain. Reads are visited before writes.
func (in *Instr) Registers(visit func(*Reg, isa.Access)) {
	if r := in.Guard.Reg; r != nil {
		visit(r, isa.Read)
	}
	if in.Form != nil && in.Form.Form.Kind != isa.KindCall { // the usual case
		results := in.Form.Args[:min(len(in.Form.Args), len(in.Args))]
		for i := range in.Args {
			if i >= len(results) || results[i].Access == isa.Read {
				in.Args[i].registers(isa.Read, false, visit)
			}
		}
		for i := range results {
			if a := results[i].Access; a != isa.Read {
				in.Args[i].registers(a, in.Guard.Reg != nil, visit)
			}
		}
		return
	}
	for i := range in.Args {
		if in.access(i) == isa.Read {
			in.Args[i].registers(isa.Read, false, visit)
		}
	}
	for i := range in.Args {
		if a := in.access(i); a != isa.Read {
			in.Args[i].registers(a, in.Guard.Reg != nil, visit)
		}
	}
}

// access returns how in accesses operand i as a whole. In the instruction set, results come first
// and are never optional, so an operand's index in the form is its index in the instruction.
func (in *Instr) access(i int) isa.Access {
	switch {
	case in.Directive():
		return isa.Read
	case in.Kind() == isa.KindCall:
		if i == 0 && in.Args[0].Kind == Group && len(in.Args) > 1 && in.Args[1].Kind != Group {
			return isa.Write
		}
		return isa.Read
	case in.Form == nil:
		return isa.ReadWrite
	case i < len(in.Form.Args):
		return in.Form.Args[i].Access
	}
	return isa.Read
}

// registers calls visit for the registers of o. a is the access to o as a whole.
func (o *Operand) registers(a isa.Access, guarded bool, visit func(*Reg, isa.Access)) {
	switch o.Kind {
	case Register:
		r := o.Reg
		if a == isa.Write && (guarded || o.Text() != "") {
			a = isa.ReadWrite
		}
		visit(r, a)
		return
	case Address, Element:
		a = isa.Read
	}
	parts := o.Args()
	for i := range parts {
		parts[i].registers(a, guarded, visit)
	}
}

// ReadsAny reports whether an instruction reads one of some registers.
func (in *Instr) ReadsAny(set map[*Reg]bool) (yes bool) {
	in.Registers(func(r *Reg, a isa.Access) { yes = yes || a != isa.Write && set[r] })
	return yes
}

// AddressReadsAny reports whether an address among the operands of an instruction contains one of
// some registers.
func (in *Instr) AddressReadsAny(set map[*Reg]bool) (yes bool) {
	for i := range in.Args {
		if in.Args[i].Kind == Address {
			in.Args[i].Walk(func(o *Operand) { yes = yes || o.Reg != nil && set[o.Reg] })
		}
	}
	return yes
}

// AddWritten adds the registers that an instruction writes to a set, and reports whether the set
// grew.
func (in *Instr) AddWritten(set map[*Reg]bool) (grew bool) {
	in.Registers(func(r *Reg, a isa.Access) {
		if a != isa.Read && !set[r] {
			set[r], grew = true, true
		}
	})
	return grew
}
