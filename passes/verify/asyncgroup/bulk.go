// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package asyncgroup

import (
	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/passes/analysis/memory"
	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
	"github.com/ptxdsl/ptxdsl/passes/verify"
)

// A bulkStore is a bulk copy from shared memory that may be in flight.
type bulkStore struct {
	e       *trace.Event
	regions []memory.Region
	groups  int
	read    *ir.Instr // a wait with .read, after which only the source may be reused
	fenced  bool      // a fence follows the copy
}

// A bulkStores tracks the bulk copies from shared memory of one trace.
type bulkStores struct {
	p    *verify.Pass
	t    *trace.Trace
	list []*bulkStore
}

// checkBulkStores checks the bulk copies from shared memory, which complete in groups.
func checkBulkStores(p *verify.Pass, t *trace.Trace) {
	b := &bulkStores{p: p, t: t}
	for i := range t.Events {
		e := &t.Events[i]
		switch e.Kind {
		case trace.BulkStore:
			b.list = append(b.list, &bulkStore{e: e, regions: p.Reads(e)})
		case trace.BulkCommit:
			for _, o := range b.list {
				if covers(t, e, o.e) {
					o.groups++
				}
			}
		case trace.BulkWait:
			b.wait(e)
		case trace.Fence:
			for _, o := range b.list {
				o.fenced = o.fenced || !e.In.HasMod(isa.ModCTA)
			}
		case trace.Store, trace.Atomic, trace.Clear:
			if e.In.HasMod(isa.ModGlobal) {
				b.checkSignal(i)
			} else {
				b.checkOverwrite(i)
			}
		case trace.Copy, trace.BulkLoad:
			b.checkOverwrite(i)
		case trace.Exit:
			b.reportAtExit(i)
		}
	}
}

// wait drops the copies that a wait event waits for. After a wait with .read, their sources may
// be reused, but the copies may still be in flight.
func (b *bulkStores) wait(e *trace.Event) {
	pending, _ := verify.Number(e, 0)
	kept := b.list[:0]
	for _, o := range b.list {
		if o.groups > int(pending) && covers(b.t, e, o.e) {
			if !e.In.HasMod(isa.ModRead) {
				continue
			}
			o.regions = nil
			o.read = e.In
		}
		kept = append(kept, o)
	}
	b.list = kept
}

// checkSignal reports an access to global memory that signals other threads before the preceding
// copies are complete.
func (b *bulkStores) checkSignal(i int) {
	e := &b.t.Events[i]
	for _, o := range b.list {
		if maySignal(e, o.fenced) {
			b.p.Report(&ruleRead, e.In, "completion of a bulk store to global memory "+
				"is signalled before the store is complete").
				As(flagSeverity(e, o.read)).Also(o.e.In, "the copy").Also(o.read,
				"this wait covers only the read of the source; it does not make the result visible").On(b.t, i)
		}
	}
}

// checkOverwrite reports that event i writes to the source of a copy in flight.
func (b *bulkStores) checkOverwrite(i int) {
	if len(b.list) == 0 {
		return
	}
	e := &b.t.Events[i]
	to := b.p.Writes(e)
	if e.Kind != trace.Copy && e.Kind != trace.BulkLoad {
		if r, ok := b.p.Access(e); ok {
			to = append(to, r)
		}
	}
	for _, o := range b.list {
		if !executedBy(b.t, o.e) {
			// other threads issued the copy and wait on their own branch: rule M7 of schedule
			continue
		}
		if overlapAny(o.regions, to) {
			why := "its group is not waited for"
			if o.groups == 0 {
				why = "its group is not committed"
			}
			b.p.Report(&ruleSource, e.In, "shared memory is overwritten while a bulk copy "+
				"reads it: %s", why).Also(o.e.In, "the copy").On(b.t, i)
		}
	}
}

// reportAtExit reports the copies that are in flight when the threads exit at event i.
func (b *bulkStores) reportAtExit(i int) {
	for _, o := range b.list {
		if o.regions != nil && executedBy(b.t, o.e) {
			b.p.Report(&ruleSource, o.e.In, "thread exits before its bulk copy from shared "+
				"memory is complete").
				As(diag.Review).Also(b.t.Events[i].In, "the thread exits here").On(b.t, i)
		}
	}
}

// maySignal reports whether a store or atomic to global memory can signal that preceding
// operations are complete: it has release semantics, or it follows a fence.
func maySignal(e *trace.Event, fenced bool) bool {
	return isRelease(e) || fenced && (e.Kind == trace.Atomic || e.In.HasMod(isa.ModRelaxed))
}

func isRelease(e *trace.Event) bool {
	return e.In.HasMod(isa.ModRelease, isa.ModAcqRel, isa.ModVolatile)
}

// overlapAny reports whether a region of a certainly overlaps a region of b.
func overlapAny(a, b []memory.Region) bool {
	for i := range a {
		for k := range b {
			if sure, _ := a[i].Meets(&b[k]); sure {
				return true
			}
		}
	}
	return false
}

// flagSeverity returns the severity of a finding about a flag that is set after a copy. The
// finding is an error if the flag is set with release semantics and only a wait with .read
// precedes it, or else a review.
func flagSeverity(e *trace.Event, read *ir.Instr) diag.Severity {
	if read != nil && isRelease(e) {
		return diag.Error
	}
	return diag.Review
}
