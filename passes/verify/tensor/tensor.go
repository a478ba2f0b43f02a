// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package tensor checks tensor memory: the lifetime of allocations, and the order of its
// operations, which waits, commits and tcgen05 fences establish.
package tensor

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
	"github.com/ptxdsl/ptxdsl/passes/analysis/value"
	"github.com/ptxdsl/ptxdsl/passes/verify"
)

// Analyzer is the analyzer for tensor memory.
var Analyzer = &verify.Analyzer{
	Name:   "tensor",
	Covers: "tensor memory",
	Doc: `Tensor follows on each path the tcgen05 operations in flight: loads and stores up
to their wait, tcgen05.mma up to a commit and a wait on its mbarrier. It compares
allocations and frees over all paths. The columns that tcgen05.mma accesses are in a
descriptor and are unknown.`,
	Rules: diag.Rules{ruleAlloc, ruleAddress, ruleFree, ruleEarly, rulePair, ruleOrder, ruleCommit,
		ruleWait, ruleFence, ruleLanes, ruleColumns},
	Pages: pages,
	Requires: []trace.Kind{trace.TensorAlloc, trace.TensorFree, trace.TensorLoad, trace.TensorStore,
		trace.TensorMultiply,
		trace.TensorCopy, trace.TensorShift, trace.TensorCommit},
	Run: run,
}

func run(p *verify.Pass) {
	objects, issuers := findHandovers(p), issuersOf(p)
	for _, t := range p.Traces {
		checkSides(p, t)
		checkMoves(p, t)
		checkMultiplies(p, t, issuers)
		checkFences(p, t, objects)
		checkLanes(p, t)
	}
	checkUncommitted(p)
	checkFreeOrder(p)
	checkLifetimes(p)
	checkColumns(p)
}

// A pendingOperation is an MMA or copy in flight. Its columns start at columns + low. closed is
// set if a commit tracks the operation.
type pendingOperation struct {
	e         *trace.Event
	columns   *value.Value
	low       int64
	lanes     verify.Lanes
	commits   []verify.Object
	committed bool
}

// checkMultiplies tracks tcgen05.mma operations up to the wait for their commit.
func checkMultiplies(p *verify.Pass, t *trace.Trace, issuers value.Set) {
	var list []*pendingOperation
	for i := range t.Events {
		e := &t.Events[i]
		switch e.Kind {
		case trace.TensorMultiply:
			k := &pendingOperation{e: e}
			k.columns, k.low = addressOf(p, e)
			k.lanes = lanesOf(p, e)
			list = append(list, k)
		case trace.TensorCommit:
			checkCommit(p, t, i, list, issuers)
		case trace.Wait:
			holds, known := t.Facts.Decided(e.Done, *e.Threads)
			if !known || !holds {
				continue
			}
			touched, ok := p.Objects(e, verify.Val(e, verify.Address(e.In, 0)))
			kept := list[:0]
			for _, k := range list {
				if !isAwaited(p, k, touched, ok) {
					kept = append(kept, k)
				}
			}
			list = kept
		case trace.BarrierSync, trace.ClusterWait:
			// Another thread may have waited for the operations.
			list = nil
		case trace.TensorLoad:
			root, low := addressOf(p, e)
			lanes := lanesOf(p, e)
			for _, k := range list {
				if k.columns != nil && k.columns == root && k.low == low && k.lanes.Meets(lanes) {
					why := "the operation is not committed"
					if k.committed {
						why = "its commit is not waited for"
					}
					p.Report(&ruleOrder, e.In, "tensor memory is read while tcgen05.mma is in "+
						"flight: %s", why).Also(k.e.In, "the operation").On(t, i)
				}
			}
		}
		if len(list) > 64 {
			list = list[32:]
		}
	}
}

// isAwaited reports whether a wait covers, or may cover, the commit of an operation.
func isAwaited(p *verify.Pass, k *pendingOperation, touched []verify.Touch, ok bool) bool {
	if !k.committed {
		return false
	}
	if !ok || len(k.commits) == 0 || slices.ContainsFunc(k.commits, p.Uncertain) {
		return true
	}
	for _, o := range touched {
		for _, c := range k.commits {
			if o.Object == c {
				return true
			}
		}
	}
	return false
}

