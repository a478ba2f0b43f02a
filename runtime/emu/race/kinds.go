// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package race

import (
	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime/emu"
)

// proxyRace returns the race of a generic access with a later access through the async proxy,
// without a proxy fence between the two.
func (d *Detector) proxyRace(first *site, x *stamp, a emu.Address) Race {
	r := Race{
		Rule:    RuleProxy,
		Message: "asynchronous operation reads or overwrites memory that a generic access wrote, without a proxy fence",
		Missing: "fence.proxy.async by the writing thread, before it synchronizes with the thread that issues the operation",
		Fix:     "execute fence.proxy.async in every thread that wrote, then the barrier, then the operation",
	}
	if d.fencedLate(x, a) { // the memory model accepts a fence anywhere between the two accesses
		r.Severity = diag.Review
		r.Message = "proxy fence follows the synchronization with the writing thread instead of preceding it"
	}
	if first.instr != nil && first.instr.Form != nil &&
		first.instr.Form.Form.Kind == isa.KindTcgen05Alloc {
		// the manual does not specify through which proxy the address is written
		r.Severity = diag.Review
	}
	if first.kind == emu.EventRead {
		r.Severity = diag.Review
		r.Message = "asynchronous operation overwrites memory that a generic access read, without a proxy fence"
		r.Missing = "fence.proxy.async by the reading thread, before it releases the memory"
		r.Fix = "execute fence.proxy.async after the last read and before the arrival that releases the buffer"
	}
	return r
}

// raceOf returns the race of two unordered accesses, with the rule and the missing synchronization
// for their kinds.
func (d *Detector) raceOf(sx, sy *site, x, y *stamp, a emu.Address) Race {
	bx, by := d.blockOf(x.thread), d.blockOf(y.thread)
	switch {
	case sx.async:
		r := d.flightRace(sx, x, y)
		d.afterUntrue(&r, x, y)
		return r
	case sy.async && d.threads[y.thread].repeated != nil && d.threads[y.thread].untrue == nil:
		return Race{
			Rule:    RuleFlight,
			Message: "wait with the wrong parity: asynchronous operation is issued while another thread may still access its memory",
			Missing: d.passed(d.threads[y.thread].repeated,
				"a phase that the thread had already waited for"), Fix: flipParity,
		}
	case sy.async:
		r := Race{
			Rule:    RuleFlight,
			Message: "asynchronous operation is issued while another thread may still access its memory",
			Missing: "synchronization between the access and the issue of the operation",
			Fix:     "let the issuing thread wait for the access: a barrier, or the mbarrier on which the buffer is released",
		}
		d.afterUntrue(&r, x, y)
		return r
	case sx.strong && sy.strong:
		return Race{
			Rule:    RuleMixed,
			Message: "strong accesses overlap partially: they are unordered and not atomic with respect to each other",
			Missing: "accesses of the same address and size",
			Fix:     "use one address and one size for all accesses to a synchronization variable",
		}
	}
	r := Race{Message: "data race", Severity: diag.Error}
	if x.value != 0 && x.value == y.value && sx.kind == emu.EventWrite &&
		sy.kind == emu.EventWrite {
		r.Severity, r.Message = diag.Review, "data race of two writes of the same value"
		r.SameValue = true
	}
	if t := &d.threads[y.thread]; d.sawNarrow(t, bx) {
		r.Rule = RuleScope
		r.Message += ": the release and the acquire between the blocks have a scope that does not include both"
		r.Missing = "a release and an acquire of .cluster scope within a cluster, of .gpu scope between blocks"
		r.Fix = "widen the scope of the arrival or store and of the wait or load"
		return r
	}
	switch {
	case bx == by && x.thread/32 == y.thread/32:
		r.Rule = RuleWarp
		r.Message += " between lanes of a warp"
		r.Missing = "bar.warp.sync between the two accesses; shuffles and votes do not order memory"
		r.Fix = "execute bar.warp.sync with a mask that names both lanes"
	case bx == by:
		r.Rule = RuleBlock
		r.Message += " between warps of a block"
		r.Missing = "a barrier that both threads execute between the two accesses"
		r.Fix = "execute bar.sync in all threads, or order the accesses through an mbarrier or a named barrier"
		if !d.afterUntrue(&r, x, y) {
			d.afterRepeat(&r, x, y)
		}
	default:
		r.Rule = RuleGrid
		r.Message += " between blocks"
		r.Missing = "a release by the first thread that an acquire by the second observes"
		r.Fix = "publish with st.release.gpu or an atomic after fence.acq_rel.gpu, and read the flag with ld.acquire.gpu, or use another launch"
		if d.clusterIndex(bx) == d.clusterIndex(by) {
			r.Message += " of a cluster"
			r.Fix = "execute barrier.cluster.arrive and barrier.cluster.wait between them, or an mbarrier with .cluster scope"
		}
	}
	return r
}

