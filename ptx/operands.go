// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package ptx

// word prints a word and the comments before it.
func (p *printer) word(w Word) {
	p.interior(w.At)
	p.Put(w.Text)
}

// operands prints operands, separated by commas.
func (p *printer) operands(list []Operand) {
	p.Line = p.appendList(p.Line, list, false)
}

// appendList appends operands, separated by commas, to b.
func (p *printer) appendList(b []byte, list []Operand, tight bool) []byte {
	for i := range list {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = p.operand(b, &list[i], tight)
	}
	return b
}

// operand appends an operand to b. If tight is set, as in addresses and indices, operators are
// printed without spaces. The line is passed as a parameter for speed, because most of a module
// is operands.
func (p *printer) operand(b []byte, x *Operand, tight bool) []byte {
	if p.due < x.At {
		p.Line = b
		p.interior(x.At)
		b = p.Line
	}
	switch x.Kind {
	case Empty:
	case Name, Literal:
		b = append(b, x.Text...)
	case String:
		b = append(b, x.Text...)
		p.Foreign = true
	case Unary:
		b = append(b, x.Text...)
		b = p.operand(b, &x.Args[0], tight)
	case Binary:
		b = p.operand(b, &x.Args[0], tight)
		if tight {
			b = append(b, x.Text...)
		} else {
			b = append(b, ' ')
			b = append(b, x.Text...)
			b = append(b, ' ')
		}
		b = p.operand(b, &x.Args[1], tight)
	case Cond:
		b = p.operand(b, &x.Args[0], tight)
		b = append(b, " ? "...)
		b = p.operand(b, &x.Args[1], tight)
		b = append(b, " : "...)
		b = p.operand(b, &x.Args[2], tight)
	case Cast:
		b = append(b, '(')
		b = append(b, x.Text...)
		b = append(b, ')')
		b = p.operand(b, &x.Args[0], tight)
	case Paren:
		b = append(b, '(')
		b = p.operand(b, &x.Args[0], tight)
		b = append(b, ')')
	case Vector:
		b = append(b, '{')
		b = p.appendList(b, x.Args, false)
		b = append(b, '}')
	case Address:
		b = append(b, '[')
		b = p.appendList(b, x.Args, true)
		b = append(b, ']')
		b = append(b, x.Text...) // .unified
	case Pair:
		b = p.operand(b, &x.Args[0], true)
		b = append(b, '|')
		b = p.operand(b, &x.Args[1], true)
	case List:
		b = append(b, '(')
		b = p.appendList(b, x.Args, false)
		b = append(b, ')')
	case Index:
		b = p.operand(b, &x.Args[0], true)
		b = append(b, '[')
		b = p.operand(b, &x.Args[1], true)
		b = append(b, ']')
	case Call:
		b = append(b, x.Text...)
		b = append(b, '(')
		b = p.appendList(b, x.Args, false)
		b = append(b, ')')
	case Series:
		b = append(b, x.Text...)
		b = append(b, '<')
		b = p.operand(b, &x.Args[0], true)
		b = append(b, '>')
	case Tuple:
		b = append(b, x.Text...)
		b = append(b, ' ')
		b = p.spacedArgs(b, x.Args)
	}
	return b
}
