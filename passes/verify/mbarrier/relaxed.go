// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package mbarrier

import (
	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/passes/analysis/memory"
	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
	"github.com/ptxdsl/ptxdsl/passes/verify"
)

// checkRelaxed reports relaxed arrivals after plain accesses to shared memory, and relaxed waits
// before them. Relaxed operations signal, but do not order memory. Accesses of tcgen05 to tensor
// memory are not checked, because tcgen05 fences order them, and tensor cores have finished
// reading when their wait returns. The parameter filled holds the mbarriers on which copies
// complete, and left holds those on which threads arrive after they used shared memory.
func checkRelaxed(p *verify.Pass, t *trace.Trace, filled, left map[verify.Object]bool) {
	// last access and last relaxed wait that no barrier or fence follows
	var access, wait *trace.Event
	// engine is set if the wait is for an asynchronous copy, used if it is for threads that used
	// the memory.
	engine, used := false, false
	var reads []memory.Region
	for i := range t.Events {
		e := &t.Events[i]
		switch e.Kind {
		case trace.BarrierSync, trace.BarrierArrive, trace.ClusterArrive, trace.ClusterWait,
			trace.Fence:
			access, wait = nil, nil
		case trace.Arrive:
			switch {
			case !e.In.HasMod(isa.ModRelaxed):
				access = nil
			case access != nil:
				p.Report(&ruleScope, e.In, "relaxed mbarrier arrival does not order the "+
					"preceding shared-memory access for the waiting threads").
					As(diag.Review).Also(access.In, "the access").On(t, i)
				access = nil
			}
		case trace.Wait:
			wait = nil
			if holds, known := t.Facts.Decided(e.Done, *e.Threads); !e.In.HasMod(isa.ModRelaxed) ||
				!known || !holds {
				continue
			}
			wait, engine, used = e, false, false
			list, _ := p.Objects(e, verify.Val(e, verify.Address(e.In, 0)))
			for _, o := range list {
				engine, used = engine || filled[o.Object], used || left[o.Object]
			}
		case trace.BulkLoad, trace.Copy:
			if used {
				checkUnordered(p, t, i, wait)
				wait = nil
			}
		case trace.Load, trace.Store, trace.Atomic:
			if r, ok := p.Access(e); !ok || !r.Shared() {
				continue
			}
			access = e
			checkUnordered(p, t, i, wait)
			wait = nil
		case trace.GroupMultiply, trace.TensorMultiply, trace.TensorCopy, trace.BulkStore:
			if wait == nil || !engine {
				continue
			}
			if reads = p.AppendReads(reads[:0], e); len(reads) > 0 {
				checkUnordered(p, t, i, wait)
				wait = nil
			}
		}
	}
}

// checkUnordered reports event i if it accesses shared memory after a relaxed wait.
func checkUnordered(p *verify.Pass, t *trace.Trace, i int, wait *trace.Event) {
	if wait == nil {
		return
	}
	switch t.Events[i].Kind {
	case trace.BulkLoad, trace.Copy:
		p.Report(&ruleScope, wait.In, "relaxed mbarrier wait before a copy into shared memory: "+
			"accesses by the arriving threads are not ordered before the copy").
			As(diag.Review).Also(t.Events[i].In, "the copy").On(t, i)
	default:
		p.Report(&ruleScope, wait.In, "relaxed mbarrier wait before a shared-memory access: "+
			"writes by the arriving threads may not be visible").
			As(diag.Review).Also(t.Events[i].In, "the access").On(t, i)
	}
}

// copyTargets returns the mbarriers on which copies complete.
func copyTargets(p *verify.Pass) map[verify.Object]bool {
	found := make(map[verify.Object]bool)
	for _, t := range p.Traces {
		for i := range t.Events {
			switch e := &t.Events[i]; e.Kind {
			case trace.BulkLoad, trace.RemoteStore, trace.Answer, trace.CopyArrive:
				list, _ := p.Objects(e, verify.Val(e, verify.Target(e)))
				for _, o := range list {
					found[o.Object] = true
				}
			}
		}
	}
	return found
}

// arrivalsAfterUse returns the mbarriers on which threads arrive after they used shared memory.
func arrivalsAfterUse(p *verify.Pass) map[verify.Object]bool {
	found := make(map[verify.Object]bool)
	for _, t := range p.Traces {
		used := false
		for i := range t.Events {
			switch e := &t.Events[i]; e.Kind {
			case trace.BarrierSync, trace.ClusterWait:
				used = false
			case trace.Load, trace.Store, trace.Atomic:
				r, ok := p.Access(e)
				used = used || ok && r.Shared()
			case trace.Arrive:
				list, _ := p.Objects(e, verify.Val(e, verify.Address(e.In, 0)))
				for _, o := range list {
					if used {
						found[o.Object] = true
					}
				}
			}
		}
	}
	return found
}
