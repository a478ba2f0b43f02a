// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package eval

import (
	"fmt"
	"slices"

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

	// Two and Three execute the operation on a warp without a frame, for the most frequent
	// operations with two and three operands. They are nil for other operations.
	Two   func(d, a, b *Vector)
	Three func(d, a, b, c *Vector)

	// Scalar is Lane without a cell, or nil for operations that use the condition code, with
	// several results, or with more than four operands.
	Scalar Scalar
}

// A spec is an instruction to be compiled.
type spec struct {
	kind  isa.Kind
	mods  []isa.Mod // modifiers other than types
	types []isa.Type
}

func specOf(kind isa.Kind, mods []isa.Mod) *spec {
	s := &spec{kind: kind}
	for _, m := range mods {
		if t := m.Type(); t != 0 {
			s.types = append(s.types, t)
		} else if m != isa.NoMod {
			s.mods = append(s.mods, m)
		}
	}
	return s
}

// String returns the kind and the modifiers for messages, with the types last.
func (s *spec) String() string {
	text := s.kind.String()
	for _, m := range s.mods {
		text += m.String()
	}
	for _, t := range s.types {
		text += t.String()
	}
	return text
}

// has reports whether the instruction has modifier m.
func (s *spec) has(m isa.Mod) bool { return slices.Contains(s.mods, m) }

// is reports whether the types of the instruction are exactly the given types.
func (s *spec) is(types ...isa.Type) bool { return slices.Equal(s.types, types) }

// typ returns type i, or the zero type if the instruction has fewer.
func (s *spec) typ(i int) isa.Type {
	if i < len(s.types) {
		return s.types[i]
	}
	return 0
}

// choose returns the entry of the first modifier of the instruction that is in table. ok is false
// if none of the modifiers is.
func choose[T any](s *spec, table map[isa.Mod]T) (entry T, ok bool) {
	for _, m := range s.mods {
		if entry, ok = table[m]; ok {
			return entry, true
		}
	}
	return entry, false
}

// Of returns the operation of a kind with modifiers, which are in the manual's order and may
// contain isa.NoMod. It fails for instructions that are not arithmetic.
func Of(kind isa.Kind, mods []isa.Mod) (*Op, error) {
	s := specOf(kind, mods)
	if op := compile(s); op != nil {
		return op, nil
	}
	if op := videoOf(s, Parts{}); op != nil {
		return finish(op), nil
	}
	return nil, fmt.Errorf("eval: %s is not an arithmetic operation", s)
}

// OfParts returns the operation of a video instruction, whose operands may select bytes or halves
// of registers or be negated.
func OfParts(kind isa.Kind, mods []isa.Mod, parts Parts) (*Op, error) {
	s := specOf(kind, mods)
	if op := videoOf(s, parts); op != nil {
		return finish(op), nil
	}
	return nil, fmt.Errorf("eval: %s selects no parts of registers", s)
}

// OfThree returns the operation of min or max with three f32 operands. They have the same
// modifiers as min and max with two operands.
func OfThree(kind isa.Kind, mods []isa.Mod) (*Op, error) {
	s := specOf(kind, mods)
	if s.is(isa.F32) && (kind == isa.KindMin || kind == isa.KindMax) {
		return finish(floatExtreme(s, 3)), nil
	}
	return nil, fmt.Errorf("eval: %s has no three operands", s)
}

// compile returns the operation of an instruction other than a video instruction, or nil if the
// instruction is not supported.
func compile(s *spec) *Op {
	for _, build := range builders[s.kind] {
		if op := build(s); op != nil {
			return finish(op)
		}
	}
	return nil
}

// finish completes op: if it has no loop over the lanes of a warp, it adds one.
func finish(op *Op) *Op {
	if op.Warp == nil {
		op.Warp = op.lanes
	}
	return op
}

// lanes executes the operation for each lane of a warp, one lane after another.
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
