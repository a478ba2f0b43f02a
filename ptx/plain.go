// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package ptx

import "github.com/ptxdsl/ptxdsl/internal/slab"

// Nearly all lines of a module are instructions in the form that compilers emit: on one line,
// with registers, numbers, vectors of these, and addresses that consist of a register and an
// offset. Most other lines are debug data, with one number per line. The functions in this file
// parse such plain lines directly from the text, without tokens. For other lines they read
// nothing and report no errors; the parser, which handles the whole grammar, then parses the line
// and reports errors.

// Limits for the number of operands of a plain instruction, and of elements of a plain vector.
const (
	plainOperands = 12
	plainElements = 64
)

// notPlain is the result for text that is not a plain instruction or operand.
const notPlain = -1

// plainInstr parses the rest of an instruction that starts at start, and pushes its node. op, the
// current token, is the opcode. It returns false if the instruction is not plain.
func (p *parser) plainInstr(start Pos, guard Guard, op token) bool {
	text, i := p.scan.text, int(op.to)
	opcode := text[op.at:op.to]
	if isReserved(opcode) || isCall(opcode) {
		return false
	}
	args := slab.Room(&p.args, plainOperands)
	n, i := p.plainOperands(args, i)
	if i == notPlain {
		clear(args[:n]) // slab.Room requires that unused values are zero
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
	p.pushNode(in)
	p.scan.at, p.tok.to = i+1, Pos(i+1)
	p.advance()
	return true
}

// plainOperands parses operands into args, up to the semicolon. It returns their number and the
// position of the semicolon, or notPlain.
func (p *parser) plainOperands(args []Operand, i int) (n, end int) {
	text := p.scan.text
	for n < len(args) {
		for i < len(text) && (text[i] == ' ' || text[i] == '\t') {
			i++
		}
		n++
		if i = p.plainOperand(i, &args[n-1]); i == notPlain || i == len(text) {
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
	return n, notPlain
}

// plainOperand parses the operand at i into x and returns its end, or notPlain.
func (p *parser) plainOperand(i int, x *Operand) int {
	text := p.scan.text
	if i >= len(text) {
		return notPlain
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
	return notPlain
}

// plainName parses a name that is not reserved.
func plainName(text string, i int, x *Operand) int {
	end := i + 1
	for end < len(text) && classes[text[end]]&inWord != 0 {
		end++
	}
	if end == i+1 && (text[i] == '%' || text[i] == '$') || isReserved(text[i:end]) {
		return notPlain
	}
	x.set(Name, text, i, end)
	return end
}

// plainField parses a name that may have a field, as %tid.x has.
func plainField(text string, i int, x *Operand) int {
	end := plainName(text, i, x)
	if end != notPlain && end+1 < len(text) && text[end] == '.' && text[end+1] >= 'w' &&
		text[end+1] <= 'z' {
		end += 2
		x.set(Name, text, i, end)
	}
	return end
}

// set makes x an operand that consists of the text from at to before to. Setting the fields
// separately is cheaper than assigning a whole operand while the garbage collector runs.
func (x *Operand) set(k OperandKind, text string, at, to int) {
	x.At, x.To, x.Kind, x.Text = Pos(at), Pos(to), k, text[at:to]
}

// plainNumber parses a number. The number ends before a byte that cannot continue it.
func plainNumber(text string, i int, x *Operand) int {
	end := 0
	if text[i] == '0' {
		if end = numberEnd(text, i); end < 0 {
			return notPlain
		}
	} else {
		end = digitsEnd(text, i+1)
	}
	x.set(Literal, text, i, end)
	return end
}

// plainNegative parses a minus sign and the digits after it.
func (p *parser) plainNegative(i int, x *Operand) int {
	text := p.scan.text
	if i+1 >= len(text) || text[i+1] <= '0' || text[i+1] > '9' {
		return notPlain
	}
	digits := slab.Many(&p.parts, 1)
	end := plainNumber(text, i+1, &digits[0])
	x.set(Unary, text, i, i+1)
	x.To, x.Args = Pos(end), digits
	return end
}

// plainAddress parses [name], [name+number] or [name+-number].
func (p *parser) plainAddress(i int, x *Operand) int {
	text := p.scan.text
	if i+1 >= len(text) || leads[text[i+1]] != leadLetter {
		return notPlain
	}
	parts := slab.Room(&p.parts, 3)
	end := plainName(text, i+1, &parts[0])
	if end == notPlain || end == len(text) {
		return notPlain
	}
	switch text[end] {
	case ']':
		slab.Many(&p.parts, 1)
	case '+':
		plus := end
		parts[1].set(Name, text, i+1, plus)
		slab.Many(&p.parts, 3)
		if end++; end == len(text) {
			return notPlain
		}
		switch c := text[end]; {
		case classes[c]&digit != 0:
			end = plainNumber(text, end, &parts[2])
		case c == '-':
			end = p.plainNegative(end, &parts[2])
		default:
			return notPlain
		}
		if end == notPlain || end == len(text) || text[end] != ']' || isHexFloat(parts[2]) {
			return notPlain
		}
		parts[0].set(Binary, text, plus, plus+1)
		parts[0].At, parts[0].To, parts[0].Args = Pos(i+1), Pos(end), parts[1:3:3]
	default:
		return notPlain
	}
	x.set(Address, text, i, i)
	x.To, x.Args = Pos(end+1), parts[:1:1]
	return end + 1
}

// plainVector parses {a, b}, whose elements are names and numbers.
func (p *parser) plainVector(i int, x *Operand) int {
	text := p.scan.text
	parts := slab.Room(&p.parts, plainElements)
	end, n := i+1, 0
	for n < len(parts) {
		for end < len(text) && text[end] == ' ' {
			end++
		}
		if end == len(text) {
			return notPlain
		}
		switch leads[text[end]] {
		case leadLetter:
			end = plainName(text, end, &parts[n])
		case leadDigit:
			end = plainNumber(text, end, &parts[n])
		default:
			return notPlain
		}
		n++
		for end != notPlain && end < len(text) && text[end] == ' ' {
			end++
		}
		if end == notPlain || end == len(text) {
			return notPlain
		}
		switch text[end] {
		case '}':
			x.set(Vector, text, i, i)
			x.To, x.Args = Pos(end+1), slab.Many(&p.parts, n)
			return end + 1
		case ',':
			end++
		default:
			return notPlain
		}
	}
	return notPlain
}

// plainData parses a line of data with one number. The current token is its type.
func (p *parser) plainData() bool {
	text, i := p.scan.text, int(p.tok.to)
	if i+1 >= len(text) || text[i] != ' ' || leads[text[i+1]] != leadDigit {
		return false
	}
	line := slab.Room(&p.lines, 1)
	x := &line[0].arg[0]
	end := plainNumber(text, i+1, x)
	if end == notPlain || end == len(text) || text[end] != '\n' || !isInteger(x.Text) ||
		continues(text, end) {
		return false
	}
	d := &slab.Many(&p.lines, 1)[0].Data
	d.At, d.To = p.tok.at, Pos(end)
	d.Type.Span, d.Type.Text = Span{p.tok.at, p.tok.to}, p.textOf(p.tok)
	d.Args = line[0].arg[:]
	p.pushNode(d)
	p.scan.at, p.tok.to = end, Pos(end)
	p.advance()
	return true
}

// continues reports whether a comma follows the white space at i, or may follow after a comment.
func continues(text string, i int) bool {
	for i < len(text) && (leads[text[i]] == leadBlank || leads[text[i]] == leadLine) {
		i++
	}
	return i < len(text) && (text[i] == ',' || text[i] == '/')
}

// A dataLine is a line of data with one number.
type dataLine struct {
	Data
	arg [1]Operand
}
