// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package form

import (
	"strconv"
	"strings"

	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/ptx"
)

// A shape is the type of a variable: element type, vector length, dimensions, state space and
// alignment.
type shape struct {
	typ       isa.Type
	space     isa.Space
	vec       int     // vector length; 1 for a scalar
	dims      []int64 // -1 for []
	align     int64   // declared alignment, or else the natural alignment
	isUnknown bool    // the type is unknown because of a mistake
}

func (s *shape) element() int64 { return max(1, int64(s.typ.Bits()+7)/8) * int64(max(1, s.vec)) }

// isIncomplete reports whether the first dimension is [] or [0].
func (s *shape) isIncomplete() bool { return len(s.dims) > 0 && s.dims[0] <= 0 }

// size returns the size in bytes, or 1<<62 if it is larger.
func (s *shape) size() int64 {
	const most = 1 << 62
	n := s.element()
	for _, d := range s.dims {
		switch {
		case d <= 0:
			return 0
		case n > most/d:
			return most
		}
		n *= d
	}
	return n
}

// isSameType reports whether two shapes are equal, apart from alignment and state space.
func (s *shape) isSameType(o *shape) bool {
	if s.typ != o.typ || s.vec != o.vec || len(s.dims) != len(o.dims) {
		return false
	}
	for i, d := range s.dims {
		if d != o.dims[i] {
			return false
		}
	}
	return true
}

// String returns the type as in a declaration, without name and state space.
func (s *shape) String() string {
	var b strings.Builder
	if s.vec > 1 {
		b.WriteString(".v" + strconv.Itoa(s.vec) + " ")
	}
	b.WriteString(s.typ.String())
	for _, d := range s.dims {
		b.WriteByte('[')
		if d >= 0 {
			b.WriteString(strconv.FormatInt(d, 10))
		}
		b.WriteByte(']')
	}
	return b.String()
}

// readType reads the element type, vector length and alignment of a declaration, and makes the
// checks that do not depend on a name. ok is false after a mistake.
func (c *checker) readType(v *ptx.Var) (s shape, ok bool) {
	s.vec, ok = 1, true
	s.space, _ = isa.ParseSpace(v.Space.Text)
	if v.Type.Text == "" {
		c.fault(&ruleType, v, "the declaration has no type")
		return s, false
	}
	t, known := isa.ParseType(v.Type.Text)
	switch {
	case !known:
		c.fault(&ruleType, v.Type, "%s is not a type", clip(v.Type.Text)).
			suggestName(v.Type, nearestType(v.Type.Text))
		s.isUnknown = true
		return s, false
	case !t.Register() && t.Class() != isa.Opaque && v.Space.Text != "":
		f := c.fault(&ruleType, v.Type, "%s is a type of instructions, not of variables; use %s", t,
			registerTypeFor(t))
		f.withFix(v.Type, registerTypeFor(t), "declare %s", registerTypeFor(t))
		ok = false
		t, _ = isa.ParseType(registerTypeFor(t))
	}
	s.typ = t
	switch v.Vec.Text {
	case "":
	case ".v2":
		s.vec = 2
	case ".v4":
		s.vec = 4
	default:
		c.fault(&ruleVector, v.Vec, "%s is not a vector type of variables, expected .v2 or .v4",
			clip(v.Vec.Text))
		ok = false
	}
	if s.vec > 1 && ok {
		switch {
		case t.Class() == isa.Pred:
			c.fault(&ruleVector, v.Vec, "a predicate cannot be a vector")
			ok = false
		case t.Class() == isa.Opaque:
			c.fault(&ruleVector, v.Vec, "%s cannot be a vector", t)
			ok = false
		case t.Bits()*s.vec > 128:
			c.fault(&ruleVector, v.Vec, "%s %s has %d bits, expected at most 128", v.Vec.Text, t,
				t.Bits()*s.vec)
			ok = false
		}
	}
	if t.Class() == isa.Opaque {
		c.need(v.Type, t.String(), 1, 5, 0)
	}
	if t == c.types.b128 {
		c.need(v.Type, ".b128", 8, 3, 70)
	}
	s.align = c.readAttributes(v, &s)
	if s.align == 0 {
		s.align = s.element()
	}
	return s, ok
}

