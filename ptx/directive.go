// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package ptx

import (
	"github.com/alecthomas/participle/v2/lexer"

	"github.com/ptxdsl/ptxdsl/internal/slab"
)

// buildDirective creates the node of a directive, without its range and label.
func (p *parser) buildDirective(f frame, t *directive) *Directive {
	d := slab.One(&p.notes)
	base := len(p.operands)
	switch {
	case t.Version != nil:
		d.Name = f.word(t.Version.Word)
		p.operands = append(p.operands, f.operand(t.Version.Number))
	case t.Number != nil:
		d.Name = f.word(t.Number.Word)
		p.operands = append(p.operands, f.operand(t.Number.Arg.Value))
	case t.Numbers != nil:
		d.Name = f.word(t.Numbers.Word)
		for _, a := range t.Numbers.Args {
			p.operands = append(p.operands, f.operand(a.Value))
		}
	case t.Plain != nil:
		d.Name = f.word(t.Plain.Word)
	case t.Words != nil:
		d.Name = f.word(t.Words.Word)
		p.directiveArgs(f, t.Words.Args)
	case t.Texts != nil:
		d.Name, d.Semi = f.word(t.Texts.Word), true
		p.directiveArgs(f, t.Texts.Args)
	case t.Targets != nil:
		d.Name, d.Semi = f.word(t.Targets.Word), true
		for _, a := range t.Targets.Args {
			x := f.operand(a.Name)
			if isWritten(a.Count) {
				x.Kind, x.Args = Series, slab.Copy(&p.args, []Operand{f.operand(a.Count)})
				x.To = f.tokens[a.Count.Pos.Offset+1].to
			}
			p.operands = append(p.operands, x)
		}
	case t.Alias != nil:
		d.Name, d.Semi = f.word(t.Alias.Word), true
		p.directiveArgs(f, t.Alias.Args)
	case t.File != nil:
		d.Name = f.word(t.File.Word)
		path := f.operand(t.File.Path)
		path.Spaced = true
		p.operands = append(p.operands, f.operand(t.File.Index), path)
		p.directiveArgs(f, t.File.More)
	case t.Loc != nil:
		d.Name = f.word(t.Loc.Word)
		p.directiveArgs(f, t.Loc.Place)
		if t.Loc.Inline != nil {
			p.inlineArgs(f, t.Loc.Inline)
		}
	case t.Dwarf != nil:
		d.Name = f.word(t.Dwarf.Word)
		if isWritten(t.Dwarf.Rest) {
			p.operands = append(p.operands, f.operand(t.Dwarf.Rest))
		}
	default:
		d.Name, d.Semi = f.word(t.Other.Word), isWritten(t.Other.End)
		p.directiveArgs(f, t.Other.Args)
	}
	d.Args = slab.Copy(&p.args, p.operands[base:])
	p.operands = p.operands[:base]
	return d
}

// directiveArgs pushes arguments as operands. Arguments that are not preceded by a comma are
// Spaced.
func (p *parser) directiveArgs(f frame, list []lexer.Token) {
	comma := true
	for _, t := range list {
		if f.token(t).kind == ',' {
			comma = true
			continue
		}
		x := f.operand(t)
		x.Spaced = !comma
		comma = false
		p.operands = append(p.operands, x)
	}
}

// inlineArgs pushes the attributes function_name and inlined_at as operands.
func (p *parser) inlineArgs(f frame, t *inlined) {
	w := f.token(t.Word)
	fn := f.operand(t.Name)
	if isWritten(t.Offset) {
		fn = p.node(Binary, "+", fn, f.operand(t.Offset))
	}
	x := p.node(Tuple, p.textOf(w), fn)
	x.At = w.at
	p.operands = append(p.operands, x)

	w = f.token(t.At)
	base := len(p.operands)
	p.directiveArgs(f, t.Place)
	y := p.node(Tuple, p.textOf(w), p.operands[base:]...)
	y.At = w.at
	p.operands = append(p.operands[:base], y)
}
