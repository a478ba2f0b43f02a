// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package lower

import (
	"strconv"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// renderList appends operands of an instruction (nil for none), in the style of package ptx's
// printer: without spaces around operators in addresses and indexes.
func renderList(to []byte, args []ir.Operand, of *ir.Instr, tight bool) []byte {
	for i := range args {
		if i > 0 {
			to = append(to, ", "...)
		}
		o := &args[i]
		if o.Kind == ir.Register && o.More == nil && o.Value == 0 && !o.Zero && !o.Not && !o.Minus {
			to = append(to, o.Reg.Name...) // most operands are registers
			continue
		}
		to = render(to, o, of, tight)
	}
	return to
}

func render(to []byte, o *ir.Operand, of *ir.Instr, tight bool) []byte {
	switch o.Kind {
	case ir.Nothing:
		return to
	case ir.Int:
		if o.Text() != "" {
			return append(to, o.Text()...)
		}
		if o.Value >= 0 && o.Value < 10 {
			return append(to, '0'+byte(o.Value)) // in any base
		}
		return appendWhole(to, o.Value, baseOf(of))
	case ir.Single, ir.Double:
		return floating(to, o)
	case ir.Raw:
		return append(to, o.Text()...)
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
		to = append(renderList(append(to, '{'), o.Args(), of, false), '}')
	case ir.Address:
		to = append(renderList(append(to, '['), o.Args(), of, true), ']')
		to = append(to, o.Text()...)
	case ir.Pair:
		to = append(render(to, &o.Args()[0], of, true), '|')
		to = render(to, &o.Args()[1], of, true)
	case ir.Group:
		to = append(renderList(append(to, '('), o.Args(), of, false), ')')
	case ir.Element:
		to = append(render(to, &o.Args()[0], of, true), '[')
		to = append(render(to, &o.Args()[1], of, true), ']')
	case ir.Apply:
		to = append(append(to, o.Text()...), '(')
		to = append(renderList(to, o.Args(), of, false), ')')
	case ir.Register:
		to = append(to, o.Reg.Name...)
		to = append(to, o.Text()...)
	default:
		to = append(to, name(o)...)
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

// name returns the text of an operand that names something other than a register.
func name(o *ir.Operand) string {
	switch ref := o.Ref().(type) {
	case *ir.Var:
		return ref.Name
	case *ir.Func:
		return ref.Name
	case *ir.Targets:
		return ref.Name
	case *ir.Block:
		if o.Text() == "" {
			return ref.Name()
		}
	}
	if o.Kind == ir.Sink {
		return "_"
	}
	return o.Text() // a special register, or a label other than the first one of its block
}

// floating appends a floating-point number in its original spelling, or as bits.
func floating(to []byte, o *ir.Operand) []byte {
	switch {
	case o.Text() != "":
		return append(to, o.Text()...)
	case o.Kind == ir.Single:
		return bits(append(to, "0f"...), uint32(o.Value))
	}
	return bits(bits(append(to, "0d"...), uint32(o.Value>>32)), uint32(o.Value))
}

// bits appends the 32 bits of a floating-point number.
func bits(to []byte, v uint32) []byte {
	const digits = "0123456789ABCDEF"
	return append(to, digits[v>>28], digits[v>>24&15], digits[v>>20&15], digits[v>>16&15],
		digits[v>>12&15], digits[v>>8&15], digits[v>>4&15], digits[v&15])
}

// A base is the largest integer that an instruction writes in decimal. Negative numbers are also
// decimal, since they are hard to read in hexadecimal, except 64-bit masks.
type base int64

// decimal is the largest number that is written in decimal notation. Larger numbers are addresses
// or masks.
const decimal base = 1<<32 - 1

// baseOf returns the base for the constants of an instruction: hexadecimal for masks.
func baseOf(in *ir.Instr) base {
	if in == nil {
		return decimal
	}
	switch in.Kind() {
	case isa.KindAnd, isa.KindOr, isa.KindXor, isa.KindLop3, isa.KindPrmt:
		return 9
	case isa.KindMov:
		if in.HasMod(isa.ModB16, isa.ModB32, isa.ModB64, isa.ModB128) {
			return 1<<16 - 1
		}
	case isa.KindShfl, isa.KindVote, isa.KindRedux, isa.KindElect, isa.KindMatch,
		isa.KindBarWarpSync:
		return 32 // lane counts are decimal, masks are not
	}
	return decimal
}

// appendWhole appends an integer.
func appendWhole(to []byte, v int64, b base) []byte {
	if v > int64(b) || v < -1<<52 && b != decimal {
		return strconv.AppendUint(append(to, "0x"...), uint64(v), 16)
	}
	return strconv.AppendInt(to, v, 10)
}
