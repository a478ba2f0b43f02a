// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package tensor

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/passes/analysis/memory"
	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
	"github.com/ptxdsl/ptxdsl/passes/analysis/value"
	"github.com/ptxdsl/ptxdsl/passes/verify"
)

// checkLifetimes checks allocations, frees, loads of the allocated address, and uses.
func checkLifetimes(p *verify.Pass) {
	var slots []memory.Region
	var by value.Set
	frees := false
	for _, t := range p.Traces {
		for i := range t.Events {
			e := &t.Events[i]
			switch e.Kind {
			case trace.TensorAlloc:
				if r, ok := p.Region(e, 0, 4); ok {
					slots = append(slots, r)
				}
				by = by.Or(*e.Threads)
			case trace.TensorFree:
				frees = true
			}
		}
		checkAllocations(p, t)
	}
	for _, t := range p.Traces {
		checkAddressLoads(p, t, slots, by)
		checkFreed(p, t, frees)
	}
	checkEarlyLoads(p)
	checkYields(p)
	checkAllocated(p)
}

// checkYields reports warps that relinquish the allocation permit while another warp may not have
// allocated yet.
func checkYields(p *verify.Pass) {
	type place struct {
		t     *trace.Trace
		at    int
		syncs int // number of block barriers before the event
		waits bool
	}
	var given, taken []place
	for _, t := range p.Traces {
		here := place{t: t}
		for i := range t.Events {
			e := &t.Events[i]
			here.at = i
			switch e.Kind {
			case trace.BarrierSync, trace.ClusterWait:
				if p.Everyone(e) {
					here.syncs++
				}
			case trace.Wait:
				here.waits = true // the wait may order the allocation before the event
			case trace.TensorYield:
				given = append(given, here)
			case trace.TensorAlloc:
				taken = append(taken, here)
			}
		}
	}
	for _, g := range given {
		for _, a := range taken {
			yield, alloc := &g.t.Events[g.at], &a.t.Events[a.at]
			all := yield.Threads.Or(*alloc.Threads)
			together := g.t == a.t && g.at > a.at ||
				g.t.Threads.And(a.t.Threads) == (value.Set{}) && g.t.Rank == a.t.Rank &&
					g.t.Facts.Agree(a.t.Facts)
			if together && !g.waits && g.syncs <= a.syncs && p.Pool.Exact &&
				all.Warps() > alloc.Threads.Warps() {
				p.Report(&ruleFree, yield.In,
					"tcgen05.relinquish_alloc_permit is executed by a warp that did not allocate, without a barrier after the allocation: it may execute before the allocation").Also(alloc.In, "the allocation").On(g.t, g.at)
				break
			}
		}
	}
}

// checkAllocated reports uses of tensor memory in kernels that do not allocate it.
func checkAllocated(p *verify.Pass) {
	if len(p.Kernel.Missed) > 0 || p.Needs(trace.TensorAlloc) {
		return
	}
	for _, t := range p.Traces {
		for i := range t.Events {
			switch e := &t.Events[i]; e.Kind {
			case trace.TensorLoad, trace.TensorStore, trace.TensorMultiply, trace.TensorCopy:
				if !isLoadedFromShared(verify.Val(e, verify.Address(e.In, 0))) {
					return // the address is a parameter of the kernel
				}
				p.Report(&ruleFree, e.In, "tensor memory is used but never allocated").
					As(diag.Review).On(t, i)
				return
			}
		}
	}
}

// isLoadedFromShared reports whether an address was loaded from shared memory, where tcgen05.alloc
// stores it.
func isLoadedFromShared(v *value.Value) bool {
	if v == nil {
		return false
	}
	for _, t := range v.Terms {
		if t.Atom.ReadsShared() {
			return true
		}
	}
	return false
}

