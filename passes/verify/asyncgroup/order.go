// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package asyncgroup

import (
	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/passes/analysis/memory"
	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
	"github.com/ptxdsl/ptxdsl/passes/analysis/value"
	"github.com/ptxdsl/ptxdsl/passes/verify"
)

// A bulkOrder tracks the bulk copies in flight on one trace that write known memory and are
// issued by one thread.
type bulkOrder struct {
	p      *verify.Pass
	t      *trace.Trace
	loads  []orderedLoad
	stores []orderedStore
}

// An orderedLoad is a copy to shared memory in flight.
type orderedLoad struct {
	e      *trace.Event
	region memory.Region
}

// An orderedStore is a copy to global memory in flight.
type orderedStore struct {
	e      *trace.Event
	to     *value.Value
	bytes  int64
	groups int
}

// checkOrder reports two bulk copies in flight that write the same memory.
func checkOrder(p *verify.Pass, t *trace.Trace) {
	b := &bulkOrder{p: p, t: t}
	for i := range t.Events {
		e := &t.Events[i]
		switch e.Kind {
		case trace.Wait:
			if holds, known := t.Facts.Decided(e.Done, *e.Threads); holds || !known {
				b.loads = nil
			}
		case trace.BarrierSync, trace.ClusterWait:
			b.loads = nil // another thread may have waited for them
		case trace.Expect, trace.Arrive:
			b.loads = nil // for copies of different phases see rule M7 of schedule
		case trace.BulkLoad:
			b.load(i)
		case trace.BulkStore:
			b.store(i)
		case trace.BulkCommit:
			for k := range b.stores {
				b.stores[k].groups++
			}
		case trace.BulkWait:
			b.wait(e)
		}
	}
}

// load compares a copy to shared memory with the earlier loads in flight, and adds it to them.
func (b *bulkOrder) load(i int) {
	e := &b.t.Events[i]
	bytes, ok := verify.Number(e, 2)
	if !ok || verify.Tensor(e.In) || e.Threads.Len() != 1 {
		return
	}
	r, ok := b.p.Region(e, 0, bytes)
	if !ok || !r.Shared() {
		return
	}
	for k := range b.loads {
		if sure, _ := b.loads[k].region.Meets(&r); sure {
			b.p.Report(&ruleOrder, e.In, "two bulk copies in flight write the same shared "+
				"memory; their order is undefined").
				Also(b.loads[k].e.In, "the other copy").On(b.t, i)
		}
	}
	b.loads = append(b.loads, orderedLoad{e, r})
}

// store compares a copy to global memory with the earlier stores in flight, and adds it to them.
func (b *bulkOrder) store(i int) {
	e := &b.t.Events[i]
	to := verify.Val(e, 0)
	if verify.Tensor(e.In) || to == nil || e.In.Kind() != isa.KindCpAsyncBulk ||
		e.Threads.Len() != 1 {
		return
	}
	bytes, ok := verify.Number(e, 2)
	if !ok {
		bytes = verify.Least
	}
	for k := range b.stores {
		if d := b.p.Pool.Sub(64, to, b.stores[k].to); d.Const() && -bytes < d.K &&
			d.K < b.stores[k].bytes {
			b.p.Report(&ruleOrder, e.In, "two bulk copies in flight write the same global "+
				"memory; their order is undefined").
				Also(b.stores[k].e.In, "the other copy").On(b.t, i)
		}
	}
	b.stores = append(b.stores, orderedStore{e: e, to: to, bytes: bytes})
}

// wait drops the copies to global memory that a wait event without .read waits for.
func (b *bulkOrder) wait(e *trace.Event) {
	pending, _ := verify.Number(e, 0)
	if e.In.HasMod(isa.ModRead) {
		return
	}
	kept := b.stores[:0]
	for _, s := range b.stores {
		if s.groups <= int(pending) {
			kept = append(kept, s)
		}
	}
	b.stores = kept
}

var ruleOrder = diag.Rule{ID: "A10", Layer: "asyncgroup", Severity: diag.Error}
