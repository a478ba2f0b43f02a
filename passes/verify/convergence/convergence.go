// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package convergence checks that all threads that a barrier or a warp-wide instruction requires
// execute it.
package convergence

import (
	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
	"github.com/ptxdsl/ptxdsl/passes/analysis/value"
	"github.com/ptxdsl/ptxdsl/passes/verify"
)

// Analyzer is the analyzer for barriers and divergent code.
var Analyzer = &verify.Analyzer{
	Name:   "convergence",
	Covers: "barriers and warp convergence",
	Doc: `Convergence checks the branches on which lanes of a warp diverge, and which warps
reach each barrier. The outcome of a branch that depends on data is unknown: such a
branch before a barrier is a review.`,
	Rules: diag.Rules{ruleCount, ruleAligned, ruleShared, ruleMask, ruleElect, ruleLaggard,
		ruleExchange, ruleCollide},
	Pages: pages,
	Requires: []trace.Kind{trace.BarrierSync, trace.BarrierArrive, trace.WarpSync, trace.Collective,
		trace.ClusterArrive, trace.ClusterWait,
		trace.TensorAlloc, trace.TensorFree, trace.TensorLoad, trace.TensorStore, trace.TensorWait,
		trace.GroupMultiply, trace.Load, trace.Store},
	Run: run,
}

func run(p *verify.Pass) {
	seen := make(map[*ir.Instr]bool) // stores that have a finding
	for _, t := range p.Traces {
		gone := exitBranch(p, t)
		for i := range t.Events {
			e := &t.Events[i]
			switch e.Kind {
			case trace.BarrierSync, trace.BarrierArrive:
				checkNumber(p, e)
				checkExited(p, t, i, gone)
				if e.In.Has(isa.EffectConvergent) || e.In.HasMod(isa.ModAligned) {
					checkAligned(p, t, i)
				}
			case trace.ClusterArrive, trace.ClusterWait, trace.TensorAlloc, trace.TensorFree,
				trace.TensorLoad, trace.TensorStore,
				trace.TensorWait, trace.GroupMultiply, trace.GroupFence, trace.GroupCommit,
				trace.GroupWait:
				if e.In.HasMod(isa.ModAligned) {
					checkAligned(p, t, i)
				}
			case trace.Load:
				if e.In.Has(isa.EffectConvergent) && e.In.HasMod(isa.ModAligned) {
					checkAligned(p, t, i)
				}
			case trace.Store:
				if e.In.Has(isa.EffectConvergent) && e.In.HasMod(isa.ModAligned) {
					checkAligned(p, t, i)
				}
				if !seen[e.In] {
					seen[e.In] = reportCollision(p, t, i)
				}
			case trace.WarpSync, trace.Collective:
				switch {
				case checkUnnamedLanes(p, t, i):
				case e.In.Kind() == isa.KindElect:
					checkElect(p, t, i)
				default:
					checkOtherPaths(p, t, i)
				}
			}
		}
	}
	come := threadsByInstruction(p)
	for _, t := range p.Traces {
		checkLateLanes(p, t, come)
	}
	checkNamed(p)
	checkExchanges(p)
	checkBranches(p)
}

