// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package lift

import (
	"strings"

	"github.com/ptxdsl/ptxdsl/internal/slab"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/ptx"
	"github.com/ptxdsl/ptxdsl/ptx/constant"
)

// operand resolves an operand.
func (l *lifter) operand(o *ptx.Operand) ir.Operand {
	switch o.Kind {
	case ptx.Name:
		if o.Text != "WARP_SZ" {
			return l.name(o)
		}
		return ir.Operand{Kind: ir.Int, Value: 32, More: l.text(o.Text)}
	case ptx.Literal, ptx.Cond, ptx.Cast, ptx.Paren:
		return l.constant(o)
	case ptx.String:
		return ir.Operand{Kind: ir.Raw, More: l.text(o.Text)}
	case ptx.Unary:
		if x, ok := l.tryConstant(o); ok {
			return x
		}
		x := l.operand(&o.Args[0])
		switch o.Text {
		case "!":
			x.Not = true
		case "-":
			x.Minus = true
		default:
			l.fault(&ruleStatement, o, "%s is not an operand", o.Text)
		}
		return x
	case ptx.Binary:
		if x, ok := l.tryConstant(o); ok {
			return x
		}
		if o.Text == "=" {
			return ir.Operand{Kind: ir.Raw,
				More: l.text(o.Args[0].Text + " = " + l.textOf(o.Args[1:]))}
		}
		return l.offset(o)
	case ptx.Vector:
		return l.group(ir.Vector, o)
	case ptx.Address:
		return l.group(ir.Address, o)
	case ptx.Pair:
		return l.group(ir.Pair, o)
	case ptx.List:
		return l.group(ir.Group, o)
	case ptx.Index:
		return l.group(ir.Element, o)
	case ptx.Call:
		return l.group(ir.Apply, o)
	case ptx.Empty:
		return ir.Operand{}
	}
	l.fault(&ruleStatement, o, "this expression is not an operand")
	return ir.Operand{}
}

// besideSink reports whether a first operand has the form d|_, which means d in every instruction.
func besideSink(o *ir.Operand) bool {
	if o.Kind != ir.Pair {
		return false
	}
	parts := o.Args()
	return len(parts) == 2 && (parts[0].Kind == ir.Register || parts[0].Kind == ir.Jump) &&
		parts[1].Kind == ir.Sink
}

// group returns an operand that consists of parts.
func (l *lifter) group(k ir.Kind, o *ptx.Operand) ir.Operand {
	more := slab.One(&l.mores)
	more.Text = o.Text
	if len(o.Args) > 0 {
		more.Args = make([]ir.Operand, len(o.Args))
		for i := range o.Args {
			more.Args[i] = l.operand(&o.Args[i])
		}
	}
	return ir.Operand{Kind: k, More: more}
}

// named returns an operand that refers to a declaration other than a register.
func (l *lifter) named(k ir.Kind, ref ir.Ref) ir.Operand {
	more := slab.One(&l.mores)
	more.Ref = ref
	return ir.Operand{Kind: k, More: more}
}

// text returns the additional text of an operand, or nil if s is empty.
func (l *lifter) text(s string) *ir.More {
	if s == "" {
		return nil
	}
	more := slab.One(&l.mores)
	more.Text = s
	return more
}

func (l *lifter) constant(o *ptx.Operand) ir.Operand {
	x, ok := l.tryConstant(o)
	if !ok {
		l.fault(&ruleStatement, o, "this expression is not a constant")
	}
	return x
}

// tryConstant evaluates a constant expression. A literal keeps its spelling.
func (l *lifter) tryConstant(o *ptx.Operand) (ir.Operand, bool) {
	v := constant.Of(o)
	if !v.OK() {
		return ir.Operand{}, false
	}
	x := ir.Operand{Kind: ir.Int, Value: int64(v.Bits)}
	switch v.Type {
	case isa.F32:
		x.Kind = ir.Single
	case isa.F64:
		x.Kind = ir.Double
	}
	if o.Kind == ptx.Literal {
		x.More = l.text(o.Text)
	}
	return x, true
}

// offset lifts a name plus a constant.
func (l *lifter) offset(o *ptx.Operand) ir.Operand {
	x := l.operand(&o.Args[0])
	n := constant.Of(&o.Args[1])
	switch {
	case !n.OK() || o.Text != "+" && o.Text != "-":
		l.fault(&ruleStatement, o,
			"this expression is neither a constant nor a name with an offset")
	case o.Text == "-":
		x.Value -= int64(n.Bits)
	default:
		x.Value += int64(n.Bits)
	}
	x.Zero = x.Value == 0
	return x
}

// name resolves a name.
func (l *lifter) name(o *ptx.Operand) ir.Operand {
	text := o.Text
	if text == "_" {
		return ir.Operand{Kind: ir.Sink}
	}
	base, field := text, ""
	if i := strings.IndexByte(text, '.'); i >= 0 {
		base, field = text[:i], text[i:]
	}
	switch ref := l.find(base, o.At).(type) {
	case *ir.Reg:
		return ir.Operand{Kind: ir.Register, Reg: ref, More: l.text(field)}
	case *ir.Var:
		return l.named(ir.Variable, ref)
	case *ir.Func:
		return l.named(ir.Function, ref)
	case *ir.Block:
		return l.named(ir.Jump, ref)
	case *ir.Targets:
		return l.named(ir.List, ref)
	}
	if _, ok := isa.SpecialRegister(base); ok {
		return ir.Operand{Kind: ir.Special, More: l.text(text)}
	}
	l.fault(&ruleName, o, "%s is not declared", text)
	return ir.Operand{Kind: ir.Raw, More: l.text(text)}
}