// checkAllocations checks the allocations of one trace.
func checkAllocations(p *verify.Pass, t *trace.Trace) {
	var last, yielded *trace.Event
	met := false // the blocks of a pair have synchronized
	var used *trace.Event
	var gone []*trace.Event // frees since the last allocation
	for i := range t.Events {
		e := &t.Events[i]
		switch e.Kind {
		case trace.ClusterWait, trace.Wait:
			// The blocks of a pair may synchronize through an mbarrier.
			met, used = true, nil
		case trace.TensorAlloc:
			n, ok := verify.Number(e, verify.Address(e.In, 0)+1)
			if ok && (n < 32 || n > 512 || n&(n-1) != 0) {
				p.Report(&ruleAlloc, e.In,
					"tcgen05.alloc allocates %d columns, expected a power of two from 32 to 512", n)
			}
			if last != nil {
				if was, known := verify.Number(last, verify.Address(last.In, 0)+1); known && ok &&
					n > was {
					p.Report(&ruleAlloc, e.In,
						"tcgen05.alloc allocates %d columns after an allocation of %d: a later allocation must not be larger",
						n, was).
						Also(last.In, "the earlier allocation").On(t, i)
				}
			}
			if e.Threads.Warps() > 1 && p.Pool.Exact {
				p.Report(&ruleAlloc, e.In, "tensor memory is allocated by %d warps with one "+
					"instruction, expected one warp", e.Threads.Warps()).On(t, i)
			}
			if yielded != nil {
				p.Report(&ruleFree, e.In,
					"tcgen05.alloc is executed after tcgen05.relinquish_alloc_permit").
					Also(yielded.In,
						"the permit is relinquished here").On(t, i)
			}
			if e.In.HasMod(isa.ModCTAGroup2) && !met {
				f := p.Report(&rulePair, e.In,
					"tcgen05.alloc for a CTA pair has no preceding cluster barrier: the other block may not have started").On(t, i)
				if synchronizesNext(t, i) {
					// The allocation waits for the other block, and no other operation precedes
					// it.
					f.As(diag.Review)
				}
			}
			last, gone = e, nil
		case trace.TensorYield:
			yielded = e
		case trace.TensorLoad, trace.TensorStore, trace.TensorMultiply, trace.TensorCopy,
			trace.TensorCommit:
			used = e
		case trace.TensorFree:
			for _, o := range gone {
				if v := verify.Val(e, 0); v != nil && v == verify.Val(o, 0) &&
					o.Threads.And(*e.Threads) != (value.Set{}) {
					p.Report(&ruleFree, e.In, "tensor memory is freed twice: it may already "+
						"belong to another block").Also(o.In, "first freed here").On(t, i)
				}
			}
			gone = append(gone, e)
			if e.Threads.Warps() > 1 && p.Pool.Exact {
				p.Report(&ruleAlloc, e.In, "tensor memory is freed by %d warps with one "+
					"instruction, expected one warp", e.Threads.Warps()).On(t, i)
			}
			if e.In.HasMod(isa.ModCTAGroup2) && used != nil {
				p.Report(&rulePair, e.In,
					"tensor memory of a CTA pair is freed without a cluster barrier after its last use").Also(used.In, "the last use").On(t, i)
			}
		}
	}
}

// synchronizesNext reports whether the blocks of a cluster synchronize after event i before the
// threads access tensor memory.
func synchronizesNext(t *trace.Trace, i int) bool {
	for j := range t.Events[i+1:] {
		switch t.Events[i+1+j].Kind {
		case trace.ClusterWait:
			return true
		case trace.TensorAlloc, trace.TensorLoad, trace.TensorStore, trace.TensorMultiply,
			trace.TensorCopy, trace.TensorShift, trace.TensorCommit, trace.TensorFree:
			return false
		}
	}
	return false
}

// checkAddressLoads checks that a barrier precedes loads of the allocated address by warps other
// than the allocating warp.
func checkAddressLoads(p *verify.Pass, t *trace.Trace, slots []memory.Region, by value.Set) {
	for i := range t.Events {
		e := &t.Events[i]
		switch e.Kind {
		case trace.BarrierSync, trace.ClusterWait, trace.Wait:
			return
		case trace.Load:
			r, ok := p.Access(e)
			if !ok || e.Threads.Minus(by) == (value.Set{}) {
				continue
			}
			for k := range slots {
				if sure, _ := slots[k].Meets(&r); sure {
					p.Report(&ruleAddress, e.In, "the tensor memory address is read without a "+
						"barrier after tcgen05.alloc").On(t, i)
				}
			}
		}
	}
}

