// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package ptx

// word prints a word at its place, after the comments before it.
func (p *printer) word(w Word) {
	p.interior(w.At)
	p.put(w.Text)
}

// operands prints a list with commas.
func (p *printer) operands(list []Operand) {
	for i := range list {
		if i > 0 {
			p.put(", ")
		}
		p.operand(&list[i], false)
	}
}

// operand prints an operand. Operators are tight in addresses and indexes, where offsets are part of a name,
// and spaced elsewhere.
func (p *printer) operand(x *Operand, tight bool) {
	p.interior(x.At)
	switch x.Kind {
	case Empty:
	case Name, Literal, String:
		p.put(x.Text)
	case Unary:
		p.put(x.Text)
		p.operand(&x.Args[0], tight)
	case Binary:
		p.operand(&x.Args[0], tight)
		if tight {
			p.put(x.Text)
		} else {
			p.put(" ")
			p.put(x.Text)
			p.put(" ")
		}
		p.operand(&x.Args[1], tight)
	case Cond:
		p.operand(&x.Args[0], tight)
		p.put(" ? ")
		p.operand(&x.Args[1], tight)
		p.put(" : ")
		p.operand(&x.Args[2], tight)
	case Cast:
		p.put("(")
		p.put(x.Text)
		p.put(")")
		p.operand(&x.Args[0], tight)
	case Paren:
		p.put("(")
		p.operand(&x.Args[0], tight)
		p.put(")")
	case Vector:
		p.put("{")
		p.operands(x.Args)
		p.put("}")
	case Address:
		p.put("[")
		for i := range x.Args {
			if i > 0 {
				p.put(", ")
			}
			p.operand(&x.Args[i], true)
		}
		p.put("]")
		p.put(x.Text) // .unified
	case Pair:
		p.operand(&x.Args[0], true)
		p.put("|")
		p.operand(&x.Args[1], true)
	case List:
		p.put("(")
		p.operands(x.Args)
		p.put(")")
	case Index:
		p.operand(&x.Args[0], true)
		p.put("[")
		p.operand(&x.Args[1], true)
		p.put("]")
	case Call:
		p.put(x.Text)
		p.put("(")
		p.operands(x.Args)
		p.put(")")
	case Tuple:
		p.put(x.Text)
		p.put(" ")
		p.spaced(x.Args)
	}
}
