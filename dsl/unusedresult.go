// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// computes reports whether an unused result of a type is suspicious. Integers are mostly indices,
// and the builder itself computes some that stay unused.
func computes(t isa.Type) bool {
	return t.Class() == isa.Float || t.Class() == isa.Half
}

// tellDropped warns about results that nothing reads: operations return a new value and do not
// change their operands.
func (k *Kernel) tellDropped(n int) {
	for _, b := range k.f.Blocks {
		for _, in := range b.Instrs {
			if len(in.Args) < 2 || in.Args[0].Kind != ir.Register {
				continue
			}
			if r := in.Args[0].Reg; r.Uses != 1 || !computes(r.Type) {
				continue
			}
			switch in.Head() {
			case "add", "sub", "mul", "fma", "div", "min", "max", "neg", "abs", "ex2", "lg2", "rcp", "rsqrt", "sqrt", "sin", "cos", "tanh":
				k.doubt(in.Pos, "result of %s is unused: operations return a new value and do not modify their operands; keep it with Set or Store", in.Head())
			}
			if n--; n == 0 {
				return
			}
		}
	}
}

// tellUnset warns about unused integers computed from a variable that is never set: the author
// probably meant to assign them to the variable.
func (k *Kernel) tellUnset() {
	if len(k.marks) > 0 {
		return
	}
	var unread []*ir.Instr
	for _, b := range k.f.Blocks {
		for _, in := range b.Instrs {
			if len(in.Args) > 1 && in.Args[0].Kind == ir.Register && in.Args[0].Reg.Uses == 1 && reckons(in) {
				unread = append(unread, in)
			}
		}
	}
	if len(unread) == 0 {
		return
	}
	once := make(map[*ir.Reg]*ir.Instr) // the only instruction that writes a register; nil if there are several
	for _, b := range k.f.Blocks {
		for _, in := range b.Instrs {
			in.Registers(func(r *ir.Reg, a isa.Access) {
				switch _, met := once[r]; {
				case a == isa.Read:
				case met:
					once[r] = nil
				default:
					once[r] = in
				}
			})
		}
	}
	for _, in := range unread {
		for last, i := in, 0; i < 4; i++ {
			from := last.Args[1].Reg
			if from == nil {
				break
			}
			def := once[from]
			switch {
			case def == nil:
			case from.Varies && !from.Set && def.Head() == "mov":
				k.doubt(in.Pos, "result of %s on a variable that is never assigned is unused: operations return a new value; assign it with Set", in.Head())
			case !from.Varies && from.Uses == 2 && reckons(def):
				last = def
				continue
			}
			break
		}
	}
}

// reckons reports whether an instruction computes an integer from others.
func reckons(in *ir.Instr) bool {
	switch in.Head() {
	case "add", "sub", "mul", "mad", "and", "or", "xor", "shl", "shr", "min", "max":
		return len(in.Args) > 2 && in.Args[0].Kind == ir.Register && !computes(in.Args[0].Reg.Type) && in.Args[0].Reg.Type != isa.Predicate && in.Args[1].Kind == ir.Register
	}
	return false
}
