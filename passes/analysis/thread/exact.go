// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package thread

import (
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/isa/eval"
)

// exactOperation returns the operation of an integer instruction that is evaluated only if all
// operands are constants, such as brev, bfe or lop3.
func exactOperation(in *ir.Instr) operation {
	o := operation{kind: in.Kind()}
	var out isa.Type
	o.exact, o.operands, out = eval.Integer(o.kind, in.Mods())
	if o.exact != nil {
		o.to, o.width, o.signed = out, max(1, out.Bits()), out.Class() == isa.Signed
	}
	return o
}

// exactResult evaluates an instruction whose operands must all be constants and no addresses.
func (e *Eval) exactResult(in *ir.Instr, o *operation) Value {
	var x [4]uint64
	args := in.Args[1:]
	if len(args) != o.operands || len(args) > len(x) {
		return Value{}
	}
	for i := range args {
		v := e.ValueOf(&args[i])
		if v.Kind != Constant || isAddress(v.N) || args[i].Minus ||
			args[i].Kind == ir.Register && args[i].Text() != "" {
			return Value{}
		}
		x[i] = uint64(v.N)
		if args[i].Not {
			x[i] ^= 1
		}
	}
	n := int64(o.exact(x[0], x[1], x[2], x[3]))
	if o.to == isa.Predicate {
		return constant(n)
	}
	return constant(cut(n, o.width, o.signed))
}

// part evaluates one of the registers into which a mov unpacks a constant.
func (e *Eval) part(in *ir.Instr, r *ir.Reg) Value {
	if in.Kind() != isa.KindMov || in.Args[0].Kind != ir.Vector {
		return Value{}
	}
	v := e.ValueOf(&in.Args[1])
	if v.Kind != Constant || isAddress(v.N) {
		return Value{}
	}
	at := 0
	for i := range in.Args[0].Args() {
		to := &in.Args[0].Args()[i]
		if to.Reg == nil {
			return Value{}
		}
		width := to.Reg.Type.Bits()
		if to.Reg == r {
			return constant(int64(uint64(v.N) >> at & (1<<width - 1)))
		}
		at += width
	}
	return Value{}
}

// packed evaluates a mov that packs constants into one register of the given width.
func (e *Eval) packed(in *ir.Instr, width int) Value {
	parts := in.Args[1].Args()
	n, each := uint64(0), width/max(1, len(parts))
	for i := range parts {
		v := e.ValueOf(&parts[i])
		if v.Kind != Constant || isAddress(v.N) {
			return Value{}
		}
		n |= uint64(v.N) & (1<<each - 1) << (i * each)
	}
	return constant(int64(n))
}
