// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package lower

import (
	"slices"
	"strconv"
	"strings"

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

// declarations writes what a function declares: registers by class, variables, lists of labels.
func (w *writer) declarations(b *ptx.Block, f *ir.Func) {
	w.registers(b, f)
	for _, v := range f.Vars {
		w.doc(v.Doc)
		b.Stmts = append(b.Stmts, w.variable(v))
		w.end(v.Note)
	}
	for _, t := range f.Targets {
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
}

// registers declares the registers of f. Those whose names are letters and a number are declared as a range, if that declares not many
// besides; the others by name, several on a line.
func (w *writer) registers(b *ptx.Block, f *ir.Func) {
	families := w.name(f)
	parameters := make(map[*ir.Reg]bool)
	for _, list := range [][]*ir.Var{f.Params, f.Results} {
		for _, v := range list {
			if v.Reg != nil {
				parameters[v.Reg] = true
			}
		}
	}
	var order []class
	single := make(map[class][]string)
	ranges := make(map[class][]*family)
	for _, fam := range families {
		if !slices.Contains(order, fam.class) {
			order = append(order, fam.class)
		}
		if fam.ranged() {
			ranges[fam.class] = append(ranges[fam.class], fam)
		}
	}
	byLetters := make(map[string]*family, len(families))
	for _, fam := range families {
		byLetters[fam.letters] = fam
	}
	for _, r := range f.Regs {
		if parameters[r] {
			continue
		}
		c := class{r.Type, r.Vec}
		if letters, _, ok := numbered(r.Name); ok {
			if fam := byLetters[letters]; fam != nil && fam.class == c && fam.ranged() {
				continue
			}
		}
		if !slices.Contains(order, c) {
			order = append(order, c)
		}
		single[c] = append(single[c], r.Name)
	}
	slices.SortStableFunc(order, func(a, b class) int { return rank(a) - rank(b) })
	for _, c := range order {
		for _, fam := range ranges[c] {
			w.declare(b, c, []string{fam.letters}, fam.top+1)
		}
		for names := range slices.Chunk(single[c], 8) {
			w.declare(b, c, names, 0)
		}
	}
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

// name gives names to registers that have none, and tells the families of all.
func (w *writer) name(f *ir.Func) []*family {
	byLetters := make(map[string]*family)
	var list []*family
	mixed := make(map[string]bool)
	add := func(r *ir.Reg, letters string, n int) {
		fam := byLetters[letters]
		if fam == nil {
			fam = &family{class: class{r.Type, r.Vec}, letters: letters}
			byLetters[letters] = fam
			list = append(list, fam)
		}
		if fam.class != (class{r.Type, r.Vec}) {
			mixed[letters] = true
		}
		fam.count++
		fam.top = max(fam.top, n)
	}
	nameless := false
	for _, r := range f.Regs {
		if r.Name == "" {
			nameless = true
			continue
		}
		if letters, n, ok := numbered(r.Name); ok {
			add(r, letters, n)
		}
	}
	if nameless {
		next := make(map[string]int)
		for letters, fam := range byLetters {
			next[letters] = fam.top + 1
		}
		byClass := make(map[class]string)
		for _, r := range f.Regs {
			if r.Name != "" {
				continue
			}
			c := class{r.Type, r.Vec}
			letters, ok := byClass[c]
			if !ok {
				// Classes that share their letters, such as .b32 and .u32, are told apart.
				letters = stem(c)
				for taken(byClass, letters) || byLetters[letters] != nil && byLetters[letters].class != c {
					letters = strings.TrimSuffix(stem(c), "_") + suffix(c)
					if taken(byClass, letters) {
						letters += "_"
					}
					break
				}
				byClass[c] = letters
			}
			n := next[letters]
			next[letters] = n + 1
			r.Name = letters + strconv.Itoa(n)
			add(r, letters, n)
		}
	}
	return slices.DeleteFunc(list, func(f *family) bool { return mixed[f.letters] })
}

func taken(byClass map[class]string, letters string) bool {
	for _, l := range byClass {
		if l == letters {
			return true
		}
	}
	return false
}

// suffix tells classes apart that have the same letters: %ru for .u32, %rs would be taken.
func suffix(c class) string {
	return strings.TrimLeft(c.typ.String(), ".") + "_"
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
