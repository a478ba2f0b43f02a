// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package emu

import (
	"bytes"
	"math/bits"
	"slices"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/isa/eval"
)

// A Completion specifies when asynchronous operations take effect: when they read and write
// memory, and when they arrive on an mbarrier.
type Completion uint8

// Completion policies.
const (
	// Late completes an operation only when a wait needs it, or when nothing else can run. A
	// missing wait then shows up as a read of uninitialized or old data.
	Late Completion = iota
	// Eager completes operations when they are issued.
	Eager
	// Random completes operations at times derived from the seed.
	Random
)

// An operation is an asynchronous operation in flight.
type operation struct {
	warp *warp
	// lanes of the issuing warp for which the operation is not complete
	lanes uint32
	apply func(lane int) *Fault // performs the operation for one lane
	// number of groups that each lane had committed before the operation
	group  [eval.Lanes]int
	before *operation // an operation that must complete first
	in     *command   // the command that issued it

	// For observers.
	hidden  bool // hidden from observers, which receive its parts instead
	parts   []*operation
	threads uint32 // lanes that issued the operation
	serial  uint64
	kind    Group
	at      *ir.Instr
	source  string
}

// run performs the operation for some lanes.
func (o *operation) run(lanes uint32) *Fault {
	if p := o.before; p != nil {
		o.before = nil
		if f := p.run(full); f != nil {
			return f
		}
	}
	for m := o.lanes & lanes; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		o.lanes &^= 1 << l
		o.warp.block.changes++
		q, g := &o.warp.block.cluster.queue, o.warp.block.grid
		outer, lane := q.running, q.lane
		q.running, q.lane = o, l
		f := o.apply(l)
		q.running, q.lane = outer, lane
		if f != nil {
			return f
		}
		if !o.hidden {
			g.tellOperation(o, EventComplete, 1<<l)
		}
	}
	return nil
}

// An asyncQueue holds the asynchronous operations of a cluster that are in flight, oldest first.
type asyncQueue struct {
	list    []*operation
	running *operation // the operation that is accessing memory now
	lane    int        // the lane that issued the running operation
	fault   *Fault
}

// A groupCount counts the groups that each lane has committed.
type groupCount [eval.Lanes]int

// issue adds an operation for the lanes of a mask, and adds it to a list of the warp if it belongs
// to groups.
func (w *warp) issue(mask uint32, groups *groupCount, list *[]*operation,
	apply func(lane int) *Fault) action {
	o := &operation{warp: w, lanes: mask, apply: apply, group: *groups, in: w.command()}
	o.kind = w.groupOf(groups, list)
	return w.begin(o, list)
}

// issueOne adds a single operation for all lanes of the warp.
func (w *warp) issueOne(list *[]*operation, kind Group, apply func(lane int) *Fault) action {
	return w.begin(&operation{warp: w, lanes: 1, apply: apply, kind: kind, in: w.command()}, list)
}

// issueTensor adds a tensor-core operation of one lane. The operations of one thread complete in
// program order. The PTX manual promises less, but existing kernels depend on it.
func (w *warp) issueTensor(lane int, apply func() string) action {
	in := w.command()
	o := &operation{warp: w, lanes: 1 << lane, before: w.tensorTail[lane], kind: GroupTensor,
		in: in}
	o.apply = func(int) *Fault {
		if why := apply(); why != "" {
			return w.faultAt(in, "%s", why)
		}
		return nil
	}
	w.tensorTail[lane] = o
	return w.begin(o, nil)
}

// begin adds an operation to the operations in flight, and to list if list is not nil.
func (w *warp) begin(o *operation, list *[]*operation) action {
	o.threads = o.lanes
	if g := w.block.grid; g.observer != nil && !o.hidden {
		g.serial++
		e := w.event(EventIssue, o.lanes)
		o.serial, o.at, o.source = g.serial, e.Instr, e.Source
		g.tellOperation(o, EventIssue, o.lanes)
	}
	w.block.changes++
	if w.block.grid.device.options.Completion == Eager {
		if f := o.run(full); f != nil {
			w.block.fail(f)
			return failed
		}
		return advance
	}
	w.block.cluster.queue.list = append(w.block.cluster.queue.list, o)
	if list != nil {
		*list = append(*list, o)
	}
	return advance
}

// command returns the command that the current fragment of the warp executes.
func (w *warp) command() *command { return &w.cur.frame.program.code[w.cur.pc] }

