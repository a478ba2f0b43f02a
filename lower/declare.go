// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package lower

import (
	"slices"
	"strconv"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/ptx"
)

// A kind of register: those that are declared together.
type class struct {
	typ isa.Type
	vec int
}

// stems are the letters that registers without a name get, as the usual compilers have them.
func stem(c class) string {
	t := c.typ
	switch {
	case t == isa.Predicate:
		return "%p"
	case t == isa.F32:
		return "%f"
	case t == isa.F64:
		return "%fd"
	case t.Class() == isa.Half && t.Bits() == 16:
		return "%h"
	case t.Class() == isa.Half:
		return "%hh"
	case t.Bits() == 16:
		return "%rs"
	case t.Bits() == 64:
		return "%rd"
	case t.Bits() == 128:
		return "%rq"
	}
	return "%r"
}

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
	return d
}

// numbered splits a name into letters and a number without leading zeros.
func numbered(name string) (letters string, number int, ok bool) {
	i := len(name)
	for i > 0 && name[i-1] >= '0' && name[i-1] <= '9' {
		i--
	}
	if i == len(name) || i == 0 || len(name)-i > 9 || name[i] == '0' && i+1 < len(name) {
		return name, 0, false
	}
	n, err := strconv.Atoi(name[i:])
	return name[:i], n, err == nil
}

// A family is the registers of one class whose names are the same letters and a number.
type family struct {
	class
	letters string
	count   int
	top     int
	done    bool // declared
}

// registers declares the registers of f: first those that had no name, by class, then the others in the order of f, which the
// assembler heeds when it does not optimise. Registers whose names are letters and a number are declared as a range, if that
// declares not many besides; others by name, neighbours of one class on a line.
func (w *writer) registers(b *ptx.Block, f *ir.Func) {
	families, fresh := w.name(f)
	slices.SortStableFunc(fresh, func(a, b *family) int { return rank(a.class) - rank(b.class) })
	for _, fam := range fresh {
		w.declare(b, fam.class, []string{fam.letters}, fam.top+1)
		fam.done = true
	}
	parameters := make(map[*ir.Reg]bool)
	for _, list := range [][]*ir.Var{f.Params, f.Results} {
		for _, v := range list {
			if v.Reg != nil {
				parameters[v.Reg] = true
			}
		}
	}
	var names []string
	var of class
	flush := func() {
		if len(names) > 0 {
			w.declare(b, of, names, 0)
			names = names[:0]
		}
	}
	for _, r := range f.Regs {
		c := class{r.Type, r.Vec}
		if letters, _, ok := numbered(r.Name); ok {
			if fam := families[letters]; fam != nil && fam.class == c && fam.ranged() {
				if !fam.done {
					flush()
					w.declare(b, c, []string{letters}, fam.top+1)
					fam.done = true
				}
				continue
			}
		}
		if parameters[r] {
			continue
		}
		if c != of || len(names) == 8 {
			flush()
		}
		of = c
		names = append(names, r.Name)
	}
	flush()
}

// rank puts classes in order: predicates, then by width, plain bits and integers before floats.
func rank(c class) int {
	n := c.typ.Bits() * 16
	if floating := c.typ.Class() == isa.Float || c.typ.Class() == isa.Half; floating {
		n += 8
	}
	if c.typ == isa.Predicate {
		n = 0
	}
	return n + c.vec
}

// ranged reports whether the family is declared as a range.
func (f *family) ranged() bool { return f.count > 0 && f.top < 2*f.count+16 }

// name gives names to registers that have none. It tells the families by their letters, and those that it made. Letters of which one
// number is a register of another class are no family.
func (w *writer) name(f *ir.Func) (families map[string]*family, fresh []*family) {
	families = make(map[string]*family)
	mixed := make(map[string]bool)
	add := func(r *ir.Reg, letters string, n int) {
		fam := families[letters]
		if fam == nil {
			fam = &family{class: class{r.Type, r.Vec}, letters: letters}
			families[letters] = fam
		}
		if fam.class != (class{r.Type, r.Vec}) {
			mixed[letters] = true
		}
		fam.count++
		fam.top = max(fam.top, n)
	}
	for _, r := range f.Regs {
		if letters, n, ok := numbered(r.Name); ok {
			add(r, letters, n)
		}
	}
	byClass := make(map[class]*family)
	for _, r := range f.Regs {
		if r.Name != "" {
			continue
		}
		c := class{r.Type, r.Vec}
		fam := byClass[c]
		if fam == nil {
			fam = &family{class: c, letters: stem(c), top: -1}
			for families[fam.letters] != nil {
				fam.letters += "_"
			}
			families[fam.letters] = fam
			byClass[c] = fam
			fresh = append(fresh, fam)
		}
		fam.top++
		fam.count++
		r.Name = fam.letters + strconv.Itoa(fam.top)
	}
	for letters := range mixed {
		delete(families, letters)
	}
	return families, fresh
}

// declare writes one .reg line: a range where n is not zero, else names.
func (w *writer) declare(b *ptx.Block, c class, names []string, n int) {
	s := w.span()
	v := &ptx.Var{Span: s, Space: ptx.Word{Span: s, Text: ".reg"}, Type: ptx.Word{Span: s, Text: c.typ.String()}}
	if c.vec > 1 {
		v.Vec = ptx.Word{Span: s, Text: ".v" + strconv.Itoa(c.vec)}
	}
	for _, name := range names {
		d := ptx.Declarator{Span: s, Name: ptx.Word{Span: s, Text: name}}
		if n > 0 {
			d.Count = &ptx.Operand{Span: s, Kind: ptx.Literal, Text: strconv.Itoa(n)}
		}
		v.Names = append(v.Names, d)
	}
	b.Stmts = append(b.Stmts, v)
	w.end("")
}
