// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package ptx

import (
	"strings"

	"github.com/alecthomas/participle/v2/lexer"

	"github.com/ptxdsl/ptxdsl/internal/slab"
)

// isWritten reports whether an optional token of the grammar is present in the text.
func isWritten(t lexer.Token) bool { return t.Type != 0 }

// token returns the token of the frame that corresponds to t, a token of a syntax tree.
func (f frame) token(t lexer.Token) token { return f.tokens[t.Pos.Offset] }

// word returns the token of the frame that corresponds to t as a word. The word is absent if t is
// an optional token that the text does not have.
func (f frame) word(t lexer.Token) Word {
	if !isWritten(t) {
		return absent()
	}
	return f.p.word(f.token(t))
}

// operand returns the token of the frame that corresponds to t as an operand.
func (f frame) operand(t lexer.Token) Operand {
	tok := f.token(t)
	x := Operand{Span: Span{tok.at, tok.to}, Kind: Name, Text: f.p.textOf(tok)}
	switch tok.kind {
	case number, rest:
		x.Kind = Literal
	case str:
		x.Kind = String
	}
	return x
}

// build creates the node of an item, parses its body, and pushes the node.
func (p *parser) build(f frame, tree *item, span Span, label Word) {
	switch {
	case tree.Function != nil:
		p.buildFunction(f, tree, span)
	case tree.Variable != nil:
		v := p.buildVar(f, tree.Variable)
		v.Span = span
		if isWritten(tree.Linkage) {
			v.Linkage = []Word{f.word(tree.Linkage)}
			if p.depth > 0 {
				p.fail(v.Linkage[0].At, v.Linkage[0].To, nesting, "variable inside a function "+
					"cannot have %s", v.Linkage[0].Text)
			}
		}
		p.pushNode(v)
	case tree.Prototype != nil:
		t := tree.Prototype
		fn := &Func{Span: span, Kind: f.word(t.Kind), Label: label, Name: f.word(t.Name)}
		p.buildSignature(f, fn, t.Returns, t.Params, t.Notes)
		if label.At < 0 {
			p.fail(fn.Kind.At, fn.Kind.To, structure, "%s requires a label before it", fn.Kind.Text)
		}
		p.pushNode(fn)
	case tree.Section != nil:
		s := &Section{Span: span, Name: f.word(tree.Section.Name)}
		s.Lines = p.section()
		s.To = p.last
		if p.depth > 0 {
			p.fail(span.At, s.Name.To, nesting, "section inside a function")
		}
		p.pushNode(s)
	default:
		d := p.buildDirective(f, tree.Directive)
		d.Span, d.Label = span, label
		switch d.Name.Text {
		case ".version":
			p.checkVersion(d)
		case ".branchtargets", ".calltargets":
			if label.At < 0 {
				p.fail(d.Name.At, d.Name.To, structure, "%s requires a label before it",
					d.Name.Text)
			}
		}
		p.pushNode(d)
	}
}

// checkVersion reports a .version directive that spans lines or contains a comment, because ptxas
// reads that directive before it scans the text.
func (p *parser) checkVersion(d *Directive) {
	between := p.scan.text[d.Name.To:d.Args[0].At]
	if strings.Trim(between, " \t") != "" {
		p.fail(d.At, d.To, structure, ".version and its number must be on one line, separated "+
			"only by white space")
	}
}

func (p *parser) buildFunction(f frame, tree *item, span Span) {
	t := tree.Function
	fn := &Func{Span: span, Kind: f.word(t.Func), Label: absent(), Name: f.word(t.Name)}
	if isWritten(t.Entry) {
		fn.Kind = f.word(t.Entry)
	}
	if isWritten(tree.Linkage) {
		fn.Linkage = []Word{f.word(tree.Linkage)}
	}
	if t.Marks != nil {
		d := slab.One(&p.notes)
		a := p.buildMarks(f, t.Marks)
		*d = Directive{Span: a.Span, Name: a.Name, Label: absent(), Args: a.Args}
		fn.Attrs = append(fn.Attrs, d)
	}
	p.buildSignature(f, fn, t.Returns, t.Params, t.Notes)
	if end := f.token(t.End); end.kind != '{' {
		if end.kind == ';' && p.tok.kind == '{' && p.depth == 0 {
			p.fail(end.at, end.to, syntax, "unexpected %s, expected the body of %s", quote(";"),
				fn.Name.Text)
			fn.Body = p.block()
			fn.To = p.last
			p.pushNode(fn)
			return
		}
		if isWritten(t.Entry) && len(t.Notes) > 0 {
			p.fail(end.at, end.to, syntax, "unexpected %s, expected the body of %s: directives "+
				"belong to its definition",
				quote(";"), fn.Name.Text)
		}
		p.pushNode(fn)
		return
	}
	if p.depth > 0 {
		p.fail(fn.At, fn.Name.To, nesting, "function %s is defined inside another function",
			fn.Name.Text)
	}
	fn.Body = p.block()
	fn.To = p.last
	p.pushNode(fn)
}

func (p *parser) buildSignature(f frame, fn *Func, returns, params lexer.Token,
	notes []*directive) {
	if fn.HasReturns = isWritten(returns); fn.HasReturns {
		fn.Returns = p.listAt(f.base + returns.Pos.Offset)
	}
	if fn.HasParams = isWritten(params); fn.HasParams {
		fn.Params = p.listAt(f.base + params.Pos.Offset)
	}
	for _, n := range notes {
		d := p.buildDirective(f, n)
		d.Label = absent()
		last := d.Name.To
		if n := len(d.Args); n > 0 {
			last = d.Args[n-1].To
		}
		d.Span = Span{d.Name.At, last}
		switch {
		case !d.Semi:
		case n.Texts != nil:
			d.To = f.token(n.Texts.End).to
		default:
			d.To = f.token(n.Other.End).to
		}
		fn.Attrs = append(fn.Attrs, d)
	}
}

