// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package lower

import (
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/ptx"
)

// declarations writes what a function declares at its head: registers by class, variables but those of calls, lists of labels.
func (w *writer) declarations(b *ptx.Block, f *ir.Func, calls map[*ir.Var]bool) {
	w.registers(b, f)
	for _, v := range f.Vars {
		if calls[v] {
			continue
		}
		w.doc(v.Doc)
		b.Stmts = append(b.Stmts, w.variable(v))
		w.end(v.Note)
	}
	alone := make(map[*ir.Targets]bool, len(w.lists))
	for _, t := range w.lists {
		alone[t] = true
	}
	for _, t := range f.Targets {
		if alone[t] {
			continue
		}
		w.doc(t.Doc)
		b.Stmts = append(b.Stmts, w.targets(t))
		w.end(t.Note)
	}
}

// targets is a labelled list, or a prototype.
func (w *writer) targets(t *ir.Targets) ptx.Node {
	if t.Proto != nil {
		n := w.head(t.Proto)
		n.Kind.Text = ".callprototype"
		n.Label = ptx.Word{Span: n.Span, Text: t.Name}
		return n
	}
	s := w.span()
	d := &ptx.Directive{Span: s, Name: ptx.Word{Span: s, Text: ".branchtargets"}, Label: ptx.Word{Span: s, Text: t.Name}, Semi: true}
	for _, block := range t.Blocks {
		d.Args = append(d.Args, ptx.Operand{Span: s, Kind: ptx.Name, Text: block.Name()})
	}
	if t.Funcs != nil {
		d.Name.Text = ".calltargets"
	}
	for _, f := range t.Funcs {
		d.Args = append(d.Args, ptx.Operand{Span: s, Kind: ptx.Name, Text: f.Name})
	}
	if len(d.Args) == 0 { // only as a series of none can a list be empty
		none := ptx.Operand{Span: s, Kind: ptx.Literal, Text: "0"}
		d.Args = []ptx.Operand{{Span: s, Kind: ptx.Series, Text: t.Name, Args: []ptx.Operand{none}}}
	}
	return d
}
