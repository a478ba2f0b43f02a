// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package mbarrier

import (
	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
	"github.com/ptxdsl/ptxdsl/passes/analysis/value"
	"github.com/ptxdsl/ptxdsl/passes/verify"
)

// A total holds the arrivals and transaction bytes of one mbarrier on a trace.
type total struct {
	arrivals, expected, delivered int64
	first                         *trace.Event // first event that expects bytes
	load                          *trace.Event // last copy that completes on the mbarrier
	repeats                       bool         // one instruction arrives several times
	arrives                       map[*ir.Instr]bool
	inexact                       bool // the number of arrivals or bytes is unknown
	tensor                        bool // copies of unknown size complete on the mbarrier
	// some of these copies are unknown, or come from other blocks
	unsized         bool
	expects, copies int64 // number of expect_tx operations, and number of copies
	// total size of the tensor copies, estimated from the distances of their destinations
	apparent int64
}

// A tally collects the totals of all traces.
type tally struct {
	p      *verify.Pass
	traces []tracedTotals // in the order of the traces
	// for each thread set, the largest number of arrivals on a trace
	maxArrivals map[value.Set]map[verify.Object]int64
	parties     map[verify.Object]value.Set    // threads that expect bytes or copy, on any trace
	waits       map[verify.Object]*trace.Event // a wait for the first phase
	expects     map[verify.Object]*trace.Event // the first event that expects bytes
	repeats     map[verify.Object]bool
	inexact     map[verify.Object]bool
}

// tracedTotals holds the totals of the mbarriers of one trace, and the mbarriers in the order of
// their first use.
type tracedTotals struct {
	order []verify.Object
	sums  map[verify.Object]*total
}

// checkTotals makes two checks of each mbarrier: it compares all arrivals with the count of the
// first phase, and all expected bytes with the bytes of all copies.
func checkTotals(p *verify.Pass, initialized map[verify.Object]*initialization,
	order []verify.Object) {
	if len(p.Kernel.Missed) > 0 {
		return
	}
	y := &tally{
		p: p, maxArrivals: make(map[value.Set]map[verify.Object]int64),
		parties: make(map[verify.Object]value.Set),
		waits:   make(map[verify.Object]*trace.Event),
		expects: make(map[verify.Object]*trace.Event),
		repeats: make(map[verify.Object]bool), inexact: make(map[verify.Object]bool),
	}
	for _, t := range p.Traces {
		if !y.addTrace(t) {
			return
		}
	}
	y.checkBytes()
	checkRepeatedCopies(p)
	compareTensorBytes(p)
	y.checkArrivals(initialized, order)
}

// addTrace adds the totals of one trace. It returns false if they are unknown.
func (y *tally) addTrace(t *trace.Trace) bool {
	sums, order, ok := sumTrace(y.p, t, y.waits)
	if !ok {
		return false
	}
	y.traces = append(y.traces, tracedTotals{order, sums})
	if y.maxArrivals[t.Threads] == nil {
		y.maxArrivals[t.Threads] = make(map[verify.Object]int64)
	}
	for o, s := range sums {
		y.maxArrivals[t.Threads][o] = max(y.maxArrivals[t.Threads][o], s.arrivals)
		y.inexact[o] = y.inexact[o] || s.inexact
		y.repeats[o] = y.repeats[o] || s.repeats
		if s.first != nil && y.expects[o] == nil {
			y.expects[o] = s.first
		}
		if s.load != nil || s.first != nil {
			y.parties[o] = y.parties[o].Or(t.Threads)
		}
	}
	return true
}

// checkBytes compares expected bytes with copied bytes, for mbarriers that only the threads of
// one trace use. Package schedule compares the bytes of other mbarriers.
func (y *tally) checkBytes() {
	p := y.p
	inside := p.Ranks <= 1 && !hasMulticast(p) // no other block copies to this block
	for n, t := range p.Traces {
		if t.Stopped != "" {
			continue
		}
		for _, o := range y.traces[n].order {
			s := y.traces[n].sums[o]
			if s.unsized && s.load != nil && verify.Tensor(s.load.In) {
				p.Missed("transaction bytes of tensor copies (M5): the box size is in the tensor " +
					"map, not in PTX")
			}
			if y.parties[o].Minus(t.Threads) != (value.Set{}) || p.Uncertain(o) {
				continue
			}
			compareBytes(p, t, s)
			if inside {
				compareApparentBytes(p, s)
			}
		}
	}
}

