// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package isa

import (
	"strconv"
	"strings"
)

// Usage is the form as the manual would print it: the template and its operands, optional ones in
// braces.
func (f *Form) Usage() string {
	s := f.Template
	if ops := usageList(f.Operands); ops != "" {
		s += " " + ops
	}
	return s
}

func usageList(list []Operand) string {
	var b strings.Builder
	for i := range list {
		o := &list[i]
		text := o.usage()
		switch {
		case o.Presence == Always && i > 0:
			text = ", " + text
		case o.Presence != Always && i > 0:
			text = "{, " + text + "}"
		case o.Presence != Always:
			text = "{" + text + ",}"
		}
		b.WriteString(text)
	}
	return b.String()
}

func (o *Operand) usage() string {
	s := o.Name
	switch {
	case o.Inside != nil:
		s = "[" + usageList(o.Inside) + "]"
		if o.Unified {
			s += "{.unified}"
		}
	case len(o.Kinds) > 0 && o.Kinds[0].Word == KParts:
		s = "{" + usageList(o.Kinds[0].Parts) + "}"
	case len(o.Kinds) > 0 && o.Kinds[0].Count.From != Scalar:
		s = "{" + o.Name + "}"
	}
	switch {
	case o.Pair == nil:
	case o.Pair.Presence == Always:
		s += "|" + o.Pair.usage()
	default:
		s += "{|" + o.Pair.usage() + "}"
	}
	return s
}

// Describe says in words what may stand for the operand in form f.
func (o *Operand) Describe(f *Form) string {
	if o.Inside != nil {
		return "an address"
	}
	words := make([]string, len(o.Kinds))
	for i := range o.Kinds {
		words[i] = o.Kinds[i].describe(f, o.Access)
	}
	s := strings.Join(words, " or ")
	switch o.Access {
	case Write:
		s += ", written"
	case ReadWrite:
		s += ", read and written"
	}
	switch o.Presence {
	case Maybe, PresentWhen:
		s += ", optional"
	case PresentIf:
		s += ", with its modifier only"
	}
	return s
}

func (k *Kind) describe(f *Form, access Access) string {
	settled := WantKind{Kind: k, Settled: k.Type.Type, Len: -1, In: k.Space.Space}
	typ := ""
	if k.Type.Slot >= 0 {
		typ = f.Slots[k.Type.Slot].Name
	} else if k.Type.Type != 0 {
		typ = k.Type.Type.String()
	}
	switch k.Type.Scale {
	case 4:
		typ += " of twice the width"
	case 1:
		typ += " of half the width"
	}
	one := settled.describeOne(access)
	switch k.Word {
	case KValue:
		one = typ + " register"
		if access == Read && k.Count.From == Scalar {
			one += " or constant"
		}
		one += describeRange(k.Range)
		if k.Relax {
			one += ", or a wider one"
		}
	case KReg:
		one = typ + " register"
		if k.Minus {
			one += " with a minus sign"
		}
	case KImm:
		one = "constant" + describeRange(k.Range)
	case KMem:
		one = "address"
		if k.Space.Slot >= 0 {
			one += " in the space of " + f.Slots[k.Space.Slot].Name
		} else if k.Space.Space != Generic {
			one += " in " + k.Space.Space.String()
		}
	case KParts:
		one = "vector {" + usageList(k.Parts) + "}"
	}
	if k.Part != WholeOnly {
		one += ", or " + k.Part.String()
	}
	switch k.Count.From {
	case Fixed:
		one = strconv.Itoa(k.Count.N) + " times " + one
	case FromSlot:
		one = f.Slots[k.Count.N].Name + " times " + one
	case FromTable:
		one = f.Tables[k.Count.In].Names[k.Count.N] + " times " + one
	}
	return one
}

// Requires is the gate of the form in words, all of its gates together.
func (f *Form) Requires() string {
	var words []string
	for _, g := range f.Gates {
		if len(g.Clauses) > 0 {
			words = append(words, g.String())
		}
	}
	if len(words) == 0 {
		return "PTX 1.0"
	}
	return strings.Join(words, ", and ")
}
