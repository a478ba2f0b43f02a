// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package ptx

// constant parses a constant expression. x ? y : z has the lowest precedence, followed by the
// binary operators, then unary operators and casts.
func (p *parser) constant() (Operand, bool) {
	x, ok := p.binary(1)
	if !ok || p.tok.kind != '?' {
		return x, ok
	}
	question := p.tok
	if !p.pushSymbols(inBranch, question) {
		return x, false
	}
	p.advance()
	y, ok := p.constant()
	p.stack -= inBranch
	if !ok {
		return y, false
	}
	if !p.accept(':') {
		p.reportUnexpected(`":" of a conditional expression`)
		return x, false
	}
	if !p.pushSymbols(inElse, question) {
		return x, false
	}
	z, ok := p.constant()
	p.stack -= inElse
	return p.node(Cond, "", x, y, z), ok
}

// pushSymbols adds the symbols that token t pushes onto the parser stack of ptxas, and reports an
// overflow of that stack.
func (p *parser) pushSymbols(symbols int, t token) bool {
	if p.stack+symbols > stackSize {
		p.fail(t.at, t.to, tooDeep,
			"%s is nested too deeply; the assembler runs out of memory here", quote(p.textOf(t)))
		return false
	}
	p.stack += symbols
	return true
}

// precedence returns the precedence of a binary operator, or 0 for other tokens.
func precedence(k kind) int {
	switch k {
	case orOr:
		return 1
	case andAnd:
		return 2
	case '|':
		return 3
	case '^':
		return 4
	case '&':
		return 5
	case equal, unequal:
		return 6
	case '<', '>', lessEqual, greaterEqual:
		return 7
	case shiftLeft, shiftRight:
		return 8
	case '+', '-':
		return 9
	case '*', '/', '%':
		return 10
	}
	return 0
}

// binary parses operands and the binary operators between them whose precedence is at least
// least.
func (p *parser) binary(least int) (Operand, bool) {
	x, ok := p.unary()
	for ok {
		bind := precedence(p.tok.kind)
		if bind < least || bind == 0 {
			break
		}
		if isHexFloat(x) {
			p.reportUnexpected(`"," or ";": 0f literals stand alone`)
			return x, false
		}
		operator := p.tok
		if p.operators++; p.operators > maxOperators {
			p.fail(operator.at, operator.to, tooDeep, "expression has more than %d operators",
				maxOperators)
			return x, false
		}
		if !p.pushSymbols(inBinary, operator) {
			return x, false
		}
		p.advance()
		y, good := p.binary(bind + 1)
		p.stack -= inBinary
		if good && isHexFloat(y) {
			p.fail(y.At, y.To, syntax, "unexpected %s: a 0f literal cannot be an operand",
				quote(y.Text))
			good = false
		}
		x, ok = p.node(Binary, p.textOf(operator), x, y), good
	}
	return x, ok
}

// isHexFloat reports whether x is a single-precision literal such as 0f3F800000. Such a literal
// cannot be the operand of an operator, unlike a double-precision one.
func isHexFloat(x Operand) bool {
	if x.Kind != Literal || len(x.Text) < 10 {
		return false
	}
	return x.Text[0] == '0' && x.Text[1]|0x20 == 'f'
}

// unary parses a literal, WARP_SZ, a parenthesis, a cast, or an operator and its operand.
func (p *parser) unary() (Operand, bool) {
	t := p.tok
	switch t.kind {
	case number:
		return p.leaf(Literal), true
	case name:
		if p.textOf(t) == "WARP_SZ" {
			return p.leaf(Name), true
		}
	case '-', '+', '!', '~':
		if !p.pushSymbols(inUnary, t) {
			return Operand{}, false
		}
		p.advance()
		x, ok := p.unary()
		p.stack -= inUnary
		if ok && isHexFloat(x) {
			p.fail(x.At, x.To, syntax, "unexpected %s: a 0f literal cannot be an operand",
				quote(x.Text))
			ok = false
		}
		y := p.node(Unary, p.textOf(t), x)
		y.At = t.at
		return y, ok
	case '(':
		if !p.pushSymbols(inParens, t) {
			return Operand{}, false
		}
		x, ok := p.paren()
		p.stack -= inParens
		return x, ok
	}
	p.reportUnexpected("a constant")
	return Operand{}, false
}

// paren parses (x) or a cast such as (.s64)x.
func (p *parser) paren() (Operand, bool) {
	open := p.tok
	p.advance()
	if p.tok.kind == dot {
		cast := p.textOf(p.tok)
		p.advance()
		if !p.close(open, `")"`) || !p.pushSymbols(inCast-inParens, open) {
			return Operand{}, false
		}
		x, ok := p.unary()
		p.stack -= inCast - inParens
		y := p.node(Cast, cast, x)
		y.At = open.at
		return y, ok
	}
	x, ok := p.constant()
	if !ok || !p.close(open, `")"`) {
		return x, false
	}
	y := p.node(Paren, "", x)
	y.Span = Span{open.at, p.last}
	return y, true
}

// initializer parses the text after the "=" of a declaration: a constant, the address of a symbol
// or a part of one, or a list of these in braces.
func (p *parser) initializer() (Operand, bool) {
	p.operators = 0
	t := p.tok
	switch t.kind {
	case '{':
		if !p.pushSymbols(inInitialize, t) {
			return Operand{}, false
		}
		defer func() { p.stack -= inInitialize }()
		if ahead := p.scan; ahead.next().kind == '}' {
			p.advance()
			return p.enclosedOperand(Vector, t, len(p.operands), true)
		}
		return p.vector(true)
	case name:
		if p.textOf(t) == "WARP_SZ" {
			break
		}
		return p.symbol()
	case number:
		ahead := p.scan
		if ahead.next().kind != '(' {
			break
		}
		// a part of an address: 0xFF00(symbol)
		mask := p.textOf(t)
		p.advance()
		open := p.tok
		p.advance()
		var x Operand
		ok := true
		if p.tok.kind == name {
			x, ok = p.symbol()
		} else {
			x, ok = p.constant()
		}
		if !ok || !p.close(open, `")"`) {
			return x, false
		}
		y := p.node(Call, mask, x)
		y.Span = Span{t.at, p.last}
		return y, true
	}
	return p.constant()
}

// symbol parses the address of a symbol in an initializer: name, name+offset, generic(name) or
// generic(name)+offset. It also parses field = value, which initializes a variable of an opaque
// type.
func (p *parser) symbol() (Operand, bool) {
	t := p.tok
	if isReserved(p.textOf(t)) {
		p.reportUnexpected("an initial value")
		return Operand{}, false
	}
	x := p.leaf(Name)
	switch {
	case p.tok.kind == '(' && x.Text == "generic":
		open := p.tok
		p.advance()
		if p.tok.kind != name || isReserved(p.textOf(p.tok)) {
			p.reportUnexpected("a variable or a function")
			return x, false
		}
		y := p.leaf(Name)
		if !p.close(open, `")"`) {
			return x, false
		}
		x = p.node(Call, "generic", y)
		x.Span = Span{t.at, p.last}
	case p.tok.kind == '=':
		p.advance()
		var y Operand
		ok := true
		if p.tok.kind == name && !isReserved(p.textOf(p.tok)) {
			y = p.leaf(Name)
		} else {
			y, ok = p.constant()
		}
		return p.node(Binary, "=", x, y), ok
	}
	if p.tok.kind == '+' {
		return p.offset(x)
	}
	return x, true
}