// checkAligned checks that all lanes of a warp execute an .aligned instruction together.
func checkAligned(p *verify.Pass, t *trace.Trace, i int) {
	e := &t.Events[i]
	for _, c := range e.Parted {
		all, may := false, false
		if c.Splits && !p.LeavesKernel(c) {
			all, may = reconverges(p, t, i, c)
		}
		switch {
		case all: // the lanes reach the instruction too, on other traces
		case may:
			p.Report(wholeWarpRule(e), e.In,
				"%s requires all lanes of the warp, but some lanes take "+
					"another branch and may not reach it", e.In.Op).
				As(diag.Review).Also(c.In, "the warp diverges here").On(t, i)
			return
		case c.Splits && !p.LeavesKernel(c):
			f := p.Report(wholeWarpRule(e), e.In,
				"%s requires all lanes of the warp, but some lanes "+
					"take another branch", e.In.Op).
				Also(c.In, "the warp diverges here: the instruction is reached by only %s of the block",
					describeThreads(p, e)).On(t, i)
			if isSampledDivergence(p, t, c) || unknownShape(p) {
				f.As(diag.Review)
			}
			return
		case c.Splits:
			p.Report(wholeWarpRule(e), e.In,
				"%s follows a branch on which some lanes of the warp exit the kernel", e.In.Op).
				As(diag.Review).Also(c.In, "the warp diverges here")
			return
		case c.Maybe && !p.LeavesKernel(c):
			p.Report(wholeWarpRule(e), e.In,
				"%s requires all lanes of the warp, but a branch before it depends on data, so some lanes may not reach it",
				e.In.Op).
				As(diag.Review).Also(c.In, "the warp may diverge here")
			return
		}
	}
}

// reconverges reports whether the lanes that took the other side of branch c also reach the
// instruction of event i, equally often, on all paths that are compatible with the path of the
// event. This holds, for example, for a uniform branch after the divergent one. may reports
// whether the lanes reach the instruction on some of these paths.
func reconverges(p *verify.Pass, t *trace.Trace, i int, c trace.Choice) (all, may bool) {
	in := t.Events[i].In
	times := 1
	for j := range t.Events[:i] {
		if t.Events[j].In == in {
			times++
		}
	}
	away := c.Away.And(t.Events[i].Threads.Warp(p.Pool.All()))
	var come, pass value.Set
	for _, o := range p.Traces {
		if o.Rank != t.Rank || o.Threads.And(away) == (value.Set{}) || !o.Facts.Agree(t.Facts) {
			continue
		}
		var here value.Set
		n := 0
		for j := range o.Events {
			if e := &o.Events[j]; e.In == in {
				if n++; n == times {
					here = e.Threads.And(o.Threads)
				}
			}
		}
		come = come.Or(here)
		if o.Stopped == "" {
			pass = pass.Or(o.Threads.Minus(here))
		}
	}
	never := away.Minus(come)
	if len(p.Kernel.Missed) > 0 {
		never = never.And(pass)
	}
	return never.Empty() && away.And(pass) == (value.Set{}), never.Empty()
}

// isSampledDivergence reports whether lanes diverge only for some of the sample values that were
// substituted for kernel inputs. A launch may never use such values.
func isSampledDivergence(p *verify.Pass, t *trace.Trace, c trace.Choice) bool {
	return t.Facts.With != "" && p.DependsOnInput(c.In.Guard.Reg)
}

// wholeWarpRule returns the rule for an instruction that requires whole warps. Matrix units and
// tensor memory have their own rules.
func wholeWarpRule(e *trace.Event) *diag.Rule {
	switch e.Kind {
	case trace.TensorAlloc, trace.TensorFree:
		return &ruleAlloc
	case trace.TensorLoad, trace.TensorStore:
		return &ruleLanes
	case trace.GroupMultiply:
		return &ruleGroup
	}
	return &ruleAligned
}

// describeThreads returns the number of threads that execute an event, for messages.
func describeThreads(p *verify.Pass, e *trace.Event) string {
	return verify.Threads(e.Threads.Len())
}

// checkNumber checks the number and the explicit thread count of a barrier instruction.
func checkNumber(p *verify.Pass, e *trace.Event) {
	if n, ok := verify.Number(e, verify.Barrier(e)); ok && (n < 0 || n > 15) {
		p.Report(&ruleCount, e.In, "barrier number is %d, expected 0 to 15", n)
	}
	count := verify.Counted(e)
	n, ok := verify.Number(e, count)
	switch {
	case count < 0 || !ok:
	case n%32 != 0 || n < 0:
		p.Report(&ruleCount, e.In, "thread count of a barrier is %d, expected a multiple of 32", n)
	case n == 0 && e.Kind == trace.BarrierArrive:
		p.Report(&ruleCount, e.In, "barrier.arrive has no thread count")
	case int(n) > p.Pool.Threads && p.Pool.Exact:
		p.Report(&ruleCount, e.In, "thread count of a barrier is %d, but the block has %s", n,
			verify.Threads(p.Pool.Threads))
	}
}

