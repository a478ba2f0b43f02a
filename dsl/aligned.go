// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	mathbits "math/bits"
	"strings"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// A rest is what is known of a number that is not: its lowest bits, so many of them.
type rest struct {
	n    int64
	bits int
}

// rest is what is known of a register of the thread.
func (t *turn) rest(r *ir.Reg) rest {
	if v := t.value(r); v.kind == sure {
		return t.known(v)
	}
	w := t.of(r)
	if w == nil {
		return rest{}
	}
	if w.rested != t.begun {
		w.rested, w.rest = t.begun, rest{} // of what rests on itself
		w.rest = t.lowest(w.def)
	}
	return w.rest
}

// lowest is rest of what an instruction makes.
func (t *turn) lowest(in *ir.Instr) rest {
	if t.work++; in == nil || in.Form == nil || in.Guard.Reg != nil || t.work > mostWork {
		return rest{}
	}
	of := func(i int) rest {
		if i >= len(in.Args) {
			return rest{}
		}
		o := &in.Args[i]
		if o.Kind == ir.Register {
			return t.rest(o.Reg)
		}
		if v := t.operand(o); v.kind == sure {
			return t.known(v)
		}
		return rest{}
	}
	head, last := in.Head(), in.Op[strings.LastIndexByte(in.Op, '.')+1:]
	if width, _ := widthOf(last); width != 32 && width != 64 {
		return rest{}
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
			return of(1).times(rest{1 << by.n, 64})
		}
	}
	return rest{}
}

// known is a number that is known, or an address in global memory, of which what a pointer parameter promises is.
func (t *turn) known(v worked) rest {
	if !isAddress(v.n) {
		return rest{v.n, 64}
	}
	return rest{v.n, 4}
}

// cut keeps the bits that are known.
func (x rest) cut(n int) rest {
	if n < 64 {
		x.n &= 1<<n - 1
	}
	return rest{x.n, n}
}

func (x rest) plus(y rest) rest { return rest{n: x.n + y.n}.cut(min(x.bits, y.bits)) }

// times knows more bits than either where the other ends in zeros.
func (x rest) times(y rest) rest {
	zeros := func(r rest) int { return min(mathbits.TrailingZeros64(uint64(r.n)), r.bits) }
	if x.bits == 64 && y.bits == 64 {
		return rest{x.n * y.n, 64}
	}
	return rest{n: x.n * y.n}.cut(min(x.bits+zeros(y), y.bits+zeros(x), 63))
}

// checkAligned reports an access to a place that is not known, and begins at no multiple of its bytes wherever that is.
func (k *Kernel) checkAligned(t *turn, w *watched, thread int) bool {
	if w.space != isa.Global || w.bytes > 16 || w.bytes < 2 || w.bytes&(w.bytes-1) != 0 {
		return false
	}
	at := t.rest(w.reg).plus(rest{w.off, 64})
	if at.bits < mathbits.TrailingZeros64(uint64(w.bytes)) || at.n%w.bytes == 0 || !t.certain(w.conds) {
		return false
	}
	k.m.faultAt(w.pos, &ruleMemory, "misaligned vector access: the address in thread %d is %d bytes past a multiple of %d, and the access has %d bytes; the index counts elements and must be a multiple of the vector length",
		thread, at.n%w.bytes, w.bytes, w.bytes)
	return true
}
