// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package thread

import (
	mathbits "math/bits"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// LowBits holds the known low bits of a value: its low Bits bits are those of N.
type LowBits struct {
	N    int64
	Bits int
}

// LowBits returns the known low bits of a register plus an offset, for the current thread.
func (e *Eval) LowBits(r *ir.Reg, offset int64) LowBits {
	return e.lowBits(r).plus(LowBits{offset, 64})
}

func (e *Eval) lowBits(r *ir.Reg) LowBits {
	if v := e.Value(r); v.Kind == Constant {
		return constantLowBits(v)
	}
	w := e.lookup(r)
	if w == nil {
		return LowBits{}
	}
	if w.bitsOf != e.evaluations {
		w.bitsOf, w.bits = e.evaluations, LowBits{} // result if the register depends on itself
		w.bits = e.resultLowBits(w)
	}
	return w.bits
}

// resultLowBits returns the known low bits of the result of an instruction.
func (e *Eval) resultLowBits(w *tracked) LowBits {
	in := w.def
	if e.work++; in == nil || in.Form == nil || in.Guard.Reg != nil || e.Exhausted() ||
		w.op.width != 32 && w.op.width != 64 {
		return LowBits{}
	}
	of := func(i int) LowBits {
		if i >= len(in.Args) {
			return LowBits{}
		}
		if o := &in.Args[i]; o.Kind == ir.Register {
			return e.lowBits(o.Reg)
		} else if v := e.ValueOf(o); v.Kind == Constant {
			return constantLowBits(v)
		}
		return LowBits{}
	}
	switch w.op.kind {
	case isa.KindMov, isa.KindCvt:
		return of(1)
	case isa.KindAdd:
		return of(1).plus(of(2))
	case isa.KindMulLo, isa.KindMulWide:
		return of(1).times(of(2))
	case isa.KindMadLo, isa.KindMadWide:
		return of(1).times(of(2)).plus(of(3))
	case isa.KindShl:
		if by := of(2); by.Bits == 64 && by.N >= 0 && by.N < 32 {
			return of(1).times(LowBits{1 << by.N, 64})
		}
	}
	return LowBits{}
}

// constantLowBits returns the low bits of an evaluated value: all bits of a constant, or the bits
// that the alignment of a pointer parameter determines.
func constantLowBits(v Value) LowBits {
	if !isAddress(v.N) {
		return LowBits{v.N, 64}
	}
	return LowBits{v.N, 4}
}

// cut returns x reduced to at most n known bits.
func (x LowBits) cut(n int) LowBits {
	if n < 64 {
		x.N &= 1<<n - 1
	}
	return LowBits{x.N, n}
}

func (x LowBits) plus(y LowBits) LowBits { return LowBits{N: x.N + y.N}.cut(min(x.Bits, y.Bits)) }

// times returns the low bits of a product. If one operand ends in zero bits, the product has more
// known bits than the other operand.
func (x LowBits) times(y LowBits) LowBits {
	zeros := func(r LowBits) int { return min(mathbits.TrailingZeros64(uint64(r.N)), r.Bits) }
	if x.Bits == 64 && y.Bits == 64 {
		return LowBits{x.N * y.N, 64}
	}
	return LowBits{N: x.N * y.N}.cut(min(x.Bits+zeros(y), y.Bits+zeros(x), 63))
}
