// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package asyncgroup checks asynchronous copies (cp.async and cp.async.bulk) against the waits for
// their groups.
package asyncgroup

import (
	"sync"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/passes/analysis/memory"
	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
	"github.com/ptxdsl/ptxdsl/passes/analysis/value"
	"github.com/ptxdsl/ptxdsl/passes/verify"
)

// Analyzer is the analyzer for asynchronous copy groups.
var Analyzer = &verify.Analyzer{
	Name:   "asyncgroup",
	Covers: "groups of asynchronous copies",
	Doc: `Groups follows the asynchronous copies that each thread has issued but not waited
for. A read of their destination, a second write to it, and a write to their source
are errors. Copies are distinguished by address; copies with an unknown address are
skipped, and the verdict says so.`,
	Rules: diag.Rules{ruleWait, ruleDepth, ruleRead, ruleSource, ruleBytes, ruleOrder, ruleBox,
		ruleBefore},
	Pages:    pages,
	Requires: []trace.Kind{trace.Copy, trace.BulkLoad, trace.BulkStore},
	Run:      run,
}

// A pendingCopy is a cp.async operation that may be in flight.
type pendingCopy struct {
	at     int
	e      *trace.Event
	region memory.Region
	known  bool
	// groups is the number of groups committed since the copy; 0 while the group of the copy is
	// open.
	groups int
	// done is set if the issuing threads have waited for the copy, signalled if they have then
	// arrived on an mbarrier. shared is set if other threads may read the data, because a barrier
	// followed or another thread waited for the phase of that mbarrier.
	done, signalled, shared bool
	wait                    *ir.Instr
	warp                    bool // a warp-wide synchronization followed the wait
	open                    bool // the group of the copy was not committed at the last wait
}

func run(p *verify.Pass) {
	writers := sync.OnceValue(func() map[*ir.Reg][]*ir.Instr { return writersOf(p.Func) })
	checkBoxes(p, writers)
	checkNegative(p, writers)
	checkUnread(p)
	for _, t := range p.Traces {
		checkSmallCopies(p, t)
		checkBulkStores(p, t)
		checkOrder(p, t)
	}
	firsts := make(map[base]*trace.Event)
	for _, t := range p.Traces {
		for i := range t.Events {
			if e := &t.Events[i]; e.Kind == trace.BulkLoad || e.Kind == trace.BulkStore {
				checkOperands(p, t, e)
				compareDistance(p, t, e, firsts)
			}
		}
	}
}

// A copyTracker tracks the cp.async operations of one trace.
type copyTracker struct {
	p    *verify.Pass
	t    *trace.Trace
	list []*pendingCopy
}

// checkSmallCopies checks the cp.async operations of a trace.
func checkSmallCopies(p *verify.Pass, t *trace.Trace) {
	c := &copyTracker{p: p, t: t}
	full := pruneAt // list length at which completed copies are dropped
	for i := range t.Events {
		c.event(i)
		if len(c.list) > full {
			c.list = dropCompleted(c.list)
			full = min(max(pruneAt, 2*len(c.list)), maxInFlight-1)
		}
	}
}

func (c *copyTracker) event(i int) {
	e := &c.t.Events[i]
	switch e.Kind {
	case trace.Copy:
		c.issue(i)
	case trace.CopyCommit:
		c.eachCovered(e, func(f *pendingCopy) { f.groups++ })
	case trace.CopyWait:
		c.wait(e)
	case trace.CopyArrive:
		// The copies complete on an mbarrier, so a wait for its phase waits for them.
		for _, f := range c.list {
			f.done, f.shared = true, true
		}
	case trace.BarrierSync, trace.ClusterWait:
		for _, f := range c.list {
			f.shared = f.shared || f.done
		}
	case trace.Arrive:
		c.eachCovered(e, func(f *pendingCopy) { f.signalled = f.signalled || f.done })
	case trace.Wait:
		// The threads that copied have arrived, so the phase that is waited for includes their
		// copies.
		if holds, known := c.t.Facts.Decided(e.Done, *e.Threads); holds || !known {
			for _, f := range c.list {
				f.shared = f.shared || f.signalled
			}
		}
	case trace.WarpSync:
		for _, f := range c.list {
			f.warp = f.warp || f.done
		}
	case trace.Load, trace.Store, trace.Atomic, trace.GroupMultiply, trace.TensorMultiply,
		trace.TensorCopy, trace.BulkStore:
		checkRead(c.p, c.t, i, c.list)
	}
}

// issue adds the copy that event i issues.
func (c *copyTracker) issue(i int) {
	if len(c.list) == maxInFlight {
		c.p.Missed("asynchronous copies (A5, A7): more than %d are in flight at once", maxInFlight)
		return
	}
	e := &c.t.Events[i]
	f := &pendingCopy{at: i, e: e}
	if f.region, f.known = c.p.Region(e, 0, copySize(e)); !f.known {
		c.p.Missed("destinations of asynchronous copies (A5, A7): the address is unknown")
	}
	c.list = append(c.list, f)
}

// eachCovered calls visit for each pending copy whose issuing threads all execute the event.
func (c *copyTracker) eachCovered(e *trace.Event, visit func(*pendingCopy)) {
	all := allExecute(c.t, e)
	for _, f := range c.list {
		if all || covers(c.t, e, f.e) {
			visit(f)
		}
	}
}

