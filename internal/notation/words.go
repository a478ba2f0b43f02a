// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package notation

import (
	"fmt"
	"strings"

	"github.com/ptxdsl/ptxdsl/isa"
)

// Kind describes in words what an operand kind accepts.
func (w Words) Kind(f *isa.Form, k *isa.OperandKind, access isa.Access) string {
	t := typeText(f, k.Type)
	s := ""
	kind := k.Word
	if kind == isa.KValue && access != isa.Read {
		kind = isa.KReg
	}
	switch kind {
	case isa.KValue:
		s = strings.TrimSpace(t + " register or constant")
		if k.Relax {
			s = t + " register, or wider and of any class"
		}
	case isa.KReg:
		s = strings.TrimSpace(t + " register")
		if k.Relax {
			s += ", or wider and of any class"
		}
	case isa.KImm:
		s = strings.TrimSpace(t + " constant")
	case isa.KPred:
		s = "predicate"
		if access == isa.Read {
			s += ", may be negated"
		}
	case isa.KSreg:
		s = "special register"
	case isa.KSym:
		s = "variable"
	case isa.KLabel:
		s = "label"
	case isa.KFunc:
		s = "function"
	case isa.KTexref:
		s = "texture, by name or 64-bit handle"
	case isa.KSampler:
		s = "sampler, by name or 64-bit handle"
	case isa.KSurfref:
		s = "surface, by name or 64-bit handle"
	case isa.KSink:
		s = "_"
	case isa.KMem:
		s = w.space(f, k.Space)
	case isa.KParts:
		s = "vector of parts"
	case isa.KRets:
		s = "list of results"
	case isa.KArgs:
		s = "list of arguments"
	case isa.KProto:
		s = "prototype or list of functions"
	case isa.KTargets:
		s = "list of labels"
	default:
		s = "anything"
	}
	if len(k.Range) > 0 {
		s += " " + rangeText(k.Range)
	}
	return s + countText(f, k.Count)
}

func typeText(f *isa.Form, t isa.TypeRef) string {
	word := t.Type.String()
	if t.Slot >= 0 {
		word = f.Slots[t.Slot].Name
	} else if bits, ok := strings.CutPrefix(word, ".i"); ok {
		// .i32 is a type of the tables, not of PTX
		word = bits + "-bit integer"
	}
	switch {
	case word == "":
		return ""
	case t.Scale == 4:
		return "twice as wide as " + word + ","
	case t.Scale == 1:
		return "half as wide as " + word + ","
	}
	return word
}

// space describes an address in a state space.
func (w Words) space(f *isa.Form, s isa.SpaceRef) string {
	var generic isa.Space
	text := "address in " + s.Space.String()
	switch {
	case s.Slot >= 0 && len(f.Slots[s.Slot].Values) == 1:
		text = "address in " + w.Word(f.Slots[s.Slot].Values[0].Mod)
	case s.Slot >= 0:
		text = "address in the space of " + f.Slots[s.Slot].Name
	case s.Space == generic:
		text = "generic address"
	}
	if s.Symbols != generic {
		text += ", or a variable in " + s.Symbols.String()
	}
	return text
}

func rangeText(list []isa.Span) string {
	words := make([]string, len(list))
	for i, s := range list {
		words[i] = fmt.Sprintf("%d to %d", s.Low, s.High)
		if s.Low == s.High {
			words[i] = fmt.Sprint(s.Low)
		}
		if s.Step > 1 {
			words[i] += fmt.Sprintf(" in steps of %d", s.Step)
		}
	}
	return strings.Join(words, " or ")
}

func countText(f *isa.Form, c isa.Count) string {
	switch c.From {
	case isa.Fixed:
		return fmt.Sprintf(", vector of %d", c.N)
	case isa.FromSlot:
		return ", vector of " + f.Slots[c.N].Name
	case isa.FromTable:
		return ", vector of " + f.Tables[c.In].Names[c.N]
	}
	return ""
}

