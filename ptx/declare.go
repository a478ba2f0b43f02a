// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package ptx

import "github.com/ptxdsl/ptxdsl/internal/layout"

// variable prints a declaration, such as .shared .align 16 .b8 tile[4096].
func (p *printer) variable(n *Var) {
	p.begin(n.At, layout.Decl)
	p.specifiers(n)
	if len(n.Names) > 0 {
		p.Tail()
		p.declarators(n)
	}
	p.interior(n.To)
	p.Put(";")
	p.end(n.To)
}

// specifiers prints the part of a declaration before the names: linkage, state space, and
// attributes and type in the order of the source.
func (p *printer) specifiers(n *Var) {
	for _, w := range n.Linkage {
		p.word(w)
		p.Put(" ")
	}
	gap := ""
	if n.Space.Text != "" {
		p.word(n.Space)
		gap = " "
	}
	if n.Bank != nil {
		p.Put("[")
		p.Line = p.operand(p.Line, n.Bank, true)
		p.Put("]")
	}
	attrs := n.Attrs
	attr := func(before Pos) {
		for len(attrs) > 0 && attrs[0].At < before {
			p.Put(gap)
			p.attr(&attrs[0])
			attrs, gap = attrs[1:], " "
		}
	}
	for _, w := range []Word{n.Vec, n.Type} {
		if w.Text != "" {
			attr(w.At)
			p.Put(gap)
			p.word(w)
			gap = " "
		}
	}
	attr(n.To)
}

func (p *printer) attr(a *Attr) {
	p.word(a.Name)
	switch {
	case len(a.Args) == 0:
	case a.Name.Text == ".attribute" && a.Args[0].Kind != List:
		p.Put("(")
		p.operands(a.Args)
		p.Put(")")
	case a.Name.Text == ".attribute":
		p.operands(a.Args)
	default:
		p.Put(" ")
		p.operands(a.Args)
	}
}

func (p *printer) declarators(n *Var) {
	for i := range n.Names {
		if i > 0 {
			p.Put(", ")
		}
		d := &n.Names[i]
		p.word(d.Name)
		if d.Count != nil {
			p.Put("<")
			p.Line = p.operand(p.Line, d.Count, true)
			p.Put(">")
		}
		for j := range d.Dims {
			x := &d.Dims[j]
			if x.Kind == Empty {
				p.interior(x.At)
			}
			p.Put("[")
			if p.Line = p.operand(p.Line, x, true); x.Kind == Empty {
				p.interior(x.To)
			}
			p.Put("]")
		}
		if d.Init != nil {
			p.Put(" = ")
			p.Line = p.operand(p.Line, d.Init, false)
		}
	}
}

// function prints a definition, a declaration or a call prototype. Each parameter is printed on a
// separate line, except in prototypes and results.
func (p *printer) function(n *Func) {
	prototype := n.Kind.Text == ".callprototype"
	p.begin(n.At, layout.Plain)
	if n.Label.Text != "" {
		p.word(n.Label)
		p.Put(": ")
	}
	for _, w := range n.Linkage {
		p.word(w)
		p.Put(" ")
	}
	p.word(n.Kind)
	attrs := n.Attrs
	for len(attrs) > 0 && attrs[0].At < n.Name.At {
		p.Put(" ")
		p.directiveText(attrs[0])
		attrs = attrs[1:]
	}
	if n.HasReturns {
		p.Put(" (")
		p.parameters(n.Returns)
		p.Put(")")
	}
	p.Put(" ")
	p.word(n.Name)
	p.prev = n.Name.To
	switch {
	case !n.HasParams:
	case len(n.Params) == 0:
		p.Put("()")
	case prototype:
		p.Put(" (")
		p.parameters(n.Params)
		p.Put(")")
	default:
		p.parameterLines(n)
	}
	for _, a := range attrs {
		if prototype {
			p.Put(" ")
			p.directiveText(a)
			continue
		}
		p.end(p.prev)
		p.open = true // a header has no blank lines
		p.leading(a.At)
		p.open = true
		p.begin(a.At, layout.Plain)
		p.directiveText(a)
		if a.Semi {
			p.Put(";")
		}
		p.prev = a.To
	}
	if n.Body == nil {
		p.interior(n.To)
		if last := len(n.Attrs) - 1; last < 0 || !n.Attrs[last].Semi {
			p.Put(";") // a pragma includes its semicolon, and ptxas rejects a second one
		}
		p.end(n.To)
		return
	}
	p.end(p.prev)
	p.open = true
	p.leading(n.Body.At)
	p.open = true
	p.block(n.Body)
}

func (p *printer) parameters(list []*Var) {
	for i, v := range list {
		if i > 0 {
			p.Put(", ")
		}
		p.parameter(v)
	}
}

func (p *printer) parameter(v *Var) {
	p.interior(v.At)
	p.specifiers(v)
	if len(v.Names) > 0 && v.Names[0].Name.Text != "" {
		p.Put(" ")
		p.declarators(v)
	}
}

func (p *printer) parameterLines(n *Func) {
	p.Put("(")
	p.end(n.Name.To)
	p.Indent++
	p.open = true
	for i, v := range n.Params {
		p.leading(v.At)
		p.begin(v.At, layout.Decl)
		p.specifiers(v)
		if len(v.Names) > 0 && v.Names[0].Name.Text != "" {
			p.Tail()
			p.declarators(v)
		}
		if i < len(n.Params)-1 {
			p.Put(",")
		}
		p.end(v.To)
	}
	closing := p.find(p.prev, ')')
	p.leading(closing)
	p.Indent--
	p.open = true
	p.begin(closing, layout.Plain)
	p.Put(")")
	p.prev = closing + 1
}
