// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package lower

import (
	"strconv"
	"strings"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/ptx"
)

// Where only the text is wanted, the operands of an instruction are one literal of the tree, written as the printer of package
// ptx writes them apart: that is several times faster, and a test holds the two against each other.

// flat is all operands of in as one.
func (w *writer) flat(s ptx.Span, in *ir.Instr) []ptx.Operand {
	if len(in.Args) == 0 {
		return nil
	}
	const chunk, most = 1 << 14, 1 << 12
	if w.room.Cap()-w.room.Len() < most {
		w.room = strings.Builder{} // what was cut out of the old one keeps it alive
		w.room.Grow(chunk)
	}
	from := w.room.Len()
	w.renderList(in.Args, baseOf(in), false)
	list := w.take(1)
	list[0] = ptx.Operand{Span: s, Kind: ptx.Literal, Text: w.room.String()[from:]}
	return list
}

func (w *writer) renderList(args []ir.Operand, b base, tight bool) {
	for i := range args {
		if i > 0 {
			w.room.WriteString(", ")
		}
		w.render(&args[i], b, tight)
	}
}

// render writes an operand. Operators are tight in addresses and indexes, as in the printer.
func (w *writer) render(o *ir.Operand, b base, tight bool) {
	out := &w.room
	offset := o.Value != 0 || o.Zero
	switch o.Kind {
	case ir.Nothing:
		return
	case ir.Int:
		if o.Text != "" {
			out.WriteString(o.Text)
		} else {
			w.number(o.Value, b)
		}
		return
	case ir.Single, ir.Double:
		out.WriteString(floating(o))
		return
	case ir.Raw:
		out.WriteString(o.Text)
		return
	}
	switch {
	case offset:
	case o.Not:
		out.WriteByte('!')
	case o.Minus:
		out.WriteByte('-')
	}
	switch o.Kind {
	case ir.Vector:
		out.WriteByte('{')
		w.renderList(o.Args, b, false)
		out.WriteByte('}')
	case ir.Address:
		out.WriteByte('[')
		w.renderList(o.Args, b, true)
		out.WriteByte(']')
		out.WriteString(o.Text)
	case ir.Pair:
		w.render(&o.Args[0], b, true)
		out.WriteByte('|')
		w.render(&o.Args[1], b, true)
	case ir.Group:
		out.WriteByte('(')
		w.renderList(o.Args, b, false)
		out.WriteByte(')')
	case ir.Element:
		w.render(&o.Args[0], b, true)
		out.WriteByte('[')
		w.render(&o.Args[1], b, true)
		out.WriteByte(']')
	case ir.Apply:
		out.WriteString(o.Text)
		out.WriteByte('(')
		w.renderList(o.Args, b, false)
		out.WriteByte(')')
	default:
		name, part := name(o)
		out.WriteString(name)
		out.WriteString(part)
	}
	if offset {
		if tight {
			out.WriteByte('+')
		} else {
			out.WriteString(" + ")
		}
		w.number(o.Value, decimal)
	}
}

// number writes a whole number.
func (w *writer) number(v int64, b base) {
	if v >= 0 && v < 10 {
		w.room.WriteByte('0' + byte(v))
		return
	}
	var scratch [24]byte
	w.room.Write(appendWhole(scratch[:0], v, b))
}

// name is how an operand that is a name is written, and the part of a register.
func name(o *ir.Operand) (name, part string) {
	switch ref := o.Ref.(type) {
	case *ir.Reg:
		return ref.Name, o.Text
	case *ir.Var:
		return ref.Name, ""
	case *ir.Func:
		return ref.Name, ""
	case *ir.Targets:
		return ref.Name, ""
	case *ir.Block:
		if o.Text != "" {
			return o.Text, ""
		}
		return ref.Name(), ""
	}
	if o.Kind == ir.Sink {
		return "_", ""
	}
	return o.Text, "" // a special register
}

// floating is a floating-point number as it is written, or its bits.
func floating(o *ir.Operand) string {
	switch {
	case o.Text != "":
		return o.Text
	case o.Kind == ir.Single:
		return bits("0f", uint64(uint32(o.Value)), 8)
	}
	return bits("0d", uint64(o.Value), 16)
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

// A base says how the whole numbers of an instruction are written: the largest that is decimal. Negative numbers always are: in
// hexadecimal they would read as others.
type base int64

// decimal is for numbers that count something; those beyond are addresses, or bits.
const decimal base = 1<<32 - 1

// baseOf is how the constants of an instruction are written: in hexadecimal where they are sets of bits more than numbers.
func baseOf(in *ir.Instr) base {
	switch in.Head() {
	case "and", "or", "xor", "lop3":
		return 9
	case "mov":
		if strings.HasPrefix(in.Op, "mov.b") {
			return 1<<16 - 1
		}
	case "shfl", "vote", "redux", "elect", "match":
		return 32 // lanes are numbers, masks are not
	case "bar", "barrier":
		if in.Mod("warp") {
			return 32
		}
	}
	return decimal
}

// appendWhole writes a whole number.
func appendWhole(to []byte, v int64, b base) []byte {
	if v > int64(b) {
		return strconv.AppendInt(append(to, "0x"...), v, 16)
	}
	return strconv.AppendInt(to, v, 10)
}
