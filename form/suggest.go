// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package form

import (
	"strings"

	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/ptx"
	"github.com/ptxdsl/ptxdsl/ptx/constant"
)

// suggest returns the text of the operand that the author probably intended in place of a
// mismatched one: of the operands that are often confused, the operand that makes the
// instruction valid. The result is "" if no such operand makes the instruction valid.
func (c *checker) suggest(in *ptx.Instr, at int) string {
	op := c.opcodes[in.Op.Text]
	if op == nil || at >= len(c.args) || !c.allowAdvice() {
		return ""
	}
	was, found := c.args[at], len(c.list)
	c.trying = true
	defer func() { c.args[at], c.list, c.trying = was, c.list[:found], false }()
	for _, o := range confusedOperands(&in.Args[at]) {
		c.args[at] = c.operand(op, &o)
		if len(c.list) == found && c.match.Check(in.Op.Text, c.args) == nil {
			return operandText(&o)
		}
	}
	return ""
}

// confusedOperands returns operands that authors confuse with the given one: a register and the
// address in the register, an integer and the floating-point constant with the same value or
// bits.
func confusedOperands(o *ptx.Operand) []ptx.Operand {
	literal := func(text string) ptx.Operand {
		return ptx.Operand{Span: o.Span, Kind: ptx.Literal, Text: text}
	}
	switch o.Kind {
	case ptx.Name:
		return []ptx.Operand{{Span: o.Span, Kind: ptx.Address, Args: []ptx.Operand{*o}}}
	case ptx.Address:
		if len(o.Args) == 1 && o.Args[0].Kind == ptx.Name {
			return o.Args
		}
	case ptx.Literal:
		if bits, ok := strings.CutPrefix(o.Text, "0x"); ok {
			switch len(bits) {
			case 8:
				return []ptx.Operand{literal("0f" + bits)}
			case 16:
				return []ptx.Operand{literal("0d" + bits)}
			}
			return nil
		}
		if v, over, ok := constant.Number(o.Text); ok && !over && v.Type == isa.S64 {
			return []ptx.Operand{literal(o.Text + ".0")}
		}
	}
	return nil
}

// operandText returns the text of an operand that confusedOperands returned.
func operandText(o *ptx.Operand) string {
	if o.Kind == ptx.Address {
		return "[" + o.Args[0].Text + "]"
	}
	return o.Text
}

// labelWithoutColon reports whether an unknown opcode is probably a label without a colon: a
// single word on its line.
func (c *checker) labelWithoutColon(in *ptx.Instr) bool {
	if strings.IndexByte(in.Op.Text, '.') >= 0 || in.Guard.Text != "" || c.match == nil ||
		!c.opcode(in.Op.Text).nameless {
		return false
	}
	before := strings.TrimRight(c.src.Text[:in.Op.At], " \t\r")
	if before != "" && !strings.HasSuffix(before, "\n") {
		return false
	}
	return len(in.Args) == 0 || strings.Contains(c.src.Text[in.Op.To:in.Args[0].At], "\n")
}

// specialNamed returns the special register for a name without its percent sign, or for the name
// of a CUDA C++ variable, or "".
func specialNamed(name string) string {
	switch strings.TrimPrefix(name, "%") {
	case "threadIdx":
		return "%tid"
	case "blockIdx":
		return "%ctaid"
	case "blockDim":
		return "%ntid"
	case "gridDim":
		return "%nctaid"
	case "warpSize":
		return "WARP_SZ"
	}
	if _, ok := isa.SpecialRegister("%" + name); ok {
		return "%" + name
	}
	return ""
}
