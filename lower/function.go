// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package lower

import (
	"strings"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/ptx"
)

// function writes a function: head, declarations, blocks.
func (w *writer) function(f *ir.Func) {
	w.doc(f.Doc)
	n := w.head(f)
	w.decls = append(w.decls, n)
	if !f.Defined {
		n.To = ptx.Pos(len(w.text))
		w.end("")
		return
	}
	w.at = ir.NoPos
	b := &ptx.Block{}
	b.At = ptx.Pos(len(w.text))
	w.text = append(w.text, "{\n"...)
	calls, own := sequences(f)
	w.lists = lonely(f)
	w.declarations(b, f, own)
	for _, block := range f.Blocks {
		w.block(b, block, calls[block])
	}
	w.doc(f.Tail)
	w.text = append(w.text, '}')
	b.To = ptx.Pos(len(w.text))
	n.Body = b
	n.To = b.To
	w.end("")
}

// head is everything of a function but its body.
func (w *writer) head(f *ir.Func) *ptx.Func {
	s := w.span()
	kind := ".func"
	if f.Kernel {
		kind = ".entry"
	}
	n := &ptx.Func{Span: s, Kind: ptx.Word{Span: s, Text: kind}, HasReturns: f.HasResults, HasParams: f.HasParams}
	if f.Linkage != "" {
		n.Linkage = []ptx.Word{{Span: s, Text: f.Linkage}}
	}
	attrs := f.Attrs
	for len(attrs) > 0 && attrs[0].Name == ".attribute" {
		n.Attrs = append(n.Attrs, w.directive(&attrs[0]))
		attrs = attrs[1:]
	}
	for _, v := range f.Results {
		n.Returns = append(n.Returns, w.variable(v))
	}
	at := w.span()
	n.Name = ptx.Word{Span: at, Text: f.Name}
	if f.HasParams {
		w.text = append(w.text, "(\n"...)
		for _, v := range f.Params {
			w.doc(v.Doc)
			n.Params = append(n.Params, w.variable(v))
			w.end(v.Note)
		}
		w.text = append(w.text, ")\n"...)
	}
	for i := range attrs {
		w.doc(attrs[i].Doc)
		n.Attrs = append(n.Attrs, w.directive(&attrs[i]))
		w.end(attrs[i].Note)
	}
	n.To = ptx.Pos(len(w.text))
	return n
}

// block writes labels and instructions, those of calls in scopes of their own.
func (w *writer) block(b *ptx.Block, block *ir.Block, calls []sequence) {
	for i := range block.Labels {
		l := &block.Labels[i]
		w.doc(l.Doc)
		if len(w.labels) == 0 {
			w.labels = make([]ptx.Label, 32)
		}
		n := &w.labels[0]
		w.labels = w.labels[1:]
		n.Span = w.span()
		n.Name = ptx.Word{Span: n.Span, Text: l.Name}
		b.Stmts = append(b.Stmts, n)
		w.end(l.Note)
	}
	outer := b
	for i, in := range block.Instrs {
		if len(calls) > 0 && calls[0].first == i {
			b = w.open(outer, calls[0])
		}
		if t := w.lists[in]; t != nil {
			w.doc(t.Doc)
			b.Stmts = append(b.Stmts, w.targets(t))
			w.end(t.Note)
		}
		w.locate(b, in.Pos)
		w.doc(in.Doc)
		if in.Directive() {
			d := &ir.Directive{Name: in.Op, Semi: in.Op == ".pragma"}
			if len(in.Args) > 0 {
				d.Text = in.Args[0].Text
			}
			b.Stmts = append(b.Stmts, w.directive(d))
		} else {
			b.Stmts = append(b.Stmts, w.instr(in))
		}
		w.end(in.Note)
		if len(calls) > 0 && calls[0].last == i {
			w.shut(b)
			b, calls = outer, calls[1:]
		}
	}
}

func (w *writer) instr(in *ir.Instr) *ptx.Instr {
	if len(w.instrs) == 0 {
		w.instrs = make([]ptx.Instr, 128)
	}
	n := &w.instrs[0]
	w.instrs = w.instrs[1:]
	s := w.span()
	n.Span = s
	if r := in.Guard.Reg; r != nil {
		n.Guard = ptx.Guard{Word: ptx.Word{Span: s, Text: r.Name}, Not: in.Guard.Not}
	}
	n.Op = ptx.Word{Span: s, Text: in.Op}
	n.Args = w.list(s, in.Args, baseOf(in))
	return n
}

// A base says how whole numbers are written.
type base uint8

const (
	decimal base = iota
	hex          // what is a set of bits more than a number
)

// baseOf is how the constants of an instruction are written.
func baseOf(in *ir.Instr) base {
	switch in.Head() {
	case "and", "or", "xor", "lop3", "vote", "shfl", "redux", "elect", "match", "bmsk", "activemask":
		return hex
	case "mov":
		if strings.HasPrefix(in.Op, "mov.b") {
			return hex
		}
	case "bar", "barrier":
		if in.Mod("warp") {
			return hex
		}
	}
	return decimal
}

// take is room for n operands.
func (w *writer) take(n int) []ptx.Operand {
	if n > len(w.operands) {
		w.operands = make([]ptx.Operand, max(512, n))
	}
	list := w.operands[:n:n]
	w.operands = w.operands[n:]
	return list
}

func (w *writer) list(s ptx.Span, args []ir.Operand, b base) []ptx.Operand {
	if len(args) == 0 {
		return nil
	}
	list := w.take(len(args))
	for i := range args {
		list[i] = w.operand(s, &args[i], b)
	}
	return list
}
