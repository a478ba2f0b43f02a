// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package ptx

import (
	"strings"

	"github.com/ptxdsl/ptxdsl/internal/slab"
)

// operand parses one operand of an instruction. Only the first operand may be a sink or a pair.
func (p *parser) operand(first bool) (Operand, bool) {
	p.operators = 0
	t := p.tok
	var x Operand
	ok := true
	switch t.kind {
	case name:
		x, ok = p.namedOperand(first)
	case dotted:
		p.advance()
		x, ok = p.field(t)
	case '{':
		x, ok = p.vector(false)
	case '[':
		return p.address()
	case '-', '!':
		return p.signedOperand()
	case '(', '~', '+', number:
		return p.constant()
	case '*':
		p.reportUnexpected("an operand; an address is written in brackets, as in [%rd1]")
		return x, false
	default:
		p.reportUnexpected("an operand")
		return x, false
	}
	if !ok || p.tok.kind != '|' || !first || x.Kind != Name && x.Kind != Vector {
		return x, ok
	}
	p.advance()
	if p.tok.kind != name && p.tok.kind != dotted {
		p.reportUnexpected(`a predicate or a register after "|"`)
		return x, false
	}
	y := p.leaf(Name)
	return p.node(Pair, "", x, y), true
}

// namedOperand parses an operand that starts with a name: name, name+offset or name[index].
func (p *parser) namedOperand(first bool) (Operand, bool) {
	t := p.tok
	w := p.textOf(t)
	switch {
	case w == "WARP_SZ":
		return p.constant()
	case w == "_" && !first:
		p.fail(t.at, t.to, sink, "sink %s cannot be read; only the first operand may be a sink",
			quote("_"))
	case w == "function_name" || w == "inlined_at":
		p.reportUnexpected("an operand")
		return Operand{}, false
	}
	x := p.leaf(Name)
	switch p.tok.kind {
	case '+':
		return p.offset(x)
	case '[':
		return p.index(x)
	case dot:
		// white space may precede a field: `%tid .x`
		d := p.tok
		p.advance()
		x, ok := p.field(d)
		x.At, x.Text = t.at, w+x.Text
		return x, ok
	}
	return x, true
}

// field returns a name with one field, as an operand. The previous token t is the whole operand
// or its last part.
func (p *parser) field(t token) (Operand, bool) {
	s := p.textOf(t)
	d := strings.IndexByte(s, '.')
	rest := s[d+1:]
	if more := strings.IndexAny(rest, ".:"); more >= 0 || classes[rest[0]]&digit != 0 {
		at := t.at + Pos(d)
		if more >= 0 {
			at += Pos(more) + 1
		}
		p.fail(at, t.to, syntax, "unexpected %s, expected %s or %s", quote(s[at-t.at:]),
			quote(","), quote(";"))
		return Operand{}, false
	}
	return Operand{Span: Span{t.at, t.to}, Kind: Name, Text: s}, true
}

// offset parses `+ constant` after x.
func (p *parser) offset(x Operand) (Operand, bool) {
	p.advance()
	if p.tok.kind == name && p.scan.text[p.tok.at] == '%' {
		p.reportUnexpected(
			"a constant: an address is one register or variable plus a constant offset")
		return x, false
	}
	y, ok := p.constant()
	return p.node(Binary, "+", x, y), ok
}

// index parses `[i]` after x, where i is a register, a register plus an offset, or a constant.
func (p *parser) index(x Operand) (Operand, bool) {
	open := p.tok
	p.advance()
	i, ok := p.base()
	if !ok || !p.close(open, `"]"`) {
		return x, false
	}
	y := p.node(Index, "", x, i)
	y.To = p.last
	return y, true
}

// base parses the base of an address or an index: name, name+constant or constant.
func (p *parser) base() (Operand, bool) {
	if p.tok.kind != name || p.textOf(p.tok) == "WARP_SZ" {
		return p.constant()
	}
	if isReserved(p.textOf(p.tok)) {
		p.reportUnexpected("an address")
		return Operand{}, false
	}
	x := p.leaf(Name)
	switch p.tok.kind {
	case '+':
		return p.offset(x)
	case '-':
		p.fail(p.tok.at, p.tok.to, syntax, "unexpected %s, expected %s: a negative offset is "+
			"added, as in %s",
			quote("-"), quote("+"), quote(x.Text+"+-4"))
		return x, false
	}
	return x, true
}

// address parses an address in brackets, and .unified after the address.
func (p *parser) address() (Operand, bool) {
	x, ok := p.bracket()
	if ok && p.tok.kind == dot && p.textOf(p.tok) == ".unified" {
		x.Text, x.To = ".unified", p.tok.to
		p.advance()
	}
	return x, ok
}

