// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/passes/analysis/value"
)

// Addresses of shared memory in a cluster hold the rank of the block from bit rankShift on. An
// address in a block's own memory holds its own rank. Kernels can thus address other blocks with
// arithmetic on these bits, instead of mapa.
const (
	rankShift = 24
	rankBits  = 8
	offsets   = 1<<rankShift - 1
)

// mapped returns the address in the block with a given rank that corresponds to a shared memory
// address. For the block's own rank, it is the same address.
func (w *walk) mapped(s *state, width int, at, rank *value.Value) *value.Value {
	rank = w.pool.Resize(32, rank, true)
	if rank == w.ownRank(s) {
		return w.pool.Resize(width, at, true)
	}
	return w.pool.Atom(width, value.OpMapa, "", nil, value.Constant, w.pool.Resize(64, at, true),
		rank)
}

// ownRank returns the rank of the block that is being followed.
func (w *walk) ownRank(s *state) *value.Value { return w.special(s, "%cluster_ctarank") }

// inCluster splits an address into an offset in shared memory and the rank of a block. It returns
// ok = false for other addresses.
func (w *walk) inCluster(s *state, v *value.Value) (at, rank *value.Value, ok bool) {
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

// peer returns the address that results from changing the rank in a shared memory address. It
// returns nil if the operation does something else.
func (w *walk) peer(s *state, op value.Op, width int, a, b *value.Value) *value.Value {
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
		at, rank, ok := w.inCluster(s, x[0])
		if !ok {
			return nil
		}
		if keeps, low := lowBits(op, mask); keeps {
			at = w.pool.Binary(value.OpAnd, 64, at, w.pool.Const(64, low))
		}
		return w.mapped(s, width, at, w.ranked(op, width, rank, mask))
	}
	return nil
}

// dependsOnAny reports whether a value depends on at least one of the given sources.
func dependsOnAny(v *value.Value, of value.Sources) bool {
	return slices.ContainsFunc(v.Terms, func(t value.Term) bool { return t.Atom.Sources&of != 0 })
}

// rankOperand returns the operand that only changes the rank in an address, or nil. For an and, it
// is a constant that keeps the offset in the block, apart from alignment bits. For other
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
	case ranks == 1<<rankBits-1: // an alignment
	case low&(low+1) != 0: // other than the lowest bits
	case width == 64 && v.K>>(rankShift+rankBits) != 0 && v.K>>(rankShift+rankBits) != -1:
	case ranks == 1<<rankBits-2: // first block of a pair; package verify reports it
	default:
		return v
	}
	return nil
}

// lowBits returns the mask that and applies to the offset in a block, and whether it clears any
// bits.
func lowBits(op value.Op, mask *value.Value) (clears bool, kept int64) {
	return op == value.OpAnd && mask.K&offsets != offsets, mask.K | ^int64(offsets)
}

// ranked returns the rank that results from an operation on a rank.
func (w *walk) ranked(op value.Op, width int, rank, mask *value.Value) *value.Value {
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

// combine returns a sum, or the result of a bitwise operation, for addresses too.
func (w *walk) combine(s *state, op value.Op, width int, a, b *value.Value) *value.Value {
	if v := w.peer(s, op, width, a, b); v != nil {
		return v
	}
	if op == value.OpAdd {
		return w.pool.Add(width, a, b)
	}
	return w.pool.Binary(op, width, a, b)
}
