// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package tensor

import (
	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
	"github.com/ptxdsl/ptxdsl/passes/analysis/value"
	"github.com/ptxdsl/ptxdsl/passes/verify"
)

// lonely looks for operations that commits track whose threads make no commit behind, while another lane of their warp does:
// they were meant to be issued by that one. Each thread that issues one makes one, and when it ends nobody learns.
func lonely(p *verify.Pass, commits value.Set) {
	if !p.Pool.Exact {
		return
	}
	for _, t := range p.Traces {
		if t.Stopped != "" {
			continue
		}
		var closed value.Set
		for i := len(t.Events) - 1; i >= 0; i-- {
			e := &t.Events[i]
			switch e.Kind {
			case trace.TensorCommit:
				closed = closed.Or(e.Threads)
			case trace.TensorMultiply, trace.TensorCopy, trace.TensorShift:
				open := e.Threads.And(t.Threads).Minus(closed)
				if e.Guard != nil || open.Empty() {
					continue
				}
				if warp := open.Warp(p.Pool.All()); warp.And(commits) != (value.Set{}) {
					p.Report(&ruleCommit, e.In, "%s by %s that execute no tcgen05.commit "+
						"afterwards; another lane of the warp does, but a commit tracks only "+
						"operations of its own thread", e.In.Head(), verify.Threads(open.Len())).
						On(t, i)
				}
			}
		}
	}
}

// committers is the threads that commit.
func committers(p *verify.Pass) (s value.Set) {
	for _, t := range p.Traces {
		for i := range t.Events {
			if e := &t.Events[i]; e.Kind == trace.TensorCommit {
				s = s.Or(e.Threads)
			}
		}
	}
	return s
}
