// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package lower

import (
	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/ptx"
)

// A Map maps the lines of a module's text to their sources. Drivers, profilers and debuggers report
// lines of PTX; a Map converts them to lines of Go, or of the file that was lifted.
type Map struct {
	m  *ir.Module
	at []ir.Pos // indexed by line, starting at 1
}

// MapOf returns the Map of text, which must be the unchanged result of Text for m. It scans
// the text again, so that callers without a Map pay nothing.
func MapOf(m *ir.Module, text string) *Map {
	file, _ := ptx.Parse(m.Name, text)
	p := &Map{m: m}
	if file == nil {
		return p
	}
	r := reader{file: file, out: p}
	var funcs []*ptx.Func
	var vars []*ptx.Var
	for _, n := range file.Decls {
		switch n := n.(type) {
		case *ptx.Func:
			funcs = append(funcs, n)
		case *ptx.Var:
			vars = append(vars, n)
		}
	}
	for _, d := range m.Decls {
		switch d := d.(type) {
		case *ir.Func:
			if len(funcs) > 0 {
				r.function(d, funcs[0])
				funcs = funcs[1:]
			}
		case *ir.Var:
			if len(vars) > 0 {
				r.mark(vars[0], d.Pos)
				vars = vars[1:]
			}
		}
	}
	return p
}

// Pos returns the position of a PTX line in the module's Source, or NoPos if the position is
// unknown.
func (p *Map) Pos(line int) ir.Pos {
	if line < 0 || line >= len(p.at) {
		return ir.NoPos
	}
	return p.at[line]
}

// Place returns the source position that emitted a PTX line, and the call stack that led there,
// innermost first. ok is false if the position is unknown.
func (p *Map) Place(line int) (at diag.Place, from []diag.Place, ok bool) {
	pos := p.Pos(line)
	if pos == ir.NoPos || p.m.Source == nil {
		return diag.Place{}, nil, false
	}
	at, from = p.m.Source.Place(pos)
	return at, from, at.Line > 0
}

// A reader walks a module and the syntax tree of its text in parallel.
type reader struct {
	file *ptx.File
	out  *Map
}

// mark records pos as the position of the lines that node n spans.
func (r *reader) mark(n ptx.Node, pos ir.Pos) {
	place := r.file.PlaceOf(n)
	for len(r.out.at) <= place.EndLine {
		r.out.at = append(r.out.at, ir.NoPos)
	}
	for line := place.Line; line <= place.EndLine; line++ {
		r.out.at[line] = pos
	}
}

func (r *reader) function(f *ir.Func, n *ptx.Func) {
	r.mark(n.Name, f.Pos)
	for i, v := range n.Params {
		if i < len(f.Params) {
			r.mark(v, f.Params[i].Pos)
		}
	}
	if n.Body == nil {
		return
	}
	vars := make(map[string]ir.Pos, len(f.Vars))
	for _, v := range f.Vars {
		vars[v.Name] = v.Pos
	}
	lists := make(map[string]ir.Pos, len(f.Targets))
	for _, t := range f.Targets {
		lists[t.Name] = t.Pos
	}
	var labels []ir.Pos
	var instrs []*ir.Instr
	for _, b := range f.Blocks {
		for i := range b.Labels {
			labels = append(labels, b.Labels[i].Pos)
		}
		instrs = append(instrs, b.Instrs...)
	}
	next := func(n ptx.Node) {
		r.mark(n, instrs[0].Pos)
		instrs = instrs[1:]
	}
	var walk func(list []ptx.Node)
	walk = func(list []ptx.Node) {
		for _, n := range list {
			switch n := n.(type) {
			case *ptx.Block:
				walk(n.Stmts)
			case *ptx.Var:
				if pos, ok := vars[n.Names[0].Name.Text]; ok {
					r.mark(n, pos)
				}
			case *ptx.Label:
				if len(labels) > 0 {
					r.mark(n, labels[0])
					labels = labels[1:]
				}
			case *ptx.Func:
				r.mark(n, lists[n.Label.Text])
			case *ptx.Instr:
				if len(instrs) > 0 {
					next(n)
				}
			case *ptx.Directive:
				switch {
				case n.Label.Text != "":
					r.mark(n, lists[n.Label.Text])
				case len(instrs) > 0 && instrs[0].Op == n.Name.Text:
					next(n)
				}
			}
		}
	}
	walk(n.Body.Stmts)
}
