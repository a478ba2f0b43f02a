// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package emu

import (
	"fmt"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/isa/eval"
)

// A decoder decodes one instruction of a function.
type decoder struct {
	image *image
	prog  *program
	slots map[*ir.Reg]slot
	local map[*ir.Var]uint64 // offsets in the frame
	start []int              // index of each block's first command in code
	meet  int                // where the lanes of a branch reconverge, or -1
	in    *ir.Instr
	rest  []*ir.Instr // the instructions of the block after in
	index map[*ir.Block]int
	fixes []func()
}

// A slot is the location of a register in a frame.
type slot struct {
	index int32
	bits  int
	pred  bool
	n     int // number of vectors
}

// operation returns the operation of the instruction, without resolving its operands.
func (d *decoder) operation() isa.Operation { return d.in.Form.Operation() }

// is reports whether the instruction is of kind k.
func (d *decoder) is(k isa.Kind) bool { return d.in.Form.Form.Kind == k }

// writes returns the results of the instruction. Vectors and pairs are split into their elements.
func (d *decoder) writes() []ref {
	var list []ref
	for i := range d.in.Args {
		if d.writesTo(i) {
			list = d.flatten(list, &d.in.Args[i])
		}
	}
	return list
}

// reads returns the source operands of the instruction except addresses. Vectors are split into
// their elements.
func (d *decoder) reads() []ref {
	var list []ref
	for i := range d.in.Args {
		if !d.writesTo(i) && d.in.Args[i].Kind != ir.Address {
			list = d.flatten(list, &d.in.Args[i])
		}
	}
	return list
}

// writesTo reports whether operand i is a result. Results come first.
func (d *decoder) writesTo(i int) bool {
	args := d.in.Form.Args
	return i < len(args) && args[i].Access != isa.Read
}

// address returns address operand number n of the instruction.
func (d *decoder) address(n int) (addressRef, error) {
	for i := range d.in.Args {
		if o := &d.in.Args[i]; o.Kind == ir.Address {
			if n--; n < 0 {
				return d.addressOf(o)
			}
		}
	}
	return addressRef{}, fmt.Errorf("an address operand is missing")
}

// flatten appends the scalar parts of an operand.
func (d *decoder) flatten(list []ref, o *ir.Operand) []ref {
	switch o.Kind {
	case ir.Vector, ir.Pair, ir.Group:
		parts := o.Args()
		for i := range parts {
			list = d.flatten(list, &parts[i])
		}
		return list
	case ir.Register:
		return d.registers(list, o)
	case ir.Int, ir.Single, ir.Double:
		r := ref{kind: refConstant, constant: d.image.splat(uint64(o.Value))}
		if o.Value != 0 {
			r.truth = full
		}
		r.not = o.Not
		return append(list, r)
	case ir.Sink, ir.Nothing:
		return append(list, ref{kind: refSink})
	case ir.Special:
		return append(list, d.special(o)...)
	case ir.Variable:
		return append(list, d.symbol(o))
	case ir.Function:
		return append(list,
			ref{kind: refConstant, constant: d.image.splat(d.image.module.functionAddress(o))})
	}
	d.fail("an operand has a kind that is not emulated")
	return list
}

// registers appends the vectors of a register operand.
func (d *decoder) registers(list []ref, o *ir.Operand) []ref {
	s := d.slots[o.Reg]
	if s.pred {
		return append(list, ref{kind: refPredicate, index: s.index, not: o.Not})
	}
	first, n := 0, s.n
	if text := o.Text(); text != "" && o.Reg.Vec > 1 {
		first, n = component(text), n/int(o.Reg.Vec)
		first *= n
	} else if text != "" {
		d.fail("part " + text + " of a register is not emulated here")
	}
	for i := range n {
		r := ref{kind: refRegister, index: s.index + int32(first+i), bits: min(s.bits, 64)}
		if o.Value != 0 || o.Minus {
			r = d.changed(r, o)
		}
		list = append(list, r)
	}
	return list
}