// Table formats a table of valid combinations: the names of its columns, then its rows.
func (w Words) Table(f *isa.Form, t *isa.Table) []string {
	out := []string{"(" + strings.Join(w.Columns(f, t), " ") + ") is one of"}
	for _, r := range t.Rows {
		var cells []string
		for _, cell := range r.Cells {
			cells = append(cells, w.Cell(cell))
		}
		row := strings.Join(cells, " ")
		for i, n := range r.Lengths {
			if i == 0 {
				row += " gives"
			}
			row += fmt.Sprintf(" %s=%d", t.Names[i], n)
		}
		if g := Gate(r.Gate); g != "" {
			row += " [" + g + "]"
		}
		out = append(out, row)
	}
	return out
}

// Columns returns the names of the columns of a table.
func (w Words) Columns(f *isa.Form, t *isa.Table) []string {
	var out []string
	for _, c := range t.Columns {
		if c.Slot >= 0 {
			out = append(out, f.Slots[c.Slot].Name)
		} else {
			out = append(out, w.Word(c.Mod))
		}
	}
	return out
}

// Cell returns the modifiers that a table cell allows, separated by vertical bars.
func (w Words) Cell(cell []isa.Mod) string {
	if cell == nil {
		return "*"
	}
	words := make([]string, len(cell))
	for i, m := range cell {
		words[i] = w.Word(m)
		if m == isa.NoMod {
			words[i] = "-"
		}
	}
	if len(words) == 1 {
		return words[0]
	}
	return "(" + strings.Join(words, " ") + ")"
}

// Never is the text of a condition that is never true, because it refers to a modifier that only
// other forms of the instruction have.
const Never = "never"

// Expr formats a condition in the notation of the spec.
func (w Words) Expr(f *isa.Form, x isa.Expr) string {
	type part struct {
		text string
		rank int // operator precedence
	}
	var stack []part
	pop := func() part {
		p := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		return p
	}
	in := func(p part, rank int) string {
		if p.rank < rank {
			return "(" + p.text + ")"
		}
		return p.text
	}
	two := func(op string, rank int) {
		b, a := pop(), pop()
		switch {
		case op == " & " && (a.text == Never || b.text == Never):
			stack = append(stack, part{Never, 9})
			return
		case op == " | " && a.text == Never:
			stack = append(stack, b)
			return
		case op == " | " && b.text == Never:
			stack = append(stack, a)
			return
		}
		stack = append(stack, part{in(a, rank) + op + in(b, rank), rank})
	}
	for _, op := range x {
		switch op.Code {
		case isa.OpMod:
			text := Never
			if op.N >= 0 {
				text = w.Word(isa.Mod(op.N))
			}
			stack = append(stack, part{text, 9})
		case isa.OpSlot:
			stack = append(stack, part{f.Slots[op.N].Name, 9})
		case isa.OpOperand:
			stack = append(stack, part{operandNamed(f.Operands, op.N), 9})
		case isa.OpAtMost:
			stack = append(stack,
				part{operandNamed(f.Operands, op.N) + " <= " + operandNamed(f.Operands, op.M), 9})
		case isa.OpNot:
			stack = append(stack, part{"!" + in(pop(), 8), 8})
		case isa.OpAnd:
			two(" & ", 3)
		case isa.OpOr:
			two(" | ", 2)
		default:
			two(" -> ", 1)
		}
	}
	if len(stack) == 0 {
		return "anything"
	}
	return stack[0].text
}

// operandNamed returns the name of the operand with the given ID.
func operandNamed(list []isa.Operand, id int) string {
	for _, o := range list {
		if o.ID == id && o.Inside == nil {
			return o.Name
		}
		inside := o.Inside
		for _, k := range o.Kinds {
			inside = append(inside[:len(inside):len(inside)], k.Parts...)
		}
		if o.Pair != nil {
			inside = append(inside[:len(inside):len(inside)], *o.Pair)
		}
		if s := operandNamed(inside, id); s != "" {
			return s
		}
	}
	return ""
}
