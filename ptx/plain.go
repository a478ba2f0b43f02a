// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package ptx

import "github.com/ptxdsl/ptxdsl/internal/slab"

// Nearly all of a module is instructions as compilers write them: on one line, of registers, numbers, vectors of
// those, and addresses of a register and an offset; what is left is mostly debug data, a number on each line.
// They are read here straight from the text, without tokens. Whatever looks otherwise is left to the parser,
// which has the whole grammar and the messages: the functions of this file give up, with nothing read, and
// never report.

// Room for the operands of a plain instruction, and for the elements of a plain vector.
const (
	plainOperands = 12
	plainElements = 64
)

// none is the end of what is not plain.
const none = -1

// plain reads the rest of an instruction that begins at start, behind op, the current token, and puts it on the
// node stack. It reports false if it is not plain.
func (p *parser) plain(start Pos, guard Guard, op token) bool {
	text, i := p.scan.text, int(op.to)
	opcode := text[op.at:op.to]
	if reserved(opcode) || isCall(opcode) {
		return false
	}
	args := slab.Room(&p.args, plainOperands)
	n, i := p.plainOperands(args, i)
	if i == none {
		clear(args[:n]) // room is to be handed out as it was
		return false
	}
	in := slab.One(&p.instrs)
	in.Span = Span{start, Pos(i + 1)}
	in.Guard.Span = guard.Span
	if guard.Text != "" {
		in.Guard = guard
	}
	in.Op.Span, in.Op.Text = Span{op.at, op.to}, opcode
	in.Args = slab.Many(&p.args, n)
	p.keep(in)
	p.scan.at, p.tok.to = i+1, Pos(i+1)
	p.advance()
	return true
}

// plainOperands reads operands into args, up to the semicolon. It gives their number and where the semicolon is.
func (p *parser) plainOperands(args []Operand, i int) (n, end int) {
	text := p.scan.text
	for n < len(args) {
		for i < len(text) && (text[i] == ' ' || text[i] == '\t') {
			i++
		}
		n++
		if i = p.plainOperand(i, &args[n-1]); i == none || i == len(text) {
			break
		}
		if text[i] == ';' {
			return n, i
		}
		if text[i] != ',' {
			break
		}
		i++
	}
	return n, none
}

// plainOperand reads the operand at i into x and gives its end.
func (p *parser) plainOperand(i int, x *Operand) int {
	text := p.scan.text
	if i >= len(text) {
		return none
	}
	switch leads[text[i]] {
	case leadLetter:
		return plainField(text, i, x)
	case leadDigit:
		return plainNumber(text, i, x)
	}
	switch text[i] {
	case '[':
		return p.plainAddress(i, x)
	case '{':
		return p.plainVector(i, x)
	case '-':
		return p.plainNegative(i, x)
	}
	return none
}

// plainName reads a name that is not one of the reserved words.
func plainName(text string, i int, x *Operand) int {
	end := i + 1
	for end < len(text) && classes[text[end]]&inWord != 0 {
		end++
	}
	if end == i+1 && (text[i] == '%' || text[i] == '$') || reserved(text[i:end]) {
		return none
	}
	x.set(Name, text, i, end)
	return end
}

// plainField reads a name that may have a field, as %tid.x has.
func plainField(text string, i int, x *Operand) int {
	end := plainName(text, i, x)
	if end != none && end+1 < len(text) && text[end] == '.' && text[end+1] >= 'w' && text[end+1] <= 'z' {
		end += 2
		x.set(Name, text, i, end)
	}
	return end
}

// set makes x, that has no arguments, the word of text from at to just before to. It writes field by field, which
// costs less than a whole operand while the collector runs.
func (x *Operand) set(k OperandKind, text string, at, to int) {
	x.At, x.To, x.Kind, x.Text = Pos(at), Pos(to), k, text[at:to]
}

// plainNumber reads a number. What can follow one decides whether it ends where it seems to.
func plainNumber(text string, i int, x *Operand) int {
	end := 0
	if text[i] == '0' {
		if end = numberEnd(text, i); end < 0 {
			return none
		}
	} else {
		end = digitsEnd(text, i+1)
	}
	x.set(Literal, text, i, end)
	return end
}

