// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package emu

import (
	"math/bits"

	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/isa/eval"
)

// A collective is an instruction in which the lanes of a member mask exchange values: shfl, vote,
// match, redux and elect. Lanes at different instructions with the same qualifiers and the same
// mask take part in one exchange, as the PTX manual specifies.
type collective struct {
	args, results []ref
	members       *ref // nil for the forms without .sync, which the active lanes run
	pred          bool // the first operand is a predicate
	compute       func(in *exchange, mask uint32)
}

// An exchange holds the operands and the results of all lanes of a collective instruction.
type exchange struct {
	v    [3]*eval.Vector
	p    uint32 // lanes in which the first operand is true, if it is a predicate
	out  *eval.Vector
	pOut uint32

	absent uint32 // lanes whose result comes from a lane that does not take part
	last   bool   // elect.sync elects the last lane
}

// decode returns the step of a collective instruction. The step suspends the fragment until all
// lanes of the member mask have arrived.
func (c *collective) decode() step {
	return func(w *warp, mask uint32) action {
		var others []*fragment
		if c.members != nil {
			got, act := uint32(0), advance
			if got, others, act = w.meet(c); act != advance {
				return act
			}
			mask = got
		}
		x := &w.exchange
		x.out = &w.out[0]
		c.load(w, x, &w.scratch)
		if others != nil {
			w.loadOthers(x, others)
		}
		x.absent, x.last = 0, w.block.grid.device.options.Scattered
		c.compute(x, mask)
		own := mask
		for _, f := range others {
			own &^= f.mask
		}
		c.store(w, x, own)
		if lanes := x.absent & own; lanes != 0 && w.block.grid.checks {
			w.markAbsent(lanes)
		}
		for _, f := range others {
			w.storeOther(x, f, mask)
		}
		return advance
	}
}

// load copies the operands of the current fragment to x.
func (c *collective) load(w *warp, x *exchange, scratch *[8]eval.Vector) {
	if c.pred {
		x.p = w.truth(&c.args[0])
		return
	}
	for i := range min(len(c.args), len(x.v)) {
		x.v[i] = w.value(&c.args[i], &scratch[i])
	}
}

// store writes the results to the registers of the current fragment.
func (c *collective) store(w *warp, x *exchange, mask uint32) {
	for i := range c.results {
		r := &c.results[i]
		w.write(r, mask, x.out)
		w.writeTruth(r, mask, x.pOut)
	}
}

// at returns the collective instruction that a fragment executes next, or nil if its next
// instruction is of another kind.
func (f *fragment) at() *collective { return f.frame.program.code[f.pc].meets }

// meets reports whether two fragments that wait at collective instructions take part in the same
// exchange.
func (w *warp) meets(f, x *fragment) bool {
	if f.state != waitsLanes || x.state != waitsLanes || (f.group.mask^x.group.mask)&w.live != 0 {
		return false
	}
	a, b := &f.frame.program.code[f.pc], &x.frame.program.code[x.pc]
	return a.at.Form.Opcode == b.at.Form.Opcode
}

// meet returns the lanes that a member mask names, and the fragments among them that are at other
// instructions. It suspends the current fragment until all lanes have arrived.
func (w *warp) meet(c *collective) (uint32, []*fragment, action) {
	f, mask := w.cur, c.members
	v := w.value(mask, &w.scratch[7])
	want := uint32(v[bits.TrailingZeros32(f.mask)])
	if f.mask == full && mask.kind == refConstant && want == full {
		return full, nil, advance
	}
	for l := range eval.Lanes {
		if f.mask>>l&1 != 0 && uint32(v[l])>>l&1 == 0 {
			return 0, nil, w.fault(l, nil, "the member mask %08x %s", uint32(v[l]),
				CauseMemberMask)
		}
	}
	same := uint32(0)
	for l := range eval.Lanes {
		if f.mask>>l&1 != 0 && uint32(v[l]) == want {
			same |= 1 << l
		}
	}
	if same != f.mask { // groups with different masks run one after another
		w.split(f.mask&^same, f.pc, -1)
	}
	gone := want & w.begun &^ w.live
	if want &= w.live; want&^f.mask == 0 {
		if gone != 0 {
			w.tell(EventPartial, f.mask, nil)
		}
		return want & f.mask, nil, advance
	}
	f.state, f.group = waitsLanes, wait{mask: want}
	all := f.mask
	for _, x := range w.waiting {
		if w.meets(f, x) {
			all |= x.mask
		}
	}
	if want&^all != 0 {
		return 0, nil, w.park(waitsLanes, f.group)
	}
	w.mergeWaiting(func(x *fragment) bool { return w.meets(f, x) })
	var others []*fragment
	for _, x := range w.waiting {
		if w.meets(f, x) {
			others = append(others, x)
		}
	}
	f.state, f.group = runs, wait{}
	return want & all, others, advance
}

