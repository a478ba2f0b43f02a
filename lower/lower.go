// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package lower writes modules of package ir as PTX: as a syntax tree of package ptx, and as text in the house style. It decides
// names, order and layout; what instructions there are was decided before.
package lower

import (
	"strconv"
	"strings"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/ptx"
)

// An Option changes what is written.
type Option func(*writer)

// Lines adds .file and .loc lines that lead debuggers and profilers to where instructions come from.
func Lines() Option { return func(w *writer) { w.lines = true } }

// Text is m as PTX. Registers without a name get one.
func Text(m *ir.Module, options ...Option) string {
	w := newWriter(m, options)
	w.textOnly = true
	return ptx.Print(w.file())
}

// File is m as a syntax tree. Registers without a name get one.
func File(m *ir.Module, options ...Option) *ptx.File { return newWriter(m, options).file() }

func newWriter(m *ir.Module, options []Option) *writer {
	w := &writer{m: m, files: make(map[string]int)}
	for _, option := range options {
		option(w)
	}
	return w
}

func (w *writer) file() *ptx.File {
	w.reserve()
	w.module()
	w.cutOut()
	return &ptx.File{Name: w.m.Name, Text: string(w.text), Decls: w.decls, Comments: w.comments}
}

// reserve makes room for the nodes of all functions at once.
func (w *writer) reserve() {
	instrs, labels := 0, 0
	for _, d := range w.m.Decls {
		if f, ok := d.(*ir.Func); ok {
			for _, b := range f.Blocks {
				instrs += len(b.Instrs)
				labels += len(b.Labels)
			}
		}
	}
	w.instrs = make([]ptx.Instr, instrs)
	w.labels = make([]ptx.Label, labels)
	w.text = make([]byte, 0, 1024+8*instrs+8*labels)
	if w.textOnly {
		w.operands = make([]ptx.Operand, instrs)
		w.cuts = make([]cut, 0, instrs)
		w.room = make([]byte, 0, 32*instrs)
	} else {
		w.operands = make([]ptx.Operand, 4*instrs)
	}
}

// A writer builds a tree. The printer of package ptx learns from a tree's positions and text which comments stand where and
// where blank lines are; so the writer sketches a text that has line ends and comments in the right places, and a few
// bytes for each statement.
type writer struct {
	m         *ir.Module
	text      []byte
	comments  []ptx.Comment
	decls     []ptx.Node
	lines     bool
	files     map[string]int // numbers of .file
	at        ir.Pos         // of the last .loc
	place     diag.Place     // likewise
	fileLines []*ptx.Directive
	lists     map[*ir.Instr]*ir.Targets // to be declared before an instruction
	global    map[string]int            // names at module level: see others

	textOnly bool
	room     []byte // operands as text
	cuts     []cut
	instrs   []ptx.Instr // room for more
	operands []ptx.Operand
	labels   []ptx.Label
}

// span is a statement's place in the sketch, with room for the order of its parts.
func (w *writer) span() ptx.Span {
	at := ptx.Pos(len(w.text))
	w.text = append(w.text, "----"...)
	return ptx.Span{At: at, To: at + 4}
}

// doc puts comments on lines of their own.
func (w *writer) doc(lines []string) {
	for _, line := range lines {
		w.comments = append(w.comments, ptx.Comment{At: ptx.Pos(len(w.text)), Text: line})
		w.text = append(w.text, line...)
		w.text = append(w.text, '\n')
	}
}

// end ends a line, with a comment perhaps.
func (w *writer) end(note string) {
	if note != "" {
		w.text = append(w.text, ' ')
		w.comments = append(w.comments, ptx.Comment{At: ptx.Pos(len(w.text)), Text: note})
		w.text = append(w.text, note...)
	}
	w.text = append(w.text, '\n')
}

func (w *writer) blank() { w.text = append(w.text, '\n') }

func (w *writer) module() {
	m := w.m
	w.doc(m.Doc)
	target := []string{m.Target.String()}
	w.header(".version", m.Version.String())
	w.header(".target", append(target, m.Options...)...)
	if m.Bits != 0 {
		w.header(".address_size", strconv.Itoa(m.Bits))
	}
	w.blank()
	for _, d := range m.Decls {
		switch d := d.(type) {
		case *ir.Var:
			w.doc(d.Doc)
			v := w.variable(d)
			w.end(d.Note)
			w.decls = append(w.decls, v)
		case *ir.Directive:
			w.doc(d.Doc)
			w.decls = append(w.decls, w.directive(d))
			w.end(d.Note)
		case *ir.Section:
			w.section(d)
		case *ir.Func:
			w.function(d)
		}
	}
	for _, f := range w.fileLines {
		f.Span = w.span()
		w.decls = append(w.decls, f)
		w.end("")
	}
	w.doc(m.Tail)
}

