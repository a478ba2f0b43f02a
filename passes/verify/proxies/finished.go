// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package proxies

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
	"github.com/ptxdsl/ptxdsl/passes/verify"
)

// isFinished reports whether a bulk copy is certainly complete before a generic access of a trace:
// one thread issues it once, for its own block, and the trace waits for the mbarrier of the copy
// before the access.
func isFinished(p *verify.Pass, t *trace.Trace, a *genericAccess, g *asyncOperation) bool {
	if g.e.Kind != trace.BulkLoad || g.e.Threads.Len() != 1 ||
		verify.Multicast(g.e.In) || a.remote || mayRepeat(p, g.e.In) {
		return false
	}
	full, ok := p.Objects(g.e, verify.Val(g.e, verify.Target(g.e)))
	if !ok || len(full) != 1 {
		return false
	}
	for i := range t.Events {
		e := &t.Events[i]
		if e == a.e {
			break
		}
		if e.Kind != trace.Wait {
			continue
		}
		list, _ := p.Objects(e, verify.Val(e, verify.Target(e)))
		if len(list) == 1 && list[0].Object == full[0].Object {
			return true
		}
	}
	return false
}

// mayRepeat reports whether a thread may execute an instruction more than once: it is in a loop, or
// not in the kernel itself.
func mayRepeat(p *verify.Pass, in *ir.Instr) bool {
	from := slices.IndexFunc(p.Func.Blocks,
		func(b *ir.Block) bool { return slices.Contains(b.Instrs, in) })
	if from < 0 {
		return true
	}
	seen := make([]bool, len(p.Func.Blocks))
	for work := []int{from}; len(work) > 0; {
		b := work[len(work)-1]
		work = work[:len(work)-1]
		for _, to := range p.Flow.Succs[b] {
			if to == from {
				return true
			}
			if !seen[to] {
				seen[to] = true
				work = append(work, to)
			}
		}
	}
	return false
}
