// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package form

import (
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/ptx"
)

// A function is an .entry, a .func or the signature of a .callprototype.
type function struct {
	name     string
	at       ptx.Span // the name
	entry    bool
	linkage  string
	returns  []formal
	params   []formal
	defined  bool
	noreturn bool
	memory   bool     // whether it has a .minperctamemory directive
	called   ptx.Span // position of the first call
	taken    ptx.Span // position where its address is first taken
	preserve [2]int64 // numbers of .abi_preserve and .abi_preserve_control, plus one; 0 if absent
	unified  [2]int64
	labeled  bool // whether unified is set
	uses     resources
}

// A formal is a parameter or return value.
type formal struct {
	name  string
	at    ptx.Span
	shape shape
}

// function checks a function at module scope, including its body.
func (c *checker) function(n *ptx.Func) {
	f := c.signature(n)
	c.tuning(n, f)
	c.enter(n, f)
	if n.Body == nil {
		return
	}
	c.push()
	c.parameters(n, f)
	c.readBody(n.Body, f)
	c.pop()
}

// signature checks the header of a function and returns its properties.
func (c *checker) signature(n *ptx.Func) *function {
	f := &function{name: n.Name.Text, at: n.Name.Span, entry: n.Kind.Text == ".entry",
		defined: n.Body != nil}
	f.called.At, f.taken.At = ptx.NoPos, ptx.NoPos
	if len(n.Linkage) > 0 {
		word := n.Linkage[0]
		f.linkage = word.Text
		switch word.Text {
		case ".weak":
			c.need(word, ".weak", 3, 1, 0)
		case ".common":
			c.fault(&ruleLinkage, word,
				".common is allowed only on .global variables, not on functions")
		}
		if len(n.Linkage) > 1 {
			c.fault(&ruleLinkage, n.Linkage[1],
				"%s follows %s, but a declaration takes only one of .extern, .visible and .weak",
				n.Linkage[1].Text, word.Text)
		}
	}
	if f.entry && len(n.Returns) > 0 {
		c.fault(&ruleReturns, n.Returns[0], "%s is an .entry, which cannot return a value",
			clip(f.name))
	}
	for _, v := range n.Returns {
		f.returns = append(f.returns, c.formal(v, f, n.Kind.Text == ".callprototype", output))
	}
	for i, v := range n.Params {
		p := c.formal(v, f, n.Kind.Text == ".callprototype", input)
		if p.shape.isIncomplete() {
			c.checkUnsized(v, f, i == len(n.Params)-1)
		}
		f.params = append(f.params, p)
	}
	c.results(n, f)
	if f.entry {
		c.parameterSpace(n, f)
	}
	return f
}

// results checks that a function with several results returns them in registers.
func (c *checker) results(n *ptx.Func, f *function) {
	if len(f.returns) < 2 {
		return
	}
	for i := range f.returns {
		if f.returns[i].shape.space == isa.Param {
			c.fault(&ruleReturns, n.Returns[i], "%s is a .param, expected a .reg because the "+
				"function has several return values", clip(f.returns[i].name))
			return
		}
	}
}

// checkUnsized checks an array parameter without a size. last is set for the last parameter.
func (c *checker) checkUnsized(v *ptx.Var, f *function, last bool) {
	switch {
	case f.entry:
		c.fault(&ruleUnsized, v, "a parameter of an .entry must have a size; this array has none")
	case !last:
		c.fault(&ruleUnsized, v, "only the last parameter may be an array without a size")
	default:
		c.need(v, "an array parameter without a size", 6, 0, 30)
	}
}

