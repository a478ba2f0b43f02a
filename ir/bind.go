// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package ir

import "github.com/ptxdsl/ptxdsl/isa"

// A Binder checks instructions against the instruction set at one version and target. It is
// not safe for concurrent use.
type Binder struct {
	matcher *isa.Matcher
	shape   []isa.Word
	args    []isa.Arg
	elems   []isa.Arg
	lasts   bool
}

// NewBinder returns a Binder for a PTX version and target.
func NewBinder(v isa.Version, t isa.Target) *Binder {
	return &Binder{matcher: isa.NewMatcher(v, t)}
}

// Shared returns the instruction set's own copy of op, if it has one, or else op. Equal opcodes
// then share memory, which makes comparisons fast.
func (b *Binder) Shared(op string) string {
	if list, _ := b.matcher.Candidates(op); len(list) > 0 && list[0].Opcode == op {
		return list[0].Opcode
	}
	return op
}

// Bind finds the form of in and stores it in in.Form. If no form fits, the problems state why.
// Otherwise they are warnings.
func (b *Binder) Bind(in *Instr) []isa.Problem {
	in.Form, b.lasts = nil, false
	if in.Directive() {
		return nil
	}
	op := b.matcher.Opcode(in.Op)
	b.lasts = !op.Valued()
	b.shape = b.appendShape(b.shape[:0], in.Args, op.Valued())
	if in.Form = op.Took(b.shape); in.Form != nil {
		return op.Problems()
	}
	form, problems := b.matcher.Match(in.Op, b.list(in.Args))
	in.Form = form
	return problems
}

// Lasts reports whether the last result of Bind depends only on the opcode and on the kinds and
// types of the operands, and not on their values. It then also holds for other instructions with
// the same opcode and such operands.
func (b *Binder) Lasts() bool { return b.lasts }

// list converts operands to arguments of the instruction set. The result is valid until the next
// call.
func (b *Binder) list(args []Operand) []isa.Arg {
	b.args, b.elems = b.args[:0], b.elems[:0]
	for i := range args {
		b.args = append(b.args, b.arg(&args[i]))
	}
	return b.args
}

// appendShape appends the shape of args. It gives the same result as isa.AppendShape on the result
// of list, but does not build that list, which most instructions do not need.
func (b *Binder) appendShape(to []isa.Word, args []Operand, valued bool) []isa.Word {
	for i := range args {
		o := &args[i]
		switch o.Kind {
		case Register:
			r := o.Reg
			if o.Text() != "" {
				break
			}
			w := isa.WordOf(isa.ArgReg, r.Type, 0, int(r.Vec), 0)
			if o.Not {
				w |= isa.WordNot
			}
			if o.Minus {
				w |= isa.WordMinus
			}
			if o.Value != 0 {
				w |= isa.WordOffset
			}
			to = append(to, w)
			continue
		case Int:
			if to = append(to, isa.WordOf(isa.ArgInt, 0, 0, 0, 0)); valued {
				to = append(to, isa.Word(o.Value))
			}
			continue
		case Single:
			to = append(to, isa.WordOf(isa.ArgFloat, isa.F32, 0, 0, 0))
			continue
		case Vector:
			to = b.appendShape(append(to, isa.WordOf(isa.ArgVector, 0, 0, 0, len(o.Args()))),
				o.Args(), valued)
			continue
		case Address:
			w := isa.WordOf(isa.ArgAddress, 0, 0, 0, len(o.Args()))
			if o.Text() != "" {
				w |= isa.WordUnified
			}
			to = b.appendShape(append(to, w), o.Args(), valued)
			continue
		}
		to = isa.AppendShape(to, b.list(args[i:i+1]), valued)
	}
	return to
}

// take reserves n arguments for the parts of an operand. Slices returned before stay valid when the
// store grows.
func (b *Binder) take(n int) []isa.Arg {
	if len(b.elems)+n > cap(b.elems) {
		b.elems = make([]isa.Arg, 0, max(16, 2*cap(b.elems), 2*n))
	}
	at := len(b.elems)
	b.elems = b.elems[:at+n]
	return b.elems[at : at+n : at+n]
}

// arg converts o to an argument of the instruction set.
func (b *Binder) arg(o *Operand) isa.Arg {
	switch o.Kind {
	case Register:
		r := o.Reg
		a := isa.Arg{Kind: isa.ArgReg, Type: r.Type, Count: int(r.Vec), Not: o.Not, Minus: o.Minus,
			Value: o.Value}
		if o.Text() != "" {
			if r.Vec > 1 {
				a.Count = 1
			} else {
				a.Part = o.Text()
			}
		}
		return a
	case Int:
		return isa.Arg{Kind: isa.ArgInt, Value: o.Value}
	case Single:
		return isa.Arg{Kind: isa.ArgFloat, Type: isa.F32}
	case Double:
		return isa.Arg{Kind: isa.ArgFloat, Type: isa.F64}
	case Variable:
		v := o.Var()
		return isa.Arg{Kind: isa.ArgSym, Type: v.Type, Space: v.Space, Count: int(v.Vec),
			Value: o.Value}
	case Function:
		return isa.Arg{Kind: isa.ArgFunc}
	case Jump:
		return isa.Arg{Kind: isa.ArgLabel}
	case List:
		if t := o.Ref().(*Targets); t.Proto != nil {
			return isa.Arg{Kind: isa.ArgProto}
		}
		return isa.Arg{Kind: isa.ArgTargets}
	case Special:
		return special(o)
	case Sink:
		return isa.Arg{Kind: isa.ArgSink}
	case Vector:
		return b.group(isa.ArgVector, o)
	case Address:
		a := b.group(isa.ArgAddress, o)
		a.Unified = o.Text() != ""
		return a
	case Pair:
		return b.group(isa.ArgPair, o)
	case Group:
		return b.group(isa.ArgList, o)
	case Element:
		elems := b.take(1)
		elems[0] = b.arg(&o.Args()[0])
		return isa.Arg{Kind: isa.ArgAddress, Elems: elems}
	}
	return isa.Arg{}
}

func (b *Binder) group(k isa.ArgKind, o *Operand) isa.Arg {
	parts := o.Args()
	elems := b.take(len(parts))
	for i := range parts {
		elems[i] = b.arg(&parts[i])
	}
	return isa.Arg{Kind: k, Elems: elems}
}

// special returns a special register, or a component of one.
func special(o *Operand) isa.Arg {
	name := o.Text()
	if n := len(name); n > 2 && name[n-2] == '.' {
		name = name[:n-2]
	}
	s, ok := isa.SpecialRegister(name)
	if !ok {
		return isa.Arg{}
	}
	a := isa.Arg{Kind: isa.ArgSreg, Type: s.Type, Value: o.Value, Plus: o.Value != 0 || o.Zero}
	if s.Vector && name == o.Text() {
		a.Kind = isa.ArgUnknown
	}
	return a
}

// Bounds returns the gates of a bound instruction. All gates of open must be open, and no gate of
// gone.
func (b *Binder) Bounds(in *Instr) (open, gone []isa.Gate) {
	return in.Form.Bounds(b.list(in.Args))
}
