// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package form

import (
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/ptx"
	"github.com/ptxdsl/ptxdsl/ptx/constant"
)

// A callSite has the operands of a call: (results), target, (arguments), prototype. Absent ones
// are nil.
type callSite struct {
	results, target, args, proto *ptx.Operand
}

func siteOf(in *ptx.Instr) (s callSite, ok bool) {
	list := in.Args
	if len(list) > 0 && list[0].Kind == ptx.List {
		s.results, list = &in.Args[0], list[1:]
	}
	if len(list) == 0 || list[0].Kind != ptx.Name {
		return s, false
	}
	s.target, list = &list[0], list[1:]
	if len(list) > 0 && list[0].Kind == ptx.List {
		s.args, list = &list[0], list[1:]
	}
	if len(list) > 0 {
		s.proto = &list[0]
	}
	return s, len(list) < 2
}

// callOperand converts an operand of call for package isa, which only checks the modifiers of
// call. Names, signatures and targets are checked in this file.
func (c *checker) callOperand(in *ptx.Instr, i int) isa.Arg {
	if in.Args[i].Kind == ptx.List {
		return isa.Arg{Kind: isa.ArgList}
	}
	return isa.Arg{}
}

// call checks the target and the prototype of a call, and the arguments and results.
func (c *checker) call(in *ptx.Instr, op *opcode) {
	s, ok := siteOf(in)
	if !ok {
		c.fault(&ruleCall, in, "malformed call, expected: call (result), function, (arguments), "+
			"prototype")
		return
	}
	sym := c.find(s.target.Text, s.target.At)
	if sym == nil {
		c.reportUnknown(s.target, s.target.Text, func(s *symbol) bool { return s.kind == routine })
		c.callParts(s)
		return
	}
	switch {
	case sym.kind == routine:
		c.body.fn.uses.calls = append(c.body.fn.uses.calls, sym.fn)
		c.directCall(s, sym.fn)
	case sym.kind == variable && sym.shape.space == isa.Reg:
		c.indirectCall(s, sym)
	default:
		c.fault(&ruleCallTarget, s.target, "%s is %s, expected a function, or a register with "+
			"its address", clip(s.target.Text), kindWords[sym.kind])
		c.callParts(s)
	}
}

// callParts resolves the results and arguments of a call whose signature is not known.
func (c *checker) callParts(s callSite) {
	for _, list := range []*ptx.Operand{s.results, s.args} {
		if list == nil {
			continue
		}
		for i := range list.Args {
			o := &list.Args[i]
			if o.Kind != ptx.Name || o.Text == "_" {
				continue
			}
			sym := c.find(o.Text, o.At)
			if sym == nil {
				c.reportUnknown(o, o.Text, isPassable)
			} else if list == s.results {
				sym.hasResult = true
			}
		}
	}
}

func isPassable(s *symbol) bool {
	return s.kind == variable &&
		(s.shape.space == isa.Reg || s.shape.space == isa.Param && s.role == noRole)
}

func (c *checker) directCall(s callSite, f *function) {
	if f.entry {
		c.fault(&ruleCallTarget, s.target, "%s is an .entry; only a .func can be called",
			clip(f.name)).withRelated(f.at, "it is declared here")
		c.callParts(s)
		return
	}
	if f.called.At == ptx.NoPos {
		f.called = s.target.Span
	}
	if s.proto != nil {
		c.fault(&ruleCallTarget, s.proto, "direct call of %s must not have a prototype", clip(f.name))
	}
	c.pass(s, f)
}

// indirectCall checks a call through a register: its prototype, list of targets, or table of
// functions.
func (c *checker) indirectCall(s callSite, reg *symbol) {
	t := reg.shape.typ
	if !t.Whole() || t.Bits() < 32 || t.Bits() > 64 || reg.shape.vec > 1 {
		c.fault(&ruleCallTarget, s.target, "%s is %s, expected a .b64 register with the address "+
			"of a function", clip(s.target.Text), reg.shape.String())
	}
	if s.proto == nil {
		c.fault(&rulePrototype, s.target, "indirect call through %s has no prototype",
			clip(s.target.Text))
		c.callParts(s)
		return
	}
	sym := c.find(s.proto.Text, s.proto.At)
	switch {
	case sym == nil:
		c.reportUnknown(s.proto, s.proto.Text,
			func(s *symbol) bool { return s.kind == prototype || s.kind == callTargets })
	case sym.kind == prototype:
		c.pass(s, sym.fn)
		return
	case sym.kind == callTargets:
		for _, f := range sym.targets {
			if !c.pass(s, f) {
				break
			}
		}
		return
	case sym.kind != variable:
		c.fault(&rulePrototype, s.proto, "%s is %s, expected a prototype, a list of call targets "+
			"or a table of functions", clip(s.proto.Text), kindWords[sym.kind])
	case sym.shape.space != isa.Global && sym.shape.space != isa.Const:
		c.fault(&rulePrototype, s.proto, "%s is in %s, expected a table of functions in .global "+
			"or .const", clip(s.proto.Text), sym.shape.space)
	case !sym.hasFunctions:
		c.fault(&rulePrototype, s.proto, "%s has no initializer, so the functions that it may "+
			"call are unknown", clip(s.proto.Text))
	}
	c.callParts(s)
}

