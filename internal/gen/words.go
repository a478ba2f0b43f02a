// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ptxdsl/ptxdsl/isa"
)

// target interprets the declarations of versions, targets and types, which gates and forms refer
// to.
func (r *resolver) target(s *Stmt) {
	switch {
	case s.Version != nil:
		v, err := isa.ParseVersion(s.Version.Name)
		if err != nil {
			r.fail(s.Pos, "%v", err)
		}
		r.spec.Versions = append(r.spec.Versions, isa.VersionInfo{Version: v, What: s.Version.What})
	case s.Target != nil:
		r.addTarget(s)
	}
}

func (r *resolver) addTarget(s *Stmt) {
	d := s.Target
	t := isa.TargetInfo{Name: d.Name}
	digits := strings.TrimPrefix(d.Name, "sm_")
	if n := len(digits); n > 0 && (digits[n-1] == 'a' || digits[n-1] == 'f') {
		t.Suffix, digits = digits[n-1], digits[:n-1]
	}
	var err error
	if t.Number, err = strconv.Atoi(digits); err != nil {
		r.fail(s.Pos, "target %s: not sm_ and a number", d.Name)
	}
	if d.Family != nil {
		t.Family = *d.Family
	}
	for _, v := range []struct {
		text *string
		to   *isa.Version
	}{{d.Since, &t.Since}, {d.Until, &t.Until}} {
		if v.text == nil {
			continue
		}
		if *v.to, err = isa.ParseVersion(*v.text); err != nil {
			r.fail(s.Pos, "%v", err)
		}
	}
	r.spec.Targets = append(r.spec.Targets, t)
}

var classes = map[string]isa.Class{
	"pred": isa.Pred, "bits": isa.Bits, "signed": isa.Signed, "unsigned": isa.Unsigned,
	"integer": isa.Integer, "loose": isa.Loose, "float": isa.Float, "half": isa.Half,
	"packed": isa.Packed, "lanes": isa.Lanes, "opaque": isa.Opaque,
}

// word interprets the declaration of a type of the table.
func (r *resolver) word(s *Stmt) {
	if s.Type == nil || s.Type.Word == "" {
		return
	}
	d := s.Type
	class, ok := classes[d.Class]
	if !ok {
		r.fail(s.Pos, "type %s: %q is not a class", d.Word, d.Class)
	}
	info := isa.TypeInfo{Word: d.Word, Class: class, Bits: d.Bits,
		Register: contains(d.Flags, "register")}
	name := strings.ToUpper(d.Word[1:2]) + d.Word[2:]
	if class == isa.Pred {
		name = "Predicate"
	}
	r.types[d.Word] = isa.Type(len(r.spec.Types))
	r.spec.Types = append(r.spec.Types, TypeLine{Name: name, Info: info})
}

// gate interprets the declarations of gates.
func (r *resolver) gate(s *Stmt) {
	if s.Gate != nil {
		r.gates[s.Gate.Name] = r.gateOf(&s.Gate.Gate)
	}
}

func (r *resolver) gateOf(x *GateExpr) isa.Gate {
	var g isa.Gate
	for _, c := range x.Clauses {
		if c.Name != "" {
			named, ok := r.gates[c.Name]
			if !ok {
				r.fail(c.Pos, "no gate is called %s", c.Name)
			}
			g.Clauses = append(g.Clauses, named.Clauses...)
			continue
		}
		v, err := isa.ParseVersion(c.Since)
		if err != nil {
			r.fail(c.Pos, "%v", err)
		}
		clause := isa.Clause{Since: v, Targets: isa.AllTargets, On: strings.Join(c.On, " ")}
		if len(c.On) > 0 {
			clause.Targets = 0
		}
		for _, w := range c.On {
			set, err := isa.TargetsNamed(r.spec.Targets, w)
			if err != nil {
				r.fail(c.Pos, "%v", err)
			}
			clause.Targets |= set
		}
		g.Clauses = append(g.Clauses, clause)
	}
	return g
}

// declaration interprets special registers, directives and pragmas with their clauses.
func (r *resolver) declaration(s *Stmt) {
	switch {
	case s.Special != nil:
		r.endForm()
		r.endIns()
		r.last = inSpecial
		r.group = len(r.spec.Specials)
		for _, name := range spread(s.Special.Name) {
			r.spec.Specials = append(r.spec.Specials, isa.Special{Name: name, What: s.Special.What})
		}
	case s.Type != nil && s.Type.Word == "":
		if r.last != inSpecial {
			r.fail(s.Pos, "type line outside a special register")
			return
		}
		of := s.Type.Of
		t, ok := r.types["."+of[len(of)-1]]
		if !ok {
			r.fail(s.Pos, "no type is called %s", of[len(of)-1])
		}
		for i := range r.spec.Specials[r.group:] {
			sp := &r.spec.Specials[r.group+i]
			sp.Type, sp.Vector = t, of[0] == "v4"
		}
	case s.Directive != nil:
		r.last = inDirective
		r.spec.Directives = append(r.spec.Directives,
			isa.DirectiveInfo{Name: s.Directive.Name, What: s.Directive.What})
	case s.Pragma != nil:
		r.last = inPragma
		r.spec.Pragmas = append(r.spec.Pragmas,
			isa.PragmaInfo{Name: s.Pragma.Name, What: s.Pragma.What})
	case s.Where != nil && r.last == inDirective:
		r.spec.Directives[len(r.spec.Directives)-1].Where = s.Where
	case s.Where != nil && r.last == inPragma:
		r.spec.Pragmas[len(r.spec.Pragmas)-1].Where = s.Where
	case s.Args != nil && r.last == inDirective:
		r.spec.Directives[len(r.spec.Directives)-1].Args = *s.Args
	case s.Where != nil || s.Args != nil:
		r.fail(s.Pos, "clause of a directive outside a directive")
	}
}

// spread expands %pm<0..7> to %pm0 to %pm7, and returns other names unchanged.
func spread(name string) []string {
	open := strings.IndexByte(name, '<')
	if open < 0 {
		return []string{name}
	}
	var low, high int
	if _, err := fmt.Sscanf(name[open:], "<%d..%d>", &low, &high); err != nil {
		return []string{name}
	}
	var out []string
	for i := low; i <= high; i++ {
		out = append(out,
			name[:open]+strconv.Itoa(i)+strings.TrimPrefix(name[strings.IndexByte(name, '>'):],
				">"))
	}
	return out
}
