// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package emu

import (
	"fmt"
	"math/bits"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// reportMisaligned ends the block with a fault for the first lane whose address is not a multiple
// of the access size. It returns false.
func (w *warp) reportMisaligned(mask uint32, q *demand) bool {
	for m := mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		if w.address[l]&(q.align-1) != 0 {
			return w.denyAccess(l,
				fmt.Sprintf("%s: address 0x%x is not a multiple of %d", CauseMisaligned,
					w.address[l],
					q.align))
		}
	}
	return true
}

// reportBeyond ends the block with a fault for the first lane that accesses memory past the end of
// the variable that the address names. It returns false.
func (w *warp) reportBeyond(a *addressRef, mask uint32, q *demand) bool {
	v, lane := a.symbol, bits.TrailingZeros32(mask)
	note := w.noteOutside(v.Name, w.address[lane])
	if note == nil {
		note = w.nearestAllocation(w.address[lane])
	}
	w.fault(lane, note, "access out of bounds: %d bytes outside of %s, which has %d bytes", q.size,
		v.Name, v.Size())
	return false
}

// denyAccess ends the block with a fault for the access of a lane, with a note on the nearest
// allocation. It returns false.
func (w *warp) denyAccess(lane int, why string) bool {
	w.fault(lane, w.nearestAllocation(w.address[lane]), "%s", why)
	return false
}

// nearestAllocation describes the nearest allocation at or before an address.
func (w *warp) nearestAllocation(at uint64) []string {
	if r := w.where.region; r != nil && r.base < globalBase &&
		w.where.at[0] < uint64(len(r.data)) && r.base != sharedWindow {
		return []string{"the address is in " + r.String()}
	}
	if space, off := spaceOf(at); space == isa.Shared {
		at = off
	}
	if at < windowSize {
		return w.nearestVariable(at)
	}
	r := w.block.grid.device.memory.find(at)
	if r == nil {
		return nil
	}
	switch {
	case at < r.end():
		return []string{"the address is at byte " + fmt.Sprint(at-r.base) + " of " + r.String()}
	case r.variable && at-r.end() < gap:
		return []string{fmt.Sprintf("the address is %d bytes past %s %s, which has %d bytes",
			at-r.end(), CauseVariable, r.name, r.end()-r.base)}
	default:
		return []string{fmt.Sprintf("the address is %d bytes past the end of %s", at-r.end(), r)}
	}
}

// nearestVariable describes the nearest variable at or before a shared-memory address.
func (w *warp) nearestVariable(at uint64) []string {
	im := w.block.grid.image
	at &= 1<<rankShift - 1
	var last *symbol
	for i := range im.sharedSymbols {
		if s := &im.sharedSymbols[i]; s.at <= at && (last == nil || s.at >= last.at) {
			last = s
		}
	}
	if note := w.noteOutside(w.indexedVariable(), at); note != nil {
		return note
	}
	dynamic := uint64(sharedStart + im.sharedSize)
	switch {
	case at >= dynamic && at < dynamic+uint64(w.block.grid.launch.Shared):
		return []string{
			fmt.Sprintf("the address is at byte %d of the dynamic shared memory of %d bytes",
				at-dynamic, w.block.grid.launch.Shared)}
	case last == nil:
		return []string{
			fmt.Sprintf("the block has %d bytes of shared memory from address 0x%x on",
				w.block.grid.sharedBytes(), sharedStart)}
	case at < last.at+last.size:
		return []string{
			fmt.Sprintf("the address is at byte %d of %s, which has %d bytes", at-last.at,
				last.name, last.size)}
	}
	return []string{
		fmt.Sprintf("the address is %d bytes past the end of %s, which has %d bytes",
			at-last.at-last.size, last.name, last.size)}
}

// noteOutside describes the distance of a shared-memory address from a variable. It returns nil if
// there is no such variable or the address is in it.
func (w *warp) noteOutside(name string, at uint64) []string {
	for _, s := range w.block.grid.image.sharedSymbols {
		switch {
		case s.name != name:
		case at < s.at:
			return []string{fmt.Sprintf("the address is %d bytes before %s", s.at-at, name)}
		case at >= s.at+s.size:
			return []string{fmt.Sprintf("the address is %d bytes past the end of %s, which has %d bytes",
				at-s.at-s.size, name, s.size)}
		}
	}
	return nil
}

// indexedVariable returns the name of the only shared variable from which the address of the
// current instruction is computed, or "".
func (w *warp) indexedVariable() (name string) {
	f := w.cur
	if f == nil || f.pc >= len(f.frame.program.code) || f.frame.program.code[f.pc].at == nil {
		return ""
	}
	from := make(map[*ir.Reg]bool)
	several := false
	visit := func(o *ir.Operand) {
		if o.Reg != nil {
			from[o.Reg] = true
		} else if v := o.Var(); v != nil && v.Space.Base() == isa.Shared {
			several = several || name != "" && name != v.Name
			name = v.Name
		}
	}
	for _, o := range f.frame.program.code[f.pc].at.Args {
		if o.Kind == ir.Address {
			o.Walk(visit)
		}
	}
	for known := -1; known < len(from); {
		known = len(from)
		for _, b := range f.frame.program.fn.Blocks {
			for _, in := range b.Instrs {
				if !in.Directive() && len(in.Args) > 1 && in.Args[0].Reg != nil &&
					from[in.Args[0].Reg] && in.Kind().Head() != isa.HeadLd {
					for i := range in.Args[1:] {
						in.Args[i+1].Walk(visit)
					}
				}
			}
		}
	}
	if several {
		return ""
	}
	return name
}