// formal checks a parameter or return value, and returns it.
func (c *checker) formal(v *ptx.Var, f *function, prototype bool, r role) formal {
	var p formal
	s, ok := c.readType(v)
	if len(v.Names) > 0 {
		d := &v.Names[0]
		p.name, p.at = d.Name.Text, d.Name.Span
		s.dims = c.dimensions(d.Dims, nil)
		if len(s.dims) > 1 {
			c.fault(&ruleArray, d, "parameter %s has %d dimensions, expected at most one",
				clip(p.name), len(s.dims))
		} else if len(s.dims) == 1 {
			s.dims[0] = c.parameterLength(d, s.dims[0], f)
		}
		if d.Count != nil {
			c.fault(&ruleRange, d,
				"%s<...> declares several names, but a parameter has only one name", clip(p.name))
		}
		if d.Init != nil {
			c.fault(&ruleInitialized, d.Init, "parameter %s cannot have an initial value",
				clip(p.name))
		}
		if p.name == "_" && !prototype {
			c.fault(&ruleParameterName, d, "a parameter of a function must have a name; _ is for "+
				"prototypes")
		}
	}
	p.shape = s
	c.formalPlace(v, &s, f, r, ok, prototype)
	if !prototype {
		c.formalType(v, &s, f, ok)
	} else if ok && (s.typ.Class() == isa.Pred && len(s.dims) == 0 && !c.noConvention ||
		c.isTooNarrow(&s)) {
		c.fault(&ruleParameterType, v, "%s cannot be passed to a function; use %s", s.typ,
			widerType(s.typ))
	}
	if r == output && s.isIncomplete() {
		c.fault(&ruleUnsized, v, "a return value must have a size; this array has none")
	}
	return p
}

// parameterLength checks the length of an array parameter, which is n as a number, and returns
// the length that ptxas uses.
func (c *checker) parameterLength(d *ptx.Declarator, n int64, f *function) int64 {
	v, ok := c.plainInteger(&d.Dims[0])
	if !ok {
		return n
	}
	short, fits := word32(v)
	switch {
	case fits:
		return int64(short)
	case !f.entry:
		c.fault(&ruleArray, d.Dims[0],
			"parameter %s has %d elements, expected at most 4294967295",
			clip(d.Name.Text), v)
	}
	return n
}

// formalPlace checks the state space and the .ptr attribute of a parameter.
func (c *checker) formalPlace(v *ptx.Var, s *shape, f *function, r role, ok, prototype bool) {
	for _, w := range v.Linkage {
		c.need(w, w.Text, 8, 8, 0)
		if !f.entry && !prototype {
			c.fault(&rulePointer, w, "%s is allowed only on parameters of an .entry", w.Text)
		}
	}
	for i := range v.Attrs {
		switch a := &v.Attrs[i]; {
		case a.Name.Text == ".const" && f.entry && c.constPointer == nil:
			c.constPointer = a
		case a.Name.Text == ".ptr":
			c.need(a.Name, ".ptr", 2, 2, 0)
			if !f.entry && !prototype {
				c.fault(&rulePointer, a, ".ptr is allowed only on parameters of an .entry")
			}
		case a.Name.Text == ".align" && isPointeeAlign(v, a) && !f.entry && !prototype &&
			v.Attrs[0].Name.Text != ".ptr":
			c.fault(&rulePointer, a, ".align after the type describes the target of a pointer "+
				"and is only for parameters of an .entry; put the alignment of the parameter "+
				"before its type")
		}
	}
	switch {
	case s.space == isa.Param:
		if f.entry {
			c.need(v, "a kernel's parameter list", 1, 4, 0)
			return
		}
		if h := &c.header; h.hasVersion && !h.supportsVersion(2, 0) {
			c.fault(&ruleParameterSpace, v.Space,
				"PTX %s requires that parameters of a .func are registers",
				h.version)
		} else if !h.supportsTarget(20) {
			c.fault(&ruleParameterSpace, v.Space,
				"on %s, parameters of a .func must be registers (.reg)", h.target)
		}
	case s.space != isa.Reg && !f.entry && ok:
		c.fault(&ruleParameterSpace, v, "a parameter of a .func is in %s, expected .reg or .param",
			clip(v.Space.Text))
	case f.entry:
		c.fault(&ruleParameterSpace, v.Space, "a parameter of an .entry is in %s, expected .param",
			clip(v.Space.Text)).
			withFix(v.Space, ".param", "write .param")
	}
}

