// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package form

import (
	"slices"
	"strings"

	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/ptx"
	"github.com/ptxdsl/ptxdsl/ptx/constant"
)

// initializer checks the initial value of a variable. ok is false if the declaration has other
// mistakes.
func (c *checker) initializer(d *ptx.Declarator, s *shape, linkage string, ok bool) {
	if d.Init == nil {
		return
	}
	switch {
	case s.space != isa.Global && s.space != isa.Const:
		c.fault(&ruleInitialized, d.Init, "%s is in %s, where variables cannot be initialized; "+
			"only .global and .const variables can", clip(d.Name.Text), s.space)
		return
	case linkage == ".extern":
		c.fault(&ruleInitialized, d.Init, "%s is .extern and cannot be initialized here; "+
			"initialize it in the defining module", clip(d.Name.Text))
		return
	case !ok:
		return
	}
	if s.typ.Class() == isa.Opaque {
		c.opaqueValue(d.Init, s, s.dims)
		return
	}
	if s.typ == c.types.f16 {
		c.fault(&ruleValue, d.Init, "a variable of type .f16 cannot be initialized; declare %s "+
			"as .b16 and give the bits", clip(d.Name.Text))
		return
	}
	c.value(d.Init, d.Name.Text, s, s.dims)
}

// value checks an initial value of a variable or element, whose dimensions are dims.
func (c *checker) value(o *ptx.Operand, name string, s *shape, dims []int64) {
	if len(dims) > 0 {
		if o.Kind != ptx.Vector {
			c.fault(&ruleValue, o, "%s is an array, expected a list in braces", clip(name))
			return
		}
		if dims[0] > 0 && int64(len(o.Args)) > dims[0] {
			c.fault(&ruleValueCount, o.Args[dims[0]],
				"%s takes %s here, but the list has %d values",
				clip(name), plural(int(dims[0]), "value"), len(o.Args))
			return
		}
		for i := range o.Args {
			c.value(&o.Args[i], name, s, dims[1:])
		}
		return
	}
	if s.vec > 1 {
		switch {
		case o.Kind != ptx.Vector:
			c.fault(&ruleValue, o, "%s is a vector, expected a list in braces", clip(name))
		case len(o.Args) != s.vec:
			c.fault(&ruleValueCount, o, "%s has %d elements, but the list has %d", clip(name),
				s.vec, len(o.Args))
		default:
			for i := range o.Args {
				c.scalarValue(&o.Args[i], name, s)
			}
		}
		return
	}
	if o.Kind == ptx.Vector {
		c.fault(&ruleValue, o, "the list has several values, but %s takes only one", clip(name))
		return
	}
	c.scalarValue(o, name, s)
}

// scalarValue checks the initial value of a scalar: a constant expression or an address.
func (c *checker) scalarValue(o *ptx.Operand, name string, s *shape) {
	if !constant.Is(o) {
		c.addressValue(o, name, s)
		return
	}
	v := c.evaluate(o)
	if !v.OK() {
		return
	}
	switch class := s.typ.Class(); {
	case class == isa.Float && !v.Real():
		f := c.fault(&ruleValue, o,
			"%s is %s, but %s is an integer; expected a floating-point constant", clip(name), s.typ,
			clip(c.text(o)))
		if o.Kind == ptx.Literal {
			text := o.Text + ".0"
			if bits, ok := strings.CutPrefix(o.Text, "0x"); ok &&
				(len(bits) == 8 || len(bits) == 16) {
				text = map[int]string{8: "0f", 16: "0d"}[len(bits)] + bits
			}
			f.withFix(o, text, "write %s", text)
		}
	case (class == isa.Signed || class == isa.Unsigned) && v.Real():
		c.fault(&ruleValue, o, "%s is %s, but %s is a floating-point constant; expected an integer",
			clip(name), s.typ, clip(c.text(o)))
	case class == isa.Half && v.Real():
		c.fault(&ruleValue, o, "%s is %s, which cannot be initialized with a floating-point "+
			"constant; give the bits as an integer", clip(name), s.typ)
	}
}

// A maskedAddress is a decoded initial value of the form 0xff(generic(name)+offset). Absent parts
// are nil.
type maskedAddress struct {
	name    *ptx.Operand
	generic *ptx.Operand
	mask    *ptx.Operand
	offset  *ptx.Operand
}