// checkFreed reports tensor memory that is allocated on a path, but freed neither by the threads of
// the path nor by another warp.
func checkFreed(p *verify.Pass, t *trace.Trace, frees bool) {
	if t.Stopped != "" {
		return
	}
	var alloc *trace.Event
	taken, given := 0, 0
	for i := range t.Events {
		e := &t.Events[i]
		if e.Threads.And(t.Threads) == (value.Set{}) {
			continue // executed before the path of these threads split off
		}
		switch e.Kind {
		case trace.TensorAlloc:
			alloc = e
			taken++
		case trace.TensorFree:
			given++
		}
	}
	if alloc == nil {
		return
	}
	if given > 0 {
		// Other threads may free the remaining columns.
		if taken > given &&
			!slices.ContainsFunc(p.Traces, func(o *trace.Trace) bool {
				return hasOtherWarps(o.Threads, t.Threads) && hasKind(o, trace.TensorFree)
			}) {
			p.Report(&ruleFree, alloc.In, "tensor memory is allocated %d times on a path but "+
				"freed %d times", taken, given).On(t, 0)
		}
		return
	}
	if !frees {
		if len(p.Kernel.Missed) == 0 {
			p.Report(&ruleFree, alloc.In, "tensor memory is allocated but never freed").On(t, 0)
		}
		return
	}
	// Another warp frees the memory: each compatible path must have a free.
	for _, o := range p.Traces {
		if frees := hasKind(o, trace.TensorFree); !frees || o.Rank != t.Rank ||
			o.Threads == t.Threads || !o.Facts.Agree(t.Facts) {
			continue
		}
		return
	}
	p.Report(&ruleFree, alloc.In, "tensor memory is allocated but not freed on some path").On(t, 0)
}

// hasOtherWarps reports whether s contains threads of a warp that has no threads in of.
func hasOtherWarps(s, of value.Set) bool {
	all := s.Or(of)
	return all.Warps() > of.Warps()
}

func hasKind(t *trace.Trace, k trace.Kind) bool {
	for i := range t.Events {
		if t.Events[i].Kind == k {
			return true
		}
	}
	return false
}

// checkEarlyLoads reports tensor loads of other warps that no barrier orders before the free.
func checkEarlyLoads(p *verify.Pass) {
	for _, t := range p.Traces {
		syncs, waits := 0, false
		for i := range t.Events {
			e := &t.Events[i]
			switch e.Kind {
			case trace.BarrierSync, trace.ClusterWait:
				if p.Everyone(e) {
					syncs++
					waits = false
				}
			case trace.Wait:
				waits = true
			case trace.TensorFree:
				if !waits {
					reportUseOnPath(p, t, i)
					reportUseOnTrace(p, t, i, syncs)
				}
			}
		}
	}
}

// reportUseOnPath reports a use of tensor memory by another warp on the same path that no block
// barrier orders before the free.
func reportUseOnPath(p *verify.Pass, t *trace.Trace, i int) {
	free := &t.Events[i]
	for j := i - 1; j >= 0; j-- {
		e := &t.Events[j]
		switch e.Kind {
		case trace.BarrierSync, trace.ClusterWait, trace.Wait:
			return
		case trace.TensorLoad, trace.TensorStore, trace.TensorMultiply:
			if all := e.Threads.Or(*free.Threads); p.Pool.Exact &&
				all.Warps() > free.Threads.Warps() {
				p.Report(&ruleEarly, free.In, "tensor memory is freed while another warp may use "+
					"it; no barrier orders that use before the free").Also(e.In, "the use").On(t, i)
				return
			}
		}
	}
}

// reportUseOnTrace reports a use of tensor memory on another trace that has as many block barriers
// before it as the free.
func reportUseOnTrace(p *verify.Pass, t *trace.Trace, i, syncs int) {
	free := &t.Events[i]
	for _, o := range p.Traces {
		if o.Rank != t.Rank || o.Threads == t.Threads || !o.Facts.Agree(t.Facts) {
			continue
		}
		n := 0
		for j := range o.Events {
			e := &o.Events[j]
			switch e.Kind {
			case trace.BarrierSync, trace.ClusterWait:
				if p.Everyone(e) {
					n++
				}
			case trace.TensorLoad, trace.TensorStore, trace.TensorMultiply:
				if n >= syncs {
					p.Report(&ruleEarly, free.In, "tensor memory is freed while another warp may "+
						"use it; no barrier orders that use before the free").Also(e.In, "the use").
						On(t, i)
					return
				}
			}
		}
	}
}
