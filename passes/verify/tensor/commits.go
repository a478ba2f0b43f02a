// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package tensor

import (
	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
	"github.com/ptxdsl/ptxdsl/passes/analysis/value"
	"github.com/ptxdsl/ptxdsl/passes/verify"
)

// checkUncommitted reports operations that no later commit of the issuing threads tracks. If
// another lane of the warp commits, that lane was probably meant to issue the operations too,
// because a commit tracks only the operations of its own thread. If the same threads commit on
// other paths, such as paths on which a loop runs at least once, the operations may not need a
// commit.
func checkUncommitted(p *verify.Pass) {
	if !p.Pool.Exact {
		return
	}
	commits := committers(p)
	for _, t := range p.Traces {
		if t.Stopped != "" {
			continue
		}
		var closed value.Set
		for i := len(t.Events) - 1; i >= 0; i-- {
			e := &t.Events[i]
			switch e.Kind {
			case trace.TensorCommit:
				closed = closed.Or(*e.Threads)
			case trace.TensorMultiply, trace.TensorCopy, trace.TensorShift:
				open := e.Threads.And(t.Threads).Minus(closed)
				if e.Guard == nil && !open.Empty() {
					reportUncommitted(p, t, i, open, commits)
				}
			}
		}
	}
}

// committers returns, for each trace, the threads that commit.
func committers(p *verify.Pass) []value.Set {
	list := make([]value.Set, len(p.Traces))
	for n, t := range p.Traces {
		for i := range t.Events {
			if e := &t.Events[i]; e.Kind == trace.TensorCommit {
				list[n] = list[n].Or(*e.Threads)
			}
		}
	}
	return list
}

// reportUncommitted reports an operation without a later commit by its threads, if a thread of
// their warp commits on another trace.
func reportUncommitted(p *verify.Pass, t *trace.Trace, i int, open value.Set, commits []value.Set) {
	in := t.Events[i].In
	others := open.Warp(p.Pool.All()).Minus(open)
	var elsewhere *trace.Trace // a trace on which the same threads commit
	for n, o := range p.Traces {
		if others.And(commits[n]) != (value.Set{}) && o.Rank == t.Rank && o.Facts.Agree(t.Facts) {
			p.Report(&ruleCommit, in,
				"%s is issued by %s and never committed: another lane of the warp commits, but a commit tracks only the operations of its own thread",
				in.Kind(), verify.Threads(open.Len())).
				Also(commitOf(o, others), "the commit of another lane").On(t, i)
			return
		}
		if open.And(commits[n]) != (value.Set{}) {
			elsewhere = o
		}
	}
	if elsewhere != nil {
		p.Report(&ruleCommit, in,
			"%s is not committed on this path (a loop with the commit may run "+
				"zero times): no mbarrier tracks its completion", in.Kind()).
			As(diag.Review).Also(commitOf(elsewhere, open), "the commit on another path").On(t, i)
	}
}

// commitOf returns the first commit on a trace that some of the given threads execute, or nil.
func commitOf(t *trace.Trace, by value.Set) *ir.Instr {
	for i := range t.Events {
		if e := &t.Events[i]; e.Kind == trace.TensorCommit && e.Threads.And(by) != (value.Set{}) {
			return e.In
		}
	}
	return nil
}