// bracket parses [base] or [base, more, {coordinates}].
func (p *parser) bracket() (Operand, bool) {
	open := p.tok
	p.advance()
	base := len(p.operands)
	x, ok := p.base()
	p.operands = append(p.operands, x)
	names, vectors := 1, 0 // numbers of names and vectors so far; ptxas accepts no other order
	for ok && p.tok.kind == ',' && x.Kind == Name {
		p.advance()
		var y Operand
		switch {
		case p.tok.kind == name && (vectors == 0 || vectors == 2):
			y = p.leaf(Name)
			names++
		case p.tok.kind == '{' && vectors < 3:
			y, ok = p.vector(false)
			vectors++
			if more := vectors == 1 && names >= 2 || vectors == 2; !more {
				x = y // x is the name that was read last
			}
		default:
			p.reportUnexpected("a name or a vector of coordinates")
			ok = false
		}
		p.operands = append(p.operands, y)
	}
	return p.enclosedOperand(Address, open, base, ok)
}

// wantCloser describes the tokens that can follow an element of an operand, for messages.
var wantCloser = [...]string{Vector: `"," or "}"`, Address: `"," or "]"`, List: `"," or ")"`}

// enclosedOperand creates an operand of kind k from the operands on the stack since base. The
// text must continue with the bracket that closes open.
func (p *parser) enclosedOperand(k OperandKind, open token, base int, ok bool) (Operand, bool) {
	ok = ok && p.close(open, wantCloser[k])
	x := Operand{Span: Span{open.at, p.last}, Kind: k, Args: slab.Copy(&p.args, p.operands[base:])}
	p.operands = p.operands[:base]
	return x, ok
}

// vector parses { element, element }: the elements of an operand, or of an initializer if initial
// is set.
func (p *parser) vector(initial bool) (Operand, bool) {
	open := p.tok
	p.advance()
	base := len(p.operands)
	for {
		var x Operand
		var ok bool
		if initial {
			x, ok = p.initializer()
		} else {
			x, ok = p.element()
		}
		p.operands = append(p.operands, x)
		if !ok || p.tok.kind != ',' {
			return p.enclosedOperand(Vector, open, base, ok)
		}
		p.advance()
	}
}

// element parses an element of a vector: a register, a constant or a sink.
func (p *parser) element() (Operand, bool) {
	p.operators = 0
	switch t := p.tok; t.kind {
	case name:
		if w := p.textOf(t); w != "WARP_SZ" && w != "function_name" && w != "inlined_at" {
			return p.leaf(Name), true
		}
	case dotted:
		p.advance()
		return p.field(t)
	case '{':
		p.reportUnexpected("a register or a constant")
		return Operand{}, false
	}
	return p.constant()
}

// signedOperand parses -x or !x, where x is a register or a constant.
func (p *parser) signedOperand() (Operand, bool) {
	t := p.tok
	ahead := p.scan
	next := ahead.next()
	if next.kind != dotted && (next.kind != name || p.textOf(next) == "WARP_SZ") {
		return p.constant()
	}
	p.advance()
	if isReserved(p.textOf(p.tok)) {
		p.reportUnexpected("an operand")
		return Operand{}, false
	}
	var x Operand
	ok := true
	if next = p.tok; next.kind == dotted {
		p.advance()
		x, ok = p.field(next)
	} else {
		x = p.leaf(Name)
	}
	y := p.node(Unary, p.textOf(t), x)
	y.At = t.at
	return y, ok
}

// callOperands parses (results), function, (arguments), prototype, and pushes the operands.
func (p *parser) callOperands() bool {
	if p.tok.kind == '(' {
		x, ok := p.list()
		p.operands = append(p.operands, x)
		if !ok {
			return false
		}
		if !p.accept(',') {
			p.reportUnexpected(`"," and the function to call`)
			return false
		}
	}
	if !p.callee("the function to call") {
		return false
	}
	if !p.accept(',') {
		return true
	}
	if p.tok.kind == '(' {
		x, ok := p.list()
		p.operands = append(p.operands, x)
		if !ok || !p.accept(',') {
			return ok
		}
	}
	return p.callee("a prototype or a list of targets")
}

// callee parses a plain name in a call. what describes the name in messages.
func (p *parser) callee(what string) bool {
	if p.tok.kind != name || isReserved(p.textOf(p.tok)) {
		p.reportUnexpected(what)
		return false
	}
	x := p.leaf(Name)
	p.operands = append(p.operands, x)
	return true
}

// list parses the results or the arguments of a call.
func (p *parser) list() (Operand, bool) {
	open := p.tok
	p.advance()
	base := len(p.operands)
	if p.tok.kind == ')' {
		return p.enclosedOperand(List, open, base, true)
	}
	for {
		p.operators = 0
		var x Operand
		ok := true
		if p.tok.kind == name && p.textOf(p.tok) != "WARP_SZ" {
			x = p.leaf(Name)
		} else {
			x, ok = p.constant()
		}
		p.operands = append(p.operands, x)
		if !ok || p.tok.kind != ',' {
			return p.enclosedOperand(List, open, base, ok)
		}
		p.advance()
	}
}

// leaf returns the current token as an operand of kind k and advances.
func (p *parser) leaf(k OperandKind) Operand {
	x := Operand{Span: Span{p.tok.at, p.tok.to}, Kind: k, Text: p.textOf(p.tok)}
	p.advance()
	return x
}

// node returns an operand that consists of the operands args.
func (p *parser) node(k OperandKind, text string, args ...Operand) Operand {
	return Operand{
		Span: Span{args[0].At, args[len(args)-1].To},
		Kind: k, Text: text, Args: slab.Copy(&p.args, args),
	}
}
