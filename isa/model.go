// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package isa

// A Mod is a modifier, as an index into Set.Mods. NoMod stands for the absence of a modifier.
type Mod uint16

// NoMod is the absence of a modifier.
const NoMod Mod = 0

// An Instruction is an instruction name with its forms.
type Instruction struct {
	Name    string // "mbarrier.arrive.expect_tx"
	Family  string
	What    string // one-line description
	Repeats []Mod  // modifiers that ptxas accepts a second time
	Forms   []Form
}

// A Form is a combination of modifiers and operands with which an instruction can be written.
type Form struct {
	Wording
	Kind     Kind   // the operation
	Template string // syntax in the spec, without operands
	Section  string // section of the PTX 9.1 manual, or of another version if the text names one
	Operands []Operand
	Gates    []Gate // all of these must be open
	Gone     []Gate // none of these may be open
	When     []Condition
	Rules    []Rule
	Tables   []Table
	Effects  []string
	Lenient  string // why the table contains the form although the manual does not list it
	Notes    []string

	at int // offset in the packed table, or 0 if the form is not packed
}

// A Wording lists the modifiers of a form.
type Wording struct {
	Slots   []Slot // in canonical order
	Ignored []Mod  // modifiers that ptxas ignores
}

// A Slot is a position for one modifier out of a fixed set.
type Slot struct {
	Name     string // name of the set with its dot, or the literal if the set has one value
	Values   []Value
	Required bool
	Order    uint8 // slots with the same nonzero order must be filled in their order
}

// A Value is one modifier that a slot may hold.
type Value struct {
	Mod  Mod
	Gate Gate
}

// A Condition requires a gate for some combinations of modifiers.
type Condition struct {
	If   Expr
	Gate Gate
	Gone bool // the combination is removed if the gate is open
}

// A Rule is a constraint on modifiers and operands.
type Rule struct {
	Holds Expr
	Text  string // text of the rule, with "require" or "forbid"
	Why   string // reason in words; "" if the text suffices
}

// A Table lists the modifiers that can be combined and the vector lengths for them.
type Table struct {
	Columns []Column
	Names   []string // names of the vector lengths
	Rows    []Row
}

// A Column is a slot of the form, or a literal modifier.
type Column struct {
	Slot int // index of the slot, or -1
	Mod  Mod // the literal if Slot is -1
}

// A Row is one legal combination of modifiers.
type Row struct {
	Cells   [][]Mod // nil means any modifier; NoMod in a cell allows the slot to be empty
	Lengths []int
	Gate    Gate
}

// An Access specifies how an instruction accesses an operand.
type Access uint8

// These constants specify how an instruction accesses an operand.
const (
	Read Access = iota
	Write
	ReadWrite
)

// An Operand is an operand of a form, or a part of an operand.
type Operand struct {
	Name     string
	ID       int // index within the form, for Expr
	Access   Access
	Kinds    []OperandKind
	Presence Presence
	If       Expr      // condition of PresentIf and PresentWhen
	Pair     *Operand  // the operand after the separator |
	Inside   []Operand // operands in a bracket; Kinds is then empty
	Unified  bool      // .unified may follow the bracket
}

// A Presence specifies when an operand is present.
type Presence uint8

// These constants specify when an operand is present.
const (
	Always      Presence = iota
	Maybe                // optional
	PresentIf            // present exactly if If holds
	PresentWhen          // optional if If holds
)

// A KindWord is the spec's name for a kind of operand.
type KindWord uint8

// Kinds of operand.
const (
	KValue   KindWord = iota // a register, or a constant if the type has constants
	KReg                     // a register
	KImm                     // a constant
	KPred                    // a predicate, possibly negated
	KSreg                    // a special register
	KSym                     // a variable's name
	KLabel                   // a label
	KFunc                    // a function
	KTexref                  // a texture by name or handle
	KSampler                 // a sampler by name or handle
	KSurfref                 // a surface by name or handle
	KSink                    // _
	KMem                     // the address in brackets
	KParts                   // a brace vector with named parts
	KRets                    // the return list of call
	KArgs                    // the argument list of call
	KProto                   // a call prototype or target list
	KTargets                 // a branch target list
	KAny                     // anything
)

// An OperandKind is one of the kinds that an operand accepts.
type OperandKind struct {
	Word  KindWord
	Type  TypeRef
	Relax bool // accepts a register of any class with at least the width of the type
	Part  Part // accepted parts of the register
	Minus bool // accepts a negated register
	Cut   bool // only the low 32 bits of a constant are compared with the range
	Data  bool // does not accept the name of a function
	Mixed bool // accepts a vector of integer registers for floating-point values
	Range []Span
	Count Count     // length of a brace vector
	Space SpaceRef  // state space of KMem
	Parts []Operand // parts of KParts
}

// A TypeRef is a fixed type, or the type in a slot.
type TypeRef struct {
	Slot  int8 // index of the slot, or -1
	Type  Type
	Scale int8 // 4 doubles the width, 1 halves it, 0 or 2 keeps it
}

// A SpaceRef is a fixed state space, or the space in a slot (generic if the slot is empty).
type SpaceRef struct {
	Slot    int8
	Space   Space
	Symbols Space // the space in which variables must be declared, if it differs from Space
}

// A Span is the range of constants from Low to High, inclusive, in steps of Step.
type Span struct{ Low, High, Step int64 }

// A Count is the length of a brace vector.
type Count struct {
	From CountFrom
	N    int // the length, the slot, or the column of the table, depending on From
	In   int // index of the table, for FromTable
}

// CountFrom specifies how the length in a Count is determined.
type CountFrom uint8

// These constants specify the origin of a length.
const (
	Scalar    CountFrom = iota // the operand is not a vector
	Fixed                      // N elements
	FromSlot                   // the number in the slot's modifier: .v4, .x16
	FromTable                  // a column of a table
)

// A Special is a special register.
type Special struct {
	Name   string // "%tid"
	What   string
	Type   Type // type of the register, or of one component
	Vector bool // has the components .x .y .z .w
	Gate   Gate
}

// A DirectiveInfo is the table entry of a directive.
type DirectiveInfo struct {
	Name  string // ".maxntid"
	What  string
	Where []string // where it is allowed: module, entry, func, body, variable
	Args  string   // arguments, in the manual's notation
	Gate  Gate
	Gone  Gate
}

// A PragmaInfo is the table entry of a pragma string.
type PragmaInfo struct {
	Name  string
	What  string
	Where []string
	Gate  Gate
}
