// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package lower

import (
	"slices"
	"strconv"

	"github.com/ptxdsl/ptxdsl/diag"
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
	w.at, w.place = ir.NoPos, diag.Place{}
	w.label(f)
	b := &ptx.Block{Stmts: make([]ptx.Node, 0, statements(f))}
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

// statements is about how many there are in f.
func statements(f *ir.Func) int {
	n := 16 + len(f.Vars) + len(f.Targets)
	for _, b := range f.Blocks {
		n += len(b.Labels) + len(b.Instrs)
	}
	return n
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

// label gives names to blocks that are jumped to and have none: $L1, $L2, in the order of the text.
func (w *writer) label(f *ir.Func) {
	if !slices.ContainsFunc(f.Blocks, func(b *ir.Block) bool { return len(b.Labels) == 0 }) {
		return
	}
	wanted := make(map[*ir.Block]bool)
	for _, b := range f.Blocks {
		for _, in := range b.Instrs {
			for i := range in.Args {
				if o := &in.Args[i]; o.Kind == ir.Jump && len(o.Block().Labels) == 0 {
					wanted[o.Block()] = true
				}
			}
		}
	}
	for _, t := range f.Targets {
		for _, to := range t.Blocks {
			wanted[to] = true
		}
	}
	if len(wanted) == 0 {
		return
	}
	taken := w.others(f)
	stem := "$L"
	for _, ok := taken[stem]; ok; _, ok = taken[stem] {
		stem += "_"
	}
	n := 0
	for _, b := range f.Blocks {
		if len(b.Labels) == 0 && wanted[b] {
			n++
			b.Labels = append(b.Labels, ir.Label{Name: stem + strconv.Itoa(n)})
		}
	}
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
			d := &ir.Directive{Name: in.Op, Semi: in.Op == ".pragma" || in.Op == ".alias"}
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
	if w.textOnly {
		n.Args = w.flat(s, in)
	} else {
		n.Args = w.list(s, in.Args, baseOf(in))
	}
	return n
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
