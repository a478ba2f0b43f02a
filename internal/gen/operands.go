// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"slices"
	"strconv"
	"strings"

	"github.com/ptxdsl/ptxdsl/isa"
)

// items converts the operands of a template to operands of the model. The operands of a group are
// tied: all are present, or none. Those of a nested group depend on the outer group.
func (b *builder) items(list []*ArgItem, presence isa.Presence, cond *Implies,
	outer []int) []isa.Operand {
	var out []isa.Operand
	var own []int // IDs of this group's operands
	for _, it := range list {
		switch {
		case it.Arg != nil:
			o := b.operand(it.Arg)
			o.Presence = presence
			own = append(own, o.ID)
			if cond != nil {
				o.If = b.expr(cond)
			}
			out = append(out, o)
		case it.Group != nil:
			g := it.Group
			inner, expr := isa.Maybe, g.If
			if g.If != nil {
				inner = isa.PresentIf
			} else if g.When != nil {
				inner, expr = isa.PresentWhen, g.When
			}
			before := own
			if presence == isa.Always {
				before = nil
			}
			out = append(out, b.items(g.Items, inner, expr, before)...)
		}
	}
	if presence == isa.Maybe {
		for _, id := range own[min(1, len(own)):] {
			b.together(own[0], id)
			b.together(id, own[0])
		}
		if len(own) > 0 && len(outer) > 0 {
			b.together(own[0], outer[0])
		}
	}
	return out
}

// together adds the rule that operand i is present only if operand j is.
func (b *builder) together(i, j int) {
	b.form.Rules = append(b.form.Rules, isa.Rule{
		Holds: isa.Expr{{Code: isa.OpOperand, N: i}, {Code: isa.OpOperand, N: j},
			{Code: isa.OpImplies}},
		Text: "require " + b.names[i] + " -> " + b.names[j],
	})
}

// number assigns an ID to every operand, in the order in which items and operand visit them, so
// that conditions can refer to later operands.
func (b *builder) number(list []*ArgItem) {
	for _, it := range list {
		if it.Group != nil {
			b.number(it.Group.Items)
		} else if it.Arg != nil {
			b.numberArg(it.Arg)
		}
	}
	if len(b.names) > 32 {
		b.fail("more than 32 operands")
	}
}

func (b *builder) numberArg(d *ArgDecl) {
	if d.Paren != nil {
		b.numberArg(d.Paren)
	} else {
		b.names = append(b.names, d.Name)
	}
	b.number(d.Inside)
	for _, k := range d.Kinds {
		if k.Paren != nil {
			b.number(k.Paren.Parts)
		}
	}
	for _, half := range []*ArgDecl{d.Pair, d.Maybe} {
		if half != nil {
			b.numberArg(half)
		}
	}
}

func (b *builder) operand(d *ArgDecl) isa.Operand {
	if d.Paren != nil {
		o := b.operand(d.Paren)
		b.pair(&o, d)
		return o
	}
	o := isa.Operand{Name: d.Name, ID: b.next}
	b.next++
	switch {
	case d.Both:
		o.Access = isa.ReadWrite
	case d.Write:
		o.Access = isa.Write
	}
	if d.Inside != nil {
		o.Inside = b.items(d.Inside, isa.Always, nil, nil)
		o.Unified = d.Unified
		if len(o.Inside) > 0 {
			o.Name = o.Inside[0].Name
		}
	}
	for _, k := range d.Kinds {
		o.Kinds = append(o.Kinds, b.kind(k))
	}
	b.pair(&o, d)
	return o
}

// pair adds the operand after |.
func (b *builder) pair(o *isa.Operand, d *ArgDecl) {
	half, presence := d.Pair, isa.Always
	if d.Maybe != nil {
		half, presence = d.Maybe, isa.Maybe
	}
	if half != nil {
		p := b.operand(half)
		p.Presence = presence
		o.Pair = &p
	}
}

var kindWords = map[string]isa.KindWord{
	"sreg": isa.KSreg, "sym": isa.KSym, "label": isa.KLabel, "func": isa.KFunc,
	"texref":     isa.KTexref,
	"samplerref": isa.KSampler, "surfref": isa.KSurfref, "_": isa.KSink, "rets": isa.KRets,
	"args":  isa.KArgs,
	"proto": isa.KProto, "targets": isa.KTargets, "any": isa.KAny,
}

// bases maps address kinds to the narrowest type of their base register. A predicate means any
// register; an integer type applies only to generic addresses.
var bases = map[string]string{"mem": ".b8", "mem32": ".b32", "mem32generic": ".i32",
	"mem64": ".b64", "memany": ".pred"}

