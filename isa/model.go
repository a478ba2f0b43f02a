// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package isa

// A Mod is a modifier word, an index into Set.Mods. NoMod is "not written".
type Mod uint16

// NoMod stands for an absent modifier.
const NoMod Mod = 0

// An Instruction is a name (head and words) with its forms.
type Instruction struct {
	Name    string // "mbarrier.arrive.expect_tx"
	Family  string
	What    string // one line, for people
	Repeats []Mod  // modifiers that the assembler accepts twice
	Forms   []Form
}

// A Form is one way to write an instruction.
type Form struct {
	Wording
	Kind     Kind   // what the form does
	Template string // as the spec writes it, without operands
	Section  string // of the PTX 9.1 manual unless it says another version
	Operands []Operand
	Gates    []Gate // all must be open
	Gone     []Gate // none may be open
	When     []Condition
	Rules    []Rule
	Tables   []Table
	Effects  []string
	Lenient  string // why the table has a form that the manual does not list
	Notes    []string

	at int // where it is packed; 0 where it is not
}

// A Wording lists the modifiers of a form.
type Wording struct {
	Slots   []Slot // in canonical order
	Ignored []Mod  // modifiers that the assembler ignores
}

// A Slot is a place for one modifier of a closed set.
type Slot struct {
	Name     string // the set's name with its dot; the literal itself where there is one value
	Values   []Value
	Required bool
	Order    uint8 // slots with the same non-zero order must keep their order
}

// A Value is one modifier a slot may hold.
type Value struct {
	Mod  Mod
	Gate Gate
}

// A Condition gates some combinations of modifiers.
type Condition struct {
	If   Expr
	Gate Gate
	Gone bool // the combination is removed if the gate is open
}

// A Rule relates modifiers and operands.
type Rule struct {
	Holds Expr
	Text  string // as written, with "require" or "forbid"
	Why   string // in words, "" if the text suffices
}

// A Table lists the modifiers that can be combined and the vector lengths for them.
type Table struct {
	Columns []Column
	Names   []string // of the vector lengths
	Rows    []Row
}

// A Column is a slot of the form, or a literal modifier.
type Column struct {
	Slot int // index, or -1
	Mod  Mod // the literal where Slot is -1
}

// A Row is one legal combination.
type Row struct {
	Cells   [][]Mod // nil means any; a cell that holds NoMod allows "not written"
	Lengths []int
	Gate    Gate
}

// An Access says how an instruction accesses an operand.
type Access uint8

// Accesses.
const (
	Read Access = iota
	Write
	ReadWrite
)

// An Operand is one operand of a form, or part of one.
type Operand struct {
	Name     string
	ID       int // number within the form, for Expr
	Access   Access
	Kinds    []OperandKind
	Presence Presence
	If       Expr      // for PresentIf and PresentWhen
	Pair     *Operand  // the half after |
	Inside   []Operand // the operands of a bracket; Kinds is then empty
	Unified  bool      // the bracket may carry .unified
}

// A Presence says when an operand is present.
type Presence uint8

// Presences.
const (
	Always      Presence = iota
	Maybe                // optional
	PresentIf            // present exactly if If holds
	PresentWhen          // optional if If holds
)

// A KindWord names a kind of operand.
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
	KMem                     // the address in a bracket
	KParts                   // a brace vector with named parts
	KRets                    // the return list of call
	KArgs                    // the argument list of call
	KProto                   // a call prototype or target list
	KTargets                 // a branch target list
	KAny                     // anything
)

// An OperandKind is one kind of operand that is accepted.
type OperandKind struct {
	Word  KindWord
	Type  TypeRef
	Relax bool // a register of at least the width, of any class
	Part  Part // which parts of the register may be taken
	Minus bool // a register with a minus sign
	Cut   bool // only the low 32 bits of a constant are held to the range
	Range []Span
	Count Count     // of a brace vector
	Space SpaceRef  // of KMem
	Parts []Operand // of KParts
}

// A TypeRef names a type: a fixed word, or the value of a slot.
type TypeRef struct {
	Slot  int8 // index of the slot, or -1
	Type  Type
	Scale int8 // 4 for twice the width, 1 for half, 0 or 2 for the same
}

// A SpaceRef names a state space: a fixed word, or the value of a slot (generic if it is
// empty).
type SpaceRef struct {
	Slot    int8
	Space   Space
	Symbols Space // the required space of variables, if it is not Space
}

// A Span is a range of constants.
type Span struct{ Low, High, Step int64 }

// A Count is the length of a brace vector.
type Count struct {
	From CountFrom
	N    int // the length, the slot, or the column of Table
	In   int // the table
}

// CountFrom says what determines a Count.
type CountFrom uint8

// Origins of a Count.
const (
	Scalar    CountFrom = iota // not a vector
	Fixed                      // N elements
	FromSlot                   // the number in the slot's value: .v4, .x16
	FromTable                  // a column of a table
)

// A Special is a special register.
type Special struct {
	Name   string // "%tid"
	What   string
	Type   Type // of the register or of one component
	Vector bool // has .x .y .z .w
	Gate   Gate
}

// A DirectiveInfo is the table entry of a directive.
type DirectiveInfo struct {
	Name  string // ".maxntid"
	What  string
	Where []string // module, entry, func, body, variable
	Args  string   // in the manual's notation
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