// plainNegative reads - and the digits behind it.
func (p *parser) plainNegative(i int, x *Operand) int {
	text := p.scan.text
	if i+1 >= len(text) || text[i+1] <= '0' || text[i+1] > '9' {
		return none
	}
	digits := slab.Many(&p.parts, 1)
	end := plainNumber(text, i+1, &digits[0])
	x.set(Unary, text, i, i+1)
	x.To, x.Args = Pos(end), digits
	return end
}

// plainAddress reads [name], [name+number] or [name+-number].
func (p *parser) plainAddress(i int, x *Operand) int {
	text := p.scan.text
	if i+1 >= len(text) || leads[text[i+1]] != leadLetter {
		return none
	}
	parts := slab.Room(&p.parts, 3)
	end := plainName(text, i+1, &parts[0])
	if end == none || end == len(text) {
		return none
	}
	switch text[end] {
	case ']':
		slab.Many(&p.parts, 1)
	case '+':
		plus := end
		parts[1].set(Name, text, i+1, plus)
		slab.Many(&p.parts, 3)
		if end++; end == len(text) {
			return none
		}
		switch c := text[end]; {
		case classes[c]&digit != 0:
			end = plainNumber(text, end, &parts[2])
		case c == '-':
			end = p.plainNegative(end, &parts[2])
		default:
			return none
		}
		if end == none || end == len(text) || text[end] != ']' || isHexFloat(parts[2]) {
			return none
		}
		parts[0].set(Binary, text, plus, plus+1)
		parts[0].At, parts[0].To, parts[0].Args = Pos(i+1), Pos(end), parts[1:3:3]
	default:
		return none
	}
	x.set(Address, text, i, i)
	x.To, x.Args = Pos(end+1), parts[:1:1]
	return end + 1
}

// plainVector reads {a, b}, of names and numbers.
func (p *parser) plainVector(i int, x *Operand) int {
	text := p.scan.text
	parts := slab.Room(&p.parts, plainElements)
	end, n := i+1, 0
	for n < len(parts) {
		for end < len(text) && text[end] == ' ' {
			end++
		}
		if end == len(text) {
			return none
		}
		switch leads[text[end]] {
		case leadLetter:
			end = plainName(text, end, &parts[n])
		case leadDigit:
			end = plainNumber(text, end, &parts[n])
		default:
			return none
		}
		n++
		for end != none && end < len(text) && text[end] == ' ' {
			end++
		}
		if end == none || end == len(text) {
			return none
		}
		switch text[end] {
		case '}':
			x.set(Vector, text, i, i)
			x.To, x.Args = Pos(end+1), slab.Many(&p.parts, n)
			return end + 1
		case ',':
			end++
		default:
			return none
		}
	}
	return none
}

// plainData reads a line of one number behind the type, the current token.
func (p *parser) plainData() bool {
	text, i := p.scan.text, int(p.tok.to)
	if i+1 >= len(text) || text[i] != ' ' || leads[text[i+1]] != leadDigit {
		return false
	}
	line := slab.Room(&p.lines, 1)
	x := &line[0].arg[0]
	end := plainNumber(text, i+1, x)
	if end == none || end == len(text) || text[end] != '\n' || !isInteger(x.Text) || goesOn(text, end) {
		return false
	}
	d := &slab.Many(&p.lines, 1)[0].Data
	d.At, d.To = p.tok.at, Pos(end)
	d.Type.Span, d.Type.Text = Span{p.tok.at, p.tok.to}, p.textOf(p.tok)
	d.Args = line[0].arg[:]
	p.keep(d)
	p.scan.at, p.tok.to = end, Pos(end)
	p.advance()
	return true
}

// goesOn reports whether a comma follows the white space at i, or perhaps does, behind a comment.
func goesOn(text string, i int) bool {
	for i < len(text) && (leads[text[i]] == leadBlank || leads[text[i]] == leadLine) {
		i++
	}
	return i < len(text) && (text[i] == ',' || text[i] == '/')
}

// A dataLine is a line of one number.
type dataLine struct {
	Data
	arg [1]Operand
}
