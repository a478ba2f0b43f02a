// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package form

import (
	"strings"

	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/ptx"
	"github.com/ptxdsl/ptxdsl/ptx/constant"
)

// reserveArgs returns n elements for the parts of an operand.
func (c *checker) reserveArgs(n int) []isa.Arg {
	if len(c.elems)+n > cap(c.elems) {
		c.elems = make([]isa.Arg, 0, max(256, 2*cap(c.elems), 2*n))
	}
	at := len(c.elems)
	c.elems = c.elems[:at+n]
	return c.elems[at : at+n : at+n]
}

// operand converts an operand for package isa. It reports mistakes in names and constants; the
// result is then of kind isa.ArgUnknown.
func (c *checker) operand(op *opcode, o *ptx.Operand) isa.Arg {
	switch o.Kind {
	case ptx.Name:
		return c.name(op, o)
	case ptx.Literal, ptx.Cond, ptx.Cast, ptx.Paren:
		return c.immediate(o)
	case ptx.Unary:
		if constant.Is(&o.Args[0]) {
			return c.immediate(o)
		}
		return c.negatedOperand(op, o)
	case ptx.Binary:
		if constant.Is(&o.Args[0]) {
			return c.immediate(o)
		}
		return c.offset(op, o)
	case ptx.Index:
		return c.indexedOperand(op, o)
	case ptx.Vector:
		return c.group(op, o, isa.ArgVector)
	case ptx.Pair:
		return c.group(op, o, isa.ArgPair)
	case ptx.List:
		return c.group(op, o, isa.ArgList)
	case ptx.Address:
		a := c.group(op, o, isa.ArgAddress)
		a.Unified = o.Text == ".unified"
		c.checkAddress(op, o, &a)
		return a
	}
	c.fault(&ruleOperand, o, "%s is not a valid operand", clip(c.text(o)))
	return isa.Arg{}
}

func (c *checker) group(op *opcode, o *ptx.Operand, k isa.ArgKind) isa.Arg {
	elems := c.reserveArgs(len(o.Args))
	for i := range o.Args {
		elems[i] = c.operand(op, &o.Args[i])
	}
	return isa.Arg{Kind: k, Elems: elems}
}

// immediate converts a constant expression for package isa.
func (c *checker) immediate(o *ptx.Operand) isa.Arg {
	v := c.evaluate(o)
	switch v.Type {
	case 0:
		return isa.Arg{}
	case isa.F64:
		return isa.Arg{Kind: isa.ArgFloat, Type: c.types.f64}
	case isa.F32:
		return isa.Arg{Kind: isa.ArgFloat, Type: c.types.f32}
	}
	return isa.Arg{Kind: isa.ArgInt, Value: int64(v.Bits)}
}

// name converts a name for package isa: a register, variable, label, function, special register
// or sink.
func (c *checker) name(op *opcode, o *ptx.Operand) isa.Arg {
	text := o.Text
	if text == "_" {
		return isa.Arg{Kind: isa.ArgSink}
	}
	if i := strings.IndexByte(text, '.'); i >= 0 {
		return c.component(op, o, text[:i], text[i:])
	}
	if sym := c.find(text, o.At); sym != nil {
		if sym.kind == variable && sym.shape.space == isa.Shared && c.body != nil {
			c.body.fn.uses.useShared(sym)
		}
		sym.recordAddressTaken(o.Span)
		return sym.arg
	}
	if text == "WARP_SZ" {
		return isa.Arg{Kind: isa.ArgInt, Value: 32}
	}
	if s, ok := isa.SpecialRegister(text); ok {
		c.specialUse(o, s)
		a := isa.Arg{Kind: isa.ArgSreg, Type: s.Type}
		if w := op.width; s.Name == "%gridid" && w != 0 && w.Bits() < s.Type.Bits() &&
			w.Class() != isa.Float && w.Class() != isa.Half && w.Class() != isa.Pred {
			a.Type = w // the register had 32 bits before PTX 3.0, and mov still reads either width
		}
		if s.Vector {
			a.Count = 4
			if !op.vector {
				c.fault(&ruleComponent, o, "%s is a vector, expected one of %s.x, %s.y and %s.z",
					text, text, text, text).
					withFix(o, text+".x", "write %s.x", text).asGuess()
				return isa.Arg{}
			}
			a.Kind = isa.ArgUnknown
		}
		return a
	}
	c.unknownName(o, text)
	return isa.Arg{}
}

