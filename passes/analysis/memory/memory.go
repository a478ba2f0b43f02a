// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package memory computes which bytes an instruction accesses: where an access starts,
// relative to a variable or an unknown base address, and how far it extends over the threads
// that execute it.
package memory

import (
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/passes/analysis/value"
)

// A Region is the set of bytes that one instruction accesses in all threads of a trace.
type Region struct {
	Root *value.Value // base of the offsets
	// Low and High bound the offsets of the bytes; High is exclusive. If Sure is set, the bounds
	// are exact. Otherwise the region lies somewhere between them.
	Low, High int64
	Sure      bool
	Bytes     int64 // bytes per thread
	// Solid is set if every byte between the bounds is accessed.
	Solid   bool
	base    int64 // constant part of the offset of each thread
	threads *value.Pattern
}

// A Place is an address, split into a base and an offset from it.
type Place struct {
	Root *value.Value // the base, which may be unknown
	// the part of the offset that depends on the thread index, with its constant
	threadPart *value.Value
	inexact    bool // a part of the offset is only known to lie between low and high
	low        int64
	high       int64
	pool       *value.Pool
}

// At splits an address into a base and an offset. ok is false if address is nil or its unknown
// part has no bounds.
func At(p *value.Pool, address *value.Value) (Place, bool) {
	if address == nil {
		return Place{}, false
	}
	root, own, loose := p.Const(64, 0), p.Const(64, address.K), p.Const(64, 0)
	for _, t := range address.Terms {
		term := p.Scale(64, p.Alone(t.Atom), t.Factor)
		switch {
		case t.Atom.Tid:
			own = p.Add(64, own, term)
		case t.Atom.Bounded:
			loose = p.Add(64, loose, term)
		default:
			root = p.Add(64, root, term)
		}
	}
	at := Place{Root: root, threadPart: own, inexact: len(loose.Terms) > 0, pool: p}
	bounded := true
	if at.inexact {
		at.low, at.high, bounded = loose.Bounds()
	}
	return at, bounded && len(root.Terms) > 0
}

// Shared reports whether the address is certainly in shared memory of this block.
func (at *Place) Shared() bool { return isShared(at.Root) }

// Over returns the region of bytes bytes per thread that the threads in s access at the address.
// ok is false if s is empty.
func (at *Place) Over(bytes int64, s *value.Set) (Region, bool) {
	threads := at.pool.Pattern(at.threadPart, at.pool.Sample(s))
	n := len(threads.At)
	if n == 0 {
		return Region{}, false
	}
	sure := !at.inexact
	return Region{Root: at.Root, Low: at.threadPart.K + threads.At[0] + at.low,
		High: at.threadPart.K + threads.At[n-1] + at.high + bytes, Sure: sure,
		Solid: sure && len(at.threadPart.Terms) == 0, Bytes: bytes, base: at.threadPart.K,
		threads: threads}, true
}

// Of returns the region of bytes bytes per thread that the threads in s access at an address. ok
// is false if the address cannot be split or s is empty.
func Of(p *value.Pool, address *value.Value, bytes int64, s value.Set) (Region, bool) {
	at, ok := At(p, address)
	if !ok {
		return Region{}, false
	}
	return at.Over(bytes, &s)
}

// Var returns the variable that contains r, or nil if the variable is unknown.
func (r *Region) Var() *ir.Var { return variableOf(r.Root) }

// variableOf returns the variable whose address is the base root, or nil.
func variableOf(root *value.Value) *ir.Var {
	if a := root.Single(); a != nil && a.Op == value.OpVariable {
		v, _ := a.Ref.(*ir.Var)
		return v
	}
	return nil
}

// Shared reports whether r is certainly in shared memory of this block.
func (r *Region) Shared() bool { return isShared(r.Root) }

// isShared reports whether a base is the address of a variable in shared memory.
func isShared(root *value.Value) bool {
	v := variableOf(root)
	return v != nil && v.Space == isa.Shared
}

// Meets reports whether two regions certainly overlap, and otherwise whether they may overlap.
func (r *Region) Meets(o *Region) (sure, maybe bool) {
	if r.Root != o.Root {
		return false, mayBeEqual(r.Root, o.Root)
	}
	if r.High <= o.Low || o.High <= r.Low {
		return false, false
	}
	if !r.Sure || !o.Sure {
		return false, true
	}
	switch {
	case r.Solid && o.Solid:
		return true, true
	case o.Solid:
		return r.overlaps(o.Low, o.High), false
	case r.Solid:
		return o.overlaps(r.Low, r.High), false
	}
	return anyPairOverlaps(r.threads.At, r.base, r.Bytes, o.threads.At, o.base, o.Bytes), false
}