// groupOf returns the kind of group to which an operation belongs.
func (w *warp) groupOf(groups *groupCount, list *[]*operation) Group {
	switch {
	case list == nil:
		return NoGroup
	case groups == &w.copyGroups:
		return GroupCopy
	}
	return GroupBulk
}

// tellGroup reports to observers that lanes commit a group or wait for groups.
func (w *warp) tellGroup(kind EventKind, mask uint32, group Group, count int, reads bool) {
	if !w.observing() {
		return
	}
	e := w.event(kind, mask)
	e.Group, e.Count, e.Reads = group, int64(count), reads
	w.block.grid.observer.Observe(e)
}

// sweep returns list without the operations that are complete.
func sweep(list []*operation) []*operation {
	kept := list[:0]
	for _, o := range list {
		if o.lanes != 0 {
			kept = append(kept, o)
		}
	}
	clear(list[len(kept):])
	return kept
}

// finishGroups completes the operations of all but the last n groups of each lane.
func (w *warp) finishGroups(list []*operation, count *groupCount, mask uint32, n int,
	open bool) action {
	for _, o := range list {
		lanes := uint32(0)
		for m := o.lanes & mask; m != 0; m &= m - 1 {
			if l := bits.TrailingZeros32(m); open || o.group[l] < count[l]-n {
				lanes |= 1 << l
			}
		}
		if f := o.run(lanes); f != nil {
			w.block.fail(f)
			return failed
		}
	}
	return advance
}

// advance completes some operations between instructions if the completion policy is Random.
func (q *asyncQueue) advance(c *cluster) {
	if c.grid.device.options.Completion != Random {
		return
	}
	for _, o := range q.list {
		if c.random.IntN(4) == 0 && q.fault == nil && c.grid.guide == nil {
			q.fault = o.run(full)
		}
	}
	q.list = sweep(q.list)
}

// complete completes the newest operation and the operations that must complete before it, or a
// random operation if the policy is Random. Newer operations overtake older ones wherever PTX
// allows it.
func (q *asyncQueue) complete(c *cluster) bool {
	q.list = sweep(q.list)
	if len(q.list) == 0 {
		return false
	}
	if c.grid.guide != nil && !c.grid.guide.Done() {
		return q.guided(c.grid.guide)
	}
	i := len(q.list) - 1
	if c.grid.device.options.Completion == Random {
		i = c.random.IntN(len(q.list))
	}
	if f := q.list[i].run(full); f != nil && q.fault == nil {
		q.fault = f
	}
	return true
}

// empty reports whether no operation is in flight.
func (q *asyncQueue) empty() bool {
	q.list = sweep(q.list)
	return len(q.list) == 0
}

// cpAsync decodes cp.async: 4, 8 or 16 bytes of each lane.
func cpAsync(d *decoder) (step, error) {
	op := d.operation()
	to, err := d.address(0)
	if err != nil {
		return nil, err
	}
	from, err := d.address(1)
	if err != nil {
		return nil, err
	}
	args := d.reads()
	if op.Has(isa.ModL2CacheHint) {
		args = args[:len(args)-1]
	}
	size := args[0].constant[0]
	skips := len(args) > 1 && (args[1].kind == refPredicate || args[1].holds != nil)
	return func(w *warp, mask uint32) action {
		filled := eval.Vector{}
		for l := range filled {
			filled[l] = size
		}
		if skips {
			p := w.truth(&args[1])
			for l := range filled {
				if p>>l&1 != 0 {
					filled[l] = 0
				}
			}
		} else if len(args) > 1 {
			filled = *w.value(&args[1], &w.scratch[0])
		}
		reads := uint32(0)
		for l := range filled {
			if filled[l] &= 0xffffffff; filled[l] > size {
				return w.fault(l, nil,
					"source size of cp.async is %d bytes, more than its copy size of %d", filled[l],
					size)
			}
			if filled[l] != 0 {
				reads |= 1 << l & mask
			}
		}
		var source access
		if reads != 0 { // if no bytes are read, the source address is ignored
			if !w.locate(&from, reads,
				&demand{space: isa.Global, size: size, align: size, quiet: true}) {
				return failed
			}
			source = w.where
		}
		if !w.locate(&to, mask,
			&demand{space: isa.Shared, size: size, align: size, write: true, quiet: true}) {
			return failed
		}
		target := w.where
		return w.issue(mask, &w.copyGroups, &w.copies, func(l int) *Fault {
			r, at := target.regionOf(l), target.at[l]
			n := filled[l]
			g := w.block.grid
			if o := w.block.cluster.queue.running; g.observer != nil {
				if n != 0 {
					g.tellRange(o, EventRead, l, source.regionOf(l), source.at[l], n, ProxyGeneric)
				}
				g.tellRange(o, EventWrite, l, r, at, size, ProxyGeneric)
			}
			if n != 0 {
				copyBytes(r, at, source.regionOf(l), source.at[l], n)
			}
			clear(r.data[at+n : at+size])
			fill(r.init[at+n:at+size], 0xff)
			return nil
		})
	}, nil
}

