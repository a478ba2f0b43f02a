// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"fmt"
	"strings"

	"github.com/alecthomas/participle/v2/lexer"

	"github.com/ptxdsl/ptxdsl/isa"
)

// A resolver interprets the statements of spec files in order, and builds the Spec.
type resolver struct {
	spec  *Spec
	errs  []error
	gates map[string]isa.Gate
	mods  map[string]isa.Mod
	types map[string]isa.Type
	kinds map[string]isa.Kind

	family string
	shared clauses // clauses of the family
	ins    *isa.Instruction
	common clauses // clauses of the instruction
	form   *formState
	table  *tableState
	last   lineKind // kind of the declaration that "since" and "type" refer to
	group  int      // first special register of the current declaration
}

// lineKind is the kind of declaration to which the following clauses belong.
type lineKind uint8

const (
	inFamily lineKind = iota
	inInstruction
	inForm
	inSpecial
	inDirective
	inPragma
)

// clauses are properties that a family, an instruction or a form sets for its forms.
type clauses struct {
	sets    map[string][]isa.Value
	section string
	kind    string // "" for the instruction's name
	gates   []isa.Gate
	gone    []isa.Gate
	when    []*WhenDecl
	rules   []ruleText
	effects []string
	lenient string
	notes   []string
	ordered [][]string
	ignored []isa.Mod
	tables  []*tableState
}

type ruleText struct {
	expr   *Implies
	forbid bool
	why    string
}

func (c clauses) clone() clauses {
	sets := make(map[string][]isa.Value, len(c.sets))
	for k, v := range c.sets {
		sets[k] = v
	}
	c.sets = sets
	c.gates = append([]isa.Gate(nil), c.gates...)
	c.gone = append([]isa.Gate(nil), c.gone...)
	c.when = append([]*WhenDecl(nil), c.when...)
	c.rules = append([]ruleText(nil), c.rules...)
	c.effects = append([]string(nil), c.effects...)
	c.notes = append([]string(nil), c.notes...)
	c.ordered = append([][]string(nil), c.ordered...)
	c.ignored = append([]isa.Mod(nil), c.ignored...)
	c.tables = append([]*tableState(nil), c.tables...)
	return c
}

type formState struct {
	decl *FormDecl
	pos  lexer.Position
	c    clauses
}

type tableState struct {
	decl *TableDecl
	rows []*RowDecl
	pos  lexer.Position
	at   []lexer.Position
}

func (r *resolver) fail(p lexer.Position, format string, args ...any) {
	r.errs = append(r.errs, fmt.Errorf("%s: %s", at(p), fmt.Sprintf(format, args...)))
}

// clauses returns the clauses that the current line adds to.
func (r *resolver) clauses() *clauses {
	switch r.last {
	case inForm:
		return &r.form.c
	case inInstruction:
		return &r.common
	}
	return &r.shared
}

func (r *resolver) file(f *File) {
	r.family, r.shared, r.last = "", clauses{sets: map[string][]isa.Value{}}, inFamily
	for _, s := range f.Stmts {
		r.stmt(s)
	}
	r.endForm()
	r.endIns()
}

func (r *resolver) stmt(s *Stmt) {
	c := r.clauses
	switch {
	case s.Family != nil:
		r.family = s.Family.Name
		r.spec.Families = append(r.spec.Families,
			Family{s.Family.Name, s.Family.What, s.Pos.Filename})
	case s.Ins != nil:
		r.endForm()
		r.endIns()
		r.ins = &isa.Instruction{Name: s.Ins.Head + strings.Join(s.Ins.Words, ""), Family: r.family,
			What: s.Ins.What}
		r.common, r.last = r.shared.clone(), inInstruction
	case s.Form != nil:
		r.endForm()
		if r.ins == nil {
			r.fail(s.Pos, "form before ins")
			return
		}
		r.form = &formState{decl: s.Form, pos: s.Pos, c: r.common.clone()}
		r.last = inForm
	case s.Set != nil:
		r.set(s)
	case s.Section != nil:
		number := s.Section.Number
		if s.Section.Version != "" {
			number = s.Section.Version + ":" + number
		}
		c().section = number
	case s.Kind != nil:
		c().kind = strings.Join(s.Kind, "")
	case s.Since != nil:
		r.since(s)
	case s.Gone != nil:
		if r.last == inDirective {
			r.spec.Directives[len(r.spec.Directives)-1].Gone = r.gateOf(s.Gone)
			return
		}
		c().gone = append(c().gone, r.gateOf(s.Gone))
	case s.When != nil:
		c().when = append(c().when, s.When)
	case s.Require != nil:
		c().rules = append(c().rules, ruleText{s.Require.Expr, false, s.Require.Why})
	case s.Forbid != nil:
		c().rules = append(c().rules, ruleText{s.Forbid.Expr, true, s.Forbid.Why})
	case s.Table != nil:
		r.table = &tableState{decl: s.Table, pos: s.Pos}
		c().tables = append(c().tables, r.table)
	case s.Row != nil:
		if r.table == nil {
			r.fail(s.Pos, "row before table")
			return
		}
		r.table.rows = append(r.table.rows, s.Row)
		r.table.at = append(r.table.at, s.Pos)
	case s.Effects != nil:
		c().effects = s.Effects
	case s.Repeat != nil:
		for _, m := range s.Repeat {
			r.ins.Repeats = append(r.ins.Repeats, r.mod(m))
		}
	case s.Ignore != nil:
		r.ignore(s)
	case s.Lenient != nil:
		c().lenient = *s.Lenient
	case s.Note != nil:
		c().notes = append(c().notes, *s.Note)
	case s.Ordered != nil:
		c().ordered = append(c().ordered, s.Ordered)
	default:
		r.declaration(s)
	}
}

