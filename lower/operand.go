// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package lower

import (
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/ptx"
)

// operand is an operand as syntax.
func (w *writer) operand(s ptx.Span, o *ir.Operand, b base) ptx.Operand {
	n := ptx.Operand{Span: s, Kind: ptx.Name}
	switch o.Kind {
	case ir.Nothing:
		n.Kind = ptx.Empty
		return n
	case ir.Int:
		n.Kind, n.Text = ptx.Literal, o.Text
		if n.Text == "" {
			n.Text = whole(o.Value, b)
		}
		if n.Text[0] == '-' {
			return w.minus(n)
		}
		return n
	case ir.Single, ir.Double:
		n.Kind, n.Text = ptx.Literal, floating(o)
		return n
	case ir.Raw:
		n.Kind, n.Text = ptx.Literal, o.Text
		return n
	case ir.Vector:
		n.Kind = ptx.Vector
	case ir.Address:
		n.Kind, n.Text = ptx.Address, o.Text
	case ir.Pair:
		n.Kind = ptx.Pair
	case ir.Group:
		n.Kind = ptx.List
	case ir.Element:
		n.Kind = ptx.Index
	case ir.Apply:
		n.Kind, n.Text = ptx.Call, o.Text
	default:
		name, part := name(o)
		if n.Text = name; part != "" {
			n.Text += part
		}
	}
	if len(o.Args) > 0 {
		n.Args = w.list(s, o.Args, b)
	}
	if o.Value != 0 || o.Zero {
		return w.plus(n, o.Value)
	}
	switch {
	case o.Not:
		return w.unary("!", n)
	case o.Minus:
		return w.unary("-", n)
	}
	return n
}

// plus is n with an offset.
func (w *writer) plus(n ptx.Operand, offset int64) ptx.Operand {
	args := w.take(2)
	args[0] = n
	args[1] = ptx.Operand{Span: n.Span, Kind: ptx.Literal, Text: whole(offset, decimal)}
	if offset < 0 {
		args[1] = w.minus(args[1])
	}
	return ptx.Operand{Span: n.Span, Kind: ptx.Binary, Text: "+", Args: args}
}

// minus is a literal with a sign as the parser reads it: an operator and a number.
func (w *writer) minus(n ptx.Operand) ptx.Operand {
	n.Text = n.Text[1:]
	return w.unary("-", n)
}

func (w *writer) unary(op string, n ptx.Operand) ptx.Operand {
	args := w.take(1)
	args[0] = n
	return ptx.Operand{Span: n.Span, Kind: ptx.Unary, Text: op, Args: args}
}

// whole is a whole number as text.
func whole(v int64, b base) string {
	var scratch [24]byte
	return string(appendWhole(scratch[:0], v, b))
}
