// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package lower

import (
	"strings"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// Version is the smallest PTX version that holds the target of m and everything that m uses.
func Version(m *ir.Module) isa.Version {
	v := &needs{target: m.Target, least: m.Target.Info().Since}
	for _, d := range m.Decls {
		switch d := d.(type) {
		case *ir.Directive:
			v.directive(d.Name)
		case *ir.Func:
			v.function(d)
		}
	}
	return v.least
}

// needs is the version that what was seen so far needs.
type needs struct {
	target isa.Target
	least  isa.Version
	seen   map[*isa.Candidate]bool
}

// gate notes what opens g for the target.
func (v *needs) gate(g isa.Gate) {
	if g.Open(v.least, v.target) {
		return
	}
	first := isa.Version(0)
	for _, c := range g.Clauses {
		if c.Targets.Has(v.target) && (first == 0 || c.Since < first) {
			first = c.Since
		}
	}
	v.least = max(v.least, first)
}

func (v *needs) directive(name string) {
	if d, ok := isa.DirectiveNamed(name); ok {
		v.gate(d.Gate)
	}
}

func (v *needs) function(f *ir.Func) {
	for i := range f.Attrs {
		v.directive(f.Attrs[i].Name)
	}
	for _, p := range f.Params {
		if p.Ptr != nil {
			v.directive(".ptr")
		}
	}
	if v.seen == nil {
		v.seen = make(map[*isa.Candidate]bool)
	}
	for _, b := range f.Blocks {
		for _, in := range b.Instrs {
			if in.Directive() {
				v.directive(in.Op)
				continue
			}
			if in.Form != nil && !v.seen[in.Form] {
				v.seen[in.Form] = true
				open, _ := in.Form.Form.Bounds(in.Form.Slots)
				for _, g := range open {
					v.gate(g)
				}
			}
			for i := range in.Args {
				in.Args[i].Walk(v.operand)
			}
		}
	}
}

func (v *needs) operand(o *ir.Operand) {
	if o.Kind != ir.Special {
		return
	}
	name := o.Text
	if i := strings.IndexByte(name, '.'); i > 0 {
		name = name[:i]
	}
	if s, ok := isa.SpecialRegister(name); ok {
		v.gate(s.Gate)
	}
}
