// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package emu

import (
	"fmt"
	"math/bits"

	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/isa/eval"
)

// A phaseState is the state of an mbarrier. It is kept outside the emulated memory.
type phaseState struct {
	expected int64  // arrivals that complete a phase
	pending  int64  // pending arrivals of the current phase
	bytes    int64  // expected bytes that have not arrived
	phase    uint64 // number of completed phases
	layout   byte   // 0 or 1

	made   *command // the instruction that initialized it
	visits attendance

	owner *block // block and offset in its shared memory, for observers
	at    uint64
}

// settle starts the next phase if the current one is complete.
func (p *phaseState) settle() {
	if p.pending == 0 && p.bytes == 0 {
		p.phase++
		p.pending = p.expected
		p.visits.next()
		if p.owner != nil {
			p.owner.grid.tellPhase(nil, EventPhase, 0, p.owner, p.at)
		}
	}
}

// arrive counts n arrivals in the current phase. It returns an error message if the phase expects
// fewer arrivals, or "".
func (p *phaseState) arrive(n int64) string {
	if n < 1 || n > p.pending {
		return fmt.Sprintf(
			"%d threads %s %d more arrivals", n, CauseArrivals,
			p.pending)
	}
	p.pending -= n
	p.tellCount(n, 0)
	p.settle()
	return ""
}

// expect adds n to the bytes that the current phase expects. It returns an error message on
// overflow, or "".
func (p *phaseState) expect(n int64) string {
	p.bytes += n
	p.tellCount(0, n)
	if p.bytes > maxTransactionBytes {
		return fmt.Sprintf("%s: %d bytes are pending", CauseTransactions, p.bytes)
	}
	return ""
}

// complete subtracts n bytes that have arrived from the bytes that the phase expects. It returns an
// error message on overflow, or "".
func (p *phaseState) complete(n int64) string {
	p.bytes -= n
	p.tellCount(0, -n)
	if p.bytes < -maxTransactionBytes {
		return fmt.Sprintf(
			"%s: %d more bytes arrived than were expected", CauseTransactions,
			-p.bytes)
	}
	p.settle()
	return ""
}

// tellCount reports to observers how an arrival, an expect-tx or a complete-tx operation changed
// the mbarrier.
func (p *phaseState) tellCount(arrivals, bytes int64) {
	if p.owner == nil || p.owner.grid.observer == nil {
		return
	}
	g := p.owner.grid
	e := &g.event
	*e = Event{Kind: EventCount, Mask: 1, At: &g.addresses, Count: arrivals, Bytes: bytes}
	e.At[0] = Address{isa.Shared, uint32(p.owner.number()), p.at}
	g.observer.Observe(e)
}

// maxTransactionBytes is the maximum number of bytes that a phase of an mbarrier can expect.
const maxTransactionBytes = 1<<20 - 1

// token returns the state that mbarrier.arrive returns: the number of completed phases in the upper
// half, and the pending arrivals before this arrival in the lower half.
func (p *phaseState) token() uint64 { return p.phase<<32 | uint64(p.pending) }

// String describes the state for reports.
func (p *phaseState) String() string {
	if p.bytes < 0 {
		return fmt.Sprintf("phase %d, %d of %d arrivals are pending, and %d more bytes arrived than "+
			"were expected", p.phase, p.pending, p.expected, -p.bytes)
	}
	return fmt.Sprintf("phase %d, %d of %d arrivals and %d bytes are pending", p.phase, p.pending,
		p.expected, p.bytes)
}

// mbarriers finds the mbarriers of the lanes of a mask, and calls use for each lane.
func (w *warp) mbarriers(at *addressRef, space isa.Space, mask uint32,
	use func(lane int, p *phaseState) string) action {
	q := demand{space: space, size: 8, align: 8, quiet: true}
	if space == isa.Generic || space == isa.SharedCluster {
		q.space = space
	}
	if !w.locate(at, mask, &q) {
		return failed
	}
	w.block.changes++
	for m := mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		k := w.ownerOf(w.where.regionOf(l))
		if k == nil {
			w.denyAccess(l, "mbarrier is not in shared memory")
			return failed
		}
		p := k.phases[w.where.at[l]]
		if p == nil {
			w.denyAccess(l, "mbarrier "+string(CauseUninitialized))
			return failed
		}
		if why := use(l, p); why != "" {
			w.denyAccess(l, why)
			return failed
		}
	}
	return advance
}

