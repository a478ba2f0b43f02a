// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package emu

import (
	"fmt"
	"math/bits"

	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/isa/eval"
)

// A barrier is one of the sixteen named barriers of a block.
type barrier struct {
	came    int // threads that have arrived
	want    int // expected threads, or 0 for all threads of the block
	used    bool
	waiting []barrierWaiter
	any     bool // for .red: whether the predicate was true in any thread
	all     bool
	count   uint64
	lanes   [32]uint32 // lanes that have arrived, by warp
}

// A barrierWaiter is a fragment that waits at a barrier, and its action when the barrier completes.
type barrierWaiter struct {
	warp *warp
	at   *fragment
	done func(b *barrier)
}

// arrive adds the lanes of the current fragment of w to the barrier. Lanes of the warp that have
// exited count as arrived when the last of its other lanes arrive. It returns an error message if
// the thread count differs from that of earlier arrivals, or "".
func (b *barrier) arrive(w *warp, threads int) string {
	if b.used && b.want != threads {
		return fmt.Sprintf("%s %s, but this instruction names %s", CauseBarrierThreads,
			threadsOf(b.want),
			threadsOf(threads))
	}
	if !b.used {
		b.any, b.all, b.count, b.lanes = false, true, 0, [32]uint32{}
	}
	b.used, b.want = true, threads
	n := bits.OnesCount32(w.cur.mask)
	if threads != 0 && w.cur.mask == w.live {
		n = eval.Lanes // counts are multiples of whole warps
	}
	b.came += n
	b.lanes[w.index&31] |= w.cur.mask
	if w.observing() {
		e := w.event(EventArrive, w.cur.mask)
		e.Number, e.Count = uint32(b.index(w.block)), int64(threads)
		w.block.grid.observer.Observe(e)
	}
	w.block.changes++
	return ""
}

// index returns the number of the barrier within its block.
func (b *barrier) index(k *block) int {
	for i := range k.barriers {
		if b == &k.barriers[i] {
			return i
		}
	}
	return -1
}

// tell reports to observers that the barrier completed, or that a fragment leaves the barrier.
func (b *barrier) tell(kind EventKind, k *block, w *warp, f *fragment) {
	g := k.grid
	if g.observer == nil {
		return
	}
	g.event = Event{Kind: kind, Block: uint32(k.number()), Number: uint32(b.index(k))}
	if w != nil {
		g.event.Warp, g.event.Mask = uint32(w.index), f.mask
		if in := &f.frame.program.code[f.pc]; in.at != nil {
			g.event.Instr, g.event.Source = in.at, g.image.module.lines[in.source]
		}
	}
	g.observer.Observe(&g.event)
}

func threadsOf(n int) string {
	if n == 0 {
		return "all threads"
	}
	return fmt.Sprintf("%d threads", n)
}

// check completes the barrier if enough threads have arrived.
func (b *barrier) check(k *block) {
	if !b.used {
		return
	}
	want := b.want
	if want == 0 {
		want = k.live()
	}
	if b.came < want || b.came == 0 {
		return
	}
	waiting := b.waiting
	result := *b
	*b = barrier{waiting: b.waiting[len(b.waiting):]}
	b.tell(EventMeet, k, nil, nil)
	for _, x := range waiting {
		if x.done != nil {
			regs, preds := x.warp.regs, x.warp.preds
			x.warp.regs, x.warp.preds = x.at.frame.regs, x.at.frame.preds
			x.done(&result)
			x.warp.regs, x.warp.preds = regs, preds
		}
		b.tell(EventLeave, k, x.warp, x.at)
		x.at.pc++
		x.warp.wake(x.at)
	}
}

// barrierStep decodes barrier.sync, barrier.arrive and barrier.red.
func barrierStep(d *decoder) (step, error) {
	op := d.operation()
	waits, reduces := !d.is(isa.KindBarrierArrive), d.is(isa.KindBarrierRed)
	args := d.reads()
	var number, threads, flag *ref
	number = &args[0]
	rest := args[1:]
	if reduces {
		flag = &rest[len(rest)-1]
		rest = rest[:len(rest)-1]
	}
	if len(rest) > 0 {
		threads = &rest[0]
	}
	var results []ref
	if reduces {
		results = d.writes()
	}
	reduction := reductionOf(&op)
	aligned := d.aligned() || d.in.Has(isa.EffectConvergent)
	return func(w *warp, mask uint32) action {
		if aligned && !w.together() {
			return parked
		}
		if mask = w.cur.mask; mask == 0 {
			return advance
		}
		lane := bits.TrailingZeros32(mask)
		n := w.value(number, &w.scratch[0])[lane] & 0xffffffff
		if n > 15 {
			return w.fault(lane, nil, "barrier %d does not exist; a block has barriers 0 to 15", n)
		}
		want := 0
		if threads != nil {
			want = int(uint32(w.value(threads, &w.scratch[1])[lane]))
		}
		if want%eval.Lanes != 0 {
			return w.fault(lane, nil, "thread count of a barrier is %d, expected a multiple of 32",
				want)
		}
		b := &w.block.barriers[n]
		if problem := b.arrive(w, want); problem != "" {
			return w.fault(lane, nil, "%s", problem)
		}
		if !waits {
			w.cur.pc++
			b.check(w.block)
			return moved
		}
		waiter := barrierWaiter{warp: w, at: w.cur}
		if reduces {
			p := w.truth(flag)
			b.any = b.any || p&mask != 0
			b.all = b.all && p&mask == mask
			b.count += uint64(bits.OnesCount32(p & mask))
			waiter.done = func(b *barrier) { reduction(w, b, &results[0], mask) }
		}
		b.waiting = append(b.waiting, waiter)
		w.park(waitsBarrier, wait{note: func() string {
			return b.state(w.block, n)
		}})
		b.check(w.block)
		return parked
	}, nil
}

// reductionOf returns the function that writes the result of barrier.red to the lanes of a warp.
func reductionOf(op *isa.Operation) func(w *warp, b *barrier, to *ref, mask uint32) {
	return func(w *warp, b *barrier, to *ref, mask uint32) {
		switch {
		case op.Has(isa.ModPopc):
			for l := range w.out[0] {
				w.out[0][l] = b.count
			}
			w.write(to, mask, &w.out[0])
		case op.Has(isa.ModAnd):
			w.writeTruth(to, mask, truthOf(b.all))
		default:
			w.writeTruth(to, mask, truthOf(b.any))
		}
	}
}
