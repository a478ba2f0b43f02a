// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package convergence

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
	"github.com/ptxdsl/ptxdsl/passes/analysis/value"
	"github.com/ptxdsl/ptxdsl/passes/verify"
)

// reportCollision reports a store in which lanes of one warp write different values to the same
// address, and returns whether it did. PTX does not define which value remains. The store is
// checked only if address and value depend on nothing but the thread index and values that are
// uniform in the warp.
func reportCollision(p *verify.Pass, t *trace.Trace, i int) bool {
	e := &t.Events[i]
	n := len(e.In.Args) - 1
	v, at := verify.Val(e, n), verify.Val(e, verify.Address(e.In, 0))
	if e.Guard != nil || v == nil || at == nil || v.Const() || unknownShape(p) || isLocal(at) {
		return false
	}
	if slices.ContainsFunc(e.Parted, func(c trace.Choice) bool { return c.Maybe }) {
		return false
	}
	base, rest := p.Pool.Rest(at), p.Pool.Rest(v)
	if base.Level() > value.Warp || rest.Level() > value.Warp {
		return false
	}
	own, stored := p.Pool.Sub(at.Width, at, base), p.Pool.Sub(v.Width, v, rest)
	if !own.Tid() || !stored.Tid() || stored.Const() {
		return false
	}
	for w := range (p.Pool.Threads + 31) / 32 {
		first := make(map[int64]int)
		for lane := range 32 {
			thread := w*32 + lane
			if !e.Threads.Has(thread) {
				continue
			}
			place := p.Pool.At(own, thread)
			other, met := first[place]
			if !met {
				first[place] = thread
				continue
			}
			if p.Pool.At(stored, thread) != p.Pool.At(stored, other) && !p.Example(t, e) {
				f := p.Report(&ruleCollide, e.In,
					"lanes %d and %d of a warp store different values to one address; it is undefined which value remains",
					other%32, lane).On(t, i)
				if mayHoldLock(t, i) {
					f.As(diag.Review)
				}
				return true
			}
		}
	}
	return false
}

// isLocal reports whether an address is based on a local variable, of which each thread has its
// own. Code without optimizations accesses them by generic addresses.
func isLocal(at *value.Value) bool {
	return slices.ContainsFunc(at.Terms, func(t value.Term) bool {
		v, ok := t.Atom.Ref.(*ir.Var)
		return ok && v.Space.Base() == isa.Local
	})
}

// mayHoldLock reports whether a lock may be acquired between the last barrier and event i. Lanes
// that hold a lock do not store at the same time.
func mayHoldLock(t *trace.Trace, i int) bool {
	var a acquireSearch
	found := false
	for k := range t.Events[:i] {
		e := &t.Events[k]
		if synchronizesLanes(e) {
			a, found = acquireSearch{}, false
		}
		found = a.acquires(e) || found
	}
	return found
}

var ruleCollide = diag.Rule{ID: "B12", Layer: "convergence", Severity: diag.Error}
