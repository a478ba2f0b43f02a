// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"slices"
	"sort"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
	"github.com/ptxdsl/ptxdsl/passes/verify"
)

// recordReads records the shared memory that an asynchronous operation reads.
func (m *machine) recordReads(a *agent, e *trace.Event, operation int) {
	m.regions = m.p.AppendReads(m.regions[:0], e)
	for _, r := range m.regions {
		m.recordAccess(
			m.widen(&access{e: e, by: a, when: a.at + 1, operation: operation, block: a.block,
				region: r}))
		if m.p.Ranks > 1 && e.Kind != trace.GroupMultiply && e.In.HasMod(isa.ModCTAGroup2) {
			m.recordAccess(m.widen(&access{e: e, by: a, when: a.at + 1, operation: operation,
				block: a.block ^ 1, region: r}))
		}
	}
}

// widen returns an access, extended to the apparent size if it is by a tensor copy of unknown
// size.
func (m *machine) widen(x *access) *access {
	if x.e.Kind != trace.BulkLoad && x.e.Kind != trace.BulkStore || !verify.Tensor(x.e.In) {
		return x
	}
	if n, ok := m.p.Extent(x.e); ok && n > x.region.Bytes {
		core := x.region
		x.core, x.region = &core, core.Resized(n)
	}
	return x
}

// recordAccess compares an access with the earlier accesses that must precede it, reports a race
// if there is one, and otherwise records the access.
func (m *machine) recordAccess(x *access) {
	if !m.comparesPlain && !x.isAsync() && !m.isNearAsync(x) {
		return
	}
	x.e = currentEvent(x.by)
	if m.flags.inUse() {
		x.progress = slices.Clone(x.by.clock.agents)
	}
	r := m.accessIndex(x)
	if r.eachNear(&x.region, !x.write, func(s *bucket) bool { return m.reportUnordered(s, x) }) {
		return
	}
	if x.operation > 0 && !x.write && !x.tensor {
		r.eachNear(&x.region, true, func(s *bucket) bool { return m.reportMissingFence(r, s, x) })
	}
	in := rowOf(x.region.High - x.region.Low)
	at, high := bucketRange(&x.region, in)
	if x.e.Kind == trace.GroupMultiply && r.bucketAt(in, at).hasSameOperation(x) {
		return
	}
	m.numAccesses++
	x.number = m.numAccesses
	kept := m.freeList.access(x)
	r.written[in] = r.written[in] || x.write
	for ; at <= high; at++ {
		m.addAccess(r.bucketAt(in, at), kept)
	}
}

// hasSameOperation reports whether another warp of the warpgroup made the same access as part of
// the same operation. A single record then represents all four warps, because their operation
// completes at once.
func (s *bucket) hasSameOperation(x *access) bool {
	return slices.ContainsFunc(s.agentLists, func(p *agentList) bool {
		n := len(p.async.all)
		if n == 0 {
			return false
		}
		y := p.async.all[n-1]
		return y.operation == x.operation && y.region.Low == x.region.Low &&
			y.region.High == x.region.High
	})
}

// isNearAsync reports whether an async operation accesses the memory that a thread accesses.
func (m *machine) isNearAsync(x *access) bool {
	for _, r := range m.asyncRegions {
		if r.Root == x.region.Root && r.Low < x.region.High && x.region.Low < r.High {
			return true
		}
	}
	return false
}

// reportUnordered reports the first access of a bucket that must be ordered before x but is not.
// It returns whether it made a finding.
func (m *machine) reportUnordered(s *bucket, x *access) bool {
	*m.work += (len(s.agentLists) + 3) / 4 // most lists are skipped immediately
	for _, p := range s.agentLists {
		// The new access is ordered after the own accesses of an agent up to the progress in its
		// clock.
		if own := p.own.conflicting(x); p.by != x.by &&
			(x.isAsync() || p.by.home() != x.by.home()) {
			known := x.by.clock.agents[p.by.id]
			for _, y := range own[sort.Search(len(own), func(i int) bool {
				return own[i].when > known
			}):] {
				if m.reportIfUnordered(y, x) {
					return true
				}
			}
		}
		for _, y := range p.async.conflicting(x) {
			if m.reportIfUnordered(y, x) {
				return true
			}
		}
	}
	return false
}

