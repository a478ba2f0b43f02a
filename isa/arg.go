// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package isa

// An ArgKind is the kind of a resolved operand of an instruction.
type ArgKind uint8

// Kinds of resolved operands.
const (
	ArgUnknown ArgKind = iota // reported elsewhere; matches every operand kind
	ArgReg                    // a register
	ArgInt                    // an integer constant
	ArgFloat                  // a floating-point constant
	ArgSym                    // a variable or parameter, with or without an offset
	ArgSreg                   // a special register
	ArgLabel                  // a label
	ArgFunc                   // a function
	ArgProto                  // a call prototype
	ArgTargets                // a list of branch or call targets
	ArgSink                   // _
	ArgVector                 // {a, b}
	ArgAddress                // [a, b]
	ArgPair                   // a|b
	ArgList                   // (a, b)
)

// An Arg is an operand of an instruction, with its names resolved by the caller.
type Arg struct {
	Kind    ArgKind
	Type    Type   // type of a register, a special register or an element of a variable
	Space   Space  // state space of a variable
	Not     bool   // !p
	Minus   bool   // -%r1, which vmad accepts
	Plus    bool   // has an offset outside brackets: %r1+4, var+4
	Unified bool   // [a].unified
	Count   int    // number of elements of a vector register or variable; 0 or 1 for a scalar
	Value   int64  // value of an integer constant; offset of an address
	Part    string // part of a register, such as .h1, for video instructions
	Elems   []Arg  // elements of a vector, address, pair or list
}

// A Problem is an error or a warning about an instruction. Mod is the index of the offending
// modifier (after the instruction's name) and Arg the index of the offending operand, or -1.
type Problem struct {
	Rule    string
	Mod     int
	Arg     int
	Elem    int // index of the element within the operand, or -1 for the whole operand
	Message string
	Warning bool // the instruction is legal but certainly not intended
	// Want is the suggested modifier or opcode; "" if one edit cannot fix the problem.
	Want string
}

// hasOffset reports whether a is a register or symbol with a nonzero offset.
func (a *Arg) hasOffset() bool {
	return a.Value != 0 && (a.Kind == ArgReg || a.Kind == ArgSym || a.Kind == ArgSreg)
}