// unknownName reports an undeclared name in an operand.
func (c *checker) unknownName(o *ptx.Operand, text string) {
	if len(text) > 1 && text[0] == '%' {
		if near := nearestSpecial(text); near != "" && !c.isLikeRange(text) {
			c.fault(&ruleUndeclared, o, "%s is not declared here and is not a special register",
				clip(text)).suggestName(o, near)
			return
		}
	}
	c.reportUnknown(o, text, nil)
}

// isLikeRange reports whether a name looks like a member of a declared range, such as %r5.
func (c *checker) isLikeRange(text string) bool {
	stem := strings.TrimRight(text, "0123456789")
	for _, s := range c.scopes {
		if s.ranges[stem] != nil {
			return true
		}
	}
	return false
}

// nearestSpecial returns a special register whose name differs from text in one letter, or "".
func nearestSpecial(text string) string {
	for i := range isa.Specials {
		name := isa.Specials[i].Name
		if len(text) > 4 && isOneEditApart(text, name) {
			return name
		}
	}
	return ""
}

func isOneEditApart(a, b string) bool {
	i, j := 0, 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	for j < len(a)-i && j < len(b)-i && a[len(a)-1-j] == b[len(b)-1-j] {
		j++
	}
	return max(len(a), len(b))-i-j == 1
}

// component converts v.x of a vector, %tid.x, or a part of a register that a video instruction
// selects.
func (c *checker) component(op *opcode, o *ptx.Operand, base, field string) isa.Arg {
	at := ptx.Span{At: o.At, To: o.At + ptx.Pos(len(base))}
	part := ptx.Span{At: o.To - ptx.Pos(len(field)), To: o.To}
	sym := c.find(base, o.At)
	if sym == nil {
		return c.specialPart(op, o, at, part, base, field)
	}
	if sym.kind != variable || sym.shape.space != isa.Reg {
		c.fault(&ruleComponent, o, "%s is %s, but only a register has a component %s", clip(base),
			kindWords[sym.kind], field)
		return isa.Arg{}
	}
	a := sym.arg
	if sym.shape.vec > 1 {
		at := max(strings.Index(".x.y.z.w", field), strings.Index(".r.g.b.a", field))
		if n := at / 2; at < 0 || n >= sym.shape.vec || len(field) != 2 {
			c.fault(&ruleComponent, part, "%s has %d components and no %s", clip(base),
				sym.shape.vec, clip(field))
			return isa.Arg{}
		}
		a.Count = 1
		return a
	}
	if op.video && isSelector(field) {
		a.Part = field
		return a
	}
	if op.video {
		c.fault(&ruleComponent, part, "%s does not select a byte or half word of a register; use "+
			"for example .b0 or .h1", clip(field))
	} else {
		c.fault(&ruleComponent, part, "%s is not a vector, so it has no component %s", clip(base),
			clip(field)).
			withFixAt(part.At, part.To, "", "drop %s", clip(field))
	}
	return isa.Arg{}
}

// isSelector reports whether a field selects bytes (.b0, .b3210) or half words (.h1, .h10) of a
// video operand. Which selections are valid depends on the instruction.
func isSelector(field string) bool {
	if len(field) < 3 || len(field) > 6 || field[1] != 'b' && field[1] != 'h' {
		return false
	}
	for i := range len(field) - 2 {
		if c := field[2+i]; c < '0' || c > '9' {
			return false
		}
	}
	return true
}

// specialPart converts a component of a special register.
func (c *checker) specialPart(op *opcode, o *ptx.Operand, at, part ptx.Span,
	base, field string) isa.Arg {
	s, ok := isa.SpecialRegister(base)
	if !ok {
		if near := nearestSpecial(base); near != "" {
			c.fault(&ruleUndeclared, at, "%s is not declared here and is not a special register",
				clip(base)).suggestName(at, near)
			return isa.Arg{}
		}
		c.reportUnknown(at, base, nil)
		return isa.Arg{}
	}
	c.specialUse(at, s)
	switch {
	case !s.Vector:
		c.fault(&ruleComponent, part, "%s has no components", base).withFixAt(part.At, part.To, "",
			"drop %s", clip(field))
		return isa.Arg{}
	case len(field) != 2 || !strings.Contains(".x.y.z.w.r.g.b.a", field):
		c.fault(&ruleComponent, part, "%s has the components .x, .y, .z and .w, but not %s", base,
			clip(field))
		return isa.Arg{}
	}
	if op.width.Bits() == 16 && hasOld16Bits(base) {
		return isa.Arg{Kind: isa.ArgSreg, Type: op.width}
	}
	return isa.Arg{Kind: isa.ArgSreg, Type: s.Type}
}

