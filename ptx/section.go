// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package ptx

import "github.com/ptxdsl/ptxdsl/internal/slab"

// section parses the body of a .section, starting at the "{": labels, and lines of data that end
// at the next word with a dot, label or "}".
func (p *parser) section() []Node {
	open := p.tok
	p.advance()
	base := len(p.nodes)
	for {
		t := p.tok
		switch t.kind {
		case '}':
			p.advance()
			return p.popNodes(base)
		case endOfFile:
			p.fail(open.at, open.to, unclosed, "%s is not closed", quote("{"))
			return p.popNodes(base)
		case name:
			p.advance()
			w := p.word(t)
			if isReserved(w.Text) || !p.accept(':') {
				p.reportUnexpected(`":" after the label`)
				p.skipLine()
				p.pushBad(t.at, p.last)
				continue
			}
			l := slab.One(&p.labels)
			l.Span, l.Name = Span{t.at, p.last}, w
			p.pushNode(l)
		case dot:
			if isDataType(p.textOf(t)) {
				p.data()
				continue
			}
			if t.fresh && p.opensModule() {
				p.fail(open.at, open.to, unclosed, "%s is not closed before %s",
					quote("{"), quote(p.textOf(t)))
				return p.popNodes(base)
			}
			p.reportUnexpected("data or a label")
			p.advance()
			p.skipLine()
			p.pushBad(t.at, p.last)
		default:
			p.reportUnexpected("data or a label")
			p.advance()
			p.skipLine()
			p.pushBad(t.at, p.last)
		}
	}
}

// isDataType reports whether a word with a dot is the type of a line of data: a letter and a
// width.
func isDataType(word string) bool {
	return len(word) > 2 && digitsEnd(word, 2) == len(word)
}

// skipLine advances to the next line, or to the end of the section.
func (p *parser) skipLine() {
	for p.tok.kind != endOfFile && p.tok.kind != '}' && !p.tok.fresh {
		p.advance()
	}
}

// data parses one line of data, such as .b8 1, 2 or .b32 label+4.
func (p *parser) data() {
	if p.plainData() {
		return
	}
	line := &slab.One(&p.lines).Data
	line.At, line.Type = p.tok.at, p.word(p.tok)
	p.advance()
	base := len(p.operands)
	for {
		x, ok := p.datum()
		if !ok {
			p.operands = p.operands[:base]
			p.skipLine()
			p.pushBad(line.At, p.last)
			return
		}
		p.operands = append(p.operands, x)
		if t := p.tok; t.kind == ',' && (x.Kind == Name || x.Kind == Binary) &&
			p.scan.text[x.At] == '.' {
			p.reportUnexpected("a new line: the name of a section must be alone on its line")
			p.skipLine()
		}
		if !p.accept(',') {
			break
		}
	}
	line.To = p.last
	line.Args = slab.Copy(&p.args, p.operands[base:])
	p.operands = p.operands[:base]
	p.pushNode(line)
}

// datum parses an element of a line of data: a number, label, label+number, label-label, section
// or section+number.
func (p *parser) datum() (Operand, bool) {
	t := p.tok
	switch t.kind {
	case number:
		if isInteger(p.textOf(t)) {
			return p.leaf(Literal), true
		}
	case '-':
		p.advance()
		if p.tok.kind != number {
			break
		}
		x := p.node(Unary, "-", p.leaf(Literal))
		x.At = t.at
		return x, true
	case name:
		if isReserved(p.textOf(t)) {
			break
		}
		x := p.leaf(Name)
		if p.tok.kind == '-' {
			p.advance()
			if p.tok.kind != name {
				p.reportUnexpected("a label")
				return x, false
			}
			return p.node(Binary, "-", x, p.leaf(Name)), true
		}
		return p.displacement(x)
	case dot:
		return p.displacement(p.leaf(Name))
	}
	p.reportUnexpected("a number or a label")
	return Operand{}, false
}

// displacement parses `+ number` after x if a plus sign follows, and otherwise returns x.
func (p *parser) displacement(x Operand) (Operand, bool) {
	if !p.accept('+') {
		return x, true
	}
	if p.tok.kind != number {
		p.reportUnexpected("a number")
		return x, false
	}
	return p.node(Binary, "+", x, p.leaf(Literal)), true
}