func (w *writer) header(name string, args ...string) {
	s := w.span()
	d := &ptx.Directive{Span: s, Name: ptx.Word{Span: s, Text: name}}
	for _, a := range args {
		d.Args = append(d.Args, ptx.Operand{Span: s, Kind: ptx.Name, Text: a})
	}
	w.decls = append(w.decls, d)
	w.end("")
}

func (w *writer) directive(d *ir.Directive) *ptx.Directive {
	s := w.span()
	n := &ptx.Directive{Span: s, Name: ptx.Word{Span: s, Text: d.Name}, Semi: d.Semi}
	if d.Text != "" {
		n.Args = []ptx.Operand{{Span: s, Kind: ptx.Literal, Text: d.Text}}
	}
	if d.Name == ".attribute" { // its parenthesis follows at once
		inner := strings.TrimSuffix(strings.TrimPrefix(d.Text, "("), ")")
		n.Args = []ptx.Operand{{Span: s, Kind: ptx.List, Args: []ptx.Operand{{Span: s, Kind: ptx.Literal, Text: inner}}}}
	}
	return n
}

func (w *writer) section(d *ir.Section) {
	w.doc(d.Doc)
	s := w.span()
	n := &ptx.Section{Span: s, Name: ptx.Word{Span: s, Text: d.Name}}
	w.text = append(w.text, " {\n"...)
	for _, l := range d.Lines {
		s := w.span()
		if l.Label != "" {
			n.Lines = append(n.Lines, &ptx.Label{Span: s, Name: ptx.Word{Span: s, Text: l.Label}})
		} else {
			data := &ptx.Data{Span: s, Type: ptx.Word{Span: s, Text: l.Type}}
			for _, v := range l.Values {
				data.Args = append(data.Args, ptx.Operand{Span: s, Kind: ptx.Literal, Text: v})
			}
			n.Lines = append(n.Lines, data)
		}
		w.end("")
	}
	w.text = append(w.text, '}')
	n.To = ptx.Pos(len(w.text))
	w.end("")
	w.decls = append(w.decls, n)
}

// variable is a declaration: space, what is said before the type, the type, what is said behind it, the name.
func (w *writer) variable(v *ir.Var) *ptx.Var {
	s := w.span()
	word := func(at int, text string) ptx.Word {
		return ptx.Word{Span: ptx.Span{At: s.At + ptx.Pos(at), To: s.At + ptx.Pos(at)}, Text: text}
	}
	attr := func(at int, name string, args ...string) ptx.Attr {
		a := ptx.Attr{Span: ptx.Span{At: s.At + ptx.Pos(at), To: s.At + ptx.Pos(at)}, Name: word(at, name)}
		for _, x := range args {
			a.Args = append(a.Args, ptx.Operand{Span: a.Span, Kind: ptx.Literal, Text: x})
		}
		return a
	}
	n := &ptx.Var{Span: s, Space: word(0, v.Space.String())}
	if v.Linkage != "" {
		n.Linkage = []ptx.Word{word(0, v.Linkage)}
	}
	if v.Bank != nil {
		n.Bank = new(ptx.Operand)
		*n.Bank = w.operand(s, v.Bank, decimal)
	}
	for _, a := range v.Attrs {
		name, args, _ := strings.Cut(a, "(")
		if args == "" {
			n.Attrs = append(n.Attrs, attr(0, name))
		} else {
			n.Attrs = append(n.Attrs, attr(0, name, strings.TrimSuffix(args, ")")))
		}
	}
	if v.Align != 0 && v.Ptr == nil {
		n.Attrs = append(n.Attrs, attr(0, ".align", strconv.Itoa(v.Align)))
	}
	n.Type = word(2, v.Type.String())
	if v.Vec > 1 {
		n.Vec = word(1, ".v"+strconv.Itoa(v.Vec))
	}
	if v.Ptr != nil {
		n.Attrs = append(n.Attrs, attr(3, ".ptr"))
		if v.Ptr.Space != isa.Generic {
			n.Attrs = append(n.Attrs, attr(3, v.Ptr.Space.String()))
		}
		if v.Ptr.Align != 0 {
			n.Attrs = append(n.Attrs, attr(3, ".align", strconv.Itoa(v.Ptr.Align)))
		}
	}
	d := ptx.Declarator{Span: s, Name: word(3, v.Name)}
	for _, dim := range v.Dims {
		o := ptx.Operand{Span: s, Kind: ptx.Empty}
		if dim != ir.Unsized {
			o = ptx.Operand{Span: s, Kind: ptx.Literal, Text: strconv.FormatInt(dim, 10)}
		}
		d.Dims = append(d.Dims, o)
	}
	if v.Init != nil {
		d.Init = new(ptx.Operand)
		*d.Init = w.operand(s, v.Init, decimal)
	}
	n.Names = []ptx.Declarator{d}
	return n
}