// loadOthers reads the operands of lanes that are at other instructions.
func (w *warp) loadOthers(x *exchange, others []*fragment) {
	for i := range x.v {
		if x.v[i] != nil {
			own := *x.v[i]
			x.v[i] = &own
		}
	}
	for _, f := range others {
		var y exchange
		var scratch [8]eval.Vector
		w.regs, w.preds = f.frame.regs, f.frame.preds
		f.at().load(w, &y, &scratch)
		x.p = x.p&^f.mask | y.p&f.mask
		for i := range x.v {
			if x.v[i] != nil && y.v[i] != nil { // vote and elect read no vector
				blend(x.v[i], y.v[i], f.mask)
			}
		}
	}
	w.regs, w.preds = w.cur.frame.regs, w.cur.frame.preds
}

// storeOther writes the results of lanes that are at another instruction, and resumes these lanes.
func (w *warp) storeOther(x *exchange, f *fragment, mask uint32) {
	w.regs, w.preds = f.frame.regs, f.frame.preds
	f.at().store(w, x, mask&f.mask)
	w.regs, w.preds = w.cur.frame.regs, w.cur.frame.preds
	f.pc++
	w.wake(f)
}

// collective completes the decoding of a collective instruction, whose member mask is operand n.
func (d *decoder) collective(c *collective, n int) (step, error) {
	op := d.operation()
	if !d.is(isa.KindShfl) && !d.is(isa.KindVote) || op.Has(isa.ModSync) {
		c.members = &c.args[n]
	}
	c.args = c.args[:n]
	d.prog.code[len(d.prog.code)-1].meets = c
	return c.decode(), nil
}

// shfl decodes shfl and shfl.sync.
func shfl(d *decoder) (step, error) {
	op := d.operation()
	up := op.Has(isa.ModUp)
	var source func(lane, b, segment, limit uint64) (from uint64, ok bool)
	switch {
	case up:
		source = func(lane, b, segment, limit uint64) (uint64, bool) {
			return lane - b, int64(lane)-int64(b) >= int64(limit)
		}
	case op.Has(isa.ModDown):
		source = func(lane, b, segment, limit uint64) (uint64, bool) {
			return lane + b, lane+b <= limit
		}
	case op.Has(isa.ModBfly):
		source = func(lane, b, segment, limit uint64) (uint64, bool) {
			return lane ^ b, lane^b <= limit
		}
	default:
		source = func(lane, b, segment, limit uint64) (uint64, bool) {
			from := lane&segment | b&^segment
			return from, from <= limit
		}
	}
	return d.collective(&collective{args: d.reads(), results: d.writes(),
		compute: func(x *exchange, mask uint32) {
			a, b, c := x.v[0], x.v[1], x.v[2]
			p := uint32(0)
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
				if mask>>(from&31)&1 == 0 {
					x.absent |= 1 << l
				}
				x.out[l] = a[from&31] & 0xffffffff
			}
			x.pOut = p
		}}, 3)
}

// vote decodes vote and vote.sync.
func vote(d *decoder) (step, error) {
	op := d.operation()
	return d.collective(&collective{args: d.reads(), results: d.writes(), pred: true,
		compute: func(x *exchange, mask uint32) {
			p := x.p & mask
			holds := p == mask
			switch {
			case op.Has(isa.ModBallot):
				for l := range x.out {
					x.out[l] = uint64(p)
				}
			case op.Has(isa.ModAny):
				holds = p != 0
			case op.Has(isa.ModUni):
				holds = p == 0 || p == mask
			}
			x.pOut = truthOf(holds)
		}}, 1)
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
	width := uint64(1)<<uint(op.Type().Bits()) - 1
	every := op.Has(isa.ModAll)
	return d.collective(&collective{args: d.reads(), results: d.writes(),
		compute: func(x *exchange, mask uint32) {
			a, p := x.v[0], uint32(0)
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
				if x.out[l] = uint64(same); same != 0 {
					p |= 1 << l
				}
			}
			x.pOut = p
		}}, 1)
}

// redux decodes redux.sync.
func redux(d *decoder) (step, error) {
	op := d.operation()
	reduce, err := eval.ReduxOf(reductionMod(&op), op.Type(), op.Mods()...)
	if err != nil {
		return nil, err
	}
	return d.collective(&collective{args: d.reads(), results: d.writes(),
		compute: func(x *exchange, mask uint32) {
			r := reduce(x.v[0], mask)
			for l := range x.out {
				x.out[l] = r
			}
		}}, 1)
}

// elect decodes elect.sync, which chooses the first lane.
func elect(d *decoder) (step, error) {
	return d.collective(&collective{args: d.reads(), results: d.writes(),
		compute: func(x *exchange, mask uint32) {
			lane := bits.TrailingZeros32(mask)
			if x.last {
				lane = bits.Len32(mask) - 1
			}
			for l := range x.out {
				x.out[l] = uint64(lane)
			}
			x.pOut = 1 << lane
		}}, 0)
}
