// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package lower

import (
	"strconv"

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
	case ir.Register:
		n.Text = o.Reg().Name
		if o.Text != "" {
			n.Text += o.Text
		}
	case ir.Int:
		n.Kind, n.Text = ptx.Literal, o.Text
		if n.Text == "" {
			n.Text = whole(o.Value, b)
		}
		if n.Text[0] == '-' {
			return w.minus(n)
		}
		return n
	case ir.Single:
		n.Kind, n.Text = ptx.Literal, o.Text
		if n.Text == "" {
			n.Text = bits("0f", uint64(uint32(o.Value)), 8)
		}
		return n
	case ir.Double:
		n.Kind, n.Text = ptx.Literal, o.Text
		if n.Text == "" {
			n.Text = bits("0d", uint64(o.Value), 16)
		}
		return n
	case ir.Variable:
		n.Text = o.Var().Name
	case ir.Function:
		n.Text = o.Ref.(*ir.Func).Name
	case ir.Jump:
		if n.Text = o.Text; n.Text == "" {
			n.Text = o.Block().Name()
		}
	case ir.List:
		n.Text = o.Ref.(*ir.Targets).Name
	case ir.Special:
		n.Text = o.Text
	case ir.Sink:
		n.Text = "_"
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
	args[1] = ptx.Operand{Span: n.Span, Kind: ptx.Literal, Text: strconv.FormatInt(offset, 10)}
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

// whole is a whole number as text: in hexadecimal where it is bits rather than a number.
func whole(v int64, b base) string {
	if b == hex && (v < 0 || v > 9) || v >= 1<<32 {
		return "0x" + strconv.FormatUint(uint64(v), 16)
	}
	return strconv.FormatInt(v, 10)
}

// bits is the bits of a floating-point number, in so many digits.
func bits(prefix string, v uint64, digits int) string {
	const hexDigits = "0123456789ABCDEF"
	text := make([]byte, len(prefix)+digits)
	copy(text, prefix)
	for i := len(text) - 1; i >= len(prefix); i-- {
		text[i] = hexDigits[v&15]
		v >>= 4
	}
	return string(text)
}
