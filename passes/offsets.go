// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package passes

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// A reading describes how a register is read: in brackets, which accept an offset, and elsewhere.
// Offsets are collected and added to all brackets at the end, since chains of additions may be
// long.
type reading struct {
	brackets []use
	add      int64 // offset to add to all of them
	low      int64 // smallest offset in them, including add
	high     int64 // largest offset in them, including add
	others   int   // number of other reads
}

// readingOf summarizes the reads of a register.
func readingOf(uses []use) *reading {
	r := new(reading)
	for _, u := range uses {
		if !acceptsOffset(u) {
			r.others++
			continue
		}
		if len(r.brackets) == 0 {
			r.low, r.high = u.at.Value, u.at.Value
		}
		r.low, r.high = min(r.low, u.at.Value), max(r.high, u.at.Value)
		r.brackets = append(r.brackets, u)
	}
	return r
}

// acceptsOffset reports whether a use is the address of a plain load or store, to which an offset
// can be added.
func acceptsOffset(u use) bool {
	if u.at == nil || u.to.Kind != ir.Address || len(u.to.Args()) != 1 || u.at != &u.to.Args()[0] ||
		u.to.Text() != "" {
		return false
	}
	switch u.in.Kind().Head() {
	case isa.HeadLd, isa.HeadSt, isa.HeadAtom, isa.HeadRed:
		return true
	}
	return false
}

// fits reports whether r is read only as an address, and an offset can be added: offsets have 24
// bits.
func (r *reading) fits(more int64) bool {
	const limit = 1 << 23
	return r.others == 0 && len(r.brackets) > 0 && more > -2*limit && more < 2*limit &&
		r.low+more >= -limit && r.high+more < limit
}

// take adds the reads of another register, which is larger than r's by a constant, to r.
func (r *reading) take(o *reading, more int64) {
	o.add, o.low, o.high = o.add+more, o.low+more, o.high+more
	if len(r.brackets) == 0 {
		o.others = r.others
		*r = *o
		return
	}
	if len(r.brackets) < len(o.brackets) {
		r.brackets, o.brackets, r.add, o.add = o.brackets, r.brackets, o.add, r.add
	}
	for _, u := range o.brackets {
		u.at.Value += o.add - r.add
	}
	r.brackets = append(r.brackets, o.brackets...)
	r.low, r.high = min(r.low, o.low), max(r.high, o.high)
}

// offsets folds add.s64 %a, %b, 16 into [%a], if %a has no other uses. Chains are processed from
// the end.
func offsets(f *ir.Func) int {
	d := defsOf(f)
	gone := make(map[*ir.Instr]bool)
	readings := make(map[*ir.Reg]*reading)
	of := func(r *ir.Reg) *reading {
		if readings[r] == nil {
			readings[r] = readingOf(d.uses[r])
		}
		return readings[r]
	}
	var changed []*ir.Reg
	work := slices.Clone(f.Regs)
	for len(work) > 0 {
		r := work[len(work)-1]
		work = work[:len(work)-1]
		in := d.writer[r]
		// A 32-bit addition wraps around; an offset in brackets does not in every state space.
		if in == nil || gone[in] || !sumOf64(in) || in.Guard.Reg != nil ||
			in.Args[2].Kind != ir.Int || in.Args[2].Ref() != nil {
			continue
		}
		base := wholeRegister(&in.Args[1])
		if base == nil || d.writer[base] == nil || base.Type.Bits() != r.Type.Bits() ||
			!of(r).fits(in.Args[2].Value) {
			continue
		}
		of(base).others--
		of(base).take(of(r), in.Args[2].Value)
		readings[r] = new(reading)
		gone[in] = true
		changed = append(changed, base)
		work = append(work, base)
	}
	for _, base := range changed {
		for _, u := range of(base).brackets {
			u.at.Reg = base
			u.at.Value += of(base).add
			u.at.Zero = false
		}
		of(base).add = 0
	}
	if len(gone) > 0 {
		dropInstrs(f, gone)
	}
	return len(gone)
}
