// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
	"github.com/ptxdsl/ptxdsl/passes/analysis/value"
	"github.com/ptxdsl/ptxdsl/passes/verify"
)

// free reports whether what a trace decided is the same for the whole block: where single threads choose
// by data, others may not have chosen alike.
func free(t *trace.Trace) bool {
	for _, c := range t.Choices {
		a, _ := c.Cond.Condition()
		if a == nil || a.Tid || a.Op == "done" || c.Soft {
			continue
		}
		if c.Cond.Level() > value.Block {
			return false
		}
	}
	return true
}

// branchesOnSharedData reports whether some threads of the block choose by what they read in shared memory: others, who read it too or
// wrote it, may have to choose alike, and their ways cannot be told apart.
func branchesOnSharedData(p *verify.Pass) bool {
	for _, t := range p.Traces {
		if t.Threads == p.Pool.All() {
			continue
		}
		for _, c := range t.Choices {
			if a, _ := c.Cond.Condition(); a != nil && !c.Soft && a.Sources&value.Private != 0 && !trace.Answered(a) {
				return true
			}
		}
	}
	return false
}

// counted reports whether some barrier waits for a number of threads that is given: who has left is none of them.
func counted(p *verify.Pass) bool {
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