// decode decomposes an initial value that is an address. ok is false for another expression.
func (c *checker) decode(o *ptx.Operand) (a maskedAddress, ok bool) {
	for {
		switch {
		case o.Kind == ptx.Name:
			a.name = o
			return a, true
		case o.Kind == ptx.Call && o.Text == "generic" && len(o.Args) == 1 && a.generic == nil:
			a.generic, o = o, &o.Args[0]
			if o.Kind != ptx.Name {
				return a, false
			}
		case o.Kind == ptx.Call && o.Text != "generic" && len(o.Args) == 1 && a.mask == nil:
			a.mask, o = o, &o.Args[0]
		case o.Kind == ptx.Binary && o.Text == "+" && constant.Is(&o.Args[1]):
			a.offset, o = &o.Args[1], &o.Args[0]
		default:
			return a, false
		}
	}
}

// addressValue checks an initial value that is the address of a variable or function.
func (c *checker) addressValue(o *ptx.Operand, name string, s *shape) {
	a, ok := c.decode(o)
	if !ok {
		c.fault(&ruleValue, o, "%s is not a constant or the address of a variable plus a constant",
			clip(c.text(o)))
		return
	}
	if a.generic != nil {
		c.need(a.generic, "generic()", 3, 1, 0)
	}
	if !c.addressType(o, &a, name, s) {
		return
	}
	if a.offset != nil {
		v := c.evaluate(a.offset)
		c.wantInteger(a.offset, v, "the offset")
	}
	if a.name.Text == name && c.scope().findHere(name) == nil {
		return // the name is that of the variable itself
	}
	sym := c.find(a.name.Text, a.name.At)
	switch {
	case sym == nil:
		c.reportUnknown(a.name, a.name.Text, func(s *symbol) bool {
			return s.kind == routine || s.kind == variable &&
				(s.shape.space == isa.Global || s.shape.space == isa.Const)
		})
	case sym.kind == routine:
		sym.recordAddressTaken(a.name.Span)
		if a.generic != nil || a.offset != nil {
			c.fault(&ruleValue, o, "%s is a function; write its name without generic() and offset",
				clip(a.name.Text))
		}
	case sym.kind != variable || sym.shape.space != isa.Global && sym.shape.space != isa.Const:
		c.fault(&ruleValueSpace, a.name, "%s is not in .global or .const, expected the address "+
			"of a variable there, or of a function", clip(a.name.Text))
	}
}

// addressType checks that the variable can hold an address, or, if there is a mask, one byte of
// an address.
func (c *checker) addressType(o *ptx.Operand, a *maskedAddress, name string, s *shape) bool {
	t := s.typ
	unsigned := t.Class() == isa.Unsigned
	if a.mask == nil {
		if unsigned && t.Bits() >= 32 {
			return true
		}
		c.fault(&ruleValue, o, "%s is %s, expected .u64 for an address", clip(name), t)
		return false
	}
	c.need(a.mask, "a mask in an initial value", 7, 1, 0)
	if !unsigned || t.Bits() != 8 && t.Bits() != 64 {
		c.fault(&ruleValue, o, "%s is %s, expected .u8 for a masked address", clip(name), t)
		return false
	}
	m, over, _ := constant.Number(a.mask.Text)
	if over {
		c.fault(&ruleExpression, a.mask, "constant %s does not fit into 64 bits", clip(a.mask.Text))
		return false
	}
	if !slices.ContainsFunc([]uint{0, 8, 16, 24, 32, 40, 48, 56},
		func(n uint) bool { return m.Bits == 0xff<<n }) {
		c.fault(&ruleMask, a.mask, "mask %s does not select one whole byte, expected 0xff "+
			"shifted left by a multiple of 8", clip(a.mask.Text))
		return false
	}
	return true
}

// holdsFunctions reports whether an initial value consists of names of functions, so that the
// variable can be a table of call targets.
func (c *checker) holdsFunctions(o *ptx.Operand) bool {
	if o.Kind == ptx.Vector {
		for i := range o.Args {
			if !c.holdsFunctions(&o.Args[i]) {
				return false
			}
		}
		return len(o.Args) > 0
	}
	sym := c.find(o.Text, o.At)
	return o.Kind == ptx.Name && sym != nil && sym.kind == routine
}
