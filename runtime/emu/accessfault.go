// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package emu

import (
	"fmt"
	"math/bits"

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
	v := a.symbol
	return w.denyAccess(bits.TrailingZeros32(mask),
		fmt.Sprintf("access out of bounds: %d bytes outside of %s, which has %d bytes",
			q.size, v.Name, v.Size()))
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