// checkArrivals compares the arrivals of all threads with the count of each mbarrier.
func (y *tally) checkArrivals(initialized map[verify.Object]*initialization,
	order []verify.Object) {
	p := y.p
	most := make(map[verify.Object]int64)
	for _, class := range y.maxArrivals {
		for o, n := range class {
			most[o] += n
		}
	}
	for _, o := range order {
		b, w := initialized[o], y.waits[o]
		if w == nil || !b.known || y.inexact[o] || most[o] >= b.count {
			continue
		}
		if p.Uncertain(o) {
			p.Missed("arrivals whose address may belong to several mbarriers (M4, M5)")
			continue
		}
		if e := y.expects[o]; e != nil && most[o] == 0 {
			p.Report(&ruleBytes, e.In, "deadlock: bytes are expected at an mbarrier, "+
				"but no thread arrives at it, so its phase never completes").Also(w.In, "the wait").
				Also(b.e.In, "the mbarrier is initialized here")
			continue
		}
		f := p.Report(&ruleArrivals, w.In, "deadlock: mbarrier expects %d arrivals per phase, "+
			"but all threads together make %d", b.count, most[o]).
			Also(b.e.In, "the mbarrier is initialized here")
		if in := unreachedArrival(p); in != nil {
			f.Also(in, "no analyzed path reaches this arrival; a branch skips it, such as a break of the loop")
		}
		if y.repeats[o] && p.Loops || p.Unreached != nil && !p.Pool.Exact {
			// Iterations that were not analyzed may arrive too, or threads of a block of another
			// shape.
			f.As(diag.Review)
		}
	}
}

// unreachedArrival returns the first arrival at an mbarrier that is on no trace, or nil.
func unreachedArrival(p *verify.Pass) *ir.Instr {
	reached := make(map[*ir.Instr]bool)
	for _, t := range p.Traces {
		for i := range t.Events {
			reached[t.Events[i].In] = true
		}
	}
	for _, b := range p.Func.Blocks {
		for _, in := range b.Instrs {
			if !in.Directive() && trace.Of(in) == trace.Arrive && !reached[in] {
				return in
			}
		}
	}
	return nil
}

// sumTrace computes the totals of one trace, and returns its mbarriers in the order of their
// first use. ok is false if the address of an mbarrier is unknown.
func sumTrace(p *verify.Pass, t *trace.Trace,
	waits map[verify.Object]*trace.Event) (sums map[verify.Object]*total,
	order []verify.Object, ok bool) {
	sums = make(map[verify.Object]*total)
	for i := range t.Events {
		e := &t.Events[i]
		n := verify.Target(e)
		if n < 0 || e.Kind == trace.Init || e.Kind == trace.Inval {
			continue
		}
		e = t.Of(e)
		list, ok := p.Objects(e, verify.Val(e, n))
		if !ok {
			return nil, nil, false
		}
		for _, o := range list {
			s := sums[o.Object]
			if s == nil {
				s = &total{}
				sums[o.Object] = s
				order = append(order, o.Object)
			}
			addEvent(p, e, o, s)
			if e.Kind == trace.Wait && waits[o.Object] == nil && o.Rank == nil && isFirstPhase(e) {
				waits[o.Object] = e
			}
		}
	}
	return sums, order, true
}

// isFirstPhase reports whether a wait is for the first phase.
func isFirstPhase(e *trace.Event) bool {
	n, ok := verify.Number(e, verify.Address(e.In, 0)+1)
	return verify.Parity(e.In) && ok && n == 0
}

// addEvent adds the arrivals and bytes of one event to the total of an mbarrier.
func addEvent(p *verify.Pass, e *trace.Event, o verify.Touch, s *total) {
	n, ok := verify.Arrivals(e)
	s.inexact = s.inexact || !ok || e.Guard != nil
	threads := int64(o.Threads.Len())
	switch e.Kind {
	case trace.Arrive, trace.CopyArrive, trace.TensorCommit:
		if o.Rank != nil || verify.Multicast(e.In) || p.Cluster != 1 &&
			(e.In.HasMod(isa.ModSharedCluster) || e.Kind == trace.TensorCommit) {
			// If this block arrives on mbarriers of other blocks, those blocks also arrive on the
			// mbarriers of this block.
			threads *= int64(max(16, p.Cluster))
		}
		s.arrivals += n * threads
		s.repeats = s.repeats || s.arrives[e.In]
		if s.arrives == nil {
			s.arrives = make(map[*ir.Instr]bool)
		}
		s.arrives[e.In] = true
	}
	switch {
	case verify.Expects(e.In):
		bytes, ok := verify.Number(e, verify.Address(e.In, 0)+1)
		s.inexact = s.inexact || !ok
		s.expected += bytes * int64(o.Threads.Len())
		s.expects += int64(o.Threads.Len())
		if s.first == nil {
			s.first = e
		}
	case e.Kind == trace.BulkLoad:
		if s.load == nil {
			s.load = e
		}
		bytes, ok := p.Copied(e)
		if !ok || verify.Multicast(e.In) || o.Rank != nil {
			s.tensor = true
			s.unsized = s.unsized || !ok || p.Ranks < 2
		}
		s.delivered += bytes * int64(o.Threads.Len())
		if n, ok := p.GapSize(e); ok {
			s.apparent += n
			s.copies++
		} else {
			s.copies = -1 << 32
		}
	case e.Kind == trace.RemoteStore, e.Kind == trace.Complete, e.Kind == trace.Answer:
		s.tensor = true
	}
}

