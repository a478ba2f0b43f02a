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

// A cut is the place of a text in the writer's room; the texts are cut out when all is written.
type cut struct {
	operand  *ptx.Operand
	from, to int32
}

// flat is all operands of in as one.
func (w *writer) flat(s ptx.Span, in *ir.Instr) []ptx.Operand {
	if len(in.Args) == 0 {
		return nil
	}
	from := int32(len(w.room))
	w.room = renderList(w.room, in.Args, in, false)
	list := w.take(1)
	list[0] = ptx.Operand{Span: s, Kind: ptx.Literal}
	w.cuts = append(w.cuts, cut{&list[0], from, int32(len(w.room))})
	return list
}

// cutOut gives the operands that flat made their texts.
func (w *writer) cutOut() {
	text := string(w.room)
	for i := range w.cuts {
		c := &w.cuts[i]
		c.operand.Text = text[c.from:c.to]
	}
}

func renderList(to []byte, args []ir.Operand, in *ir.Instr, tight bool) []byte {
	for i := range args {
		if i > 0 {
			to = append(to, ", "...)
		}
		to = render(to, &args[i], in, tight)
	}
	return to
}

// render writes an operand of in. Operators are tight in addresses and indexes, as in the printer.
func render(to []byte, o *ir.Operand, in *ir.Instr, tight bool) []byte {
	switch o.Kind {
	case ir.Nothing:
		return to
	case ir.Int:
		if o.Text != "" {
			return append(to, o.Text...)
		}
		return appendWhole(to, o.Value, baseOf(in))
	case ir.Single, ir.Double:
		return append(to, floating(o)...)
	case ir.Raw:
		return append(to, o.Text...)
	}
	offset := o.Value != 0 || o.Zero
	switch {
	case offset:
	case o.Not:
		to = append(to, '!')
	case o.Minus:
		to = append(to, '-')
	}
	switch o.Kind {
	case ir.Vector:
		to = append(renderList(append(to, '{'), o.Args, in, false), '}')
	case ir.Address:
		to = append(renderList(append(to, '['), o.Args, in, true), ']')
		to = append(to, o.Text...)
	case ir.Pair:
		to = append(render(to, &o.Args[0], in, true), '|')
		to = render(to, &o.Args[1], in, true)
	case ir.Group:
		to = append(renderList(append(to, '('), o.Args, in, false), ')')
	case ir.Element:
		to = append(render(to, &o.Args[0], in, true), '[')
		to = append(render(to, &o.Args[1], in, true), ']')
	case ir.Apply:
		to = append(append(to, o.Text...), '(')
		to = append(renderList(to, o.Args, in, false), ')')
	case ir.Register:
		to = append(to, o.Ref.(*ir.Reg).Name...)
		to = append(to, o.Text...)
	default:
		name, _ := name(o)
		to = append(to, name...)
	}
	if offset {
		if tight {
			to = append(to, '+')
		} else {
			to = append(to, " + "...)
		}
		to = appendWhole(to, o.Value, decimal)
	}
	return to
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
	if v >= 0 && v < 10 {
		return append(to, '0'+byte(v))
	}
	if v > int64(b) {
		return strconv.AppendInt(append(to, "0x"...), v, 16)
	}
	return strconv.AppendInt(to, v, 10)
}
