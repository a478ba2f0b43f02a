// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package lower

import (
	"slices"
	"strconv"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/internal/layout"
	"github.com/ptxdsl/ptxdsl/ir"
)

// function writes a function: head, declarations, blocks.
func (w *writer) function(f *ir.Func) {
	w.comments(f.Doc)
	w.head(f)
	if !f.Defined {
		return
	}
	w.at, w.place = ir.NoPos, diag.Place{}
	w.nameBlocks(f)
	calls, own := sequences(f)
	w.lists = placedTargets(f, calls)
	w.open()
	w.declarations(f, own)
	for rest := f.Blocks; len(rest) > 0; {
		n := 1
		for n < len(rest) && len(rest[n].Labels) == 0 {
			n++
		}
		w.stretch(rest[:n], calls)
		rest = rest[n:]
	}
	w.comments(f.Tail)
	w.shut()
}

// head writes everything of a function except its body.
func (w *writer) head(f *ir.Func) {
	for _, v := range f.Results {
		w.commentsOf(v)
	}
	w.Begin(layout.Plain)
	if f.Linkage != "" {
		w.Put(f.Linkage)
		w.Put(" ")
	}
	if f.Kernel {
		w.Put(".entry")
	} else {
		w.Put(".func")
	}
	attrs := w.attributes(f.Attrs)
	w.results(f)
	w.Put(" ")
	w.Put(f.Name)
	switch {
	case f.HasParams && len(f.Params) == 0:
		w.Put("()")
	case f.HasParams:
		w.parameters(f.Params)
	}
	closed := false
	note := ""
	for i := range attrs {
		w.end(note)
		a := &attrs[i]
		w.comments(a.Doc)
		w.Begin(layout.Plain)
		w.words(a.Name, a.Text)
		if closed = a.Semi; closed {
			w.Put(";")
		}
		note = a.Note
	}
	if !f.Defined && !closed {
		w.Put(";") // a pragma ends with its own semicolon, and a second one is an error
	}
	w.end(note)
}

// attributes writes the attributes of a function that precede its name, and returns the others.
func (w *writer) attributes(list []ir.Directive) []ir.Directive {
	for len(list) > 0 && list[0].Name == ".attribute" {
		w.Put(" ")
		w.words(list[0].Name, list[0].Text)
		list = list[1:]
	}
	return list
}

// results writes the results of a function.
func (w *writer) results(f *ir.Func) {
	if f.HasResults {
		w.Put(" (")
		w.row(f.Results)
		w.Put(")")
	}
}

// row writes parameters or results on one line.
func (w *writer) row(list []*ir.Var) {
	for i, v := range list {
		if i > 0 {
			w.Put(", ")
		}
		w.specifiers(v)
		if v.Name != "" {
			w.Put(" ")
			w.declarator(v)
		}
	}
}

// parameters writes the parameters of a function, one per line.
func (w *writer) parameters(list []*ir.Var) {
	w.Put("(")
	w.End()
	w.Indent++
	for i, v := range list {
		w.comments(v.Doc)
		w.Begin(layout.Decl)
		w.specifiers(v)
		if v.Name != "" {
			w.Tail()
			w.declarator(v)
		}
		if i < len(list)-1 {
			w.Put(",")
		}
		note := v.Note
		if note == "" && v.Box != nil {
			note = v.Box.Comment()
		}
		w.end(note)
	}
	w.Indent--
	w.Begin(layout.Plain)
	w.Put(")")
}

// commentsOf writes the comments of a variable that is declared on a line with other variables.
func (w *writer) commentsOf(v *ir.Var) {
	w.comments(v.Doc)
	if v.Note != "" {
		w.Comment(v.Note)
	}
}

// prototype writes a call prototype on one line.
func (w *writer) prototype(t *ir.Targets) {
	f := t.Proto
	for _, list := range [...][]*ir.Var{f.Results, f.Params} {
		for _, v := range list {
			w.commentsOf(v)
		}
	}
	w.Begin(layout.Plain)
	w.Put(t.Name)
	w.Put(": .callprototype")
	attrs := w.attributes(f.Attrs)
	w.results(f)
	w.Put(" ")
	w.Put(f.Name)
	switch {
	case f.HasParams && len(f.Params) == 0:
		w.Put("()")
	case f.HasParams:
		w.Put(" (")
		w.row(f.Params)
		w.Put(")")
	}
	for i := range attrs {
		w.Put(" ")
		w.words(attrs[i].Name, attrs[i].Text)
	}
	w.Put(";")
	w.end(t.Note)
}

// nameBlocks names unnamed blocks that are branch targets: $L1, $L2, in text order.
func (w *writer) nameBlocks(f *ir.Func) {
	if !slices.ContainsFunc(f.Blocks, func(b *ir.Block) bool { return len(b.Labels) == 0 }) {
		return
	}
	wanted := make(map[*ir.Block]bool)
	for _, b := range f.Blocks {
		if in := b.Last(); in != nil { // a branch is the last instruction of a block
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
	taken := w.reservedNames(f)
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