// changed returns a register operand with an offset or a minus sign applied.
func (d *decoder) changed(r ref, o *ir.Operand) ref {
	offset, minus, index := uint64(o.Value), o.Minus, r.index
	return ref{kind: refComputed, bits: r.bits, compute: func(w *warp, to *eval.Vector) {
		for l, x := range w.regs[index] {
			if minus {
				x = -x
			}
			to[l] = x + offset
		}
	}}
}

// component returns the index of a vector component named .x, .y, .z, .w or .r, .g, .b, .a.
func component(text string) int {
	switch text[1] {
	case 'y', 'g':
		return 1
	case 'z', 'b':
		return 2
	case 'w', 'a':
		return 3
	}
	return 0
}

// symbol returns the address of the variable that an operand names, relative to the start of its
// state space.
func (d *decoder) symbol(o *ir.Operand) ref {
	v, offset := o.Var(), uint64(o.Value)
	switch v.Space.Base() {
	case isa.Shared:
		at := d.image.shared[v] + offset
		if !d.image.clustered {
			return ref{kind: refConstant, constant: d.image.splat(at)}
		}
		return ref{kind: refComputed, compute: func(w *warp, to *eval.Vector) {
			x := at | uint64(w.block.rank)<<rankShift
			for l := range to {
				to[l] = x
			}
		}}
	case isa.Global, isa.Const:
		at, ok := d.image.module.addresses[v]
		if !ok {
			d.fail("variable " + v.Name + " is declared but not defined")
		}
		if v.Space.Base() == isa.Const && d.in.Form.Form.Kind != isa.KindCvta {
			at -= constWindow
		}
		return ref{kind: refConstant, constant: d.image.splat(at + offset)}
	}
	at, ok := d.local[v]
	if !ok {
		d.fail("variable " + v.Name + " in space " + v.Space.String() + " is not emulated")
	}
	at += offset
	if d.prog.fn.Kernel && v.Space.Base() == isa.Param {
		return ref{kind: refConstant, constant: d.image.splat(at)}
	}
	return ref{kind: refComputed, compute: func(w *warp, to *eval.Vector) {
		for l := range to {
			to[l] = w.cur.frame.local + at
		}
	}}
}

// decodeFailure is the value that fail panics with. decode recovers from it.
type decodeFailure string

// fail ends the decoding of the instruction with an error.
func (d *decoder) fail(why string) { panic(decodeFailure(why)) }

// decode returns the step of the instruction.
func (d *decoder) decode() (run step, err error) {
	defer func() {
		switch x := recover().(type) {
		case nil:
		case decodeFailure:
			err = fmt.Errorf("%s", string(x))
		default:
			panic(x)
		}
	}()
	if d.in.Form == nil {
		return nil, fmt.Errorf("it is not in the instruction set")
	}
	if e := d.image.module.entries[d.in.Form.Form.Kind]; e.make != nil {
		op := d.operation()
		for _, m := range e.without {
			if op.Has(m) {
				return nil, fmt.Errorf("%s: %s is not emulated", d.in.Op, m)
			}
		}
		return e.make(d)
	}
	if why := excluded(d.in.Form.Form.Kind); why != "" {
		return nil, fmt.Errorf("%s is not emulated: %s", d.in.Op, why)
	}
	evaluated, operation := eval.Of, d.operation()
	if (d.is(isa.KindMin) || d.is(isa.KindMax)) && len(d.in.Args) == 4 {
		evaluated = eval.OfThree
	}
	op, err := evaluated(operation.Kind, operation.Mods())
	if err != nil {
		return nil, fmt.Errorf("%s is not emulated", d.in.Op)
	}
	return d.arithmetic(op)
}

// aligned reports whether all lanes of the warp must run the instruction together.
func (d *decoder) aligned() bool {
	op := d.operation()
	return op.Has(isa.ModAligned)
}