// reportIfUnordered reports access y if it must be ordered before x but is not. It returns
// whether it made a finding.
func (m *machine) reportIfUnordered(y, x *access) bool {
	*m.work++
	switch {
	case y.region.High <= x.region.Low || x.region.High <= y.region.Low || m.isOrdered(y, x):
		return false
	case !x.isAsync() && !y.isAsync() && (x.by.home() == y.by.home() || !m.mustBeOrdered(x, y)):
		return false
	// both are in tensor memory, which has separate base addresses
	case x.tensor && !x.lanes.Meets(y.lanes):
		return false
	case x.isTensorMove() && y.isTensorMove() && x.by.home() == y.by.home():
		return false
	case y.by == x.by && y.e.Kind == trace.BulkStore:
		return false // reported as A8
	case isRemoteReduction(x.e) && isRemoteReduction(y.e):
		return false // both are atomic, and may happen in any order
	case x.e.Kind == trace.TensorFree && y.operation == 0 && x.by.home() == y.by.home():
		return false // the same warp accesses the columns and then frees them
	}
	*m.work += 40
	if sure, maybe := y.region.Meets(&x.region); !sure {
		if maybe && m.comparesPlain && !x.tensor {
			m.p.Missed(missedAddresses)
		}
		return false
	}
	m.reportRace(y, x)
	return true
}

// mustBeOrdered reports whether two accesses by threads must be ordered: both are plain, or one
// is plain and the other atomic.
//
// A volatile access does not order other accesses either, unless it is to a flag.
func (m *machine) mustBeOrdered(x, y *access) bool {
	if xv, yv := isVolatile(x.e), isVolatile(y.e); xv || yv {
		if m.flags.isFlagAccess(x) || m.flags.isFlagAccess(y) {
			return false
		}
		return (xv || isPlain(x.e) || isRelaxedAtomic(x.e)) &&
			(yv || isPlain(y.e) || isRelaxedAtomic(y.e))
	}
	return isPlain(x.e) && (isPlain(y.e) || isRelaxedAtomic(y.e)) || isRelaxedAtomic(x.e) &&
		isPlain(y.e)
}

// isVolatile reports whether an access is volatile and certainly executes.
func isVolatile(e *trace.Event) bool {
	return e.Kind != trace.Atomic && e.Guard == nil && e.In.HasMod(isa.ModVolatile)
}

// isRelaxedAtomic reports whether an access is atomic but does not order threads.
func isRelaxedAtomic(e *trace.Event) bool {
	return e.Kind == trace.Atomic && e.Guard == nil &&
		!e.In.HasMod(isa.ModAcquire, isa.ModRelease, isa.ModAcqRel)
}

// isPlain reports whether an access is not atomic, does not order threads, and certainly
// executes.
func isPlain(e *trace.Event) bool {
	return e.Kind != trace.Atomic && e.Guard == nil && isWeak(e.In)
}

// isWeak reports whether a load or store is neither volatile nor has a memory-order modifier.
func isWeak(in *ir.Instr) bool {
	if in.HasMod(isa.ModVolatile, isa.ModRelaxed, isa.ModAcquire, isa.ModRelease, isa.ModAcqRel,
		isa.ModMMIO) {
		return false
	}
	return in.Kind() != isa.KindAtom && in.Kind().Head() != isa.HeadRed
}

// isRemoteReduction reports whether an access is an asynchronous reduction to memory of another
// block.
func isRemoteReduction(e *trace.Event) bool {
	return e.Kind == trace.RemoteStore && e.In.Kind().Head() == isa.HeadRed
}

// isAsync reports whether the async proxy or a tensor core makes an access.
func (x *access) isAsync() bool { return x.operation > 0 || x.tensor }

// isTensorMove reports whether an access is a load or store of tensor memory. Such an access uses
// only the lanes of its own warp.
func (x *access) isTensorMove() bool {
	return x.e.Kind == trace.TensorLoad || x.e.Kind == trace.TensorStore
}

// isOrdered reports whether y has certainly completed when x starts.
func (m *machine) isOrdered(y, x *access) bool {
	k := x.by.clock
	if y.operation > 0 {
		if k.hasCompleted(y.operation) {
			return true
		}
		// Operations of the same kind by one thread are executed in order.
		return x.operation > 0 && y.by == x.by &&
			(y.e.Kind == x.e.Kind || y.e.Kind == trace.BulkLoad && x.e.Kind == trace.BulkLoad)
	}
	return y.by == x.by || k.agents[y.by.id] >= y.when
}
