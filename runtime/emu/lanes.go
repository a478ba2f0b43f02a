// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package emu

import (
	"fmt"
	"math/bits"

	"github.com/ptxdsl/ptxdsl/isa/eval"
)

// together makes the current fragment the whole warp, at an instruction that all lanes must
// execute together. If other lanes are at other instructions, the fragment waits for them and the
// result is false.
func (w *warp) together() bool {
	if w.cur.mask != w.live && !w.gather(w.live, waitsConverge) {
		return false
	}
	if w.live != w.begun {
		w.tell(EventPartial, w.live, nil)
	}
	return true
}

// gather makes the current fragment hold the lanes in want. If some of these lanes execute other
// code, the fragment waits for them and the result is false.
func (w *warp) gather(want uint32, state waitState) bool {
	f := w.cur
	want &= w.live
	if want&^f.mask == 0 {
		return true
	}
	all := f.mask
	for _, x := range w.waiting {
		if x.state == state && x.pc == f.pc && x.frame == f.frame {
			all |= x.mask
		}
	}
	if want&^all != 0 {
		w.park(state, wait{mask: want})
		return false
	}
	w.mergeWaiting(func(x *fragment) bool { return x.state == state })
	return true
}

// mergeWaiting merges into the current fragment those fragments that wait at the same instruction
// and for which should returns true.
func (w *warp) mergeWaiting(should func(*fragment) bool) {
	f, kept := w.cur, w.waiting[:0]
	for _, x := range w.waiting {
		if x.pc == f.pc && x.frame == f.frame && should(x) {
			w.merge(f, x)
		} else {
			kept = append(kept, x)
		}
	}
	w.waiting = kept
}

// merge adds the lanes of x, which is at the same instruction, to f. The result drops reconvergence
// points that the two do not share.
func (w *warp) merge(f, x *fragment) {
	common := f.joins
	for ; common != nil; common = common.up {
		j := x.joins
		for j != nil && j != common {
			j = j.up
		}
		if j == common {
			break
		}
	}
	w.leave(f.mask, f.joins, common)
	w.leave(x.mask, x.joins, common)
	f.mask |= x.mask
	f.joins = common
}

// recheck resumes the fragments that waited for lanes that have exited in the meantime.
func (w *warp) recheck() {
	for i := 0; i < len(w.waiting); i++ {
		f := w.waiting[i]
		if f.state != waitsConverge && f.state != waitsLanes {
			continue
		}
		all := f.mask
		for _, x := range w.waiting {
			if x.state == f.state && (x.pc == f.pc && x.frame == f.frame || w.meets(f, x)) {
				all |= x.mask
			}
		}
		want := f.group.mask
		if f.state == waitsConverge {
			want = w.live
		}
		if want&w.live&^all == 0 {
			w.wake(f) // it runs the instruction again
			i--
		}
	}
}

// activemask decodes activemask.
func activemask(d *decoder) (step, error) {
	results := d.writes()
	return func(w *warp, mask uint32) action {
		for l := range w.out[0] {
			w.out[0][l] = uint64(mask)
		}
		w.write(&results[0], mask, &w.out[0])
		return advance
	}, nil
}

// tellMeetings reports to observers which lanes of a fragment synchronize with each other: lanes
// with the same member mask.
func (w *warp) tellMeetings(masks *eval.Vector, lanes uint32) {
	if !w.observing() {
		return
	}
	v := *masks
	for lanes != 0 {
		mask := uint32(v[bits.TrailingZeros32(lanes)])
		group := uint32(0)
		for m := lanes; m != 0; m &= m - 1 {
			if l := bits.TrailingZeros32(m); uint32(v[l]) == mask {
				group |= 1 << l
			}
		}
		w.tell(EventWarpSync, group, nil)
		lanes &^= group
	}
}

// warpSync decodes bar.warp.sync. Lanes may arrive at different instructions.
func warpSync(d *decoder) (step, error) {
	args := d.reads()
	return func(w *warp, _ uint32) action {
		f := w.cur
		lane := bits.TrailingZeros32(f.mask)
		want := uint32(w.value(&args[0], &w.scratch[0])[lane])
		for m := f.mask; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m)
			if own := uint32(w.value(&args[0], &w.scratch[0])[l]); own>>l&1 == 0 {
				return w.fault(l, nil, "the member mask %08x %s", own, CauseMemberMask)
			}
		}
		want &= w.live
		if want&^f.mask == 0 {
			w.tellMeetings(w.value(&args[0], &w.scratch[0]), f.mask)
			return advance
		}
		note := func() string { return fmt.Sprintf("waits for lanes %08x", want&w.live) }
		var group []*fragment
		come := f.mask
		for _, x := range w.waiting {
			if x.state == waitsMembers && x.group.mask&w.live == want {
				group = append(group, x)
				come |= x.mask
			}
		}
		if want&^come != 0 {
			return w.park(waitsMembers, wait{mask: want, note: note})
		}
		w.tell(EventWarpSync, come, nil)
		for _, x := range group {
			x.pc++
			w.wake(x)
		}
		return advance
	}, nil
}