// exitBranch returns the first branch on a trace after which some threads of the block may have
// exited, or nil.
func exitBranch(p *verify.Pass, t *trace.Trace) *trace.Choice {
	for i := range t.Choices {
		if c := &t.Choices[i]; c.Cond.Level() > value.Block && !c.Cond.Tid() && !waitResult(*c) &&
			p.LeavesKernel(*c) {
			return c
		}
	}
	return nil
}

// checkExited reports a barrier whose explicit count includes all threads, if some threads may
// have exited before it. A barrier with an explicit count also waits for exited threads; one
// without a count does not.
func checkExited(p *verify.Pass, t *trace.Trace, i int, gone *trace.Choice) {
	if gone == nil || gone.At > i {
		return
	}
	e := &t.Events[i]
	if n, given := verify.Count(e); given && n >= int64(e.Threads.Warps()*32) {
		p.Report(&ruleCount, e.In,
			"barrier waits for %d threads, but warps that have exited do not arrive", n).
			As(diag.Review).Also(gone.In, "threads may exit here").On(t, i)
	}
}

// waitResult reports whether a branch depends on the success of a wait or on shared memory. Such
// a condition may be equal for all threads that reach the branch.
func waitResult(c trace.Choice) bool {
	a, _ := c.Cond.Condition()
	return a != nil && (a.Op == value.OpDone || a.Sources&value.Private != 0)
}

// A barrierUse holds the events of one barrier with one count, and the threads that execute them.
type barrierUse struct {
	count   int64
	threads value.Set
	events  []*trace.Event
}

// checkNamed compares the number of threads that arrive at each named barrier with its count.
func checkNamed(p *verify.Pass) {
	if !p.Pool.Exact || len(p.Kernel.Missed) > 0 {
		return
	}
	sites := make(map[int64]map[int64]*barrierUse)
	var order []*barrierUse
	// heard holds, for each barrier number, the threads that wait with an unknown count. hidden
	// is set if a barrier number is unknown.
	heard, hidden := make(map[int64]value.Set), false
	for _, t := range p.Traces {
		for i := range t.Events {
			e := &t.Events[i]
			if e.Kind != trace.BarrierSync && e.Kind != trace.BarrierArrive {
				continue
			}
			count := verify.Counted(e)
			n, ok := verify.Number(e, count)
			number := verify.Val(e, verify.Barrier(e))
			if count < 0 || !ok || number == nil || !number.Tid() || n <= 0 || n%32 != 0 {
				if k, ok := verify.Number(e, verify.Barrier(e)); e.Kind == trace.BarrierSync {
					if ok {
						heard[k] = heard[k].Or(*e.Threads)
					}
					hidden = hidden || !ok
				}
				continue
			}
			e.Threads.Each(func(thread int) {
				id := p.Pool.At(number, thread)
				if sites[id] == nil {
					sites[id] = make(map[int64]*barrierUse)
				}
				s := sites[id][n]
				if s == nil {
					s = &barrierUse{count: n}
					sites[id][n] = s
					order = append(order, s)
				}
				s.threads.Add(thread)
				if len(s.events) == 0 || s.events[len(s.events)-1].In != e.In {
					s.events = append(s.events, e)
				}
			})
		}
	}
	for id := range int64(16) {
		counts := sites[id]
		var list []*barrierUse
		for _, s := range order {
			if counts[s.count] == s {
				if s.count == int64(p.Pool.Threads) {
					// Without an explicit count, the barrier waits for the whole block.
					s.threads = s.threads.Or(heard[id])
				}
				list = append(list, s)
			}
		}
		switch {
		case len(list) == 0:
		case !hidden && heard[id] == (value.Set{}) && hasNoWaiter(list):
			p.Report(&ruleCount, list[0].events[0].In, "threads arrive at barrier %d, but no "+
				"thread waits on it", id).As(diag.Review)
		case len(list) == 1:
			compareCount(p, id, list[0])
		default:
			checkCounts(p, id, list)
		}
	}
}

