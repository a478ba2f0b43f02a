// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/passes/analysis/value"
)

// Addresses of shared memory in a cluster hold the rank of the block in the bits from rankShift.
// An address in a block's own memory holds the rank of that block. Kernels can thus address other
// blocks with arithmetic on these bits, instead of mapa.
const (
	rankShift = 24
	rankBits  = 8
	offsets   = 1<<rankShift - 1
)

// mapaAddress returns the address in the block with the given rank that corresponds to
// shared-memory address at. For the block's own rank, it is the same address.
func (w *walk) mapaAddress(s *state, width int, at, rank *value.Value) *value.Value {
	rank = w.pool.Resize(32, rank, true)
	if rank == w.ownRank(s) {
		return w.pool.Resize(width, at, true)
	}
	return w.pool.Atom(width, value.OpMapa, "", nil, value.Constant, w.pool.Resize(64, at, true),
		rank)
}

// ownRank returns the rank of the block that is being analyzed.
func (w *walk) ownRank(s *state) *value.Value { return w.special(s, "%cluster_ctarank") }

// splitClusterAddress splits an address into an offset in shared memory and the rank of a block. ok
// is false if the address is not based on a shared variable.
func (w *walk) splitClusterAddress(s *state, v *value.Value) (at, rank *value.Value, ok bool) {
	at, rank = w.pool.Const(64, v.K), w.ownRank(s)
	for _, t := range v.Terms {
		one := w.pool.Alone(t.Atom)
		if t.Factor == 1 && t.Atom.Op == value.OpMapa {
			one, rank = t.Atom.Args[0], t.Atom.Args[1]
		}
		at = w.pool.Add(64, at, w.pool.Scale(64, one, t.Factor))
	}
	return at, rank, slices.ContainsFunc(at.Terms, func(t value.Term) bool {
		v, named := t.Atom.Ref.(*ir.Var)
		return t.Factor == 1 && t.Atom.Op == value.OpVariable && named && v.Space == isa.Shared
	})
}

// changeRank returns the address that results if op changes the rank in a shared-memory address. It
// returns nil if the operation does something else.
func (w *walk) changeRank(s *state, op value.Op, width int, a, b *value.Value) *value.Value {
	if width < 32 {
		return nil
	}
	for _, x := range [][2]*value.Value{{a, b}, {b, a}} {
		if !dependsOnAny(x[0], value.Variables) || dependsOnAny(x[1], value.Variables) {
			continue
		}
		mask := rankOperand(op, x[1], width)
		if mask == nil {
			return nil
		}
		at, rank, ok := w.splitClusterAddress(s, x[0])
		if !ok {
			return nil
		}
		if keeps, low := offsetMask(op, mask); keeps {
			at = w.pool.Binary(value.OpAnd, 64, at, w.pool.Const(64, low))
		}
		return w.mapaAddress(s, width, at, w.combineRank(op, width, rank, mask))
	}
	return nil
}

// dependsOnAny reports whether a value depends on at least one of the given sources.
func dependsOnAny(v *value.Value, of value.Sources) bool {
	return slices.ContainsFunc(v.Terms, func(t value.Term) bool { return t.Atom.Sources&of != 0 })
}

// rankOperand returns the operand that only changes the rank in an address, or nil. For an and,
// it is a constant that keeps the offset in the block, apart from alignment bits. For other
// operations, it is an operand without offset bits.
func rankOperand(op value.Op, v *value.Value, width int) *value.Value {
	if op != value.OpAnd {
		if v.Zeros() < rankShift || v.Is(0) {
			return nil
		}
		return v
	}
	if !v.Const() {
		return nil
	}
	ranks := uint64(v.K) >> rankShift & (1<<rankBits - 1)
	low := ^v.K & offsets
	switch {
	case ranks == 1<<rankBits-1: // only alignment
	case low&(low+1) != 0: // clears other bits than the lowest
	case width == 64 && v.K>>(rankShift+rankBits) != 0 && v.K>>(rankShift+rankBits) != -1:
	case ranks == 1<<rankBits-2: // the first block of a pair; package verify handles it
	default:
		return v
	}
	return nil
}

// offsetMask reports whether an operation clears bits of the offset in the block, and returns the
// mask of the bits that it keeps.
func offsetMask(op value.Op, mask *value.Value) (clears bool, kept int64) {
	return op == value.OpAnd && mask.K&offsets != offsets, mask.K | ^int64(offsets)
}

// combineRank returns the rank that results from an operation on a rank.
func (w *walk) combineRank(op value.Op, width int, rank, mask *value.Value) *value.Value {
	by := w.pool.Resize(32, w.pool.Binary(value.OpShr, width, mask, w.pool.Const(32, rankShift)),
		false)
	if mask.Const() {
		by = w.pool.Const(32, mask.K>>rankShift&(1<<rankBits-1))
	}
	if op == value.OpAdd {
		return w.pool.Add(32, rank, by)
	}
	return w.pool.Binary(op, 32, rank, by)
}

// combine returns a sum, or the result of a bitwise operation. Unlike Pool.Binary, it also
// handles operations that change the rank in an address.
func (w *walk) combine(s *state, op value.Op, width int, a, b *value.Value) *value.Value {
	if v := w.changeRank(s, op, width, a, b); v != nil {
		return v
	}
	if op == value.OpAdd {
		return w.pool.Add(width, a, b)
	}
	return w.pool.Binary(op, width, a, b)
}
