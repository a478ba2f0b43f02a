// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package passes

import (
	"fmt"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/isa/eval"
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
		if replaceByMove(in, d, binder) {
			n++
		}
		if in.Kind() == isa.KindMov && len(in.Args) == 2 && in.Args[1].Kind == ir.Int {
			if r := wholeRegister(&in.Args[0]); r != nil && d.writer[r] == in {
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
			if u.at != nil && u.at == u.to && wholeRegister(u.at) == r &&
				r.Type.Bits() == operandBits(u.in, u.at) && constant(u, in.Args[1], binder) {
				n++
				look(u.in)
			}
		}
	}
	return n
}

// replaceByMove replaces an instruction whose result is constant by a move.
func replaceByMove(in *ir.Instr, d *defs, binder *ir.Binder) bool {
	v, bits, ok := constantResult(in)
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
// constant is interpreted in that width.
var arithmetic = map[isa.Kind]bool{
	isa.KindAdd: true, isa.KindSub: true, isa.KindAnd: true, isa.KindOr: true, isa.KindXor: true,
	isa.KindNot: true, isa.KindNeg: true,
	isa.KindMin: true, isa.KindMax: true, isa.KindShl: true, isa.KindShr: true, isa.KindMulLo: true,
	isa.KindMadLo: true,
	isa.KindSetp:  true, isa.KindSelp: true, isa.KindMov: true,
}

// integerOp returns an instruction's kind and its type: an integer type, or untyped bits, of 32 or
// 64 bits. ok is false for other types, and for instructions with modifiers such as .cc, .sat and
// .relu. The comparison of setp is allowed.
func integerOp(in *ir.Instr) (kind isa.Kind, of isa.Type, ok bool) {
	kind = in.Kind()
	if !arithmetic[kind] {
		return kind, 0, false
	}
	others := 0
	for _, m := range in.Mods() {
		if t := m.Type(); t != 0 {
			of = t
		} else if m != isa.NoMod {
			others++
		}
	}
	if kind == isa.KindSetp {
		others--
	}
	switch of {
	case isa.S32, isa.U32, isa.B32, isa.S64, isa.U64, isa.B64:
		return kind, of, others == 0
	}
	return kind, 0, false
}

// operandBits returns the width with which an instruction reads an operand, or 0 if a constant in
// place of the operand could have another meaning.
func operandBits(in *ir.Instr, o *ir.Operand) int {
	kind, of, ok := integerOp(in)
	switch last := len(in.Args) - 1; {
	case !ok:
		return 0
	case kind == isa.KindShl || kind == isa.KindShr:
		if o == &in.Args[last] {
			return 32
		}
	case kind == isa.KindMov:
		if to := wholeRegister(&in.Args[0]); to == nil || !to.Type.Whole() {
			return 0 // a float constant is more readable in its own move
		}
	case kind == isa.KindSelp && o == &in.Args[last]:
		return 0
	}
	return of.Bits()
}

// constantResult returns the result of an instruction whose operands are constants. ok is false if
// the result is not a known integer of 32 or 64 bits.
func constantResult(in *ir.Instr) (value int64, bits int, ok bool) {
	kind, of, ok := integerOp(in)
	if !ok || in.Guard.Reg != nil || len(in.Args) < 2 || len(in.Args) > 3 ||
		wholeRegister(&in.Args[0]) == nil || kind == isa.KindMov {
		return 0, 0, false
	}
	var x [2]uint64
	args := in.Args[1:]
	for i := range args {
		if args[i].Kind != ir.Int || args[i].Ref() != nil {
			return 0, 0, false
		}
		x[i] = uint64(args[i].Value)
	}
	v, ok := eval.Constant(kind, in.Mods(), x[:len(args)]...)
	return eval.Extend(of, v), of.Bits(), ok && kind != isa.KindSetp
}