// addressOf returns the tensor memory address of an operation as a base and a column relative to
// the base.
func addressOf(p *verify.Pass, e *trace.Event) (root *value.Value, low int64) {
	v := verify.Val(e, verify.Address(e.In, 0))
	if v == nil {
		return nil, 0
	}
	return p.Pool.Rest(v), v.K & 0xffff
}

// lanesOf returns the lanes of tensor memory that an operation certainly accesses.
func lanesOf(p *verify.Pass, e *trace.Event) verify.Lanes {
	return p.TensorLanes(e, verify.Address(e.In, 0), *e.Threads)
}

// checkCommit marks the operations of the same threads as tracked by the commit at event i, and
// reports a commit that tracks no operation.
func checkCommit(p *verify.Pass, t *trace.Trace, i int, list []*pendingOperation,
	issuers value.Set) {
	e := &t.Events[i]
	objects, _ := p.Objects(e, verify.Val(e, verify.Address(e.In, 0)))
	var other *pendingOperation
	found := false
	for _, k := range list {
		if k.e.Threads.And(*e.Threads) == (value.Set{}) {
			other = k
			continue
		}
		found = true
		k.committed = true
		for _, o := range objects {
			k.commits = append(k.commits, o.Object)
		}
	}
	if all := e.Threads.Warp(p.Pool.All()); !found && other == nil &&
		e.Threads.And(issuers) == (value.Set{}) && issuers.And(all) != (value.Set{}) &&
		p.Pool.Exact {
		p.Report(&ruleCommit, e.In,
			"tcgen05.commit tracks nothing: this thread issues no tcgen05.mma, but another lane of its warp does").On(t, i)
	}
	if !found && other != nil {
		f := p.Report(&ruleCommit, e.In,
			"tcgen05.commit tracks nothing: other threads issued the tcgen05.mma operations").Also(
			other.e.In, "the operation").On(t, i)
		if e.Threads.And(issuers) != (value.Set{}) {
			// The thread issues operations on other paths, for example in a loop that runs zero
			// times here.
			f.As(diag.Review)
		}
	}
}

// issuersOf returns the threads that issue operations that commits track.
func issuersOf(p *verify.Pass) (s value.Set) {
	for _, t := range p.Traces {
		for i := range t.Events {
			switch e := &t.Events[i]; e.Kind {
			case trace.TensorMultiply, trace.TensorCopy, trace.TensorShift:
				s = s.Or(*e.Threads)
			}
		}
	}
	return s
}

// checkLanes checks that warps access only their own lanes of tensor memory.
func checkLanes(p *verify.Pass, t *trace.Trace) {
	if !p.Pool.Exact {
		return
	}
	for i := range t.Events {
		e := &t.Events[i]
		if e.Kind != trace.TensorLoad && e.Kind != trace.TensorStore {
			continue
		}
		v := verify.Val(e, verify.Address(e.In, 0))
		if v == nil || v.Tid() {
			continue
		}
		base := p.Pool.Rest(v)
		own := p.Pool.Sub(v.Width, v, base)
		if !own.Tid() || base.Level() > value.Block {
			continue // the unknown part may differ between threads and contain the lane
		}
		bad, first := -1, true
		e.Threads.Each(func(n int) {
			lane := int(p.Pool.At(own, n) >> 16 & 0x7f)
			if want := 32 * (n / 32 % 4); bad < 0 && (lane < want || lane >= want+32) {
				bad = n
			}
			first = first && lane < 32
		})
		if bad < 0 {
			continue
		}
		f := p.Report(&ruleLanes, e.In, "warp %d accesses lane %d of tensor memory but can reach "+
			"only lanes %d to %d", bad/32, p.Pool.At(own, bad)>>16&0x7f, 32*(bad/32%4),
			32*(bad/32%4)+31).On(t, i)
		if first {
			f.As(diag.Review) // the code assumes that the access is to the warp's own lanes
		}
	}
}
