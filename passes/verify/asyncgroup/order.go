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

// order reports two bulk copies in flight that write the same memory.
func order(p *verify.Pass, t *trace.Trace) {
	type in struct {
		e      *trace.Event
		region memory.Region
	}
	type out struct {
		e      *trace.Event
		to     *value.Value
		bytes  int64
		groups int
	}
	var loads []in
	var stores []out
	for i := range t.Events {
		e := &t.Events[i]
		switch e.Kind {
		case trace.Wait:
			if holds, known := t.Facts.Decided(e.Done, e.Threads); holds || !known {
				loads = nil
			}
		case trace.BarrierSync, trace.ClusterWait:
			loads = nil // another thread may have waited for them
		case trace.Expect, trace.Arrive:
			loads = nil // for copies of different phases see rule M7 of schedule
		case trace.BulkLoad:
			bytes, ok := verify.Number(e, 2)
			if !ok || verify.Tensor(e.In) || e.Threads.Len() != 1 {
				continue
			}
			r, ok := p.Region(e, 0, bytes)
			if !ok || !r.Shared() {
				continue
			}
			for k := range loads {
				if sure, _ := loads[k].region.Meets(&r); sure {
					p.Report(&ruleOrder, e.In, "two bulk copies in flight write the same shared "+
						"memory; their order is undefined").
						Also(loads[k].e.In, "the other copy").On(t, i)
				}
			}
			loads = append(loads, in{e, r})
		case trace.BulkStore:
			to := verify.Val(e, 0)
			if verify.Tensor(e.In) || to == nil || e.In.Kind() != isa.KindCpAsyncBulk || e.Threads.Len() != 1 {
				continue
			}
			bytes, ok := verify.Number(e, 2)
			if !ok {
				bytes = verify.Least
			}
			for k := range stores {
				if d := p.Pool.Sub(64, to, stores[k].to); d.Const() && -bytes < d.K && d.K < stores[k].bytes {
					p.Report(&ruleOrder, e.In, "two bulk copies in flight write the same global "+
						"memory; their order is undefined").
						Also(stores[k].e.In, "the other copy").On(t, i)
				}
			}
			stores = append(stores, out{e: e, to: to, bytes: bytes})
		case trace.BulkCommit:
			for k := range stores {
				stores[k].groups++
			}
		case trace.BulkWait:
			if pending, _ := verify.Number(e, 0); !e.In.HasMod(isa.ModRead) {
				kept := stores[:0]
				for _, s := range stores {
					if s.groups <= int(pending) {
						kept = append(kept, s)
					}
				}
				stores = kept
			}
		}
	}
}

var ruleOrder = diag.Rule{ID: "A10", Layer: "asyncgroup", Severity: diag.Error}