// hasOld16Bits reports whether a special register had 16 bits before PTX 2.0. mov still accepts a
// 16-bit destination for such a register.
func hasOld16Bits(name string) bool {
	return name == "%tid" || name == "%ntid" || name == "%ctaid" || name == "%nctaid"
}

// negatedOperand converts the operand !p or -a.
func (c *checker) negatedOperand(op *opcode, o *ptx.Operand) isa.Arg {
	a := c.operand(op, &o.Args[0])
	if a.Kind == isa.ArgUnknown {
		return a
	}
	if o.Text == "!" {
		if a.Kind == isa.ArgReg && a.Type == c.types.pred {
			a.Not = true
			return a
		}
		c.fault(&ruleNegation, o, "%s is %s, but only a predicate can be negated with !",
			clip(c.text(&o.Args[0])), describe(&a))
		return isa.Arg{}
	}
	if op.minus && a.Kind == isa.ArgReg {
		a.Minus = true
		return a
	}
	c.fault(&ruleNegation, o, "%s negates operand %s, but %s does not take negated operands",
		o.Text, clip(c.text(&o.Args[0])), op.head)
	return isa.Arg{}
}

// describe describes an operand for messages.
func describe(a *isa.Arg) string {
	switch a.Kind {
	case isa.ArgReg:
		return "a register of type " + a.Type.String()
	case isa.ArgSym:
		return "a variable in " + a.Space.String()
	case isa.ArgSreg:
		return "a special register"
	case isa.ArgLabel:
		return "a label"
	case isa.ArgFunc:
		return "a function"
	case isa.ArgInt, isa.ArgFloat:
		return "a constant"
	}
	return "not a register"
}

// offset converts an operand that consists of a name plus a constant.
func (c *checker) offset(op *opcode, o *ptx.Operand) isa.Arg {
	if o.Text != "+" || len(o.Args) != 2 {
		c.fault(&ruleOperand, o, "%s is not a valid operand", clip(c.text(o)))
		return isa.Arg{}
	}
	a := c.operand(op, &o.Args[0])
	v := c.evaluate(&o.Args[1])
	if !c.wantInteger(&o.Args[1], v, "the offset") {
		return isa.Arg{}
	}
	a.Value = int64(v.Bits)
	a.Plus = a.Kind == isa.ArgSreg // which is only allowed for special registers
	return a
}

// indexedOperand converts array[i]. In most instructions it is an address; in mov it is the
// address of a variable.
func (c *checker) indexedOperand(op *opcode, o *ptx.Operand) isa.Arg {
	a := c.operand(op, &o.Args[0])
	i := c.operand(op, &o.Args[1])
	switch {
	case a.Kind == isa.ArgUnknown || i.Kind == isa.ArgUnknown:
		return isa.Arg{}
	case a.Kind != isa.ArgSym || !c.isArray(&o.Args[0]):
		c.fault(&ruleIndex, &o.Args[0], "%s is not an array and cannot be indexed",
			clip(c.text(&o.Args[0])))
		return isa.Arg{}
	case i.Kind != isa.ArgInt && (i.Kind != isa.ArgReg || !i.Type.Whole()):
		c.fault(&ruleIndex, &o.Args[1], "index %s is %s, expected an integer",
			clip(c.text(&o.Args[1])), describe(&i))
		return isa.Arg{}
	}
	if op.head == "mov" || op.head == "cvta" {
		return a
	}
	elems := c.reserveArgs(1)
	elems[0] = a
	return isa.Arg{Kind: isa.ArgAddress, Elems: elems}
}

func (c *checker) isArray(o *ptx.Operand) bool {
	if o.Kind != ptx.Name {
		return false
	}
	sym := c.find(o.Text, o.At)
	return sym != nil && sym.kind == variable && len(sym.shape.dims) > 0
}
