// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package tensor

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
	"github.com/ptxdsl/ptxdsl/passes/analysis/value"
	"github.com/ptxdsl/ptxdsl/passes/verify"
)

// handovers holds the mbarriers that order tensor operations between threads: commits arrive on
// commits, threads arrive on loads after tensor loads and stores, and threads wait for ahead
// before tensor operations.
type handovers struct {
	commits, loads, ahead map[verify.Object]bool
}

func findHandovers(p *verify.Pass) handovers {
	h := handovers{make(map[verify.Object]bool), make(map[verify.Object]bool),
		make(map[verify.Object]bool)}
	for _, t := range p.Traces {
		moved := false
		for i := range t.Events {
			e := &t.Events[i]
			switch e.Kind {
			case trace.TensorLoad, trace.TensorStore:
				moved = true
			case trace.TensorCommit, trace.Arrive:
				if e.Kind == trace.Arrive && (!moved || verify.Expects(e.In)) {
					continue
				}
				list, _ := p.Objects(e, verify.Val(e, verify.Address(e.In, 0)))
				for _, o := range list {
					if e.Kind == trace.Arrive {
						h.loads[o.Object] = true
					} else {
						h.commits[o.Object] = true
					}
				}
				moved = moved && e.Kind != trace.Arrive
			}
		}
		works := false
		for i := range slices.Backward(t.Events) {
			switch e := &t.Events[i]; e.Kind {
			case trace.TensorLoad, trace.TensorStore, trace.TensorMultiply, trace.TensorCopy,
				trace.TensorShift, trace.TensorFree:
				works = true
			case trace.Wait:
				list, _ := p.Objects(e, verify.Val(e, verify.Address(e.In, 0)))
				for _, o := range list {
					h.ahead[o.Object] = h.ahead[o.Object] || works
				}
			}
		}
	}
	return h
}

// checkFences checks that tcgen05.fence stands beside waits and arrivals that order tensor
// operations of several threads.
func checkFences(p *verify.Pass, t *trace.Trace, h handovers) {
	var after, moved *trace.Event
	commits := false
	for i := range t.Events {
		e := &t.Events[i]
		switch e.Kind {
		case trace.TensorAfter:
			after = nil
		case trace.TensorBefore:
			moved = nil
		case trace.Wait:
			list, _ := p.Objects(e, verify.Val(e, verify.Address(e.In, 0)))
			for _, o := range list {
				if h.commits[o.Object] || h.loads[o.Object] {
					after, commits = e, h.commits[o.Object] && !h.loads[o.Object]
				}
			}
		case trace.TensorLoad, trace.TensorStore, trace.TensorMultiply, trace.TensorCopy:
			moves := e.Kind == trace.TensorLoad || e.Kind == trace.TensorStore
			// A commit's mbarrier alone orders the reuse of stages that the commit frees.
			if after != nil && (moves || !commits) {
				p.Report(&ruleFence, e.In, "missing tcgen05.fence::after_thread_sync between a "+
					"wait for another thread and a tensor memory operation").
					Also(after.In, "the wait").On(t, i)
				after = nil
			}
			if moves {
				moved = e
			}
		case trace.Arrive:
			list, _ := p.Objects(e, verify.Val(e, verify.Address(e.In, 0)))
			for _, o := range list {
				if moved != nil && h.loads[o.Object] && h.ahead[o.Object] && !verify.Expects(e.In) {
					p.Report(&ruleFence, e.In, "missing tcgen05.fence::before_thread_sync "+
						"between a tensor memory access and an arrival").
						Also(moved.In, "the access").On(t, i)
					moved = nil
				}
			}
		}
	}
}

// checkFreeOrder checks that tcgen05.fence::before_thread_sync stands between the tensor memory
// accesses of warps and the barrier after which another warp frees the memory. A barrier alone does
// not order tcgen05 operations, but these accesses have completed at the barrier, so a missing
// fence only makes the verdict incomplete.
func checkFreeOrder(p *verify.Pass) {
	var by value.Set
	for _, t := range p.Traces {
		for i := range t.Events {
			if e := &t.Events[i]; e.Kind == trace.TensorFree {
				by = by.Or(*e.Threads)
			}
		}
	}
	if by == (value.Set{}) {
		return
	}
	for _, t := range p.Traces {
		last := -1 // index of the last block barrier before the free
		for i := range t.Events {
			if e := &t.Events[i]; e.Kind == trace.ClusterArrive || e.Kind == trace.BarrierSync &&
				p.Everyone(e) {
				last = i
			}
		}
		var moved *trace.Event
		for i := range max(0, last) {
			switch e := &t.Events[i]; e.Kind {
			case trace.TensorLoad, trace.TensorStore:
				if all := e.Threads.Or(by); all.Warps() > by.Warps() {
					moved = e
				}
			case trace.TensorBefore:
				moved = nil
			}
		}
		if moved != nil {
			p.Report(&ruleFence, t.Events[last].In,
				"missing tcgen05.fence::before_thread_sync before this barrier: another warp frees the tensor memory after it, and only this barrier orders the use before the free").
				As(diag.Note).Also(moved.In, "the use").On(t, last)
			p.Missed("order of uses and frees of tensor memory that only a barrier separates, without a tcgen05 fence (T9)")
		}
	}
}

// checkSides reports thread barriers with a tcgen05 fence on one side only, if tensor memory is
// also accessed on the side without a fence. Kernels without any fence around allocation and free
// are not reported, but a single fence suggests that a pair was intended.
func checkSides(p *verify.Pass, t *trace.Trace) {
	for i := range t.Events {
		e := &t.Events[i]
		if e.Kind != trace.BarrierSync && e.Kind != trace.ClusterWait {
			continue
		}
		before, worked := barrierSide(t, i, -1)
		after, works := barrierSide(t, i, 1)
		switch {
		case before != nil && after == nil && works != nil:
			p.Report(&ruleFence, e.In, "barrier between tensor memory operations has "+
				"tcgen05.fence::before_thread_sync before it, but no ::after_thread_sync after it").
				Also(before.In, "the fence").Also(works.In, "the operation after the barrier").
				On(t, i)
		case after != nil && before == nil && worked != nil && works != nil:
			p.Report(&ruleFence, e.In, "barrier between tensor memory operations has "+
				"tcgen05.fence::after_thread_sync after it, but no ::before_thread_sync before it").
				Also(after.In, "the fence").Also(worked.In, "the operation before the barrier").
				On(t, i)
		}
	}
}

// barrierSide returns the tcgen05 fence and the tensor operation on one side of a barrier, up to
// the next barrier. The side is the events before the barrier if step is -1, or after it if step is
// 1.
func barrierSide(t *trace.Trace, i, step int) (fence, work *trace.Event) {
	for j := i + step; j >= 0 && j < len(t.Events); j += step {
		e := &t.Events[j]
		switch e.Kind {
		case trace.TensorBefore:
			if step < 0 && work == nil && fence == nil {
				fence = e
			}
		case trace.TensorAfter:
			if step > 0 && work == nil && fence == nil {
				fence = e
			}
		case trace.TensorFree:
			// Frees are ordered after operations that completed before the barrier.
			return fence, nil
		case trace.TensorAlloc, trace.TensorLoad, trace.TensorStore, trace.TensorMultiply,
			trace.TensorCopy:
			return fence, e
		case trace.ClusterArrive:
			if step < 0 {
				continue
			}
			return fence, nil
		case trace.BarrierSync, trace.BarrierArrive, trace.ClusterWait, trace.Arrive, trace.Wait,
			trace.Exit:
			return fence, nil
		}
	}
	return fence, nil
}