// copyBytes copies n bytes between regions, together with the marks of initialized bytes.
func copyBytes(to *region, at uint64, from *region, off, n uint64) {
	copy(to.data[at:at+n], from.data[off:off+n])
	switch {
	case to.init == nil:
	case from.init == nil:
		fill(to.init[at:at+n], 0xff)
	default:
		copy(to.init[at:at+n], from.init[off:off+n])
		if to.owner != nil && from.owner == nil &&
			bytes.IndexByte(from.init[off:off+n], 0) >= 0 {
			to.recordCopy(unwrittenCopy{at, n, from, off})
		}
	}
}

// commitGroup decodes cp.async.commit_group and cp.async.bulk.commit_group.
func commitGroup(d *decoder) (step, error) {
	bulk := d.is(isa.KindCpAsyncBulkCommitGroup)
	kind := GroupCopy
	if bulk {
		kind = GroupBulk
	}
	return func(w *warp, mask uint32) action {
		groups := &w.copyGroups
		if bulk {
			groups = &w.bulkGroups
		}
		for m := mask; m != 0; m &= m - 1 {
			groups[bits.TrailingZeros32(m)]++
		}
		w.tellGroup(EventCommit, mask, kind, 0, false)
		return advance
	}, nil
}

// waitGroup decodes cp.async.wait_group, cp.async.wait_all and cp.async.bulk.wait_group.
func waitGroup(d *decoder) (step, error) {
	bulk := d.is(isa.KindCpAsyncBulkWaitGroup)
	all := d.is(isa.KindCpAsyncWaitAll)
	op := d.operation()
	reads := op.Has(isa.ModRead)
	n := 0
	if !all {
		n = int(d.reads()[0].constant[0])
	}
	return func(w *warp, mask uint32) action {
		if bulk {
			act := w.finishGroups(w.bulk, &w.bulkGroups, mask, n, false)
			w.bulk = sweep(w.bulk)
			w.tellGroup(EventWait, mask, GroupBulk, n, reads)
			return act
		}
		act := w.finishGroups(w.copies, &w.copyGroups, mask, n, all)
		w.copies = sweep(w.copies)
		if all {
			w.tellGroup(EventWait, mask, GroupCopy, -1, false)
		} else {
			w.tellGroup(EventWait, mask, GroupCopy, n, false)
		}
		return act
	}, nil
}

// copiesArrive decodes cp.async.mbarrier.arrive, which arrives when the preceding cp.async
// operations of the lane are complete.
func copiesArrive(d *decoder) (step, error) {
	op := d.operation()
	at, err := d.address(0)
	if err != nil {
		return nil, err
	}
	keeps := op.Has(isa.ModNoInc) // the expected count includes this arrival
	return func(w *warp, mask uint32) action {
		var phases [eval.Lanes]*phaseState
		act := w.mbarriers(&at, op.Space, mask, func(l int, p *phaseState) string {
			phases[l] = p
			p.visits.note(w, l, p.owner)
			if !keeps {
				p.pending++
				w.tellMbarrier(EventSignal, l, p, &op)
				p.tellCount(-1, 0)
			}
			return ""
		})
		if act != advance {
			return act
		}
		w.copies = sweep(w.copies)
		before := slices.Clone(w.copies)
		e := w.describe(w.cur, -1)
		return w.issue(mask, &w.copyGroups, &w.copies, func(l int) *Fault {
			for _, o := range before {
				if f := o.run(1 << l); f != nil {
					return f
				}
			}
			w.block.grid.tellPhase(w.block.cluster.queue.running, EventSignal, l, phases[l].owner,
				phases[l].at)
			if why := phases[l].arrive(1); why != "" {
				e.Message = why
				return e
			}
			return nil
		})
	}, nil
}
