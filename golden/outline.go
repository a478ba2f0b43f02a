// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package golden

import (
	"slices"
	"strconv"
	"strings"

	"github.com/ptxdsl/ptxdsl/ptx"
)

// A line is a declaration or statement of a module, in the form in which it is compared and
// displayed.
type line struct {
	in    string   // name of the function that contains the line, or ""
	shape string   // text without the names of registers and labels
	names []string // names of registers and labels, in order
	text  string   // source text
	at    int      // line of the module's text
	parts statement
}

// A statement is a decomposed instruction or directive.
type statement struct {
	Guard []part // at most one element
	Op    string
	Args  []part
}

// A part is an operand, or a part of one such as a vector element.
type part struct {
	Text  string
	Name  bool // whether Text is the name of a register or label
	Parts []part
}

// leaves returns the number of names and constants among the operands of s.
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

// outline converts a module to the lines that are compared: declarations sorted, instructions in
// order.
func outline(f *ptx.File) []line {
	o := &outliner{f: f}
	var head, variables []line
	for _, n := range f.Decls {
		switch n := n.(type) {
		case *ptx.Func:
			continue
		case *ptx.Var:
			variables = append(variables, o.textLine(n))
		default:
			head = append(head, o.textLine(n))
		}
	}
	sortByShape(variables)
	list := append(head, variables...)
	for _, n := range f.Decls {
		if fn, ok := n.(*ptx.Func); ok {
			list = append(list, o.function(fn)...)
		}
	}
	return list
}

// sortByShape sorts lines by their shape, and keeps the order of lines with the same shape.
func sortByShape(list []line) {
	slices.SortStableFunc(list, func(a, b line) int { return strings.Compare(a.shape, b.shape) })
}

// An outliner creates the lines of a file.
type outliner struct {
	f      *ptx.File
	in     string
	scopes []map[string]declaration // declarations by scope of the function, innermost last
	times  map[string]int           // for each name, its number of declarations in the function
}

// A declaration is that of a label, of a register, or of a range of registers whose names start
// with the given name.
type declaration struct {
	kind  string
	index string // suffix of a repeated declaration of a name in the function, or ""
}

// textLine returns the line of a statement whose text must be equal.
func (o *outliner) textLine(n ptx.Node) line { return o.textRange(n.Pos(), n.End()) }

func (o *outliner) textRange(from, to ptx.Pos) line {
	text := strings.Join(strings.Fields(o.f.Text[from:to]), " ")
	return line{in: o.in, shape: text, text: text, at: o.f.Place(from, from).Line}
}

// function returns the lines of a function: those of its header, then those of its body.
func (o *outliner) function(n *ptx.Func) []line {
	o.in, o.times = n.Name.Text, make(map[string]int)
	defer func() { o.in = "" }()
	list := o.head(n)
	if n.Body == nil {
		return list
	}
	var variables, code []line
	o.block(n.Body, &variables, &code)
	sortByShape(variables)
	return append(append(list, variables...), code...)
}

// head returns the lines of a function's header: one for the name, and one for each parameter and
// directive.
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
	first := o.textRange(n.Pos(), end)
	first.text = strings.TrimSpace(strings.TrimRight(first.text, "( "))
	first.shape = first.text
	list := []line{first}
	for _, p := range parts {
		l := o.textLine(p)
		l.text = "\t" + l.text
		list = append(list, l)
	}
	return list
}

// addScope enters the scope of a block and records its labels and registers.
func (o *outliner) addScope(b *ptx.Block) {
	scope := make(map[string]declaration)
	declare := func(name, kind string) {
		d := declaration{kind: kind}
		if n := o.times[name]; n > 0 {
			d.index = "#" + strconv.Itoa(n)
		}
		o.times[name]++
		scope[name] = d
	}
	for _, n := range b.Stmts {
		switch n := n.(type) {
		case *ptx.Var:
			if n.Space.Text == ".reg" {
				for _, d := range n.Names {
					declare(d.Name.Text, "register"+n.Vec.Text+n.Type.Text)
				}
			}
		case *ptx.Label:
			declare(n.Name.Text, "label")
		}
	}
	o.scopes = append(o.scopes, scope)
}

// block appends the lines of a block's variables and code to the two lists.
func (o *outliner) block(b *ptx.Block, variables, code *[]line) {
	o.addScope(b)
	defer func() { o.scopes = o.scopes[:len(o.scopes)-1] }()
	for _, n := range b.Stmts {
		switch n := n.(type) {
		case *ptx.Var:
			if n.Space.Text != ".reg" {
				*variables = append(*variables, o.textLine(n))
			}
		case *ptx.Label:
			d, _ := o.lookup(n.Name.Text)
			*code = append(*code,
				line{in: o.in, shape: "label:", names: []string{n.Name.Text + d.index},
					text: n.Name.Text + ":", at: o.f.PlaceOf(n).Line})
		case *ptx.Instr:
			*code = append(*code, o.instr(n))
		case *ptx.Block:
			o.block(n, variables, code)
		case *ptx.Directive:
			if n.Name.Text != ".loc" { // .loc directives are not compared
				*code = append(*code, o.statement(n, n.Name.Text, n.Args))
			}
		default:
			*code = append(*code, o.textLine(n))
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
		d, _, _ := o.isFreeName(g.Text)
		l.shape = mark + d.kind + " " + l.shape
		l.names = append([]string{g.Text + d.index}, l.names...)
		l.parts.Guard = []part{{Text: mark, Parts: []part{{Text: g.Text + d.index, Name: true}}}}
	}
	return l
}

// statement returns the line of a statement with operands.
func (o *outliner) statement(n ptx.Node, op string, args []ptx.Operand) line {
	l := o.textLine(n)
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

// operand writes the shape of an operand, and appends its register and label names to names.
func (o *outliner) operand(x *ptx.Operand, shape *strings.Builder, names *[]string) part {
	if len(x.Args) == 0 {
		p := part{Text: x.Text}
		var d declaration
		field, free := "", false
		if x.Kind == ptx.Name {
			d, field, free = o.isFreeName(x.Text)
		}
		if !free {
			shape.WriteString(x.Text)
			return p
		}
		shape.WriteString(d.kind + field)
		p.Text, p.Name = strings.TrimSuffix(x.Text, field)+d.index, true
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

// kindMark returns a letter for the kind of a group of operands, such as [a], {a} and (a).
func kindMark(k ptx.OperandKind) string { return string(rune('A' + int(k))) }

// isFreeName reports whether a name may differ between the modules, because it is a register,
// whose type must match, or a label. The field after a register's name, such as .x or .h1, must
// match.
func (o *outliner) isFreeName(text string) (d declaration, field string, ok bool) {
	base := text
	if i := strings.IndexByte(text, '.'); i > 0 {
		base, field = text[:i], text[i:]
	}
	d, ok = o.lookup(base)
	return d, field, ok
}

// lookup returns the declaration of a name, or of the range of registers to which the name
// belongs.
func (o *outliner) lookup(name string) (declaration, bool) {
	letters := strings.TrimRight(name, "0123456789")
	for i := len(o.scopes) - 1; i >= 0; i-- {
		if d, ok := o.scopes[i][name]; ok {
			return d, true
		}
		if d, ok := o.scopes[i][letters]; ok && d.kind != "label" {
			return d, true
		}
	}
	return declaration{}, false
}
