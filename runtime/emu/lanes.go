// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package emu

import (
	"fmt"
	"math/bits"

	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/isa/eval"
)

// together makes the current fragment the whole warp, at an instruction that all lanes run together.
// If others are elsewhere the fragment waits for them, and the result is false.
func (w *warp) together() bool { return w.cur.mask == w.live || w.gather(w.live, waitsConverge) }

// gather makes the current fragment hold the lanes of want. If some are elsewhere it waits, and the
// result is false.
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
	kept := w.waiting[:0]
	for _, x := range w.waiting {
		if x.state == state && x.pc == f.pc && x.frame == f.frame {
			w.merge(f, x)
		} else {
			kept = append(kept, x)
		}
	}
	w.waiting = kept
	return true
}

// merge adds the lanes of x, which is at the same place, to f. What joins they do not share they leave.
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

// recheck lets fragments go on that waited for lanes that have ended.
func (w *warp) recheck() {
	for i := 0; i < len(w.waiting); i++ {
		f := w.waiting[i]
		if f.state != waitsConverge && f.state != waitsLanes {
			continue
		}
		all := f.mask
		for _, x := range w.waiting {
			if x.state == f.state && x.pc == f.pc && x.frame == f.frame {
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

// members returns the lanes that a membermask names, and parks the fragment until they have come.
func (w *warp) members(mask *ref) (uint32, action) {
	f := w.cur
	lane := bits.TrailingZeros32(f.mask)
	v := w.value(mask, &w.scratch[7])
	want := uint32(v[lane])
	if f.mask == full && mask.kind == refConstant && want == full {
		return full, advance
	}
	for l := range eval.Lanes {
		if f.mask>>l&1 == 0 {
			continue
		}
		if uint32(v[l])>>l&1 == 0 {
			return 0, w.fault(l, nil, "the member mask %08x does not name the lane that runs the instruction", uint32(v[l]))
		}
	}
	same := uint32(0)
	for l := range eval.Lanes {
		if f.mask>>l&1 != 0 && uint32(v[l]) == want {
			same |= 1 << l
		}
	}
	if same != f.mask { // groups with masks of their own run one after another
		w.split(f.mask&^same, f.pc, -1)
	}
	if !w.gather(want, waitsLanes) {
		return 0, parked
	}
	return want & w.live & w.cur.mask, advance
}

// shfl decodes shfl and shfl.sync.
func shfl(d *decoder) (step, error) {
	op := d.operation()
	args, results := d.reads(), d.writes()
	synced, up := op.Has(isa.ModSync), op.Has(isa.ModUp)
	var source func(lane, b, segment, limit uint64) (from uint64, ok bool)
	switch {
	case up:
		source = func(lane, b, segment, limit uint64) (uint64, bool) {
			return lane - b, int64(lane)-int64(b) >= int64(limit)
		}
	case op.Has(isa.ModDown):
		source = func(lane, b, segment, limit uint64) (uint64, bool) { return lane + b, lane+b <= limit }
	case op.Has(isa.ModBfly):
		source = func(lane, b, segment, limit uint64) (uint64, bool) { return lane ^ b, lane^b <= limit }
	default:
		source = func(lane, b, segment, limit uint64) (uint64, bool) {
			from := lane&segment | b&^segment
			return from, from <= limit
		}
	}
	return func(w *warp, mask uint32) action {
		if synced {
			got, act := w.members(&args[3])
			if act != advance {
				return act
			}
			mask = got
		}
		a, b, c := w.value(&args[0], &w.scratch[0]), w.value(&args[1], &w.scratch[1]), w.value(&args[2], &w.scratch[2])
		out, p := &w.out[0], uint32(0)
		for l := range uint64(eval.Lanes) {
			segment := c[l] >> 8 & 31
			limit := l & segment
			if !up {
				limit |= c[l] & 31 &^ segment
			}
			from, ok := source(l, b[l]&31, segment, limit)
			if !ok {
				from = l
			} else {
				p |= 1 << l
			}
			out[l] = a[from&31] & 0xffffffff
		}
		w.write(&results[0], mask, out)
		if len(results) > 1 {
			w.writeTruth(&results[1], mask, p)
		}
		return advance
	}, nil
}

// vote decodes vote and vote.sync.
func vote(d *decoder) (step, error) {
	op := d.operation()
	args, results := d.reads(), d.writes()
	synced := op.Has(isa.ModSync)
	return func(w *warp, mask uint32) action {
		if synced {
			got, act := w.members(&args[1])
			if act != advance {
				return act
			}
			mask = got
		}
		p := w.truth(&args[0]) & mask
		if op.Has(isa.ModBallot) {
			for l := range w.out[0] {
				w.out[0][l] = uint64(p)
			}
			w.write(&results[0], mask, &w.out[0])
			return advance
		}
		holds := p == mask
		switch {
		case op.Has(isa.ModAny):
			holds = p != 0
		case op.Has(isa.ModUni):
			holds = p == 0 || p == mask
		}
		w.writeTruth(&results[0], mask, truthOf(holds))
		return advance
	}, nil
}

func truthOf(holds bool) uint32 {
	if holds {
		return full
	}
	return 0
}

// match decodes match.any and match.all.
func match(d *decoder) (step, error) {
	op := d.operation()
	args, results := d.reads(), d.writes()
	width := uint64(1)<<uint(op.Type().Bits()) - 1
	every := op.Has(isa.ModAll)
	return func(w *warp, _ uint32) action {
		mask, act := w.members(&args[1])
		if act != advance {
			return act
		}
		a := w.value(&args[0], &w.scratch[0])
		out, p := &w.out[0], uint32(0)
		for l := range eval.Lanes {
			same := uint32(0)
			for m := range eval.Lanes {
				if mask>>m&1 != 0 && a[m]&width == a[l]&width {
					same |= 1 << m
				}
			}
			if every && same != mask {
				same = 0
			}
			if out[l] = uint64(same); same != 0 {
				p |= 1 << l
			}
		}
		for i := range results {
			w.write(&results[i], mask, out)
			w.writeTruth(&results[i], mask, p)
		}
		return advance
	}, nil
}

// redux decodes redux.sync.
func redux(d *decoder) (step, error) {
	op := d.operation()
	args, results := d.reads(), d.writes()
	name, modifiers := reductionOfMods(&op)
	reduce, err := eval.ReduxOf(name, op.Type(), modifiers...)
	if err != nil {
		return nil, err
	}
	return func(w *warp, _ uint32) action {
		mask, act := w.members(&args[1])
		if act != advance {
			return act
		}
		r := reduce(w.value(&args[0], &w.scratch[0]), mask)
		for l := range w.out[0] {
			w.out[0][l] = r
		}
		w.write(&results[0], mask, &w.out[0])
		return advance
	}, nil
}

// elect decodes elect.sync, which chooses the first lane.
func elect(d *decoder) (step, error) {
	args, results := d.reads(), d.writes()
	return func(w *warp, _ uint32) action {
		mask, act := w.members(&args[0])
		if act != advance {
			return act
		}
		lane := bits.TrailingZeros32(mask)
		for l := range w.out[0] {
			w.out[0][l] = uint64(lane)
		}
		w.write(&results[0], mask, &w.out[0])
		w.writeTruth(&results[1], mask, 1<<lane)
		return advance
	}, nil
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

// tellMeetings shows which lanes of a fragment meet: those with one mask.
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

// warpSync decodes bar.warp.sync. Lanes may meet from different instructions.
func warpSync(d *decoder) (step, error) {
	args := d.reads()
	return func(w *warp, _ uint32) action {
		f := w.cur
		lane := bits.TrailingZeros32(f.mask)
		want := uint32(w.value(&args[0], &w.scratch[0])[lane])
		if want>>lane&1 == 0 {
			return w.fault(lane, nil, "the member mask %08x does not name the lane that runs the instruction", want)
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