// wait marks the copies of the groups that a wait event waits for as done.
func (c *copyTracker) wait(e *trace.Event) {
	every, pending := e.In.Kind() == isa.KindCpAsyncWaitAll, int64(0)
	if !every {
		pending, _ = verify.Number(e, 0)
	}
	c.eachCovered(e, func(f *pendingCopy) {
		switch {
		case f.done:
		case every || f.groups > int(pending):
			f.done, f.wait = true, e.In
		default:
			f.open = f.groups == 0
		}
	})
}

// Limits on the number of copies that are tracked at the same time.
const (
	pruneAt     = 512
	maxInFlight = 2048
)

// group returns the number of threads that may read the data of a completed copy: the 32 lanes of
// a warp if they have synchronized after the wait, or else the issuing thread.
func (f *pendingCopy) group() int {
	if f.warp {
		return 32
	}
	return 1
}

// covers reports whether all threads of a trace that issued the copy of event made also execute
// event e. Each thread has its own copy groups.
func covers(t *trace.Trace, e, made *trace.Event) bool {
	return made.Threads.And(t.Threads).Minus(*e.Threads) == value.Set{}
}

// allExecute reports whether all threads of a trace execute an event. Such an event covers all
// copies of the trace.
func allExecute(t *trace.Trace, e *trace.Event) bool {
	return t.Threads.Minus(*e.Threads) == value.Set{}
}

// executedBy reports whether threads of a trace executed an event. If not, the event was executed
// by other threads that were on the same path at that time.
func executedBy(t *trace.Trace, e *trace.Event) bool {
	return e.Threads.And(t.Threads) != value.Set{}
}

// copySize returns the size in bytes of one cp.async, or the smallest size if it is unknown.
func copySize(e *trace.Event) int64 {
	if n, ok := verify.Number(e, 2); ok {
		return n
	}
	return 4
}

// dropCompleted returns the copies that some thread may still not read.
func dropCompleted(list []*pendingCopy) []*pendingCopy {
	kept := list[:0]
	for _, f := range list {
		if !f.shared {
			kept = append(kept, f)
		}
	}
	return kept
}

// checkRead reports reads and writes by event i of memory to which a copy is in flight.
func checkRead(p *verify.Pass, t *trace.Trace, i int, list []*pendingCopy) {
	if len(list) == 0 {
		return
	}
	e := &t.Events[i]
	var regions []memory.Region
	if e.Kind == trace.Load || e.Kind == trace.Store || e.Kind == trace.Atomic {
		r, ok := p.Access(e)
		if !ok {
			return
		}
		regions = append(regions, r)
	} else {
		regions = p.Reads(e)
	}
	for _, f := range list {
		if !f.known || f.shared {
			continue
		}
		for k := range regions {
			sure, _ := f.region.Meets(&regions[k])
			if !sure {
				continue
			}
			among := nobody
			switch {
			case !f.done || !p.OwnedByOthers(&regions[k], &f.region, f.group()):
			case p.OwnedByOthers(&regions[k], &f.region, 32):
				among = warps
			default:
				among = lanes
			}
			reportRead(p, t, i, f, e, among)
			break
		}
	}
}

// An audience specifies which threads besides the issuing thread read the data of a copy that the
// issuing thread has waited for.
type audience int

const (
	nobody audience = iota
	lanes           // of the same warp
	warps
)

func reportRead(p *verify.Pass, t *trace.Trace, i int, f *pendingCopy, e *trace.Event,
	among audience) {
	word := "is read"
	if e.Kind == trace.Store || e.Kind == trace.Atomic {
		word = "is written"
	}
	switch {
	case f.done && among == nobody:
	case f.done && among == lanes:
		p.Report(&ruleWait, e.In, "data of an asynchronous copy %s by lanes that did not issue "+
			"it, without bar.warp.sync after the wait", word).
			As(diag.Review).Also(f.e.In, "the copy").Also(f.wait, "this waits only for copies "+
			"issued by the same thread").On(t, i)
	case f.done:
		p.Report(&ruleWait, e.In, "data of an asynchronous copy %s by threads that did not issue "+
			"it, without a barrier after the wait", word).
			Also(f.e.In, "the copy").Also(f.wait, "this waits only for copies issued by the same "+
			"thread; a barrier is missing after it").On(t, i)
	case f.groups == 0:
		p.Report(&ruleWait, e.In, "data of an asynchronous copy %s before it is complete: its "+
			"group is not committed", word).
			Also(f.e.In, "the copy; no cp.async.commit_group follows it").On(t, i)
	default:
		var last *ir.Instr
		for j := range i {
			if t.Events[j].Kind == trace.CopyWait {
				last = t.Events[j].In
			}
		}
		if last == nil {
			p.Report(&ruleWait, e.In, "data of an asynchronous copy %s before it is complete: no "+
				"wait covers its group", word).Also(f.e.In, "the copy").On(t, i)
			return
		}
		if f.open {
			p.Report(&ruleWait, e.In, "data of an asynchronous copy %s before it is complete: "+
				"its group was committed after the last wait", word).
				Also(f.e.In, "the copy").Also(last, "the wait").On(t, i)
			return
		}
		r := p.Report(&ruleDepth, e.In,
			"cp.async.wait_group leaves too many groups pending: data of an asynchronous copy %s while its group may still be pending; %d groups were committed since, including its own",
			word, f.groups).
			Also(f.e.In, "the copy").Also(last, "the last wait allows that many pending groups "+
			"or more").On(t, i)
		if t.Facts.Empty() {
			r.As(diag.Review) // if the launch has no work, the missing wait may be intended
		}
	}
}
