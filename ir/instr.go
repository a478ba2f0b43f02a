// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package ir

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/isa"
)

// An Instr is an instruction, or a directive among instructions (.loc, .pragma). The text of a
// directive is its single operand, of kind Raw.
type Instr struct {
	Op    string // opcode with all modifiers, such as "ld.global.f32"
	Guard Guard
	Args  []Operand
	// Form is the matching entry of the instruction set, resolved for these modifiers and
	// operands. It is nil for a directive, and for an instruction that the table does not contain.
	Form *isa.Candidate
	Pos  Pos
	Said *Comments // comments; shared by copies, so replace the value instead of modifying it
}

// Comments holds the comments of an instruction: the lines before it, and the text after it on
// the same line.
type Comments struct {
	Doc  []string // comments before it
	Note string   // comment after it
}

// Doc returns the comment lines before in.
func (in *Instr) Doc() []string {
	if in.Said == nil {
		return nil
	}
	return in.Said.Doc
}

// Note returns the comment after in on the same line, or "".
func (in *Instr) Note() string {
	if in.Said == nil {
		return ""
	}
	return in.Said.Note
}

// Comment sets the comment lines before in to doc, and the comment after it to note, or "" for no
// comment.
func (in *Instr) Comment(doc []string, note string) {
	in.Said = nil
	if len(doc) > 0 || note != "" {
		in.Said = &Comments{doc, note}
	}
}

// A Guard is @p or @!p. Reg is nil if the instruction has no guard.
type Guard struct {
	Reg *Reg
	Not bool
}

// Directive reports whether in is a directive and not an instruction.
func (in *Instr) Directive() bool { return isa.IsDirective(in.Op) }

// Has reports whether the instruction has an effect in the instruction set.
func (in *Instr) Has(effect isa.Effect) bool { return in.Form != nil && in.Form.Form.Has(effect) }

// Ends reports whether the instruction ends a block: a branch or an exit, guarded or not.
func (in *Instr) Ends() bool { return in.Has(isa.EffectBranch) || in.Has(isa.EffectTerminator) }

// Kind returns the operation of in, or NoKind for a directive and for an opcode that the table does
// not contain.
func (in *Instr) Kind() isa.Kind {
	if in.Form == nil {
		return isa.KindOf(in.Op)
	}
	return in.Form.Form.Kind
}

// Mods returns the modifiers of in in the manual's order; some may be NoMod. Words of the name,
// such as .async in cp.async, are not modifiers: they are part of the kind.
func (in *Instr) Mods() []isa.Mod {
	if in.Form == nil {
		return isa.ModsOf(in.Op)
	}
	return in.Form.Slots
}

// HasMod reports whether in has at least one of the modifiers.
func (in *Instr) HasMod(mods ...isa.Mod) bool {
	have := in.Mods()
	for _, m := range mods {
		if slices.Contains(have, m) {
			return true
		}
	}
	return false
}

// Is reports whether in is of a kind and has exactly these modifiers: Is(isa.KindAdd, isa.ModS64)
// is true for add.s64, but not for add.cc.s64.
func (in *Instr) Is(kind isa.Kind, mods ...isa.Mod) bool {
	if in.Kind() != kind {
		return false
	}
	n := 0
	for _, m := range in.Mods() {
		if m != isa.NoMod {
			n++
		}
	}
	return n == len(mods) &&
		!slices.ContainsFunc(mods, func(m isa.Mod) bool { return !in.HasMod(m) })
}

// Space returns the first state space that in names, or Generic if it names none.
func (in *Instr) Space() isa.Space {
	for _, m := range in.Mods() {
		if s := m.Space(); s != isa.Generic {
			return s
		}
	}
	return isa.Generic
}

// NamesShared reports whether in names shared memory, of its block or of the cluster.
func (in *Instr) NamesShared() bool {
	return in.HasMod(isa.ModShared, isa.ModSharedCTA, isa.ModSharedCluster)
}

// Head returns the first word of the opcode, for messages. It is not that of the kind where PTX has
// two names for one operation.
func (in *Instr) Head() string { return isa.FirstWord(in.Op) }

// A Kind is the kind of an Operand.
type Kind uint8

// Kinds of operand.
const (
	Nothing  Kind = iota // an omitted optional result
	Register             // Reg; Text is a component (.x) or selector (.h1)
	Int                  // Value
	Single               // Value holds the 32 bits of the number
	Double               // Value holds the 64 bits of the number
	Variable             // the Ref is a *Var
	Function             // the Ref is a *Func
	Jump                 // the Ref is a *Block; Text is the label, if it is not the first
	List                 // the Ref is a *Targets
	Special              // Text is a special register: %tid.x
	Sink                 // _
	Vector               // {Args}
	Address              // [Args]; Text may be .unified
	Pair                 // Args[0]|Args[1]
	Group                // (Args), of call
	Element              // Args[0][Args[1]]
	Apply                // Text(Args), in initializers: generic(x), 0xff(x)
	Raw                  // Text is the source text
)

// An Operand is an operand of an instruction, a part of one, or an initial value. Modules hold
// many operands, so rare fields are in More.
type Operand struct {
	Kind  Kind
	Not   bool  // negated predicate !p
	Minus bool  // negated register -%r1
	Zero  bool  // an offset of zero is present in the text: +0, as in unoptimized code
	Reg   *Reg  // the register, or nil for other kinds
	Value int64 // value of a constant; for operands with a Ref, the offset added to it
	More  *More // shared by copies of an operand: replace the value instead of modifying it
}

// More holds fields that few operands need.
type More struct {
	Text string
	Args []Operand
	Ref  Ref // the declaration that a name refers to, unless it is a register
}

// Named returns an operand that refers to a declaration other than a register, with an offset.
func Named(kind Kind, ref Ref, offset int64) Operand {
	return Operand{Kind: kind, Value: offset, More: &More{Ref: ref}}
}

// Text returns the text of o; its meaning depends on the Kind.
func (o *Operand) Text() string {
	if o.More == nil {
		return ""
	}
	return o.More.Text
}

// Args returns the parts of o: elements of a vector or pair, or operands in brackets.
func (o *Operand) Args() []Operand {
	if o.More == nil {
		return nil
	}
	return o.More.Args
}

// A Ref is the declaration that a name in an operand refers to.
type Ref interface{ ref() }

func (*Reg) ref()     {}
func (*Var) ref()     {}
func (*Func) ref()    {}
func (*Block) ref()   {}
func (*Targets) ref() {}

// Ref returns the declaration that the name in o refers to, or nil.
func (o *Operand) Ref() Ref {
	switch {
	case o.Reg != nil:
		return o.Reg
	case o.More != nil:
		return o.More.Ref
	}
	return nil
}

// Refer makes o refer to ref. ref must not be a register.
func (o *Operand) Refer(ref Ref) { o.More = &More{Text: o.Text(), Args: o.Args(), Ref: ref} }

// Var returns the variable that o refers to, or nil.
func (o *Operand) Var() *Var {
	if o.More == nil {
		return nil
	}
	v, _ := o.More.Ref.(*Var)
	return v
}

// Block returns the block that o refers to, or nil.
func (o *Operand) Block() *Block {
	if o.More == nil {
		return nil
	}
	b, _ := o.More.Ref.(*Block)
	return b
}

// Offset reports whether o is a symbol with a nonzero offset.
func (o *Operand) Offset() bool { return o.Value != 0 && o.Ref() != nil }

// Walk calls visit with o and every part of it.
func (o *Operand) Walk(visit func(*Operand)) {
	visit(o)
	parts := o.Args()
	for i := range parts {
		parts[i].Walk(visit)
	}
}
