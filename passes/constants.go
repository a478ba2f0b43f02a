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
		Name: "fold-constants",
		Doc: "replaces registers that hold integer constants by the constants, and evaluates " +
			"instructions whose operands are all constant.",
		Edits: true,
		Run: func(s *Step) {
			binder := ir.NewBinder(s.Module.Version, s.Module.Target)
			for _, f := range s.Module.Funcs() {
				s.Changes += fold(f, binder)
			}
		},
	}
}

// fold propagates constants through a function. It returns the number of operands and instructions
// that it changed.
func fold(f *ir.Func, binder *ir.Binder) int {
	d := defsOf(f)
	n := 0
	var work []*ir.Instr // moves of constants
	look := func(in *ir.Instr) {
		if settle(in, d, binder) {
			n++
		}
		if in.Head() == "mov" && len(in.Args) == 2 && in.Args[1].Kind == ir.Int {
			if r := whole(&in.Args[0]); r != nil && d.writer[r] == in {
				work = append(work, in)
			}
		}
	}
	for _, b := range f.Blocks {
		for _, in := range b.Instrs {
			look(in)
		}
	}
	for len(work) > 0 {
		in := work[0]
		work = work[1:]
		r := in.Args[0].Reg
		for _, u := range d.uses[r] {
			if u.at != nil && u.at == u.to && whole(u.at) == r && r.Type.Bits() == operandBits(u.in, u.at) && constant(u, in.Args[1], binder) {
				n++
				look(u.in)
			}
		}
	}
	return n
}

// settle replaces an instruction whose result is constant by a move.
func settle(in *ir.Instr, d *defs, binder *ir.Binder) bool {
	v, bits, ok := evaluated(in)
	if !ok || d.writer[in.Args[0].Reg] != in {
		return false
	}
	op, args := in.Op, in.Args
	in.Op, in.Args = fmt.Sprintf("mov.b%d", bits), []ir.Operand{args[0], {Kind: ir.Int, Value: v}}
	if binder.Bind(in); in.Form == nil {
		in.Op, in.Args = op, args
		binder.Bind(in)
		return false
	}
	return true
}

// constant replaces a register operand by a constant, if the instruction allows it.
func constant(u use, value ir.Operand, binder *ir.Binder) bool {
	was := *u.at
	*u.at = ir.Operand{Kind: ir.Int, Value: value.Value, More: value.More}
	if problems := binder.Bind(u.in); u.in.Form == nil || len(problems) > 0 {
		*u.at = was
		binder.Bind(u.in)
		return false
	}
	return true
}

// arithmetic are the instructions whose operands have the width of their type, and for which a
// constant is interpreted in that width. The value is the modifier that may be between name and
// type; * is any comparison.
var arithmetic = map[string]string{
	"add": "", "sub": "", "and": "", "or": "", "xor": "", "not": "", "neg": "", "min": "", "max": "", "shl": "", "shr": "",
	"mul": "lo", "mad": "lo", "setp": "*", "selp": "", "mov": "",
}

// plainly returns the instruction's name, and the width and the letter of its type: s, u or b. ok
// is false for other instructions, and for those with other modifiers such as .cc, .sat and .relu.
func plainly(in *ir.Instr) (head string, bits int, kind byte, ok bool) {
	words := strings.Split(in.Op, ".")
	head, last := words[0], words[len(words)-1]
	modifier, ok := arithmetic[head]
	if !ok || len(words) < 2 {
		return head, 0, 0, false
	}
	switch middle := words[1 : len(words)-1]; {
	case modifier == "" && len(middle) > 0,
		modifier != "" && (len(middle) != 1 || modifier != "*" && modifier != middle[0]):
		return head, 0, 0, false
	}
	switch last {
	case "s32", "u32", "b32":
		return head, 32, last[0], true
	case "s64", "u64", "b64":
		return head, 64, last[0], true
	}
	return head, 0, 0, false
}

// operandBits returns the width with which an instruction reads an operand; 0 if a constant could
// have another meaning there.
func operandBits(in *ir.Instr, o *ir.Operand) int {
	head, bits, _, ok := plainly(in)
	switch last := len(in.Args) - 1; {
	case !ok:
		return 0
	case head == "shl" || head == "shr":
		if o == &in.Args[last] {
			return 32
		}
	case head == "mov":
		if to := whole(&in.Args[0]); to == nil || !to.Type.Whole() {
			return 0 // a float constant is more readable in its own move
		}
	case head == "selp" && o == &in.Args[last]:
		return 0
	}
	return bits
}

// evaluated returns the result of an instruction if it is a known integer of 32 or 64 bits.
func evaluated(in *ir.Instr) (value int64, bits int, ok bool) {
	head, bits, kind, ok := plainly(in)
	if !ok || in.Guard.Reg != nil || len(in.Args) < 2 || len(in.Args) > 3 || whole(&in.Args[0]) == nil || head == "mov" {
		return 0, 0, false
	}
	var x [2]int64
	for i := range in.Args[1:] {
		o := &in.Args[1+i]
		if o.Kind != ir.Int || o.Ref() != nil {
			return 0, 0, false
		}
		x[i] = wrap(o.Value, bits, kind)
	}
	v, ok := compute(head, len(in.Args)-1, x[0], x[1], bits, kind)
	return wrap(v, bits, kind), bits, ok
}

// wrap returns the low bits of v as an integer, sign-extended for kind s.
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
			return -a, true
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
	// A shift amount is an unsigned 32-bit number, whatever the type; larger amounts shift out all
	// bits.
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
