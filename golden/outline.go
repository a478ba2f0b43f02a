// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package golden

import (
	"slices"
	"strings"

	"github.com/ptxdsl/ptxdsl/ptx"
)

// A line is a line of a module's outline: what is compared, and what is shown.
type line struct {
	in    string   // the function that it belongs to, "" for none
	shape string   // without the names that do not count
	names []string // those names: registers and labels, in their order
	text  string   // as written
	at    int      // line of the module's text
	parts statement
}

// A statement is an instruction or a directive, taken apart.
type statement struct {
	Guard []part // none or one
	Op    string
	Args  []part
}

// A part is an operand, or part of one.
type part struct {
	Text  string
	Name  bool // Text is a name that does not count
	Parts []part
}

// leaves is the number of names and constants in s.
func (s *statement) leaves() int {
	n := 0
	var count func(list []part)
	count = func(list []part) {
		for _, p := range list {
			if p.Parts == nil {
				n++
			}
			count(p.Parts)
		}
	}
	count(s.Args)
	return n
}

func shapes(list []line) []string {
	out := make([]string, len(list))
	for i, l := range list {
		out[i] = l.shape
	}
	return out
}

// outline is a module as lines to compare: declarations sorted, instructions in their order.
func outline(f *ptx.File) []line {
	o := &outliner{f: f}
	var head, variables []line
	for _, n := range f.Decls {
		switch n := n.(type) {
		case *ptx.Func:
			continue
		case *ptx.Var:
			variables = append(variables, o.plain(n))
		default:
			head = append(head, o.plain(n))
		}
	}
	sorted(variables)
	list := append(head, variables...)
	for _, n := range f.Decls {
		if fn, ok := n.(*ptx.Func); ok {
			list = append(list, o.function(fn)...)
		}
	}
	return list
}

func sorted(list []line) {
	slices.SortStableFunc(list, func(a, b line) int { return strings.Compare(a.shape, b.shape) })
}

// An outliner makes the lines of a file.
type outliner struct {
	f      *ptx.File
	in     string
	labels map[string]bool
	types  map[string]string // of registers by name, or by letters for ranges
}

// plain is a statement whose names all count.
func (o *outliner) plain(n ptx.Node) line { return o.words(n.Pos(), n.End()) }

func (o *outliner) words(from, to ptx.Pos) line {
	text := strings.Join(strings.Fields(o.f.Text[from:to]), " ")
	return line{in: o.in, shape: text, text: text, at: o.f.Place(from, from).Line}
}

// function is the head of a function, a line for each parameter and directive, and its body.
func (o *outliner) function(n *ptx.Func) []line {
	o.in, o.labels, o.types = n.Name.Text, make(map[string]bool), make(map[string]string)
	defer func() { o.in = "" }()
	list := o.head(n)
	if n.Body == nil {
		return list
	}
	o.collect(n.Body)
	var variables, code []line
	o.block(n.Body, &variables, &code)
	sorted(variables)
	return append(append(list, variables...), code...)
}

// head is what stands before a body: the name, and a line for each parameter and each directive.
func (o *outliner) head(n *ptx.Func) []line {
	end := n.End()
	if n.Body != nil {
		end = n.Body.Pos()
	}
	var parts []ptx.Node
	for _, p := range n.Params {
		parts = append(parts, p)
	}
	for _, a := range n.Attrs {
		if a.Pos() > n.Name.Pos() {
			parts = append(parts, a)
		}
	}
	if len(parts) > 0 {
		end = parts[0].Pos()
	}
	first := o.words(n.Pos(), end)
	first.text = strings.TrimSpace(strings.TrimRight(first.text, "( "))
	first.shape = first.text
	list := []line{first}
	for _, p := range parts {
		l := o.plain(p)
		l.text = "\t" + l.text
		list = append(list, l)
	}
	return list
}

