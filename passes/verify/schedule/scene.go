// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
	"github.com/ptxdsl/ptxdsl/passes/analysis/value"
	"github.com/ptxdsl/ptxdsl/passes/verify"
)

// hasUniformBranches reports whether all branches of a trace have the same outcome for the whole
// block. If a branch depends on data of single threads, other threads may branch differently.
func hasUniformBranches(t *trace.Trace) bool {
	for _, c := range t.Choices {
		a, _ := c.Cond.Condition()
		if a == nil || a.Tid || a.Op == value.OpDone || c.Soft {
			continue
		}
		if c.Cond.Level() > value.Block {
			return false
		}
	}
	return true
}

// branchesOnSharedData reports whether some threads of the block branch on values from shared
// memory. Other threads that read or wrote these values may have to branch in the same way, but
// their paths cannot be matched.
func branchesOnSharedData(p *verify.Pass) bool {
	for _, t := range p.Traces {
		if t.Threads == p.Pool.All() {
			continue
		}
		for _, c := range t.Choices {
			if a, _ := c.Cond.Condition(); a != nil && !c.Soft && a.Sources&value.Private != 0 &&
				!trace.Answered(a) {
				return true
			}
		}
	}
	return false
}

// hasCountedBarrier reports whether some barrier has an explicit thread count. Such a barrier
// also waits for exited threads.
func hasCountedBarrier(p *verify.Pass) bool {
	for _, t := range p.Traces {
		for i := range t.Events {
			if e := &t.Events[i]; e.Kind == trace.BarrierSync {
				if _, given := verify.Count(e); given {
					return true
				}
			}
		}
	}
	return false
}