// compareBytes compares the bytes that one trace expects on an mbarrier with the bytes of its
// copies.
func compareBytes(p *verify.Pass, t *trace.Trace, s *total) {
	switch {
	case s.unsized || s.inexact || s.tensor || s.first == nil || s.load == nil:
	case s.expected != s.delivered:
		word := "fewer"
		if s.expected > s.delivered {
			word = "more"
		}
		p.Report(&ruleBytes, s.first.In, "expect_tx mismatch: %s bytes are expected than copied, "+
			"%d expected and %d copied over the whole path", word, s.expected, s.delivered).
			Also(s.load.In, "a copy").On(t, 0)
	}
}

// compareApparentBytes compares the expected bytes with the apparent size of the tensor copies of
// this block. The box size is not part of the PTX, but tiles are usually adjacent, so the
// distance between destinations indicates it.
func compareApparentBytes(p *verify.Pass, s *total) {
	if !s.unsized {
		return // the sizes of all copies are known
	}
	if s.first == nil || s.load == nil || s.inexact || s.copies <= 0 || s.expects == 0 ||
		verify.Multicast(s.load.In) {
		return
	}
	const slack = 1024 // the alignment of tiles
	// the least size of the copies if the distances contain padding
	padded := s.apparent - slack*s.expects
	if s.expected > s.apparent || s.expected <= padded &&
		2*s.expected <= s.apparent+slack*s.expects {
		p.Report(&ruleBytes, s.first.In, "expect_tx is %d bytes for every %d copies, but their "+
			"destinations appear to hold %d bytes", s.expected/s.expects, s.copies/s.expects,
			s.apparent/s.expects).
			As(diag.Review).Also(s.load.In, "a copy")
	}
}

// hasMulticast reports whether some bulk load may write to other blocks.
func hasMulticast(p *verify.Pass) bool {
	for _, t := range p.Traces {
		for i := range t.Events {
			if e := &t.Events[i]; e.Kind == trace.BulkLoad && verify.Multicast(e.In) {
				return true
			}
		}
	}
	return false
}

// checkRepeatedCopies reports copies to the same address that several threads issue although only
// one thread expects their bytes.
func checkRepeatedCopies(p *verify.Pass) {
	by := make(map[*ir.Instr]value.Set)
	expecting := make(map[verify.Object]value.Set)
	var order []*trace.Event
	for _, t := range p.Traces {
		for i := range t.Events {
			e := &t.Events[i]
			n := verify.Target(e)
			switch {
			case e.Kind == trace.BulkLoad:
				if _, seen := by[e.In]; !seen {
					order = append(order, e)
				}
				by[e.In] = by[e.In].Or(*e.Threads)
			case verify.Expects(e.In):
				list, _ := p.Objects(e, verify.Val(e, n))
				for _, o := range list {
					expecting[o.Object] = expecting[o.Object].Or(o.Threads)
				}
			}
		}
	}
	for _, e := range order {
		list, _ := p.Objects(e, verify.Val(e, verify.Target(e)))
		regions := p.Writes(e)
		all := by[e.In]
		if len(list) != 1 || len(regions) != 1 || !regions[0].Solid || all.Len() < 2 ||
			p.Uncertain(list[0].Object) {
			continue
		}
		if one := expecting[list[0].Object]; one.Len() == 1 {
			p.Report(&ruleBytes, e.In,
				"%s copy to one address, but only one thread expects the bytes",
				verify.Threads(all.Len())).As(diag.Review)
		}
	}
}