// registerTypeFor returns the register type that holds values of a type that only instructions
// have.
func registerTypeFor(t isa.Type) string {
	switch b := t.Bits(); {
	case b <= 8:
		return ".b8"
	case b <= 16:
		return ".b16"
	case b <= 32:
		return ".b32"
	}
	return ".b64"
}

// readAttributes checks the attributes .align, .ptr and .attribute, and returns the alignment, or
// 0.
func (c *checker) readAttributes(v *ptx.Var, s *shape) int64 {
	align := int64(0)
	pointer := ptx.NoPos
	for i := range v.Attrs {
		a := &v.Attrs[i]
		switch a.Name.Text {
		case ".align":
			n := c.alignment(a)
			if pointer == ptx.NoPos && !isPointeeAlign(v, a) {
				align = n
			}
		case ".ptr":
			pointer = a.At
		case ".attribute":
			c.variableAttributes(a, s)
		case ".const", ".global", ".local", ".shared":
			if pointer == ptx.NoPos {
				c.fault(&ruleAttribute, a, "%s is not allowed here", a.Name.Text)
			}
		default:
			c.fault(&ruleAttribute, a, "%s is not an attribute of a variable", clip(a.Name.Text))
		}
	}
	return align
}

// isPointeeAlign reports whether the .align of a parameter without .ptr applies to the memory
// that the parameter points to, which it does if it follows the type.
func isPointeeAlign(v *ptx.Var, a *ptx.Attr) bool { return v.Type.Text != "" && a.At > v.Type.At }

// alignment checks an .align attribute and returns its number, or 0 if the number is invalid.
func (c *checker) alignment(a *ptx.Attr) int64 {
	if len(a.Args) != 1 {
		c.fault(&ruleAlign, a, ".align takes one number")
		return 0
	}
	n, ok := c.plainInteger(&a.Args[0])
	if c.tooLarge(&a.Args[0]) {
		return 0
	}
	if short, _ := word32(n); n < 0 {
		n = int64(short)
	}
	if !ok || n <= 0 || n&(n-1) != 0 || n > 1<<31 {
		f := c.fault(&ruleAlign, a.Args[0], ".align %s is not a power of two",
			clip(c.text(&a.Args[0])))
		if ok && n > 0 && n < 1<<30 {
			next := int64(1)
			for next < n {
				next *= 2
			}
			f.withFix(a.Args[0], strconv.FormatInt(next, 10), "write %d", next)
		}
		return 0
	}
	return n
}

// variableAttributes checks .attribute(.managed) and .attribute(.unified(a, b)) of a variable.
func (c *checker) variableAttributes(a *ptx.Attr, s *shape) {
	c.need(a.Name, ".attribute", 4, 0, 0)
	if len(a.Args) == 0 {
		c.fault(&ruleAttribute, a, ".attribute has an empty list")
	}
	for i := range a.Args {
		arg := &a.Args[i]
		switch arg.Text {
		case ".managed":
			c.need(arg, ".managed", 4, 0, 30)
		case ".unified":
			c.parseUnified(arg)
		default:
			c.fault(&ruleAttribute, arg, "%s is not an attribute, expected .managed or .unified",
				clip(c.text(arg)))
			continue
		}
		if s.space != isa.Global && s.space != isa.Generic { // a type without a space is generic
			c.fault(&ruleAttribute, arg,
				"%s is allowed only on .global variables, but this one is in %s",
				arg.Text, s.space)
		}
	}
}

// parseUnified checks .unified(upper, lower) and returns the two numbers.
func (c *checker) parseUnified(o *ptx.Operand) (id [2]int64, ok bool) {
	c.need(o, ".unified", 8, 0, 90)
	if len(o.Args) != 2 {
		c.fault(&ruleAttribute, o, ".unified takes the two halves of an identifier, as in "+
			".unified(1, 2)")
		return id, false
	}
	for i := range o.Args {
		n, good := c.plainInteger(&o.Args[i])
		if c.tooLarge(&o.Args[i]) {
			return id, false
		}
		if !good {
			c.fault(&ruleAttribute, o.Args[i], "%s is not an integer, expected one in .unified",
				clip(c.text(&o.Args[i])))
			return id, false
		}
		id[i] = n
	}
	return id, true
}
