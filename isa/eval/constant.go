// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package eval

import (
	"slices"
	"sync"

	"github.com/ptxdsl/ptxdsl/isa"
)

// A Scalar computes the first result of an instruction from the raw bits of its operands, at most
// four. Bits of an operand above the width of its type are ignored. A predicate is 0 or 1. The
// result is zero-extended.
type Scalar func(a, b, c, d uint64) uint64

// Constant evaluates an instruction on constants, which are given as to a Scalar. Modifiers are in
// the manual's order, and may contain isa.NoMod. ok is false if the instruction is not arithmetic,
// uses the condition code or has another number of operands, and for an integer division by zero,
// whose result the manual does not define.
func Constant(kind isa.Kind, mods []isa.Mod, args ...uint64) (result uint64, ok bool) {
	op := scalarOf(kind, 0, mods)
	if op.compute == nil || len(args) != op.operands {
		return 0, false
	}
	var x [4]uint64
	copy(x[:], args)
	if op.quotient && x[1]&op.divisor == 0 {
		return 0, false
	}
	return op.compute(x[0], x[1], x[2], x[3]), true
}

// Plain returns the Scalar of an instruction whose only modifier is a type: the Scalar of add.s32
// for isa.KindAdd and isa.S32. It returns nil if there is no such instruction. An integer
// division by zero returns the result of the hardware, although the manual does not define it.
func Plain(kind isa.Kind, t isa.Type) Scalar { return scalarOf(kind, t, nil).compute }

// Compare returns the Scalar of a comparison, such as isa.ModLT, of integers of type t.
func Compare(how isa.Mod, t isa.Type) Scalar {
	return scalarOf(isa.KindSetp, t, []isa.Mod{how}).compute
}

// Integer returns the Scalar of an instruction whose operands and result are integers, untyped bits
// or predicates, the number of its operands, and the type of its result. It returns nil for other
// instructions, for those that use the condition code, and for divisions.
func Integer(kind isa.Kind, mods []isa.Mod) (compute Scalar, operands int, out isa.Type) {
	op := scalarOf(kind, 0, mods)
	if !op.integer || op.quotient {
		return nil, 0, 0
	}
	return op.compute, op.operands, op.out
}

// Extend returns the low bits of a as a number of type t, sign-extended if t is signed, or else
// zero-extended.
func Extend(t isa.Type, a uint64) int64 { return extend(t, a) }

// A scalarOp is the compiled form of an instruction on constants.
type scalarOp struct {
	compute  Scalar
	operands int
	quotient bool   // a division of integers
	divisor  uint64 // mask of the divisor's bits
	integer  bool   // the operands and the result are integers, bits or predicates
	out      isa.Type
}

// maxMods is the maximum number of modifiers in an instruction that can be a Scalar.
const maxMods = 6

// A scalarKey identifies an instruction by its modifiers, followed by a type unless that is zero.
type scalarKey struct {
	kind isa.Kind
	t    isa.Type
	mods [maxMods]isa.Mod
}

// scalars caches compiled instructions. Programs have a few hundred.
var scalars struct {
	sync.RWMutex
	known map[scalarKey]scalarOp
}

func scalarOf(kind isa.Kind, t isa.Type, mods []isa.Mod) scalarOp {
	key, n := scalarKey{kind: kind, t: t}, 0
	for _, m := range mods {
		if m == isa.NoMod {
			continue
		}
		if n == maxMods {
			return scalarOp{}
		}
		key.mods[n] = m
		n++
	}
	scalars.RLock()
	op, ok := scalars.known[key]
	scalars.RUnlock()
	if ok {
		return op
	}
	op = compileScalar(key)
	scalars.Lock()
	defer scalars.Unlock()
	if scalars.known == nil {
		scalars.known = make(map[scalarKey]scalarOp)
	}
	scalars.known[key] = op
	return op
}

func compileScalar(key scalarKey) scalarOp {
	spec := specOf(key.kind, key.mods[:])
	if key.t != 0 {
		spec.types = append(spec.types, key.t)
	}
	op := compile(spec)
	if op == nil || op.Scalar == nil {
		return scalarOp{}
	}
	s := scalarOp{compute: op.Scalar, operands: len(op.In) + op.PIn, out: isa.Predicate}
	if len(op.Out) > 0 {
		s.out = op.Out[0]
	}
	s.integer = !slices.ContainsFunc(slices.Concat(op.In, op.Out), isNotWhole)
	if head := key.kind.Head(); (head == isa.HeadDiv || head == isa.HeadRem) && isInt(op.In[0]) {
		s.quotient, s.divisor = true, mask(op.In[1])
	}
	return s
}

// isNotWhole reports whether t is neither untyped bits nor an integer type, which may be packed.
func isNotWhole(t isa.Type) bool {
	element, _ := t.Elements()
	return !element.Whole()
}