// mbarriersOf is mbarriers with a mask of blocks. If blocks is not nil, it calls use for the
// mbarriers at the same offset in each of these blocks, beginning with the block that the address
// names.
func (w *warp) mbarriersOf(at *addressRef, space isa.Space, mask uint32, blocks *ref,
	use func(lane int, p *phaseState) string) action {
	if blocks == nil {
		return w.mbarriers(at, space, mask, use)
	}
	ranks := *w.value(blocks, &w.scratch[1])
	return w.mbarriers(at, space, mask, func(l int, _ *phaseState) string {
		for m := ranks[l] & 0xffffffff; m != 0; m &= m - 1 {
			rank := bits.TrailingZeros64(m)
			if rank >= len(w.block.cluster.blocks) {
				return fmt.Sprintf("multicast to block %d, but the cluster has %d blocks", rank,
					len(w.block.cluster.blocks))
			}
			p := w.block.cluster.blocks[rank].phases[w.where.at[l]]
			if p == nil {
				return fmt.Sprintf(
					"mbarrier of block %d of the cluster %s", rank, CauseUninitialized)
			}
			if why := use(l, p); why != "" {
				return why
			}
		}
		return ""
	})
}

// mbarrierLayout decodes mbarrier.check_layout.
func mbarrierLayout(d *decoder) (step, error) {
	op := d.operation()
	at, err := d.address(0)
	if err != nil {
		return nil, err
	}
	out, want := d.writes(), byte(0)
	if op.Has(isa.ModLayoutV1) {
		want = 1
	}
	return func(w *warp, mask uint32) action {
		holds := uint32(0)
		act := w.mbarriers(&at, op.Space, mask, func(l int, p *phaseState) string {
			if p.layout == want {
				holds |= 1 << l
			}
			return ""
		})
		if act == advance {
			w.writeTruth(&out[0], mask, holds)
		}
		return act
	}, nil
}

// tellMbarrier reports to observers that a lane performs an operation on an mbarrier.
func (w *warp) tellMbarrier(kind EventKind, lane int, p *phaseState, op *isa.Operation) {
	if !w.observing() {
		return
	}
	e := w.event(kind, 1<<lane)
	e.Size, e.Bytes = 8, p.bytes
	if op != nil {
		e.Order, e.Scope = op.Order, op.Scope
	}
	e.At[lane] = Address{isa.Shared, uint32(p.owner.number()), p.at}
	w.block.grid.observer.Observe(e)
}

// ownerOf returns the block that the shared memory r belongs to.
func (w *warp) ownerOf(r *region) *block {
	for _, k := range w.block.cluster.blocks {
		if k.shared == r {
			return k
		}
	}
	return nil
}

// mbarrierInit decodes mbarrier.init.
func mbarrierInit(d *decoder) (step, error) {
	op := d.operation()
	at, err := d.address(0)
	if err != nil {
		return nil, err
	}
	count, layout := d.reads()[0], byte(0)
	if op.Has(isa.ModLayoutV1) {
		layout = 1
	}
	q := demand{space: op.Space, size: 8, align: 8, write: true, quiet: true}
	return func(w *warp, mask uint32) action {
		if !w.locate(&at, mask, &q) {
			return failed
		}
		w.block.changes++
		n := w.value(&count, &w.scratch[0])
		if w.observing() {
			w.tellAccess(EventInit, mask, &q, []*eval.Vector{n})
		}
		for m := mask; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m)
			x := int64(uint32(n[l]))
			if x < 1 || x > maxTransactionBytes {
				return w.fault(l, nil, "mbarrier count is %d, expected 1 to %d", x,
					maxTransactionBytes)
			}
			r, off := w.where.regionOf(l), w.where.at[l]
			k := w.ownerOf(r)
			if k == nil {
				return w.fault(l, nil, "mbarrier is not in shared memory")
			}
			k.phases[off] = &phaseState{expected: x, pending: x, layout: layout, owner: k, at: off,
				made: w.command()}
			fill(r.init[off:off+8], 0xff)
		}
		return advance
	}, nil
}

// mbarrierInval decodes mbarrier.inval.
func mbarrierInval(d *decoder) (step, error) {
	op := d.operation()
	at, err := d.address(0)
	if err != nil {
		return nil, err
	}
	return func(w *warp, mask uint32) action {
		return w.mbarriers(&at, op.Space, mask, func(l int, p *phaseState) string {
			w.tellMbarrier(EventInval, l, p, nil)
			delete(w.ownerOf(w.where.regionOf(l)).phases, w.where.at[l])
			return ""
		})
	}, nil
}

