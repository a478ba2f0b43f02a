// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package eval

import (
	"fmt"
	"strings"

	"github.com/ptxdsl/ptxdsl/isa"
)

// Lanes is the number of lanes of a warp.
const Lanes = 32

// A Vector is one register of a warp: the raw bits of each lane. Results are zero-extended from the
// width of their type. Of operands, only the bits of their type are read.
type Vector [Lanes]uint64

// A Frame holds the operands and results of one instruction of a warp. Vectors of Out may alias
// those of In. Predicates are masks with one bit for each lane.
type Frame struct {
	In   [8]*Vector
	Out  [4]*Vector
	PIn  [2]uint32
	POut [2]uint32

	cell Cell // scratch space of operations without a loop of their own
}

// A Cell holds the operands and results of one instruction for one lane.
type Cell struct {
	In   [8]uint64
	Out  [4]uint64
	PIn  [2]bool
	POut [2]bool
}

// An Op is one operation with all its modifiers.
type Op struct {
	// register operands and results, in the order of the instruction's operands
	In, Out   []isa.Type
	PIn, POut int  // numbers of predicate operands and results
	CarryIn   bool // the operation reads the condition code as its last predicate operand
	CarryOut  bool // the operation writes the condition code as its last predicate result
	Lane      func(c *Cell)
	// computes all 32 lanes, regardless of the guard; operations never trap
	Warp func(f *Frame)

	// Two and Three are Warp without a frame, for the most frequent operations of two and three
	// operands; nil for others.
	Two   func(d, a, b *Vector)
	Three func(d, a, b, c *Vector)

	// Scalar is Lane without a cell; nil for operations that use the condition code, with several
	// results, or with more than four operands.
	Scalar Scalar
}

// A spec is an opcode split into its parts.
type spec struct {
	text  string
	head  string
	words []string // modifiers without dots
	types []isa.Type
}

func parse(opcode string) *spec {
	parts := strings.Split(opcode, ".")
	s := &spec{text: opcode, head: parts[0], words: parts[1:]}
	for _, word := range s.words {
		if t, ok := isa.ParseType("." + word); ok {
			s.types = append(s.types, t)
		}
	}
	return s
}

// has reports whether the opcode has a modifier.
func (s *spec) has(word string) bool {
	for _, w := range s.words {
		if w == word {
			return true
		}
	}
	return false
}

// one returns the first of words that is a modifier of the opcode, or "".
func (s *spec) one(words ...string) string {
	for _, w := range s.words {
		for _, want := range words {
			if w == want {
				return w
			}
		}
	}
	return ""
}

// is reports whether the opcode has exactly these types.
func (s *spec) is(types ...isa.Type) bool {
	if len(types) != len(s.types) {
		return false
	}
	for i, t := range types {
		if s.types[i] != t {
			return false
		}
	}
	return true
}

// typ returns type i, or the zero type if the opcode has fewer.
func (s *spec) typ(i int) isa.Type {
	if i < len(s.types) {
		return s.types[i]
	}
	return 0
}

// Of returns the operation of an opcode with its modifiers in the manual's order, as
// isa.Candidate.Opcode has them. It fails for opcodes that are not arithmetic.
func Of(opcode string) (*Op, error) {
	return OfParts(opcode, Parts{})
}

// OfParts is like Of, for video instructions, whose operands may select bytes or halves of
// registers or be negated.
func OfParts(opcode string, parts Parts) (*Op, error) {
	s := parse(opcode)
	if video := videoOf(s, parts); video != nil {
		return finish(video), nil
	}
	if parts != (Parts{}) {
		return nil, fmt.Errorf("eval: %s selects no parts of registers", opcode)
	}
	for _, build := range families(s.head) {
		if op := build(s); op != nil {
			return finish(op), nil
		}
	}
	return nil, fmt.Errorf("eval: %s is not an arithmetic operation", opcode)
}

// OfThree is like Of, for min and max with three f32 operands, whose opcode is the same as with
// two.
func OfThree(opcode string) (*Op, error) {
	s := parse(opcode)
	if s.is(isa.F32) && (s.head == "min" || s.head == "max") {
		return finish(floatExtreme(s, 3)), nil
	}
	return nil, fmt.Errorf("eval: %s has no three operands", opcode)
}

// finish adds the loop over lanes to an operation that has no loop of its own.
func finish(op *Op) *Op {
	if op.Warp == nil {
		op.Warp = op.lanes
	}
	return op
}

// lanes runs the lanes one by one.
func (op *Op) lanes(f *Frame) {
	c := &f.cell
	var p [2]uint32
	for l := range Lanes {
		for i := range op.In {
			c.In[i] = f.In[i][l]
		}
		for i := range op.PIn {
			c.PIn[i] = f.PIn[i]>>l&1 != 0
		}
		op.Lane(c)
		for i := range op.Out {
			if f.Out[i] != nil {
				f.Out[i][l] = c.Out[i]
			}
		}
		for i := range op.POut {
			if c.POut[i] {
				p[i] |= 1 << l
			}
		}
	}
	f.POut = p
}
