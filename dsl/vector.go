// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"github.com/ptxdsl/ptxdsl/internal/slab"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// LoadVec returns n adjacent elements, starting at element i, which are read in one access of at
// most 16 bytes (32 on sm_100). The address must be aligned to the size of the vector, so i,
// which is in units of elements, must be a multiple of n. Build reports a misaligned i if it can
// evaluate it for the threads of the first block.
func (a Array[T]) LoadVec(i Reg[U32], n int, mods ...Mod) []Reg[T] {
	return a.At(i).LoadFirstVec(n, mods...)
}

// StoreVec writes adjacent elements, starting at element i, in one access. See LoadVec for the
// alignment.
func (a Array[T]) StoreVec(i Reg[U32], x []Reg[T], mods ...Mod) {
	a.At(i).StoreFirstVec(x, mods...)
}

// LoadFirstVec returns the first n elements, which are read in one access; see LoadVec.
func (a Array[T]) LoadFirstVec(n int, mods ...Mod) []Reg[T] {
	k := a.at.k
	list := make([]Reg[T], max(n, 0))
	if k == nil {
		return list
	}
	w, ok := a.words(n)
	if !ok {
		one := fresh[T](k) // one placeholder for all, because n may be large
		for i := range list {
			list[i] = one
		}
		return list
	}
	regs := slab.Many(&k.args, w.count)
	for i := range regs {
		if w.each == 1 {
			list[i] = fresh[T](k)
			regs[i] = list[i].in(k)
		} else {
			regs[i] = ir.Operand{Kind: ir.Register, Reg: k.newReg(w.typ)}
		}
	}
	k.annotateAccess(a.at, int64(n)*size(TypeOf[T]()), false, mods)
	k.ins(k.access("ld", a.at.space, mods, w.count, w.typ), k.oneOrMany(regs), a.at.in(k))
	if w.each == 1 {
		return list
	}
	var to [4]ir.Operand
	for i, r := range regs {
		for j := range w.each {
			list[w.each*i+j] = fresh[T](k)
			to[j] = list[w.each*i+j].in(k)
		}
		if w.each == 2 {
			k.ins("mov.b32", k.vector(to[:2]...), r)
		} else {
			k.splitBytes(r, TypeOf[T](), to[:])
		}
	}
	return list
}

// splitBytes converts the four bytes of a register to values of type t.
func (k *Kernel) splitBytes(r ir.Operand, t isa.Type, to []ir.Operand) {
	lo, hi := fresh[B16](k).in(k), fresh[B16](k).in(k)
	k.ins("mov.b32", k.vector(lo, hi), r)
	for i, half := range []ir.Operand{lo, hi} {
		if t.Class() == isa.Signed {
			k.ins("cvt.s16.s8", to[2*i], half)
			k.ins("shr.s16", to[2*i+1], half, number(8))
		} else {
			k.ins("and.b16", to[2*i], half, number(0xff))
			k.ins("shr.u16", to[2*i+1], half, number(8))
		}
	}
}

// joinBytes packs four byte values into a register.
func (k *Kernel) joinBytes(to ir.Operand, from []ir.Operand) {
	var halves [2]ir.Operand
	for i := range halves {
		low, high := fresh[B16](k).in(k), fresh[B16](k).in(k)
		halves[i] = fresh[B16](k).in(k)
		k.ins("and.b16", low, from[2*i], number(0xff))
		k.ins("shl.b16", high, from[2*i+1], number(8))
		k.ins("or.b16", halves[i], low, high)
	}
	k.ins("mov.b32", to, k.vector(halves[0], halves[1]))
}

// StoreFirstVec writes the first len(x) elements in one access; see LoadVec.
func (a Array[T]) StoreFirstVec(x []Reg[T], mods ...Mod) {
	k := a.at.k
	if k == nil {
		return
	}
	w, ok := a.words(len(x))
	if !ok {
		return
	}
	regs := slab.Many(&k.args, w.count)
	var from [4]ir.Operand
	for i := range regs {
		for j := range w.each {
			from[j] = x[w.each*i+j].register().in(k)
		}
		if w.each == 1 {
			regs[i] = from[0]
			continue
		}
		regs[i] = ir.Operand{Kind: ir.Register, Reg: k.newReg(w.typ)}
		if w.each == 2 {
			k.ins("mov.b32", regs[i], k.vector(from[:2]...))
		} else {
			k.joinBytes(regs[i], from[:])
		}
	}
	k.annotateAccess(a.at, int64(len(x))*size(TypeOf[T]()), true, nil)
	k.ins(k.access("st", a.at.space, mods, w.count, w.typ), a.at.in(k), k.oneOrMany(regs))
}

func (k *Kernel) oneOrMany(regs []ir.Operand) ir.Operand {
	if len(regs) == 1 {
		return regs[0]
	}
	return k.list(ir.Vector, regs)
}

// words describes the access to a vector: the number and type of its registers, and the number of
// elements per register: one, two or four.
type words struct {
	count, each int
	typ         isa.Type
}

func (a Array[T]) words(n int) (words, bool) {
	k, t := a.at.k, TypeOf[T]()
	w := words{count: n, each: 1, typ: memory(t)}
	if t.Bits() == 16 && n > 1 && n%2 == 0 {
		w = words{count: n / 2, each: 2, typ: isa.B32}
	}
	if t.Bits() == 8 && n > 4 && n%4 == 0 {
		w = words{count: n / 4, each: 4, typ: isa.B32}
	}
	total := int64(n) * size(t)
	widest := int64(16)
	if a.at.space == isa.Global && k.m.Has(100) && w.typ.Bits() >= 32 {
		widest = 32
	}
	switch {
	case n < 1 || n&(n-1) != 0 || total > widest || w.count > 4 && total != 32:
		k.fault(&ruleMemory,
			"vector has %d x %s, expected a power of two of elements and at most %d bytes", n, t,
			widest)
		return w, false
	case a.at.align != 0 && int64(a.at.align) < total && a.at.v != nil:
		k.fault(&ruleMemory,
			"misaligned vector access: the vector has %d bytes, but the address is only a multiple of %d bytes",
			total, a.at.align)
		return w, false
	case a.at.off%total != 0 && a.at.off%size(t) == 0 && a.at.off != 0:
		k.fault(&ruleMemory,
			"misaligned vector access: the vector has %d bytes and the offset is %d, expected a multiple of %d",
			total, a.at.off, total)
		return w, false
	}
	return w, true
}
