// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package isa

// An Expr is a condition on the modifiers and operands of a form, in postfix order. The empty
// Expr is true.
type Expr []Op

// An Op is one step of an Expr.
type Op struct {
	Code OpCode
	N    int // the modifier, slot or operand
	M    int // the second operand of OpAtMost
}

// A tally records which operands are present during matching, and the values of constants.
type tally struct {
	given  uint32
	consts uint32
	value  [32]int64
	handle bool // a register holds the handle of a texture or surface
}

func (t *tally) add(id int, a *Arg) {
	t.given |= 1 << id
	t.consts &^= 1 << id
	if a.Kind == ArgInt {
		t.consts |= 1 << id
		t.value[id] = a.Value
	}
}

func (t *tally) has(id int) bool { return t.given>>id&1 != 0 }

// An OpCode is the operation of a step.
type OpCode uint8

// These operations are evaluated on a stack of truth values.
const (
	OpMod     OpCode = iota // push: modifier N is written
	OpSlot                  // push: slot N is filled
	OpOperand               // push: operand N (its ID) is given
	OpAtMost                // push: operands N and M are not both constants, or N is at most M
	OpNot
	OpAnd
	OpOr
	OpImplies
)

// Operands reports whether x depends on which operands are present.
func (x Expr) Operands() bool {
	for _, op := range x {
		if op.Code == OpOperand || op.Code == OpAtMost {
			return true
		}
	}
	return false
}

// dependsOnValues reports whether x depends on the values of constants.
func (x Expr) dependsOnValues() bool {
	for _, op := range x {
		if op.Code == OpAtMost {
			return true
		}
	}
	return false
}

// holds evaluates x. The stack holds at most 64 truth values, one bit each. The generator rejects
// expressions that need more.
func (x Expr) holds(slots []Mod, given *tally) bool {
	if len(x) == 0 {
		return true
	}
	var stack uint64
	pop := func() bool {
		top := stack&1 != 0
		stack >>= 1
		return top
	}
	push := func(b bool) {
		stack <<= 1
		if b {
			stack |= 1
		}
	}
	for _, op := range x {
		switch op.Code {
		case OpMod:
			found := false
			for _, m := range slots {
				if m == Mod(op.N) {
					found = true
					break
				}
			}
			push(found)
		case OpSlot:
			push(slots[op.N] != NoMod)
		case OpOperand:
			push(given.has(op.N))
		case OpAtMost:
			both := (given.consts>>op.N)&(given.consts>>op.M)&1 != 0
			push(!both || uint32(given.value[op.N]) <= uint32(given.value[op.M]))
		case OpNot:
			push(!pop())
		case OpAnd:
			b, a := pop(), pop()
			push(a && b)
		case OpOr:
			b, a := pop(), pop()
			push(a || b)
		case OpImplies:
			b, a := pop(), pop()
			push(!a || b)
		}
	}
	return pop()
}