// pass compares the results and arguments of a call with the signature of f. It returns false
// after the first mistake.
func (c *checker) pass(s callSite, f *function) bool {
	good := c.passList(s, s.results, f, f.returns, "result", "results", output)
	return c.passList(s, s.args, f, f.params, "argument", "arguments", input) && good
}

func (c *checker) passList(s callSite, list *ptx.Operand, f *function, formals []formal,
	one, many string, r role) bool {
	var actual []ptx.Operand
	if list != nil {
		actual = list.Args
	}
	least := len(formals)
	if r == input && least > 0 && formals[least-1].shape.isIncomplete() {
		least--
	}
	if len(actual) < least || len(actual) > len(formals) {
		at := s.target
		if list != nil {
			at = list
		}
		name := f.name
		if name == "_" {
			name = "the prototype"
		}
		want := many
		if len(formals) == 1 {
			want = one
		}
		c.fault(&ruleCallCount, at, "%s has %d %s, but the call passes %d", clip(name),
			len(formals), want, len(actual)).
			withRelated(f.at, "the declaration is here")
		c.callParts(s)
		return false
	}
	good := true
	for i := range actual {
		good = c.passOne(&actual[i], f, &formals[i], i, one, r) && good
	}
	return good
}

// passOne compares one argument or result with its parameter. one describes it in messages, as
// "argument" or "result".
func (c *checker) passOne(o *ptx.Operand, f *function, p *formal, i int, one string, r role) bool {
	bad := func(format string, args ...any) bool {
		c.fault(&ruleCallType, o, format, args...).withRelated(p.at, "the parameter is here")
		return false
	}
	if constant.Is(o) {
		v := c.evaluate(o)
		switch class := p.shape.typ.Class(); {
		case !v.OK():
			return false
		case r == output:
			return bad("result %d is the constant %s, expected a variable or _", i+1,
				clip(c.text(o)))
		case len(p.shape.dims) > 0 || p.shape.vec > 1 || class == isa.Pred:
			return bad("argument %d is a constant, but the parameter is %s", i+1, p.shape.String())
		case v.Integer() && (class == isa.Float || class == isa.Half):
			return bad("argument %d is an integer, but the parameter is %s; expected a "+
				"floating-point constant", i+1, p.shape.String())
		case v.Real() && (class == isa.Signed || class == isa.Unsigned):
			return bad("argument %d is a floating-point constant, but the parameter is %s; "+
				"expected an integer", i+1, p.shape.String())
		}
		return true
	}
	if o.Kind != ptx.Name {
		return bad("%s %d is %s, expected a register, a .param variable or a constant", one, i+1,
			clip(c.text(o)))
	}
	if o.Text == "_" {
		return r == output || bad("argument %d is _, which has no value", i+1)
	}
	sym := c.find(o.Text, o.At)
	switch {
	case sym == nil:
		if _, ok := isa.SpecialRegister(o.Text); ok {
			return bad("%s %d is a special register; move it to a register first", one, i+1)
		}
		c.reportUnknown(o, o.Text, isPassable)
		return false
	case sym.kind != variable || sym.shape.space != isa.Reg && sym.shape.space != isa.Param:
		return bad("%s %d is %s, expected a register or a .param variable", one, i+1, whatIs(sym))
	case sym.shape.space == isa.Param && sym.role != noRole:
		return bad("%s %d is %s, a parameter of the enclosing function; copy it to a .param "+
			"variable", one, i+1, clip(o.Text))
	}
	if r == output {
		sym.hasResult = true
	}
	actual := sym.shape
	switch {
	case !canPass(&p.shape, &actual):
		return bad("%s %d of %s is %s, but the signature declares %s", one, i+1, clip(callee(f)),
			actual.String(), p.shape.String())
	case actual.align != p.shape.align:
		return bad("%s %d of %s is aligned to %d, but the signature declares %d", one, i+1,
			clip(callee(f)), actual.align, p.shape.align)
	}
	return true
}

func whatIs(sym *symbol) string {
	if sym.kind == variable {
		return "in " + sym.shape.space.String()
	}
	return kindWords[sym.kind]
}

func callee(f *function) string {
	if f.name == "_" || f.name == "" {
		return "the call"
	}
	return f.name
}