// readOnlyRace returns the race of a load through the read-only cache with a write of the same
// launch.
func readOnlyRace() Race {
	return Race{
		Rule: RuleReadOnly, Severity: diag.Error,
		Message: "read-only load (.nc) of memory that the kernel writes",
		Missing: "a coherent load; no barrier or fence makes writes of the launch visible to .nc",
		Fix:     "use ld.global, and .nc only for memory that no thread writes while the kernel runs",
	}
}

// volatileRace returns the race of two unordered volatile accesses by lanes of one warp.
func volatileRace() Race {
	return Race{
		Rule: RuleWarp, Severity: diag.Error,
		Message: "volatile accesses do not order the lanes of a warp",
		Missing: "bar.warp.sync between the two accesses; lanes of a warp do not run in step",
		Fix:     "execute bar.warp.sync with a mask that names both lanes",
	}
}

// sawNarrow reports whether a thread observed a release of a block with a scope that is too narrow.
func (d *Detector) sawNarrow(t *thread, block uint32) bool {
	for _, b := range t.narrow {
		if b == block && block != d.blockOf(t.thread) {
			return true
		}
	}
	return false
}

// flightRace returns the race of an access with an asynchronous operation that may still be in
// flight.
func (d *Detector) flightRace(sx *site, x, y *stamp) Race {
	r := Race{Rule: RuleFlight,
		Message: "access to memory of an asynchronous operation that may not be complete"}
	slot := x.agent % slots
	own := x.agent < d.previous
	switch {
	case own && x.thread != y.thread && d.threads[x.thread].own[slot] >= x.epoch:
		r.Missing = "a barrier between the wait of the issuing thread and this access"
		r.Fix = "a wait for groups covers only the thread that executes it: execute a barrier after it"
	case own && (slot == slotBulkReads || slot == slotBulkWrites) &&
		!d.threads[x.thread].committed(x.epoch):
		r.Message += ": its group is not committed"
		r.Missing = "cp.async.bulk.commit_group by the thread that issued the copy"
		r.Fix = "let the issuing thread commit the group and wait for it: groups belong to a thread"
	case own && slot == slotCopy:
		r.Missing = "cp.async.wait_group that covers the copy, and a barrier for other threads"
		r.Fix = "wait for the group of the copy before the access, or for fewer pending groups"
	case own && (slot == slotBulkReads || slot == slotBulkWrites):
		r.Missing = "cp.async.bulk.wait_group that covers the copy"
		r.Fix = "wait for the group before the access; .read covers only the source of the copy"
	case sx.instr != nil && sx.instr.Form != nil &&
		sx.instr.Form.Form.Kind == isa.KindWgmmaMmaAsync:
		r.Missing = "wgmma.wait_group that covers the operation, and synchronization with all four warps"
		r.Fix = "wait for the wgmma group before the shared memory is overwritten"
	case d.threads[y.thread].untrue == nil && d.wrongPhase(x, y) != "":
		r.Message = "wait with the wrong parity: " + r.Message
		r.Missing, r.Fix = d.wrongPhase(x, y), flipParity
	default:
		r.Missing = "a wait on the mbarrier that the operation completes on"
		r.Fix = "wait for the phase of the mbarrier with .acquire before the access"
	}
	return r
}

// committed reports whether a thread has committed the group of one of its bulk operations.
func (t *thread) committed(epoch uint32) bool {
	n := len(t.groups[1])
	return n > 0 && t.groups[1][n-1] >= epoch
}