func (r *resolver) since(s *Stmt) {
	g := r.gateOf(s.Since)
	switch r.last {
	case inSpecial:
		for i := range r.spec.Specials[r.group:] {
			r.spec.Specials[r.group+i].Gate = g
		}
	case inDirective:
		r.spec.Directives[len(r.spec.Directives)-1].Gate = g
	case inPragma:
		r.spec.Pragmas[len(r.spec.Pragmas)-1].Gate = g
	default:
		c := r.clauses()
		c.gates = append(c.gates, g)
	}
}

// set declares a closed set of modifiers. A value that names a set in scope includes the values of
// that set.
func (r *resolver) set(s *Stmt) {
	c := r.clauses()
	var values []isa.Value
	for _, v := range s.Set.Values {
		if inner, ok := c.sets[v.Mod]; ok && !contains(s.Set.Names, v.Mod) {
			values = append(values, inner...)
			continue
		}
		value := isa.Value{Mod: r.mod(v.Mod)}
		if v.Gate != nil {
			value.Gate = r.gateOf(v.Gate)
		}
		values = append(values, value)
	}
	for _, n := range s.Set.Names {
		c.sets[n] = values
	}
}

func contains(list []string, s string) bool {
	for _, l := range list {
		if l == s {
			return true
		}
	}
	return false
}

func (r *resolver) mod(word string) isa.Mod {
	m, ok := r.mods[word]
	if !ok {
		m = isa.Mod(len(r.spec.Mods))
		r.mods[word] = m
		r.spec.Mods = append(r.spec.Mods, word)
	}
	return m
}

// kind returns the index of a kind, by its name.
func (r *resolver) kind(name string) isa.Kind {
	k, ok := r.kinds[name]
	if !ok {
		k = isa.Kind(len(r.spec.Kinds))
		r.kinds[name] = k
		r.spec.Kinds = append(r.spec.Kinds, name)
	}
	return k
}

func (r *resolver) endIns() {
	if r.ins == nil {
		return
	}
	if len(r.ins.Forms) == 0 {
		r.errs = append(r.errs, fmt.Errorf("ins %s has no form", r.ins.Name))
	}
	r.spec.Instructions = append(r.spec.Instructions, *r.ins)
	r.ins = nil
}

func (r *resolver) endForm() {
	if r.form == nil {
		return
	}
	f := r.form
	r.form, r.table = nil, nil
	if form, ok := r.build(f); ok {
		r.ins.Forms = append(r.ins.Forms, form)
	}
	r.last = inInstruction
}

// ignore handles a statement that lists modifiers which ptxas ignores: on a form, on an
// instruction, in a family or, in a common file, on every instruction. The name of a set in scope
// stands for all its values.
func (r *resolver) ignore(s *Stmt) {
	c := r.clauses()
	var list []isa.Mod
	for _, word := range s.Ignore {
		if values, ok := c.sets[word]; ok {
			for _, v := range values {
				list = append(list, v.Mod)
			}
			continue
		}
		list = append(list, r.mod(word))
	}
	if contains(common, r.family) {
		r.spec.Ignored = append(r.spec.Ignored, list...)
		return
	}
	c.ignored = append(c.ignored, list...)
}