// mbarrierArrive decodes arrivals and expect-tx operations.
func mbarrierArrive(d *decoder) (step, error) {
	op := d.operation()
	at, err := d.address(0)
	if err != nil {
		return nil, err
	}
	out := d.writes()
	arrives, drops, expects, completes := true, false, false, false
	partial := op.Has(isa.ModNoComplete)
	switch op.Kind {
	case isa.KindMbarrierArriveExpectTx:
		expects = true
	case isa.KindMbarrierArriveDrop:
		drops = true
	case isa.KindMbarrierArriveDropExpectTx:
		drops, expects = true, true
	case isa.KindMbarrierExpectTx:
		arrives, expects = false, true
	case isa.KindMbarrierCompleteTx:
		arrives, completes = false, true
	}
	number := ref{kind: refConstant, constant: d.image.splat(1)}
	for _, name := range []string{"count", "bytes"} {
		if r := d.valueNamed(name); r != nil {
			number = *r
		}
	}
	blocks := d.valueNamed("mask")
	return func(w *warp, mask uint32) action {
		n := *w.value(&number, &w.scratch[0])
		state := &w.out[0]
		act := w.mbarriersOf(&at, op.Space, mask, blocks, func(l int, p *phaseState) (why string) {
			x := int64(uint32(n[l]))
			if partial && x == p.pending {
				return string(CauseNoComplete)
			}
			w.tellMbarrier(EventSignal, l, p, &op)
			if completes {
				return p.complete(x)
			}
			if expects {
				if why = p.expect(x); why != "" || !arrives {
					return why
				}
				x = 1
			}
			state[l] = p.token()
			p.visits.note(w, l, p.owner)
			if drops {
				p.expected -= x
			}
			return p.arrive(x)
		})
		if act == advance && len(out) > 0 {
			w.write(&out[0], mask, state)
		}
		return act
	}, nil
}

// mbarrierWait decodes test_wait and try_wait. The emulated try_wait waits until the phases of all
// lanes are complete, or until nothing else can run, unless the device is impatient.
func mbarrierWait(d *decoder) (step, error) {
	op := d.operation()
	at, err := d.address(0)
	if err != nil {
		return nil, err
	}
	phase := d.valueNamed("state")
	if phase == nil {
		phase = d.valueNamed("parity")
	}
	out := d.writes()
	if phase == nil || len(out) == 0 {
		return nil, fmt.Errorf("%s with these operands is not emulated", d.in.Op)
	}
	done := out[0]
	reports := out[1:] // error reports, which are always empty in the emulator
	parity := op.Kind == isa.KindMbarrierTestWaitParity || op.Kind == isa.KindMbarrierTryWaitParity
	tries := op.Kind == isa.KindMbarrierTryWait || op.Kind == isa.KindMbarrierTryWaitParity
	none := d.image.splat(0)
	return func(w *warp, mask uint32) action {
		states := *w.value(phase, &w.scratch[0])
		complete := uint32(0)
		var pending *phaseState
		before := w.block.changes
		act := w.mbarriers(&at, op.Space, mask, func(l int, p *phaseState) string {
			passed := p.phase != states[l]>>32
			if parity {
				passed = p.phase&1 != states[l]&1
			}
			if passed {
				complete |= 1 << l
				if w.block == p.owner {
					p.visits.observed[w.index] = p.phase
				}
				w.tellMbarrier(EventTest, l, p, &op)
			} else {
				pending = p
			}
			return ""
		})
		w.block.changes = before
		if act != advance {
			return act
		}
		early := w.block.grid.device.options.Impatient && w.cur.tried != w.cur.pc+1
		if complete != 0 || !tries || w.cur.expired || early {
			w.cur.expired, w.cur.tried = false, w.cur.pc+1
			if complete == mask {
				w.cur.inVain, w.cur.tried = wait{}, 0
			}
			w.yield = complete != mask
			if tries {
				w.tell(EventUntrue, mask&^complete, nil)
			}
			w.writeTruth(&done, mask, complete)
			for i := range reports {
				w.writeTruth(&reports[i], mask, 0)
				w.write(&reports[i], mask, none)
			}
			return advance
		}
		now := pending.phase
		return w.park(waitsPhase, wait{
			note: func() string {
				if parity {
					return pending.state(w) + pending.parityHint(w)
				}
				return pending.state(w)
			},
			met:   func() bool { return pending.phase != now },
			phase: pending,
		})
	}, nil
}

// mbarrierPending decodes mbarrier.pending_count.
func mbarrierPending(d *decoder) (step, error) {
	from, to := d.reads()[0], d.writes()[0]
	return func(w *warp, mask uint32) action {
		for l, x := range w.value(&from, &w.scratch[0]) {
			w.out[0][l] = x & 0xffffffff
		}
		w.write(&to, mask, &w.out[0])
		return advance
	}, nil
}