// formalType checks the type of a parameter of a function. Parameters of prototypes are not
// checked in this way.
func (c *checker) formalType(v *ptx.Var, s *shape, f *function, ok bool) {
	if s.typ.Class() == isa.Opaque {
		switch {
		case s.space == isa.Reg:
			c.fault(&ruleOpaque, v, "%s cannot be a register", s.typ)
		case !f.entry:
			c.fault(&ruleOpaque, v, "%s can be a parameter of an .entry but not of a .func", s.typ)
		}
		c.samplerMode(v, s)
		return
	}
	if !f.entry && ok && (c.isPredicateRegister(s) || c.isTooNarrow(s)) {
		c.fault(&ruleParameterType, v, "%s cannot be passed to a function; use %s", s.typ,
			widerType(s.typ))
		return
	}
	if s.space == isa.Reg {
		if len(s.dims) > 0 {
			c.fault(&ruleArray, v, "an array cannot be in .reg, expected .param")
		}
		return
	}
	if s.typ.Class() == isa.Pred && ok {
		c.fault(&rulePredicate, v.Type, "a predicate parameter is in %s, expected .reg",
			clip(v.Space.Text))
		return
	}
	if s.space == isa.Param {
		c.parameterType(v, s)
		if s.align > 128 && !f.entry {
			c.fault(&ruleAlign, v, "a parameter of a .func is aligned to %d bytes, expected at "+
				"most 128", s.align)
		}
	}
}

// disablesConvention reports whether a declaration turns off the calling convention for the
// module: a function that returns several values, or a register or local variable at module
// scope.
func disablesConvention(n ptx.Node) bool {
	switch n := n.(type) {
	case *ptx.Func:
		return len(n.Returns) > 1
	case *ptx.Var:
		return n.Space.Text == ".reg" || n.Space.Text == ".local"
	}
	return false
}

// isPredicateRegister reports whether a parameter is a predicate register, which the calling
// convention does not support.
func (c *checker) isPredicateRegister(s *shape) bool {
	return !c.noConvention && c.header.supportsVersion(3, 0) && s.typ.Class() == isa.Pred &&
		s.space == isa.Reg &&
		len(s.dims) == 0
}

// isTooNarrow reports whether a parameter is an integer of 8 or 16 bits, which is too narrow for
// the calling convention.
func (c *checker) isTooNarrow(s *shape) bool {
	return !c.noConvention && c.header.supportsVersion(3, 0) && s.vec <= 1 && len(s.dims) == 0 &&
		s.typ.Bits() < 32 && (s.typ.Class() == isa.Signed || s.typ.Class() == isa.Unsigned)
}

// widerType returns the 32-bit type to use for a parameter of a narrow integer type.
func widerType(t isa.Type) string {
	if t.Class() == isa.Signed {
		return ".s32"
	}
	return ".u32"
}

// parameterSpace checks the total size of a kernel's parameters.
func (c *checker) parameterSpace(n *ptx.Func, f *function) {
	end := int64(0)
	for i := range f.params {
		s := &f.params[i].shape
		if s.align > 0 {
			end = (end + s.align - 1) &^ (s.align - 1)
		}
		end = min(end+s.size(), 1<<62)
	}
	most := int64(32764)
	switch {
	case !c.header.supportsVersion(1, 5):
		most = 256
	case !c.header.supportsVersion(8, 1):
		most = 4352
	}
	if end > most {
		c.fault(&ruleParameterBytes, n.Name, "parameters of %s take %d bytes, but PTX %s allows %d",
			clip(f.name), end, c.header.version, most)
	} else if end > 4352 {
		c.need(n.Name, "more than 4352 bytes of parameters", 8, 1, 70)
	}
}

// parameters adds the parameters of a function definition to its scope.
func (c *checker) parameters(n *ptx.Func, f *function) {
	enter := func(list []formal, r role) {
		for i := range list {
			p := &list[i]
			if p.name == "" || p.name == "_" {
				continue
			}
			sym := c.symbol()
			*sym = symbol{kind: variable, role: r, entry: f.entry, name: p.name, at: p.at,
				shape: p.shape, arg: argument(&p.shape)}
			c.declare(sym)
		}
	}
	enter(f.returns, output)
	enter(f.params, input)
}
