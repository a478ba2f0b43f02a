// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package isa

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// maxChangedArgs is the largest number of operands for which single changes are tried.
const maxChangedArgs = 10

// singleChange looks for one change that makes the operands fit: an operand is in the wrong
// position, extra, missing, or outside its braces or brackets. It returns nil if no such change
// exists.
func (m *Matcher) singleChange(o *Opcode, op string, args []Arg) *Problem {
	if len(args) > maxChangedArgs || !m.allowSearch() {
		return nil
	}
	for _, look := range []func(*Candidate, string, []Arg) *Problem{m.reorderedArgs,
		m.misplacedParts,
		m.missingArg, m.extraArg} {
		for i := range o.fits {
			if p := look(&o.fits[i], op, args); p != nil {
				return p
			}
		}
	}
	return nil
}

// reorderedArgs looks for an order of the operands that fits: two operands are exchanged, or one is
// moved. It returns nil if no such order exists.
func (m *Matcher) reorderedArgs(c *Candidate, op string, args []Arg) *Problem {
	for from := range args {
		for to := range args {
			if from == to {
				continue
			}
			list := slices.Clone(args)
			a := list[from]
			list = slices.Insert(slices.Delete(list, from, from+1), to, a)
			if !c.accepts(m, list) && from < to {
				list = slices.Clone(args)
				list[from], list[to] = list[to], list[from]
			}
			if c.accepts(m, list) {
				p := problem("F302", -1, "operands of %s are in the wrong order, expected %s", op,
					c.list())
				p.Arg = min(from, to)
				return &p
			}
		}
	}
	return nil
}

// misplacedParts looks for operands that should be in one pair of braces, or in the brackets of
// the operand before them. It returns nil if there are none.
func (m *Matcher) misplacedParts(c *Candidate, op string, args []Arg) *Problem {
	for from := range args {
		if a := &args[from]; a.Kind == ArgAddress && len(a.Elems) > 2 {
			list := slices.Clone(args)
			list[from].Elems = []Arg{a.Elems[0], {Kind: ArgVector, Elems: a.Elems[1:]}}
			if c.accepts(m, list) {
				p := problem("F307", -1,
					"operand %d of %s must be enclosed in braces, from the first comma on: %s",
					from+1, op, c.list())
				p.Arg = from
				return &p
			}
		}
		for to := from + 2; to <= len(args); to++ {
			list := slices.Clone(args)
			list = slices.Replace(list, from, to, Arg{Kind: ArgVector, Elems: args[from:to]})
			if c.accepts(m, list) {
				p := problem("F301", -1, "operands %d to %d of %s must be in one pair of braces: "+
					"%s", from+1, to, op, c.list())
				p.Arg = from
				return &p
			}
			if to != from+2 || args[from].Kind != ArgAddress {
				continue
			}
			in := args[from]
			in.Elems = append(slices.Clone(in.Elems), args[from+1])
			if list = slices.Replace(slices.Clone(args), from, to, in); c.accepts(m, list) {
				p := problem("F301", -1, "operand %d of %s must be inside the brackets before "+
					"it: %s", to, op, c.list())
				p.Arg = from + 1
				return &p
			}
		}
	}
	return nil
}

// missingArg looks for the position of a missing operand. It returns nil if no operand is missing.
func (m *Matcher) missingArg(c *Candidate, op string, args []Arg) *Problem {
	for at := len(args); at >= 0; at-- {
		list := slices.Insert(slices.Clone(args), at, Arg{})
		if !c.accepts(m, list) {
			continue
		}
		p := problem("F301", -1, "%s takes %d operands, found %d; missing %s: %s", op, len(list),
			len(args), c.nameAt(list, at), c.list())
		if len(list) == 1 {
			p.Message = fmt.Sprintf("%s takes 1 operand, found 0: %s", op, c.list())
		}
		return &p
	}
	return nil
}

// extraArg reports an extra operand, if the other operands fit without it.
func (m *Matcher) extraArg(c *Candidate, op string, args []Arg) *Problem {
	for at := len(args) - 1; at >= 0; at-- {
		list := slices.Delete(slices.Clone(args), at, at+1)
		if !c.accepts(m, list) {
			continue
		}
		p := problem("F301", -1, "%s takes %s, found %d; operand %d is too many", op,
			operands(len(list), len(list)), len(args), at+1)
		if len(list) > 0 {
			p.Message += ": " + c.list()
		}
		p.Arg = at
		return &p
	}
	return nil
}

// nameAt returns the name of operand at in the spec.
func (c *Candidate) nameAt(args []Arg, at int) string {
	if w := c.wantAt(args, at); w != nil {
		return w.spell()
	}
	return "an operand"
}

// list returns the operands of a candidate by their names in the spec, for messages.
func (c *Candidate) list() string { return spell(c.Args) }

func spell(list []Want) string {
	var b strings.Builder
	for i := range list {
		w := &list[i]
		if w.Presence == Never {
			continue
		}
		text := w.spell()
		if b.Len() > 0 {
			text = ", " + text
		}
		if w.Presence != Always {
			text = "{" + text + "}"
		}
		b.WriteString(text)
	}
	return b.String()
}

func (w *Want) spell() string {
	s := w.Name
	switch {
	case w.Inside != nil:
		s = "[" + spell(w.Inside) + "]"
	case len(w.Kinds) == 1 && w.Kinds[0].Len > 0:
		s = fmt.Sprintf("{%s x %d}", w.Name, w.Kinds[0].Len)
	case len(w.Kinds) == 1 && w.Kinds[0].Word == KSink:
		s = "_"
	}
	if w.Pair != nil {
		s += "|" + w.Pair.spell()
	}
	return s
}

// acceptedSpans returns the constants that the candidates accept for one operand if all other
// operands fit. It returns nil if only one candidate has such an operand, or if a candidate accepts
// more than constants.
func (m *Matcher) acceptedSpans(o *Opcode, args []Arg, at int) []Span {
	var spans []Span
	others := withUnknown(args, at)
	n := 0
	for i := range o.fits {
		c := &o.fits[i]
		if !c.accepts(m, others) {
			continue
		}
		w := c.wantAt(args, at)
		if w == nil || len(w.Kinds) != 1 || w.Kinds[0].Word != KImm || len(w.Kinds[0].Range) == 0 {
			return nil
		}
		for _, s := range w.Kinds[0].Range {
			if !slices.Contains(spans, s) {
				spans = append(spans, s)
			}
		}
		n++
	}
	if n < 2 {
		return nil
	}
	slices.SortFunc(spans, func(a, b Span) int { return cmp.Compare(a.Low, b.Low) })
	return spans
}

// withUnknown returns args with operand at marked as unknown, so that it matches every kind.
func withUnknown(args []Arg, at int) []Arg {
	args = slices.Clone(args)
	args[at] = Arg{}
	return args
}