// lanesRace reports two lanes that store different values to one address with one instruction.
func (d *Detector) lanesRace(e *emu.Event, i, j int, a emu.Address) {
	x := d.stampOf(e, d.threadOf(e.Block, e.Warp, i).thread, 0, 0)
	y := d.stampOf(e, d.threadOf(e.Block, e.Warp, j).thread, 0, 0)
	d.report(Race{
		Rule:    RuleValues,
		Message: "lanes of a warp store different values to one address with one instruction",
		Missing: "one lane that stores, or addresses that differ",
		Fix:     "elect one lane, or use an atomic operation",
	}, &x, &y, a)
}

// initRace reports a use of an mbarrier whose initialization is not visible.
func (d *Detector) initRace(e *emu.Event, thread uint32, m *mbarrier, a emu.Address, ordered bool) {
	y := d.stampOf(e, thread, thread*slots, 0)
	r := Race{
		Rule:    RuleInit,
		Message: "mbarrier is used, but its initialization is not ordered before the use",
		Missing: "a barrier between mbarrier.init and this use",
		Fix:     "execute bar.sync after mbarrier.init; for peers and asynchronous operations execute fence.mbarrier_init.release.cluster first",
	}
	if ordered { // compilers rely on a barrier alone
		r.Severity = diag.Review
		r.Message = "asynchronous operation uses an mbarrier whose initialization is not visible to it"
		r.Missing = "fence.mbarrier_init.release.cluster or fence.proxy.async by the thread that initialized it"
	}
	d.report(r, &m.site, &y, a)
}

// exitRace reports an access to the shared memory of a block that may have exited.
func (d *Detector) exitRace(e *emu.Event, x stamp) {
	y := d.stampOf(e, d.threadOf(e.Block, e.Warp, 0).thread, 0, 0)
	a := emu.Address{Space: isa.Shared, Block: e.Block, At: x.at}
	d.report(Race{
		Rule:    RulePeer,
		Message: "block may exit while another block of the cluster uses its shared memory",
		Missing: "a cluster barrier, or a wait, between the access and the end of the block",
		Fix:     "execute barrier.cluster.arrive and barrier.cluster.wait in all blocks before they end",
	}, &x, &y, a)
}

// lateRace reports an access to the shared memory of a block that has exited.
func (d *Detector) lateRace(e *emu.Event, y stamp, a emu.Address) {
	d.report(Race{
		Rule: RulePeer, Message: "access to the shared memory of a block that has exited",
		Missing: "a cluster barrier between this access and the end of the block",
		Fix:     "execute barrier.cluster.arrive and barrier.cluster.wait in all blocks before they end",
	}, &y, &y, a)
}

// abandonedRace reports an asynchronous operation that uses the shared memory of its block after
// the block has exited.
func (d *Detector) abandonedRace(y stamp, a emu.Address) {
	d.report(Race{
		Rule:    RuleFlight,
		Message: "block exits while an asynchronous operation uses its shared memory",
		Missing: "a wait for the operation before the block exits",
		Fix:     "wait for the mbarrier or the group of the operation: for a bulk store, cp.async.bulk.wait_group.read 0",
	}, &y, &y, a)
}

// earlyRace reports an access to the shared memory of a block that may not have started.
func (d *Detector) earlyRace(e *emu.Event, y stamp, a emu.Address) {
	d.report(Race{
		Rule: RulePeer, Message: "access to the shared memory of a block that may not have started",
		Missing: "a cluster barrier before the first access to a peer",
		Fix:     "execute barrier.cluster.arrive and barrier.cluster.wait at the start of the kernel",
	}, &y, &y, a)
}

// mapInUseRace returns the race of a change of a tensor map with a copy in flight that uses it. The
// manual does not state when a copy reads its tensor map.
func mapInUseRace() Race {
	return Race{
		Rule:     RuleFlight,
		Severity: diag.Review,
		Message:  "tensor map is changed while a copy that uses it may be in flight",
		Missing:  "a wait for the copy before the change",
		Fix:      "wait for the mbarrier or the bulk group of the copy, or use another tensor map",
	}
}

// vectorRace returns the race of a vector load with a store of another thread to the same vector.
func vectorRace() Race {
	return Race{
		Rule:     RuleMixed,
		Severity: diag.Review,
		Message:  "vector access is not atomic as a whole: its elements may be those of different stores",
		Missing:  "one element that holds all values, or an order of the two accesses",
		Fix:      "access one .b64 or .b128 element instead of a vector",
	}
}
