// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package form

import (
	"strings"

	"github.com/ptxdsl/ptxdsl/ptx"
	"github.com/ptxdsl/ptxdsl/ptx/constant"
)

// reportElsewhere reports a name that is declared, but is not visible where it is used: it is
// declared later, in another block, or in another function. It returns false if there is no such
// declaration. It searches the syntax tree, which takes time only for mistakes.
func (c *checker) reportElsewhere(at ptx.Node, name string) bool {
	if c.body != nil && c.body.block != nil {
		if d, ok := declaration(c.body.block.Stmts, name); ok {
			if c.missingBrace() {
				return true
			}
			word := "in a block that is not visible here"
			if d.At > at.Pos() {
				word = "later in the file"
				if _, same := labelIn(c.body.block.Stmts, name); same {
					word = "in another block"
				}
			}
			c.fault(&ruleUndeclared, at, "%s is not declared here; it is declared %s", clip(name),
				word).
				withRelated(d, "the declaration is here")
			return true
		}
	}
	for _, n := range c.src.Decls {
		if n.Pos() <= at.Pos() {
			continue
		}
		if d, ok := nameIn(n, name); ok {
			c.fault(&ruleUndeclared, at, "%s is used before its declaration",
				clip(name)).
				withRelated(d, "the declaration is here")
			return true
		}
	}
	return false
}

// declaration returns the position of the declaration of a name in a list of statements, nested
// blocks included.
func declaration(list []ptx.Node, name string) (ptx.Span, bool) {
	for _, n := range list {
		if b, ok := n.(*ptx.Block); ok {
			if d, found := declaration(b.Stmts, name); found {
				return d, true
			}
			continue
		}
		if d, ok := nameIn(n, name); ok {
			return d, true
		}
	}
	return ptx.Span{}, false
}

// labelIn returns the position of a label in a list of statements, nested blocks included.
func labelIn(list []ptx.Node, name string) (ptx.Span, bool) {
	for _, n := range list {
		switch n := n.(type) {
		case *ptx.Label:
			if n.Name.Text == name {
				return n.Name.Span, true
			}
		case *ptx.Block:
			if d, ok := labelIn(n.Stmts, name); ok {
				return d, true
			}
		}
	}
	return ptx.Span{}, false
}

// nameIn returns the position of a name in the declaration n. ok is false if n does not declare
// the name.
func nameIn(n ptx.Node, name string) (ptx.Span, bool) {
	switch n := n.(type) {
	case *ptx.Label:
		return n.Name.Span, n.Name.Text == name
	case *ptx.Func:
		if n.Label.Text == name {
			return n.Label.Span, name != ""
		}
		return n.Name.Span, n.Name.Text == name
	case *ptx.Directive:
		return n.Label.Span, n.Label.Text == name
	case *ptx.Var:
		for i := range n.Names {
			if d := &n.Names[i]; d.Name.Text == name && d.Count == nil || d.Count != nil &&
				n.Space.Text == ".reg" && inRange(d, name) {
				return d.Name.Span, true
			}
		}
	}
	return ptx.Span{}, false
}

// inRange reports whether the range d, such as %r<10>, declares a name.
func inRange(d *ptx.Declarator, name string) bool {
	rest, ok := strings.CutPrefix(name, d.Name.Text)
	if !ok || rest == "" {
		return false
	}
	index, _, ok := constant.Number(rest)
	count, _, counted := constant.Number(d.Count.Text)
	return ok && counted && index.Integer() && index.Bits < count.Bits
}