// anyPairOverlaps reports whether any of the na bytes at an offset in a overlaps any of the nb
// bytes at an offset in b. Both lists must be sorted. The offsets in a are relative to from,
// those in b to to.
func anyPairOverlaps(a []int64, from, na int64, b []int64, to, nb int64) bool {
	i, j := 0, 0
	for i < len(a) && j < len(b) {
		switch {
		case from+a[i]+na <= to+b[j]:
			i++
		case to+b[j]+nb <= from+a[i]:
			j++
		default:
			return true
		}
	}
	return false
}

// mayBeEqual reports whether two different bases may be equal addresses, because one of them is
// unknown.
func mayBeEqual(a, b *value.Value) bool {
	known := func(v *value.Value) bool {
		s := v.Single()
		return s != nil && s.Op == value.OpVariable
	}
	return !known(a) || !known(b)
}

// overlaps reports whether the bytes of any thread overlap the interval [low, high).
func (r *Region) overlaps(low, high int64) bool {
	return anyPairOverlaps(r.threads.At, r.base, r.Bytes, []int64{low}, 0, high-low)
}

// Starts returns the sorted offsets at which the accesses of the threads start. They are exact
// only if r.Sure is set.
func (r *Region) Starts() []int64 {
	list := make([]int64, len(r.threads.At))
	for i, at := range r.threads.At {
		list[i] = r.base + at
	}
	return list
}

// Resized returns r with a size of bytes bytes per thread.
func (r Region) Resized(bytes int64) Region {
	r.High += bytes - r.Bytes
	r.Bytes = bytes
	return r
}

// Within reports whether every byte of r is in o. o must be solid.
func (r *Region) Within(o *Region) bool {
	return r.Root == o.Root && r.Low >= o.Low && r.High <= o.High
}

// Bytes returns how many bytes one thread loads or stores with an instruction.
func Bytes(in *ir.Instr) int64 {
	if in.Kind() == isa.KindLdmatrix || in.Kind() == isa.KindStmatrix {
		return 16
	}
	bits, n := int64(32), int64(1)
	for _, m := range in.Mods() {
		if v := m.Elements(); v > 1 {
			n = int64(v)
		}
		switch t := m.Type(); t.Class() {
		case isa.Bits, isa.Signed, isa.Unsigned, isa.Float, isa.Half:
			bits = int64(t.Bits())
		}
	}
	return bits / 8 * n
}

// Descriptor returns the address in a matrix descriptor of wgmma or tcgen05. The descriptor holds
// bits 4 to 17 of the address. ok is false if v is not known to be a descriptor.
func Descriptor(p *value.Pool, v *value.Value) (address *value.Value, ok bool) {
	if v == nil {
		return nil, false
	}
	for _, t := range v.Terms {
		a := t.Atom
		inner := p.Alone(a)
		if t.Factor != 1 {
			continue
		}
		if a.Op == value.OpOr && a.Args[1].Const() {
			// The shifted address was not masked, so its upper bits could overlap the layout
			// bits. For a shared-memory address, these bits are zero.
			if at, found := Descriptor(p, a.Args[0]); found {
				return p.Add(64, at, p.Const(64, 16*((v.K+a.Args[1].K)&0x3fff))), true
			}
		}
		for a.Op == value.OpCvt || a.Op == value.OpAnd {
			inner = a.Args[0]
			if a.Op == value.OpAnd && inner.Const() {
				inner = a.Args[1]
			}
			if s := inner.Single(); s != nil {
				a = s
				continue
			}
			break
		}
		if full, found := unshift(p, inner); found {
			low := v.K & 0x3fff
			return p.Add(64, full, p.Const(64, 16*low)), true
		}
	}
	return nil, false
}

// dropMask removes a mask that keeps bits 10 to 17 of a shared-memory address, because it does
// not change the address of an aligned tile.
func dropMask(v *value.Value) *value.Value {
	const kept = 0x3fc00
	if a := v.Single(); a != nil && a.Op == value.OpAnd && a.Args[1].Const() &&
		a.Args[1].K&kept == kept {
		return a.Args[0]
	}
	return v
}

// unshift returns 16 times a sum of terms that were shifted right by four. The second result is
// false if no term was shifted.
func unshift(p *value.Pool, v *value.Value) (*value.Value, bool) {
	out := p.Const(64, 16*v.K)
	found := false
	for _, t := range v.Terms {
		a := t.Atom
		if a.Op == value.OpShr && a.Args[1].Is(4) {
			out = p.Add(64, out, p.Scale(64, p.Resize(64, dropMask(a.Args[0]), true), t.Factor))
			found = true
			continue
		}
		out = p.Add(64, out, p.Scale(64, p.Resize(64, p.Alone(a), true), 16*t.Factor))
	}
	return out, found
}
