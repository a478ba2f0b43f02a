// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package passes

import (
	"fmt"
	"strings"

	"github.com/ptxdsl/ptxdsl/ir"
)

func foldConstants() *Pass {
	return &Pass{
		Name:  "fold-constants",
		Doc:   "writes integer constants where they are used instead of the registers that they were moved to, and works out what is computed from constants alone.",
		Edits: true,
		Run: func(s *Step) {
			binder := ir.NewBinder(s.Module.Version, s.Module.Target)
			for _, f := range s.Module.Funcs() {
				for {
					n := fold(f, binder)
					s.Changes += n
					if n == 0 {
						break
					}
				}
			}
		},
	}
}

// fold does one round over a function and returns how many operands and instructions it changed.
func fold(f *ir.Func, binder *ir.Binder) int {
	d := defsOf(f)
	n := 0
	for _, r := range f.Regs {
		in := d.writer[r]
		if in == nil || in.Head() != "mov" || in.Mod("v2") || len(in.Args) != 2 || in.Args[1].Kind != ir.Int || in.Guard.Reg != nil || whole(&in.Args[0]) != r {
			continue
		}
		for _, u := range d.uses[r] {
			if u.at != nil && u.at == u.to && whole(u.at) == r && r.Type.Bits() == operandBits(u.in, u.at) && constant(u, in.Args[1], binder) {
				n++
			}
		}
	}
	for _, b := range f.Blocks {
		for _, in := range b.Instrs {
			if v, bits, ok := evaluated(in); ok && d.writer[in.Args[0].Reg()] == in {
				op := in.Op
				args := in.Args
				in.Op, in.Args = fmt.Sprintf("mov.b%d", bits), []ir.Operand{args[0], {Kind: ir.Int, Value: v}}
				if binder.Bind(in); in.Form == nil {
					in.Op, in.Args = op, args
					binder.Bind(in)
					continue
				}
				n++
			}
		}
	}
	return n
}

// constant puts a constant in the place of a register, if the instruction takes it there.
func constant(u use, value ir.Operand, binder *ir.Binder) bool {
	was := *u.at
	*u.at = ir.Operand{Kind: ir.Int, Value: value.Value, Text: value.Text}
	if problems := binder.Bind(u.in); u.in.Form == nil || len(problems) > 0 {
		*u.at = was
		binder.Bind(u.in)
		return false
	}
	return true
}

// arithmetic are the instructions whose operands have the width of their type, and read a constant as such a
// number.
var arithmetic = map[string]bool{
	"add": true, "sub": true, "and": true, "or": true, "xor": true, "min": true, "max": true, "shl": true, "shr": true, "mul": true, "mad": true, "setp": true, "selp": true, "mov": true,
}

// operandBits is the width that an instruction reads an operand with; 0 where a constant might mean
// something else there.
func operandBits(in *ir.Instr, o *ir.Operand) int {
	head := in.Head()
	if !arithmetic[head] || in.Mod("cc") || in.Mod("sat") || in.Mod("wide") || in.Mod("hi") || in.Mod("24") {
		return 0
	}
	bits, kind := integer(in.Op)
	if kind == 0 || bits < 32 {
		return 0
	}
	if (head == "shl" || head == "shr") && len(in.Args) == 3 && o == &in.Args[2] {
		return 32
	}
	if head == "mov" && (whole(&in.Args[0]) == nil || !in.Args[0].Reg().Type.Whole()) {
		return 0 // a number for a float is better read where it is made
	}
	if head == "selp" && o == &in.Args[len(in.Args)-1] || head == "setp" && (len(in.Args) != 3 || o == &in.Args[0]) {
		return 0
	}
	return bits
}

// integer is the width of the type at the end of an opcode, and its letter: s, u or b; 0 for other types.
func integer(op string) (bits int, kind byte) {
	_, last := op[:strings.LastIndexByte(op, '.')+1], op[strings.LastIndexByte(op, '.')+1:]
	switch last {
	case "s16", "u16", "b16":
		return 16, last[0]
	case "s32", "u32", "b32":
		return 32, last[0]
	case "s64", "u64", "b64":
		return 64, last[0]
	}
	return 0, 0
}

// evaluated is what an instruction computes, if that is known: an integer of 32 or 64 bits.
func evaluated(in *ir.Instr) (value int64, bits int, ok bool) {
	if in.Guard.Reg != nil || len(in.Args) < 2 || len(in.Args) > 3 || whole(&in.Args[0]) == nil || in.Head() == "mov" {
		return 0, 0, false
	}
	for _, m := range []string{"cc", "sat", "wide", "hi", "24"} {
		if in.Mod(m) {
			return 0, 0, false
		}
	}
	bits, kind := integer(in.Op)
	if bits < 32 {
		return 0, 0, false
	}
	var x [2]int64
	for i := range in.Args[1:] {
		o := &in.Args[1+i]
		if o.Kind != ir.Int || o.Ref != nil {
			return 0, 0, false
		}
		x[i] = wrap(o.Value, bits, kind)
	}
	v, ok := compute(in.Head(), len(in.Args)-1, x[0], x[1], bits, kind)
	return wrap(v, bits, kind), bits, ok
}

// wrap is the number that the lowest bits of v are, with a sign for s.
func wrap(v int64, bits int, kind byte) int64 {
	switch {
	case bits == 64:
		return v
	case kind == 's':
		return int64(int32(v))
	}
	return int64(uint32(v))
}

func compute(head string, operands int, a, b int64, bits int, kind byte) (v int64, ok bool) {
	if operands == 1 {
		switch head {
		case "not":
			return ^a, true
		case "neg":
			return -a, kind == 's'
		}
		return 0, false
	}
	less := a < b
	if kind != 's' {
		less = uint64(a) < uint64(b)
	}
	switch head {
	case "add":
		return a + b, true
	case "sub":
		return a - b, true
	case "mul":
		return a * b, true
	case "and":
		return a & b, true
	case "or":
		return a | b, true
	case "xor":
		return a ^ b, true
	case "min", "max":
		if less == (head == "min") {
			return a, true
		}
		return b, true
	}
	// An amount is 32 bits without a sign, whatever the type; beyond the width all bits are gone.
	by := uint64(uint32(b))
	switch {
	case head == "shl" && by < uint64(bits):
		return a << by, true
	case head == "shl":
		return 0, true
	case head == "shr" && kind == 's':
		return a >> min(by, 63), true
	case head == "shr" && by < uint64(bits):
		return int64(uint64(a) >> by), true
	case head == "shr":
		return 0, true
	}
	return 0, false
}
