// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package isa

// A Type is a PTX type: the type word of a modifier, a declaration or a constant. The zero Type is
// "none". Constants for all types are generated from spec/types.isa.
type Type uint8

// A Class groups types by what may stand for what.
type Class uint8

// Classes of types.
const (
	NoClass  Class = iota
	Pred           // predicates
	Bits           // untyped bits: .b32
	Signed         // .s32
	Unsigned       // .u32
	Integer        // integers of one width and nothing else
	Loose          // anything of one width, predicates too
	Float          // .f32, .f64: constants exist
	Half           // .f16, .bf16x2: no constants, registers of the type itself exist
	Packed         // micro-floats: they live in registers of untyped bits
	Lanes          // packed integers and .f32x2: they live in registers of untyped bits or of .f16x2
	Opaque         // textures, samplers, surfaces
)

// A TypeInfo is what the table says of a type.
type TypeInfo struct {
	Word     string // with the dot
	Class    Class
	Bits     int
	Register bool // registers can be declared with it
}

// String returns the type's word, with its dot.
func (t Type) String() string { return t.info().Word }

// Class says what kind of type t is.
func (t Type) Class() Class { return t.info().Class }

// Bits returns the width of one value.
func (t Type) Bits() int { return t.info().Bits }

// Register reports whether registers can be declared with this type.
func (t Type) Register() bool { return t.info().Register }

// info is what the table says of t; of a number that is no type, what it says of none.
func (t Type) info() *TypeInfo {
	if int(t) >= len(typeTable) {
		t = 0
	}
	return &typeTable[t]
}

// ParseType finds the type of a word such as ".u32".
func ParseType(word string) (Type, bool) {
	t, ok := index().types[word]
	return t, ok
}

// Whole reports whether t holds integers or untyped bits.
func (t Type) Whole() bool {
	switch t.Class() {
	case Bits, Signed, Unsigned, Integer:
		return true
	}
	return false
}

// scaled is the type of the same class and by/2 times the width; t itself where there is none.
func (t Type) scaled(by int) Type {
	want := t.info()
	for i, u := range typeTable {
		if u.Class == want.Class && u.Bits == want.Bits*by/2 && u.Register {
			return Type(i)
		}
	}
	return t
}

// A Space is a state space. The zero Space is generic: no space written.
type Space uint8

// State spaces.
const (
	Generic Space = iota
	Reg
	Sreg
	Const
	Global
	Local
	Param
	ParamEntry // .param::entry
	ParamFunc  // .param::func
	Shared     // .shared, which means the CTA's own
	SharedCTA  // .shared::cta
	SharedCluster
	Tex
	Tensor // tensor memory, which no declaration reaches
)

var spaceWords = [...]string{
	Generic: "", Reg: ".reg", Sreg: ".sreg", Const: ".const", Global: ".global", Local: ".local", Param: ".param",
	ParamEntry: ".param::entry", ParamFunc: ".param::func", Shared: ".shared", SharedCTA: ".shared::cta",
	SharedCluster: ".shared::cluster", Tex: ".tex", Tensor: "tensor memory",
}

// String returns the word of the space, with its dot; "generic" for none.
func (s Space) String() string {
	if s == Generic {
		return "generic"
	}
	return spaceWords[s]
}

// ParseSpace finds the space of a word such as ".shared::cta".
func ParseSpace(word string) (Space, bool) {
	for i, w := range spaceWords {
		if w == word && w != "" {
			return Space(i), true
		}
	}
	return Generic, false
}

// Base returns the space that declarations of s use: .shared::cta is .shared.
func (s Space) Base() Space {
	switch s {
	case SharedCTA, SharedCluster:
		return Shared
	case ParamEntry, ParamFunc:
		return Param
	}
	return s
}
