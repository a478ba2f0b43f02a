// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package lower

import (
	"slices"
	"strconv"

	"github.com/ptxdsl/ptxdsl/internal/layout"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// declarations writes the declarations at the start of a function: registers by class, variables
// except those of calls, and target lists except those with a position among the instructions. A
// blank line precedes the lists.
func (w *writer) declarations(f *ir.Func, calls map[*ir.Var]bool) {
	declared := w.registers(f)
	for _, v := range f.Vars {
		if !calls[v] {
			declared = true
			w.comments(v.Doc)
			w.variable(v)
		}
	}
	alone := make(map[*ir.Targets]bool, len(w.lists))
	for _, list := range w.lists {
		for _, t := range list {
			alone[t] = true
		}
	}
	runs := slices.ContainsFunc(f.Blocks, func(b *ir.Block) bool {
		return len(b.Labels) > 0 || len(b.Instrs) > 0
	})
	if declared && (runs || len(alone) < len(f.Targets)) {
		w.Blank()
	}
	for _, t := range f.Targets {
		if !alone[t] {
			w.targets(t)
		}
	}
}

// variable writes a declaration.
func (w *writer) variable(v *ir.Var) {
	w.Begin(layout.Decl)
	w.specifiers(v)
	w.Tail()
	w.declarator(v)
	w.Put(";")
	w.end(v.Note)
}

// specifiers writes what precedes the name: linkage, space, alignment and other attributes, the
// type, and what it points to.
func (w *writer) specifiers(v *ir.Var) {
	if v.Linkage != "" {
		w.Put(v.Linkage)
		w.Put(" ")
	}
	w.Put(v.Space.String())
	if v.Bank != nil {
		w.Put("[")
		w.Line = render(w.Line, v.Bank, nil, true)
		w.Put("]")
	}
	for _, a := range v.Attrs {
		w.Put(" ")
		w.Put(a)
	}
	w.align(v.Align)
	if v.Vec > 1 {
		w.Put(" .v")
		w.number(int(v.Vec))
	}
	w.Put(" ")
	w.Put(v.Type.String())
	if v.Ptr != nil {
		w.Put(" .ptr")
		if v.Ptr.Space != isa.Generic {
			w.Put(" ")
			w.Put(v.Ptr.Space.String())
		}
		w.align(v.Ptr.Align)
	}
}

func (w *writer) align(n int) {
	if n != 0 {
		w.Put(" .align ")
		w.number(n)
	}
}

// declarator writes a name with dimensions and a value.
func (w *writer) declarator(v *ir.Var) {
	w.Put(v.Name)
	for _, n := range v.Dims {
		w.Put("[")
		if n != ir.Unsized {
			w.Line = strconv.AppendInt(w.Line, n, 10)
		}
		w.Put("]")
	}
	if v.Init != nil {
		w.Put(" = ")
		w.Line = render(w.Line, v.Init, nil, false)
	}
}

// targets writes a labelled list or a prototype.
func (w *writer) targets(t *ir.Targets) {
	w.comments(t.Doc)
	switch {
	case t.Proto != nil:
		w.prototype(t)
		return
	case t.Funcs != nil:
		w.list(t, ".calltargets", len(t.Funcs), func(i int) string { return t.Funcs[i].Name })
	default:
		w.list(t, ".branchtargets", len(t.Blocks), func(i int) string { return t.Blocks[i].Name() })
	}
	w.end(t.Note)
}

func (w *writer) list(t *ir.Targets, directive string, n int, name func(i int) string) {
	w.Begin(layout.Plain)
	w.Put(t.Name)
	w.Put(": ")
	w.Put(directive)
	w.Put(" ")
	for i := range n {
		if i > 0 {
			w.Put(", ")
		}
		w.Put(name(i))
	}
	if n == 0 { // only a series of length zero can be an empty list
		w.Put(t.Name)
		w.Put("<0>")
	}
	w.Put(";")
}
