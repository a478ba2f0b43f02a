// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package isa

// A Type is a PTX type, as written in a modifier, a declaration or a constant. The zero Type
// stands for no type. The constants for all types are generated from spec/types.isa.
type Type uint8

// A Class is a group of types that can replace each other.
type Class uint8

// Classes of types.
const (
	NoClass  Class = iota
	Pred           // predicates
	Bits           // untyped bits: .b32
	Signed         // .s32
	Unsigned       // .u32
	Integer        // integers of exactly one width
	Loose          // any type of one width, including predicates
	Float          // .f32, .f64: have constants
	Half           // .f16, .bf16x2: no constants; registers of the type exist
	Packed         // micro-floats: stored in registers of untyped bits
	Lanes          // packed integers and .f32x2: stored in registers of untyped bits or .f16x2
	Opaque         // textures, samplers, surfaces
)

// A TypeInfo is the table entry of a type.
type TypeInfo struct {
	Word     string // including the dot
	Class    Class
	Bits     int
	Register bool // registers can be declared with it
}

// String returns the word of the type, including its dot.
func (t Type) String() string { return t.info().Word }

// Class returns the class of t.
func (t Type) Class() Class { return t.info().Class }

// Bits returns the width of one value in bits.
func (t Type) Bits() int { return t.info().Bits }

// Register reports whether registers can be declared with type t.
func (t Type) Register() bool { return t.info().Register }

// info returns the table entry of t, or the entry of the zero Type if t is invalid.
func (t Type) info() *TypeInfo {
	if int(t) >= len(typeTable) {
		t = 0
	}
	return &typeTable[t]
}

// ParseType returns the type that a word such as ".u32" names.
func ParseType(word string) (Type, bool) {
	t, ok := index().types[word]
	return t, ok
}

// Whole reports whether t is an integer type or untyped bits.
func (t Type) Whole() bool {
	switch t.Class() {
	case Bits, Signed, Unsigned, Integer:
		return true
	}
	return false
}

// scaled returns the type of the same class with by/2 times the width, or t itself if there is no
// such type.
func (t Type) scaled(by int) Type {
	want := t.info()
	for i, u := range typeTable {
		if u.Class == want.Class && u.Bits == want.Bits*by/2 && u.Register {
			return Type(i)
		}
	}
	return t
}

// A Space is a state space. The zero Space is Generic, which has no modifier in PTX.
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
	Shared     // .shared: the block's own shared memory
	SharedCTA  // .shared::cta
	SharedCluster
	Tex
	Tensor // tensor memory, which has no declarations
)

var spaceWords = [...]string{
	Generic: "", Reg: ".reg", Sreg: ".sreg", Const: ".const", Global: ".global", Local: ".local",
	Param:      ".param",
	ParamEntry: ".param::entry", ParamFunc: ".param::func", Shared: ".shared",
	SharedCTA:     ".shared::cta",
	SharedCluster: ".shared::cluster", Tex: ".tex", Tensor: "tensor memory",
}

// String returns the word of s, including its dot, or "generic" for Generic.
func (s Space) String() string {
	if s == Generic {
		return "generic"
	}
	return spaceWords[s]
}

// ParseVector returns the number of elements that a vector word such as ".v4" names, or 0 for
// other words.
func ParseVector(word string) int {
	if m, ok := Standard().mod(word); ok {
		return m.Elements()
	}
	return 0
}

// ParseSpace returns the space that a word such as ".shared::cta" names.
func ParseSpace(word string) (Space, bool) {
	for i, w := range spaceWords {
		if w == word && w != "" {
			return Space(i), true
		}
	}
	return Generic, false
}

// Base returns the space in which variables of s are declared: for .shared::cta, it is .shared.
func (s Space) Base() Space {
	switch s {
	case SharedCTA, SharedCluster:
		return Shared
	case ParamEntry, ParamFunc:
		return Param
	}
	return s
}

// Elements returns the element type of a packed type, and the number of elements. For other
// types, it returns t and 1.
func (t Type) Elements() (element Type, n int) {
	switch t {
	case U16x2:
		return U16, 2
	case S16x2:
		return S16, 2
	case U8x4:
		return U8, 4
	case S8x4:
		return S8, 4
	case F16x2:
		return F16, 2
	case Bf16x2:
		return Bf16, 2
	case F32x2:
		return F32, 2
	case E4m3x2, E4m3x4:
		return E4m3, t.Bits() / 8
	case E5m2x2, E5m2x4:
		return E5m2, t.Bits() / 8
	case E3m2x2, E3m2x4:
		return E3m2, t.Bits() / 8
	case E2m3x2, E2m3x4:
		return E2m3, t.Bits() / 8
	case E2m1x2, E2m1x4:
		return E2m1, t.Bits() / 4
	case E2m1p4x4:
		return E2m1, 4
	case Ue8m0x2, Ue8m0x4:
		return Ue8m0, t.Bits() / 8
	case Ue4m3x2:
		return Ue4m3, 2
	case Ue5m3x2:
		return Ue5m3, 2
	}
	return t, 1
}