// collect learns the labels of a block, and the types of its registers.
func (o *outliner) collect(b *ptx.Block) {
	for _, n := range b.Stmts {
		switch n := n.(type) {
		case *ptx.Var:
			if n.Space.Text == ".reg" {
				for _, d := range n.Names {
					o.types[d.Name.Text] = n.Type.Text
				}
			}
		case *ptx.Label:
			o.labels[n.Name.Text] = true
		case *ptx.Block:
			o.collect(n)
		}
	}
}

// block collects the declarations of a block and its code.
func (o *outliner) block(b *ptx.Block, variables, code *[]line) {
	for _, n := range b.Stmts {
		switch n := n.(type) {
		case *ptx.Var:
			if n.Space.Text != ".reg" {
				*variables = append(*variables, o.plain(n))
			}
		case *ptx.Label:
			*code = append(*code, line{in: o.in, shape: "label:", names: []string{n.Name.Text}, text: n.Name.Text + ":", at: o.f.PlaceOf(n).Line})
		case *ptx.Instr:
			*code = append(*code, o.instr(n))
		case *ptx.Block:
			o.block(n, variables, code)
		case *ptx.Directive:
			if n.Name.Text != ".loc" { // where code comes from is no part of it
				*code = append(*code, o.statement(n, n.Name.Text, n.Args))
			}
		default:
			*code = append(*code, o.plain(n))
		}
	}
}

func (o *outliner) instr(n *ptx.Instr) line {
	l := o.statement(n, n.Op.Text, n.Args)
	l.text = "\t" + l.text
	if g := n.Guard; g.Text != "" {
		mark := "@"
		if g.Not {
			mark = "@!"
		}
		kind, _, _ := o.free(g.Text)
		l.shape = mark + kind + " " + l.shape
		l.names = append([]string{g.Text}, l.names...)
		l.parts.Guard = []part{{Text: mark, Parts: []part{{Text: g.Text, Name: true}}}}
	}
	return l
}

// statement is a statement with operands.
func (o *outliner) statement(n ptx.Node, op string, args []ptx.Operand) line {
	l := o.plain(n)
	l.parts = statement{Op: op}
	var b strings.Builder
	b.WriteString(op)
	for i := range args {
		b.WriteByte(' ')
		l.parts.Args = append(l.parts.Args, o.operand(&args[i], &b, &l.names))
	}
	l.shape = b.String()
	return l
}

// operand writes the shape of an operand, and keeps the names in it.
func (o *outliner) operand(x *ptx.Operand, shape *strings.Builder, names *[]string) part {
	if len(x.Args) == 0 {
		p := part{Text: x.Text}
		kind, field, free := "", "", false
		if x.Kind == ptx.Name {
			kind, field, free = o.free(x.Text)
		}
		if !free {
			shape.WriteString(x.Text)
			return p
		}
		shape.WriteString(kind + field)
		p.Text, p.Name = strings.TrimSuffix(x.Text, field), true
		*names = append(*names, p.Text)
		return p
	}
	p := part{Text: x.Text}
	shape.WriteString(kindMark(x.Kind) + x.Text + "(")
	for i := range x.Args {
		shape.WriteByte(' ')
		p.Parts = append(p.Parts, o.operand(&x.Args[i], shape, names))
	}
	shape.WriteByte(')')
	return p
}

// kindMark tells groups of operands apart: [a], {a} and (a).
func kindMark(k ptx.OperandKind) string { return string(rune('A' + int(k))) }

// free reports whether a name does not count: that of a register, whose type does, or of a label. The field
// is what follows a register's name, .x or .h1, which counts.
func (o *outliner) free(text string) (kind, field string, ok bool) {
	base := text
	if i := strings.IndexByte(text, '.'); i > 0 {
		base, field = text[:i], text[i:]
	}
	if t, ok := o.types[base]; ok {
		return "register" + t, field, true
	}
	if letters := strings.TrimRight(base, "0123456789"); letters != base {
		if t, ok := o.types[letters]; ok {
			return "register" + t, field, true
		}
	}
	if o.labels[text] {
		return "label", "", true
	}
	return "", "", false
}
