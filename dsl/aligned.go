// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	mathbits "math/bits"
	"strings"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// lowBits holds the known low bits of an otherwise unknown value.
type lowBits struct {
	n    int64
	bits int
}

// lowBits returns the known low bits of a register, for the current thread.
func (t *threadEval) lowBits(r *ir.Reg) lowBits {
	if v := t.value(r); v.kind == sure {
		return t.known(v)
	}
	w := t.of(r)
	if w == nil {
		return lowBits{}
	}
	if w.rested != t.begun {
		w.rested, w.lowBits = t.begun, lowBits{} // the register depends on itself
		w.lowBits = t.lowest(w.def)
	}
	return w.lowBits
}

// lowest returns the known low bits of the result of an instruction.
func (t *threadEval) lowest(in *ir.Instr) lowBits {
	if t.work++; in == nil || in.Form == nil || in.Guard.Reg != nil || t.work > mostWork {
		return lowBits{}
	}
	of := func(i int) lowBits {
		if i >= len(in.Args) {
			return lowBits{}
		}
		o := &in.Args[i]
		if o.Kind == ir.Register {
			return t.lowBits(o.Reg)
		}
		if v := t.operand(o); v.kind == sure {
			return t.known(v)
		}
		return lowBits{}
	}
	head, last := in.Head(), in.Op[strings.LastIndexByte(in.Op, '.')+1:]
	if width, _ := widthOf(last); width != 32 && width != 64 {
		return lowBits{}
	}
	switch head {
	case "mov", "cvt":
		return of(1)
	case "add":
		return of(1).plus(of(2))
	case "mul":
		if !strings.Contains(in.Op, ".hi") {
			return of(1).times(of(2))
		}
	case "mad":
		if !strings.Contains(in.Op, ".hi") {
			return of(1).times(of(2)).plus(of(3))
		}
	case "shl":
		if by := of(2); by.bits == 64 && by.n >= 0 && by.n < 32 {
			return of(1).times(lowBits{1 << by.n, 64})
		}
	}
	return lowBits{}
}

// known returns the low bits of an evaluated value: all bits of a constant, or those that the
// alignment of a pointer parameter determines.
func (t *threadEval) known(v worked) lowBits {
	if !isAddress(v.n) {
		return lowBits{v.n, 64}
	}
	return lowBits{v.n, 4}
}

// cut returns the low n bits.
func (x lowBits) cut(n int) lowBits {
	if n < 64 {
		x.n &= 1<<n - 1
	}
	return lowBits{x.n, n}
}

func (x lowBits) plus(y lowBits) lowBits { return lowBits{n: x.n + y.n}.cut(min(x.bits, y.bits)) }

// times multiplies. If one factor ends in zero bits, more bits of the product are known than of the
// other factor.
func (x lowBits) times(y lowBits) lowBits {
	zeros := func(r lowBits) int { return min(mathbits.TrailingZeros64(uint64(r.n)), r.bits) }
	if x.bits == 64 && y.bits == 64 {
		return lowBits{x.n * y.n, 64}
	}
	return lowBits{n: x.n * y.n}.cut(min(x.bits+zeros(y), y.bits+zeros(x), 63))
}

// checkAligned reports an access whose address is unknown but is certainly misaligned.
func (k *Kernel) checkAligned(t *threadEval, w *deferredCheck, thread int) bool {
	if w.space != isa.Global || w.bytes > 16 || w.bytes < 2 || w.bytes&(w.bytes-1) != 0 {
		return false
	}
	at := t.lowBits(w.reg).plus(lowBits{w.off, 64})
	if at.bits < mathbits.TrailingZeros64(uint64(w.bytes)) || at.n%w.bytes == 0 || !t.certain(w.conds) {
		return false
	}
	k.m.faultAt(w.pos, &ruleMemory, "misaligned vector access: the address in thread %d is %d bytes past a multiple of %d, and the access has %d bytes; the index counts elements and must be a multiple of the vector length",
		thread, at.n%w.bytes, w.bytes, w.bytes)
	return true
}
