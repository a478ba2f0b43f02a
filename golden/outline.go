// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package golden

import (
	"slices"
	"strconv"
	"strings"

	"github.com/ptxdsl/ptxdsl/ptx"
)

// A line is a line of a module's outline, for comparison and display.
type line struct {
	in    string   // name of the function that contains it, or ""
	shape string   // text without the names of registers and labels
	names []string // these names in order
	text  string   // source text
	at    int      // line of the module's text
	parts statement
}

// A statement is a decomposed instruction or directive.
type statement struct {
	Guard []part // none or one
	Op    string
	Args  []part
}

// A part is an operand, or part of one.
type part struct {
	Text  string
	Name  bool // Text is the name of a register or label
	Parts []part
}

// leaves returns the number of names and constants in s.
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

// outline converts a module to lines to compare: declarations sorted, instructions in order.
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
	scopes []map[string]declared // scopes of the function, the innermost last
	times  map[string]int        // number of declarations of a name in the function
}

// A declared name is a label, a register, or a range of registers with this prefix.
type declared struct {
	kind  string
	which string // distinguishes several declarations of a name in a function; "" for the first
}

// plain returns the line of a statement that must be textually equal.
func (o *outliner) plain(n ptx.Node) line { return o.words(n.Pos(), n.End()) }

func (o *outliner) words(from, to ptx.Pos) line {
	text := strings.Join(strings.Fields(o.f.Text[from:to]), " ")
	return line{in: o.in, shape: text, text: text, at: o.f.Place(from, from).Line}
}

// function returns the lines of a function: its header, one for each parameter and directive, and
// its body.
func (o *outliner) function(n *ptx.Func) []line {
	o.in, o.times = n.Name.Text, make(map[string]int)
	defer func() { o.in = "" }()
	list := o.head(n)
	if n.Body == nil {
		return list
	}
	var variables, code []line
	o.block(n.Body, &variables, &code)
	sorted(variables)
	return append(append(list, variables...), code...)
}

// head returns the lines of a function's header: the name, and one for each parameter and
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

// open records the labels and registers of a scope.
func (o *outliner) open(b *ptx.Block) {
	scope := make(map[string]declared)
	declare := func(name, kind string) {
		d := declared{kind: kind}
		if n := o.times[name]; n > 0 {
			d.which = "#" + strconv.Itoa(n)
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

// block collects the declarations of a block and its code.
func (o *outliner) block(b *ptx.Block, variables, code *[]line) {
	o.open(b)
	defer func() { o.scopes = o.scopes[:len(o.scopes)-1] }()
	for _, n := range b.Stmts {
		switch n := n.(type) {
		case *ptx.Var:
			if n.Space.Text != ".reg" {
				*variables = append(*variables, o.plain(n))
			}
		case *ptx.Label:
			d, _ := o.lookup(n.Name.Text)
			*code = append(*code,
				line{in: o.in, shape: "label:", names: []string{n.Name.Text + d.which},
					text: n.Name.Text + ":", at: o.f.PlaceOf(n).Line})
		case *ptx.Instr:
			*code = append(*code, o.instr(n))
		case *ptx.Block:
			o.block(n, variables, code)
		case *ptx.Directive:
			if n.Name.Text != ".loc" { // source positions are not compared
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
		d, _, _ := o.free(g.Text)
		l.shape = mark + d.kind + " " + l.shape
		l.names = append([]string{g.Text + d.which}, l.names...)
		l.parts.Guard = []part{{Text: mark, Parts: []part{{Text: g.Text + d.which, Name: true}}}}
	}
	return l
}

// statement returns a statement with operands.
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

// operand writes the shape of an operand, and collects its register and label names.
func (o *outliner) operand(x *ptx.Operand, shape *strings.Builder, names *[]string) part {
	if len(x.Args) == 0 {
		p := part{Text: x.Text}
		var d declared
		field, free := "", false
		if x.Kind == ptx.Name {
			d, field, free = o.free(x.Text)
		}
		if !free {
			shape.WriteString(x.Text)
			return p
		}
		shape.WriteString(d.kind + field)
		p.Text, p.Name = strings.TrimSuffix(x.Text, field)+d.which, true
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

// kindMark returns a letter that distinguishes groups of operands: [a], {a} and (a).
func kindMark(k ptx.OperandKind) string { return string(rune('A' + int(k))) }

// free reports whether a name may differ, because it is a register, whose type must match, or a
// label. The field after a register's name, .x or .h1, must match.
func (o *outliner) free(text string) (d declared, field string, ok bool) {
	base := text
	if i := strings.IndexByte(text, '.'); i > 0 {
		base, field = text[:i], text[i:]
	}
	d, ok = o.lookup(base)
	return d, field, ok
}

// lookup finds the declaration of a name, or of its prefix.
func (o *outliner) lookup(name string) (declared, bool) {
	letters := strings.TrimRight(name, "0123456789")
	for i := len(o.scopes) - 1; i >= 0; i-- {
		if d, ok := o.scopes[i][name]; ok {
			return d, true
		}
		if d, ok := o.scopes[i][letters]; ok && d.kind != "label" {
			return d, true
		}
	}
	return declared{}, false
}