// hasNoWaiter reports whether threads arrive at a barrier but no thread waits there.
func hasNoWaiter(list []*barrierUse) bool {
	for _, s := range list {
		for _, e := range s.events {
			if e.Kind == trace.BarrierSync {
				return false
			}
		}
	}
	return true
}

// checkCounts checks a barrier that is used with several counts. The counts are wrong if one of
// them equals the number of all threads that arrive, but fewer threads use this count. Otherwise
// the finding is a review, because groups of threads may use the barrier one after the other.
func checkCounts(p *verify.Pass, id int64, list []*barrierUse) {
	var all value.Set
	for _, s := range list {
		all = all.Or(s.threads)
	}
	for _, s := range list {
		if s.count != int64(all.Warps()*32) || s.threads.Warps() == all.Warps() {
			continue
		}
		for _, o := range list {
			if o != s {
				p.Report(&ruleCount, o.events[0].In, "barrier %d has a count of %d here, but the "+
					"%d threads that reach it use another count elsewhere", id, o.count, s.count).
					Also(s.events[0].In, "the other count")
			}
		}
		return
	}
	p.Report(&ruleShared, list[1].events[0].In, "barrier %d is used with a count of %d here and "+
		"%d elsewhere", id, list[1].count, list[0].count).
		As(diag.Review).Also(list[0].events[0].In, "the other count")
}

// compareCount compares a barrier's count with the number of threads that arrive. A partial warp
// counts as 32 threads.
func compareCount(p *verify.Pass, id int64, s *barrierUse) {
	come := int64(s.threads.Warps() * 32)
	f := s.events[0]
	switch {
	case come < s.count:
		p.Report(&ruleCount, f.In, "deadlock: barrier %d expects %d threads, but at most %d arrive",
			id, s.count, come)
	case come%s.count != 0:
		r := p.Report(&ruleCount, f.In,
			"barrier %d expects %d threads, but %d arrive: the surplus threads wait forever or complete a later phase of the barrier",
			id, s.count, come)
		if hasSeveralInstructions(s) {
			r.As(diag.Review)
		}
	case come > s.count && hasSeveralInstructions(s) && !exceedsCount(s):
		p.Report(&ruleShared, f.In,
			"barrier %d expects %d threads, but %d arrive at several instructions: one phase can mix their arrivals",
			id, s.count, come).
			Also(otherInstructionOf(s), "the other instruction")
	case come > s.count:
		p.Report(&ruleCount, f.In,
			"barrier %d expects %d threads, but %d arrive: some threads continue before the others arrive",
			id, s.count, come).As(diag.Review)
	}
}

// exceedsCount reports whether more threads execute a single instruction of a barrier than the
// barrier expects.
func exceedsCount(s *barrierUse) bool {
	by := make(map[*ir.Instr]value.Set)
	for _, e := range s.events {
		by[e.In] = by[e.In].Or(*e.Threads)
	}
	for _, threads := range by {
		if int64(threads.Warps()*32) > s.count {
			return true
		}
	}
	return false
}

// hasSeveralInstructions reports whether several instructions use the same barrier.
func hasSeveralInstructions(s *barrierUse) bool { return otherInstructionOf(s) != nil }

func otherInstructionOf(s *barrierUse) *ir.Instr {
	for _, e := range s.events {
		if e.In != s.events[0].In {
			return e.In
		}
	}
	return nil
}