// listAt returns the parameter list that is represented by the token at index i of the framer's
// stack.
func (p *parser) listAt(i int) []*Var {
	for _, l := range p.frame.lists {
		if l.at == i {
			return l.vars
		}
	}
	panic("bug: no parameter list where the grammar saw one")
}

func (p *parser) buildVar(f frame, t *variable) *Var {
	v := slab.One(&p.vars)
	v.Space, v.Vec, v.Type = f.word(t.Space), f.word(t.Vector), f.word(t.Type)
	if t.Alone != nil {
		v.Vec, v.Type = f.word(t.Alone.Vector), f.word(t.Alone.Type)
		if v.Vec.Text != "" {
			v.Type = f.word(t.Alone.Of)
		}
	}
	if isWritten(t.Bank) {
		bank := f.operand(t.Bank)
		if open := f.tokens[t.Bank.Pos.Offset-1]; open.at != v.Space.To {
			p.fail(open.at, open.to, syntax, "unexpected %s: the bank must directly follow .const",
				quote("["))
		}
		v.Bank = &bank
	}
	v.Attrs = p.buildAttrs(f, t.Before, t.After, nil)
	if len(t.Names) == 0 {
		return v
	}
	v.Names = slab.Copy(&p.names, make([]Declarator, len(t.Names)))
	for i, n := range t.Names {
		p.buildDeclarator(f, n, &v.Names[i])
	}
	return v
}

func (p *parser) buildDeclarator(f frame, t *declarator, d *Declarator) {
	d.Name = f.word(t.Name)
	d.Span = d.Name.Span
	if isWritten(t.Count) {
		count := f.operand(t.Count)
		d.Count = &count
		d.To = f.tokens[t.Count.Pos.Offset+1].to
	}
	d.Dims = p.buildDims(f, t.Dims)
	if n := len(d.Dims); n > 0 {
		d.To = f.token(t.Dims[n-1].Close).to
	}
	if isWritten(t.Initial) {
		i := f.base + t.Initial.Pos.Offset
		for _, initial := range p.frame.initials {
			if initial.at == i {
				d.Init = &initial.value
				d.To = d.Init.To
			}
		}
	}
}

func (p *parser) buildDims(f frame, dims []*dimension) []Operand {
	base := len(p.operands)
	for _, t := range dims {
		x := Operand{Span: Span{f.token(t.Open).to, f.token(t.Close).at}}
		if isWritten(t.Size) {
			x = f.operand(t.Size)
		}
		p.operands = append(p.operands, x)
	}
	list := slab.Copy(&p.args, p.operands[base:])
	p.operands = p.operands[:base]
	return list
}

func (p *parser) buildAttrs(f frame, before, after []*attribute, ptr *pointer) []Attr {
	if len(before)+len(after) == 0 && ptr == nil {
		return nil
	}
	var list []Attr
	for _, group := range [][]*attribute{before, after} {
		for _, t := range group {
			if t.Align != nil {
				list = append(list, p.buildAlign(f, t.Align))
			} else {
				list = append(list, p.buildMarks(f, t.Marks))
			}
		}
	}
	if ptr == nil {
		return list
	}
	if ptr.Alone != nil {
		return append(list, p.buildAlign(f, ptr.Alone))
	}
	w := f.word(ptr.Word)
	list = append(list, Attr{Span: w.Span, Name: w})
	if isWritten(ptr.Space) {
		w := f.word(ptr.Space)
		list = append(list, Attr{Span: w.Span, Name: w})
	}
	if ptr.Align != nil {
		list = append(list, p.buildAlign(f, ptr.Align))
	}
	return list
}

func (p *parser) buildAlign(f frame, t *alignment) Attr {
	w, x := f.word(t.Word), f.operand(t.Size)
	return Attr{Span: Span{w.At, x.To}, Name: w, Args: slab.Copy(&p.args, []Operand{x})}
}

func (p *parser) buildMarks(f frame, t *attribution) Attr {
	w := f.word(t.Word)
	a := Attr{Span: Span{w.At, f.token(t.Close).to}, Name: w}
	for _, m := range t.Marks {
		x := f.operand(m.Word)
		if len(m.Args) > 0 {
			x.Kind = Call
			for _, arg := range m.Args {
				x.Args = append(x.Args, f.operand(arg.Value))
			}
			x.To = f.token(m.Close).to
		}
		a.Args = append(a.Args, x)
	}
	return a
}

func (p *parser) buildParam(f frame, t *parameter) *Var {
	v := slab.One(&p.vars)
	v.Span = Span{f.tokens[0].at, f.tokens[len(f.tokens)-1].to}
	v.Space, v.Vec, v.Type = f.word(t.Space), f.word(t.Vector), f.word(t.Type)
	if isWritten(t.Hidden) {
		v.Linkage = []Word{f.word(t.Hidden)}
	}
	v.Attrs = p.buildAttrs(f, t.Before, t.After, t.Pointer)
	d := slab.Copy(&p.names, make([]Declarator, 1))
	d[0].Name = f.word(t.Name)
	d[0].Span = d[0].Name.Span
	if t.Dim != nil {
		d[0].Dims = p.buildDims(f, []*dimension{t.Dim})
		d[0].To = f.token(t.Dim.Close).to
	}
	v.Names = d
	return v
}