func (b *builder) kind(d *KindDecl) isa.OperandKind {
	k := isa.OperandKind{Type: isa.TypeRef{Slot: -1}, Space: isa.SpaceRef{Slot: -1}}
	if d.Count != "" {
		k.Count = b.count(d.Count)
	}
	word, known := kindWords[d.Word]
	switch {
	case d.Word == "vec" && d.Paren != nil && d.Paren.Parts != nil:
		k.Word = isa.KParts
		k.Parts = b.items(d.Paren.Parts, isa.Always, nil, nil)
	case bases[d.Word] != "":
		k.Word = isa.KMem
		if d.Word != "mem" {
			k.Type.Type = b.r.types[bases[d.Word]]
		}
		if d.Paren != nil && d.Paren.Kind != nil {
			b.space(&k, d.Paren.Kind.Word)
			if d.Paren.Also != "" {
				k.Space.Symbols = b.spaceNamed(d.Paren.Also)
			}
		}
	case d.Word == "tmem":
		k.Word = isa.KMem
		k.Space.Space = isa.Tensor
		k.Type.Type = b.r.types[".i32"]
		if d.Paren != nil && d.Paren.Kind != nil {
			b.typ(&k, d.Paren.Kind)
		}
	case known:
		k.Word = word
		if d.Paren != nil && d.Paren.Kind != nil {
			if word == isa.KSreg {
				b.typ(&k, d.Paren.Kind)
			} else {
				b.space(&k, d.Paren.Kind.Word)
			}
		}
	case d.Word == "imm":
		k.Word = isa.KImm
		if d.Paren != nil {
			k.Range = ranges(d.Paren.Ranges)
			if d.Paren.Kind != nil {
				b.typ(&k, d.Paren.Kind)
			}
		}
	default:
		b.typ(&k, d)
		if d.Not {
			k.Word = isa.KPred
		}
	}
	return k
}

var parts = map[string]isa.Part{
	"lane": isa.Lane, "halves": isa.Halves, "halfmask": isa.HalfMask, "bytes": isa.Bytes,
	"bytemask": isa.ByteMask,
}

// typ resolves a type with its wrapper: reg(T), relax(T), cut(T), data(T), mixed(T), wide(T),
// T(range).
func (b *builder) typ(k *isa.OperandKind, d *KindDecl) {
	if d.Paren != nil && d.Paren.Kind != nil {
		switch d.Word {
		case "reg":
			k.Word = isa.KReg
		case "imm":
			k.Word = isa.KImm
		case "relax":
			k.Relax = true
		case "cut":
			*k = b.kind(d.Paren.Kind)
			k.Cut = true
			return
		case "data":
			*k = b.kind(d.Paren.Kind)
			k.Data = true
			return
		case "mixed":
			*k = b.kind(d.Paren.Kind)
			k.Mixed = true
			return
		case "minus":
			k.Word = isa.KReg
			k.Minus = true
		case "wide":
			k.Type.Scale = 4
		case "narrow":
			k.Type.Scale = 1
		default:
			part, ok := parts[d.Word]
			if !ok {
				b.r.fail(d.Pos, "%s(...) is no kind of operand", d.Word)
			}
			k.Part = part
		}
		b.typ(k, d.Paren.Kind)
		return
	}
	if d.Paren != nil {
		k.Range = ranges(d.Paren.Ranges)
	}
	if strings.HasPrefix(d.Word, ".") {
		if i, ok := b.slotNamed(d.Word); ok {
			k.Type.Slot = int8(i)
			return
		}
	}
	t, ok := b.r.types["."+strings.TrimPrefix(d.Word, ".")]
	if !ok {
		b.r.fail(d.Pos, "%s is no kind of operand, type or slot of this form", d.Word)
	}
	k.Type.Type = t
}

func (b *builder) space(k *isa.OperandKind, word string) {
	if i, ok := b.slotNamed(word); ok {
		k.Space.Slot = int8(i)
		return
	}
	k.Space.Space = b.spaceNamed(word)
}

func (b *builder) spaceNamed(word string) isa.Space {
	s, ok := isa.ParseSpace("." + strings.TrimPrefix(word, "."))
	if !ok && word != "generic" {
		b.fail("%s is no state space", word)
	}
	return s
}

func (b *builder) count(word string) isa.Count {
	if n, err := strconv.Atoi(word); err == nil {
		return isa.Count{From: isa.Fixed, N: n}
	}
	if i, ok := b.slotNamed(word); ok {
		return isa.Count{From: isa.FromSlot, N: i}
	}
	if c, ok := b.table[word]; ok {
		return c
	}
	b.fail("%s is no length: neither a number, nor a slot, nor a column of a table", word)
	return isa.Count{}
}

func ranges(list []*RangeDecl) []isa.Span {
	var out []isa.Span
	for _, r := range list {
		s := isa.Span{Low: r.Low, High: r.Low, Step: 1}
		if r.High != nil {
			s.High = *r.High
		}
		if r.Step != nil {
			s.Step = *r.Step
		}
		out = append(out, s)
	}
	return slices.Clip(out)
}
