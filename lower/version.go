// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package lower

import (
	"strings"
	"unsafe"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// Version returns the smallest PTX version that supports the target of m and everything that m
// uses. Instructions must be bound to their forms, for any version.
func Version(m *ir.Module) isa.Version {
	v := &needs{target: m.Target, least: m.Target.Info().Since}
	for _, option := range m.Options {
		switch {
		case strings.HasPrefix(option, "texmode_"):
			v.since(1, 5)
		case option == "debug":
			v.since(3, 0)
		}
	}
	if m.Bits != 0 {
		v.directive(".address_size")
	}
	for _, d := range m.Decls {
		switch d := d.(type) {
		case *ir.Directive:
			v.directiveOf(d.Name, d.Text)
		case *ir.Section:
			v.section(d)
		case *ir.Var:
			v.variable(d)
		case *ir.Func:
			v.function(d)
		}
	}
	return v.least
}

// needs computes the smallest PTX version that supports all features of a module.
type needs struct {
	target isa.Target
	least  isa.Version
	binder *ir.Binder         // checks forms whose operands have gates; nil until the first
	lately [64]*isa.Candidate // recently seen forms without requirements, by address
}

// gate requires the first version in which g is open for the target.
func (v *needs) gate(g isa.Gate) { v.least = max(v.least, g.Since(v.target)) }

// section adds the requirements of debug information.
func (v *needs) section(s *ir.Section) {
	if v.directive(".section"); s.Sources != nil {
		v.directive(s.Name)
	}
	for i := range s.Lines {
		l := &s.Lines[i]
		if l.Label != "" {
			v.since(7, 0) // PTX ISA, Debugging Directives: .section
		}
		for _, value := range l.Values {
			// differences of labels, or a negative number
			if strings.ContainsRune(value, '-') {
				v.since(7, 5)
			}
		}
	}
}

func (v *needs) since(major, minor int) { v.least = max(v.least, isa.MakeVersion(major, minor)) }

func (v *needs) directive(name string) {
	if d, ok := isa.DirectiveNamed(name); ok {
		v.gate(d.Gate)
	}
}

// directiveOf adds the requirements of a directive and its arguments.
func (v *needs) directiveOf(name, text string) {
	v.directive(name)
	switch name {
	case ".attribute":
		v.attribute(text)
	case ".pragma":
		for i := range isa.Pragmas {
			if p := &isa.Pragmas[i]; strings.Contains(text, `"`+p.Name) {
				v.gate(p.Gate)
			}
		}
	}
}

// attribute adds the requirements of an .attribute(...) of a variable or function.
func (v *needs) attribute(text string) {
	v.directive(".attribute")
	if strings.Contains(text, ".unified") {
		v.since(8, 0) // PTX ISA, Variable and Function Attribute Directive: .attribute
	}
}

// variable adds the requirements of a variable or parameter.
func (v *needs) variable(d *ir.Var) {
	if d.Linkage != "" {
		v.directive(d.Linkage)
	}
	for _, a := range d.Attrs {
		if strings.HasPrefix(a, ".attribute") {
			v.attribute(a)
		}
	}
	if d.Ptr != nil {
		v.directive(".ptr")
	}
	v.typed(d.Type)
	if d.Init != nil {
		d.Init.Walk(func(o *ir.Operand) {
			switch {
			case o.Kind != ir.Apply:
			case o.Text() == "generic":
				v.since(3, 1) // PTX ISA, Initializers
			default:
				v.since(7, 1) // masks, in the same section
			}
		})
	}
}

// typed adds the requirements of a declared type.
func (v *needs) typed(t isa.Type) {
	switch {
	case t == isa.B128:
		v.since(8, 3) // PTX ISA, Fundamental Types
	case t.Class() == isa.Opaque:
		v.since(1, 5) // PTX ISA, Texture Sampler and Surface Types
	}
}

// head adds the requirements of a function's header.
func (v *needs) head(f *ir.Func) {
	if f.Linkage != "" {
		v.directive(f.Linkage)
	}
	for i := range f.Attrs {
		v.directiveOf(f.Attrs[i].Name, f.Attrs[i].Text)
	}
	for _, p := range f.Results {
		v.variable(p)
		if p.Space == isa.Param {
			v.since(2, 0) // PTX ISA, Device Function Parameters
		}
	}
	space := int64(0)
	for _, p := range f.Params {
		v.variable(p)
		if f.Kernel {
			align := int64(p.Alignment())
			space = (space+align-1)/align*align + p.Size()
		} else if p.Space == isa.Param {
			v.since(2, 0)
		}
		if !f.Kernel && len(p.Dims) > 0 && p.Dims[0] == ir.Unsized {
			v.since(6, 0) // PTX ISA, Variadic Functions
		}
	}
	switch {
	case space > 4352:
		v.since(8, 1) // PTX ISA, Kernel Function Parameters
	case space > 256:
		v.since(1, 5)
	case f.Kernel && len(f.Params) > 0:
		v.since(1, 4)
	}
}

func (v *needs) function(f *ir.Func) {
	v.head(f)
	for _, d := range f.Vars {
		v.variable(d)
	}
	last := isa.Type(0)
	for _, r := range f.Regs {
		if r.Type != last { // consecutive registers are usually of one type
			last = r.Type
			v.typed(last)
		}
	}
	for _, t := range f.Targets {
		switch {
		case t.Proto != nil:
			v.directive(".callprototype")
			v.head(t.Proto)
		case t.Funcs != nil:
			v.directive(".calltargets")
		default:
			v.directive(".branchtargets")
		}
	}
	for _, b := range f.Blocks {
		for _, in := range b.Instrs {
			if f := in.Form; f == nil || *v.known(f) != f || !plain(in.Args) { // rare
				v.instr(in)
			}
		}
	}
}

func (v *needs) instr(in *ir.Instr) {
	switch {
	case in.Form != nil:
		v.form(in)
	case in.Directive():
		text := ""
		if len(in.Args) > 0 {
			text = in.Args[0].Text()
		}
		v.directiveOf(in.Op, text)
		return
	}
	v.operands(in.Args)
}

// form adds the requirements of in's form. Most instructions have one of a few forms.
func (v *needs) form(in *ir.Instr) {
	known := v.known(in.Form)
	if *known == in.Form {
		return
	}
	if v.least = max(v.least, in.Form.Since(v.target)); in.Form.OperandBounds() {
		v.bounds(in)
		return
	}
	*known = in.Form
}

// known returns the cache entry for a form, which it creates on first use.
func (v *needs) known(f *isa.Candidate) **isa.Candidate {
	at := uintptr(unsafe.Pointer(f))
	return &v.lately[(at>>5^at>>11)%uintptr(len(v.lately))]
}

// plain reports whether all operands are registers or constants, which have no requirements.
func plain(list []ir.Operand) bool {
	for i := range list {
		if k := list[i].Kind; k != ir.Register && k != ir.Int && k != ir.Single {
			return false
		}
	}
	return true
}

// bounds adds the requirements of in's form with its operands.
func (v *needs) bounds(in *ir.Instr) {
	if v.binder == nil {
		v.binder = ir.NewBinder(isa.Newest(), v.target)
	}
	open, _ := v.binder.Bounds(in)
	for _, g := range open {
		v.gate(g)
	}
}

// operands adds the requirements of special registers in list.
func (v *needs) operands(list []ir.Operand) {
	for i := range list {
		switch o := &list[i]; o.Kind {
		case ir.Register, ir.Int, ir.Single: // the most frequent kinds
		case ir.Special:
			name, _, _ := strings.Cut(o.Text(), ".")
			if s, ok := isa.SpecialRegister(name); ok {
				v.gate(s.Gate)
			}
		default:
			v.operands(o.Args())
		}
	}
}
