// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package lift

import (
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/ptx"
	"github.com/ptxdsl/ptxdsl/ptx/constant"
)

// variables lifts a declaration of one or more variables. It adds registers to the scope, and
// passes other variables to keep.
func (l *lifter) variables(n *ptx.Var, keep func(*ir.Var)) {
	if len(n.Names) == 0 {
		return
	}
	t, ok := isa.ParseType(n.Type.Text)
	space, known := isa.ParseSpace(n.Space.Text)
	if !ok || !known {
		l.fault(&ruleStatement, n, "%s %s is not a supported declaration", n.Space.Text,
			n.Type.Text)
		return
	}
	if l.f == nil && space == isa.Reg {
		l.fault(&ruleOdd, n, "registers at module scope (allowed in old PTX versions) are not "+
			"supported")
		return
	}
	vec := uint8(isa.ParseVector(n.Vec.Text))
	doc := l.doc(n.At)
	for i := range n.Names {
		d := &n.Names[i]
		if space == isa.Reg {
			if d.Count != nil {
				l.rangeOf(d, t, vec)
			} else {
				l.register(d.Name.Text, t, vec, d.At)
			}
			continue
		}
		count := int64(1)
		if d.Count != nil {
			if count = l.integer(d.Count); count > maxNames {
				l.fault(&ruleOdd, d, "%s<%d> declares more than %d variables", d.Name.Text, count,
					maxNames)
				continue
			}
		}
		for j := range count {
			name := d.Name.Text
			if d.Count != nil {
				name += itoa(j)
			}
			v := l.variable(n, d, name, space, t, vec)
			v.Doc, doc = doc, nil
			keep(v)
			if i == len(n.Names)-1 && j == count-1 {
				v.Note = l.note(n.To, &v.Doc)
			}
		}
	}
	if space == isa.Reg && doc != nil {
		l.pending = append(l.pending, doc...)
	}
}

// maxNames is the maximum number of variables that a range such as a<8> may declare. All of them
// are created, because each occupies memory at run time.
const maxNames = 1 << 16

func (l *lifter) rangeOf(d *ptx.Declarator, t isa.Type, vec uint8) {
	s := l.scopes[len(l.scopes)-1]
	if s.ranges == nil {
		s.ranges = make(map[string]*regRange)
	}
	s.ranges[d.Name.Text] = &regRange{letters: d.Name.Text, count: int(l.integer(d.Count)), typ: t,
		vec: vec, at: d.At, regs: make(map[int]*ir.Reg)}
}

func (l *lifter) integer(o *ptx.Operand) int64 {
	v := constant.Of(o)
	if !v.OK() {
		l.fault(&ruleStatement, o, "this expression is not a constant")
	}
	return int64(v.Bits)
}

// variable lifts one name of a declaration.
func (l *lifter) variable(n *ptx.Var, d *ptx.Declarator, name string, space isa.Space, t isa.Type,
	vec uint8) *ir.Var {
	v := &ir.Var{Name: name, Space: space, Type: t, Vec: vec, Pos: position(d)}
	if len(n.Linkage) > 0 {
		v.Linkage = n.Linkage[0].Text
	}
	if name != "" && name != "_" {
		if l.f != nil {
			v.Name = l.unique(name)
		}
		l.declare(name, v, d.At)
	}
	if n.Bank != nil {
		v.Bank = new(ir.Operand)
		*v.Bank = l.operand(n.Bank)
	}
	for i := range n.Attrs {
		a := &n.Attrs[i]
		switch a.Name.Text {
		case ".align":
			size := int(l.integer(&a.Args[0]))
			if v.Ptr == nil && n.Type.Text != "" && a.At > n.Type.At {
				// .ptr .align without a space means the same as .align
				v.Ptr = &ir.Ptr{}
			}
			if v.Ptr != nil {
				v.Ptr.Align = size
			} else {
				v.Align = size
			}
		case ".ptr":
			v.Ptr = &ir.Ptr{}
		case ".attribute":
			text := l.textOf(a.Args)
			if len(text) > 0 && text[0] != '(' {
				text = "(" + text + ")"
			}
			v.Attrs = append(v.Attrs, a.Name.Text+text)
		default:
			if s, ok := isa.ParseSpace(a.Name.Text); ok && v.Ptr != nil {
				v.Ptr.Space = s
			} else {
				v.Attrs = append(v.Attrs, a.Name.Text)
			}
		}
	}
	for i := range d.Dims {
		if d.Dims[i].Kind == ptx.Empty {
			v.Dims = append(v.Dims, ir.Unsized)
		} else {
			n := l.integer(&d.Dims[i])
			if n < 0 {
				n = 1 << 62 // more than any memory, as in ptxas
			}
			v.Dims = append(v.Dims, n)
		}
	}
	if d.Init != nil {
		v.Init = new(ir.Operand)
		*v.Init = l.operand(d.Init)
	}
	return v
}

// parameter returns the variable of a parameter or result of a function.
func (l *lifter) parameter(n *ptx.Var) *ir.Var {
	t, ok := isa.ParseType(n.Type.Text)
	space, known := isa.ParseSpace(n.Space.Text)
	if !ok || !known {
		l.fault(&ruleStatement, n, "%s %s is not a supported parameter", n.Space.Text, n.Type.Text)
		return &ir.Var{Pos: position(n)}
	}
	doc := l.doc(n.At)
	vec := uint8(isa.ParseVector(n.Vec.Text))
	d := &ptx.Declarator{Span: n.Span}
	if len(n.Names) > 0 {
		d = &n.Names[0]
	}
	var v *ir.Var
	if space == isa.Reg {
		v = &ir.Var{Name: d.Name.Text, Space: space, Type: t, Vec: vec, Pos: position(n)}
		if d.Name.Text != "" && d.Name.Text != "_" {
			v.Reg = l.register(d.Name.Text, t, vec, d.At)
			l.use(v.Reg)
			v.Name = v.Reg.Name
		}
	} else {
		v = l.variable(n, d, d.Name.Text, space, t, vec)
	}
	v.Doc = doc
	v.Note = l.note(n.To, &v.Doc)
	v.Box = ir.BoxOf(v.Note, v.Doc)
	return v
}
