// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package form

import (
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/ptx"
)

// A body is the state of the check of one function body.
type body struct {
	fn     *function
	block  *ptx.Block
	loads  []load // loads from .param variables, which finish compares with the results of calls
	labels bool   // whether the body has labels, so that later code may run before earlier code

	missing map[string]bool // names that were reported as undeclared
}

// addMissing records an undeclared name. It returns true if the name was recorded before.
func (b *body) addMissing(name string) bool {
	if b.missing[name] {
		return true
	}
	if b.missing == nil {
		b.missing = make(map[string]bool)
	}
	b.missing[name] = true
	return false
}

// A load is an ld.param from a variable that only the result of a call can write.
type load struct {
	sym *symbol
	at  ptx.Span
}

// readBody checks the statements of a function. The caller has opened the scope of the
// parameters, which is also that of the outermost block.
func (c *checker) readBody(b *ptx.Block, f *function) {
	c.body = &body{fn: f, block: b}
	clear(c.locs)
	c.statements(b.Stmts)
	for _, l := range c.body.loads {
		if !l.sym.hasResult && !c.lostNames().named[l.sym.name] {
			c.fault(&ruleNoCall, l.at, "%s is read, but no call stores its result there",
				clip(l.sym.name)).
				withRelated(l.sym.at, "the declaration is here")
		}
	}
	c.body = nil
}

// statements checks the statements of a block. The caller has opened the scope of the block.
func (c *checker) statements(list []ptx.Node) {
	for _, n := range list {
		switch n := n.(type) {
		case *ptx.Label:
			c.label(n.Name, label)
		case *ptx.Instr:
			if c.labelWithoutColon(n) {
				c.label(n.Op, label)
			}
		}
	}
	for _, n := range list {
		switch n := n.(type) {
		case *ptx.Instr:
			c.instruction(n)
		case *ptx.Label:
			c.body.labels = true
		case *ptx.Var:
			c.variable(n, inBody)
		case *ptx.Directive:
			c.bodyDirective(n)
		case *ptx.Block:
			c.push()
			c.statements(n.Stmts)
			c.pop()
		case *ptx.Func:
			c.bodyFunction(n)
		case *ptx.Section:
			c.fault(&ruleDirectivePlace, n, ".section is not allowed in a function; move it to "+
				"module scope")
		}
	}
}

// bodyFunction checks a prototype or a function declaration inside a function. Such a declaration
// belongs to the module.
func (c *checker) bodyFunction(n *ptx.Func) {
	if n.Kind.Text != ".callprototype" {
		if n.Body == nil {
			f := c.signature(n)
			c.tuning(n, f)
			c.enter(n, f)
		}
		return
	}
	c.need(n.Kind, ".callprototype", 2, 1, 20)
	f := c.signature(n)
	c.tuning(n, f)
	if sym := c.label(n.Label, prototype); sym != nil {
		sym.fn = f
		sym.arg.Kind = isa.ArgProto
	}
}

// label declares a label, including the label before a list of targets or a prototype. Labels
// share a name space with the variables of the block. The result is nil if the label has no name.
func (c *checker) label(w ptx.Word, k kind) *symbol {
	if w.Text == "" {
		return nil
	}
	sym := c.symbol()
	*sym = symbol{kind: k, name: w.Text, at: w.Span, arg: isa.Arg{Kind: isa.ArgLabel}}
	s := c.scope()
	if old := s.names[w.Text]; old != nil {
		c.reportTwice(sym, w.Text, old)
		return nil
	}
	s.put(w.Text, sym)
	return sym
}

// branchList checks a .branchtargets directive.
func (c *checker) branchList(d *ptx.Directive) {
	c.need(d.Name, ".branchtargets", 6, 0, 30)
	for i := range d.Args {
		o := &d.Args[i]
		for name := range o.Names() {
			if !c.branchTarget(d, o, name) {
				break
			}
		}
	}
	if sym := c.label(d.Label, branchTargets); sym != nil {
		sym.arg.Kind = isa.ArgTargets
	}
}

// branchTarget checks the next name of operand o in a list of targets. It returns false if the
// remaining names of o need no check.
func (c *checker) branchTarget(d *ptx.Directive, o *ptx.Operand, name string) bool {
	sym := c.find(name, o.At)
	switch {
	case sym == nil && name == d.Label.Text:
	case sym == nil:
		c.reportUnknown(o, name, func(s *symbol) bool { return s.kind == label })
		return false
	case sym.kind == variable || sym.kind == routine:
		c.fault(&ruleTargets, o, "%s is %s, expected a label as the branch target", clip(name),
			kindWords[sym.kind])
	}
	return true
}

// callList checks a .calltargets directive, whose functions must be declared before it.
func (c *checker) callList(d *ptx.Directive) {
	c.need(d.Name, ".calltargets", 2, 1, 20)
	sym := c.label(d.Label, callTargets)
	for i := range d.Args {
		o := &d.Args[i]
		for name := range o.Names() {
			f := c.find(name, o.At)
			if f == nil {
				c.reportUnknown(o, name, func(s *symbol) bool { return s.kind == routine })
				break
			}
			switch {
			case f.kind != routine:
				c.fault(&ruleTargets, o, "%s is %s, expected a list of functions after "+
					".calltargets", clip(name), kindWords[f.kind])
			case sym != nil:
				sym.targets = append(sym.targets, f.fn)
			}
		}
	}
	if sym != nil {
		sym.arg.Kind = isa.ArgTargets
	}
}

// guard checks the guard of an instruction, @p or @!p.
func (c *checker) guard(in *ptx.Instr) {
	w := in.Guard.Word
	sym := c.find(w.Text, w.At)
	if sym == nil {
		if s, ok := isa.SpecialRegister(w.Text); ok {
			c.fault(&ruleGuard, w, "guard %s is a special register of type %s, expected a "+
				"predicate", clip(w.Text), s.Type)
			return
		}
		c.reportUnknown(w, w.Text,
			func(s *symbol) bool { return s.kind == variable && s.shape.typ == c.types.pred })
		return
	}
	if sym.kind != variable {
		c.fault(&ruleGuard, w, "guard %s is %s, expected a predicate", clip(w.Text),
			kindWords[sym.kind])
		return
	}
	if sym.shape.typ != c.types.pred {
		c.fault(&ruleGuard, w, "guard %s is %s, expected a predicate", clip(w.Text),
			sym.shape.String()).
			withRelated(sym.at, "the declaration is here")
	}
}
