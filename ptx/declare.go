// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package ptx

// variable prints a declaration: .shared .align 16 .b8 tile[4096].
func (p *printer) variable(n *Var) {
	p.begin(n.At, declLine)
	p.specifiers(n)
	if len(n.Names) > 0 {
		p.tail()
		p.declarators(n)
	}
	p.interior(n.To)
	p.put(";")
	p.end(n.To)
}

// specifiers prints what stands before the names: linkage, space, and attributes and type in the
// order of the source.
func (p *printer) specifiers(n *Var) {
	for _, w := range n.Linkage {
		p.word(w)
		p.put(" ")
	}
	gap := ""
	if n.Space.Text != "" {
		p.word(n.Space)
		gap = " "
	}
	if n.Bank != nil {
		p.put("[")
		p.buf = p.operand(p.buf, n.Bank, true)
		p.put("]")
	}
	attrs := n.Attrs
	attr := func(before Pos) {
		for len(attrs) > 0 && attrs[0].At < before {
			p.put(gap)
			p.attr(&attrs[0])
			attrs, gap = attrs[1:], " "
		}
	}
	for _, w := range []Word{n.Vec, n.Type} {
		if w.Text != "" {
			attr(w.At)
			p.put(gap)
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
		p.put("(")
		p.operands(a.Args)
		p.put(")")
	case a.Name.Text == ".attribute":
		p.operands(a.Args)
	default:
		p.put(" ")
		p.operands(a.Args)
	}
}

func (p *printer) declarators(n *Var) {
	for i := range n.Names {
		if i > 0 {
			p.put(", ")
		}
		d := &n.Names[i]
		p.word(d.Name)
		if d.Count != nil {
			p.put("<")
			p.buf = p.operand(p.buf, d.Count, true)
			p.put(">")
		}
		for j := range d.Dims {
			p.put("[")
			p.buf = p.operand(p.buf, &d.Dims[j], true)
			p.put("]")
		}
		if d.Init != nil {
			p.put(" = ")
			p.buf = p.operand(p.buf, d.Init, false)
		}
	}
}

// function prints a definition, a declaration or a call prototype. Parameters stand one a line, but
// for prototypes and results.
func (p *printer) function(n *Func) {
	prototype := n.Kind.Text == ".callprototype"
	p.begin(n.At, plainLine)
	if n.Label.Text != "" {
		p.word(n.Label)
		p.put(": ")
	}
	for _, w := range n.Linkage {
		p.word(w)
		p.put(" ")
	}
	p.word(n.Kind)
	attrs := n.Attrs
	for len(attrs) > 0 && attrs[0].At < n.Name.At {
		p.put(" ")
		p.directiveText(attrs[0])
		attrs = attrs[1:]
	}
	if n.HasReturns {
		p.put(" (")
		p.parameters(n.Returns)
		p.put(")")
	}
	p.put(" ")
	p.word(n.Name)
	p.prev = n.Name.To
	switch {
	case !n.HasParams:
	case len(n.Params) == 0:
		p.put("()")
	case prototype:
		p.put(" (")
		p.parameters(n.Params)
		p.put(")")
	default:
		p.parameterLines(n)
	}
	for _, a := range attrs {
		if prototype {
			p.put(" ")
			p.directiveText(a)
			continue
		}
		p.end(p.prev)
		p.open = true // no blank lines in a header
		p.leading(a.At)
		p.open = true
		p.begin(a.At, plainLine)
		p.directiveText(a)
		if a.Semi {
			p.put(";")
		}
		p.prev = a.To
	}
	if n.Body == nil {
		p.interior(n.To)
		if last := len(n.Attrs) - 1; last < 0 || !n.Attrs[last].Semi {
			p.put(";") // a pragma has its own, and more than that is an error
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
			p.put(", ")
		}
		p.parameter(v)
	}
}

func (p *printer) parameter(v *Var) {
	p.interior(v.At)
	p.specifiers(v)
	if len(v.Names) > 0 && v.Names[0].Name.Text != "" {
		p.put(" ")
		p.declarators(v)
	}
}

func (p *printer) parameterLines(n *Func) {
	p.put("(")
	p.end(n.Name.To)
	p.indent++
	p.open = true
	for i, v := range n.Params {
		p.leading(v.At)
		p.begin(v.At, declLine)
		p.specifiers(v)
		if len(v.Names) > 0 && v.Names[0].Name.Text != "" {
			p.tail()
			p.declarators(v)
		}
		if i < len(n.Params)-1 {
			p.put(",")
		}
		p.end(v.To)
	}
	closing := p.find(p.prev, ')')
	p.leading(closing)
	p.indent--
	p.open = true
	p.begin(closing, plainLine)
	p.put(")")
	p.prev = closing + 1
}
