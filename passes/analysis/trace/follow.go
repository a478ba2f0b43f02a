// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"slices"
	"strconv"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/passes/analysis/graph"
	"github.com/ptxdsl/ptxdsl/passes/analysis/value"
)

// Analyze returns a kernel with its traces, within limits. If the limits are exceeded,
// Kernel.Missed states what is missing.
func Analyze(m *ir.Module, f *ir.Func, l Limits) *Kernel {
	p := newProgram(m, f)
	p.k.work, p.k.Grid = l.Work, l.Grid
	p.k.Ranks = 1
	if p.k.Needs(Call) && !p.onlyQuietCalls() {
		whole, callers := p.inline()
		spent := p.k.Spent
		p = newProgram(m, whole)
		p.k.Callers, p.k.work, p.k.Spent, p.k.Grid = callers, l.Work, spent, l.Grid
		f = whole
	}
	interesting := false
	for kind, used := range p.k.Uses {
		switch Kind(kind) {
		case Other, Load, Store, Atomic, Exit, Fence:
		case Call:
			interesting = interesting || used && !p.onlyQuietCalls()
		default:
			interesting = interesting || used
		}
	}
	interesting = interesting || p.k.Shares
	if !interesting || len(f.Blocks) == 0 {
		return p.k
	}
	return p.analyzeRelevant(l)
}

// AnalyzeGlobal analyzes a kernel for its accesses to global memory, even if it has no other
// relevant instructions. It neither enters calls nor substitutes constants for inputs.
func AnalyzeGlobal(m *ir.Module, f *ir.Func, l Limits) *Kernel {
	p := newProgram(m, f)
	p.global = true
	p.k.work, p.k.Ranks, p.k.Grid = l.Work, 1, l.Grid
	if p.k.Needs(Call) || len(f.Blocks) == 0 {
		return p.k
	}
	p.prepare()
	p.analyzeRanks(l)
	return p.k
}

// analyzeRelevant analyzes a kernel with relevant instructions.
func (p *program) analyzeRelevant(l Limits) *Kernel {
	p.prepare()
	if !p.k.Needs(Copy, BulkLoad, BulkStore, GroupMultiply, TensorAlloc, TensorMultiply, Init, Wait,
		ClusterArrive) {
		// If there are only barriers, a few paths suffice.
		l.Steps /= 8
	}
	// Paths through a long kernel are long.
	size := 0
	for _, b := range p.blocks {
		size++
		for i := range b {
			size += b[i].size
		}
	}
	l.Steps = p.k.Within(max(l.Steps, max(2, p.k.Iterations+1)*size))
	p.missed = slices.Clone(p.k.Missed)
	p.k.Ranks = separateRanks(p.k)
	p.analyzeRanks(l)
	if p.k.Ranks > maxSmallCluster && len(p.k.Missed) > len(p.missed) {
		p.k.Ranks = 1
		p.k.Traces, p.k.Missed, p.k.Loops = nil, slices.Clone(p.missed), false
		p.analyzeRanks(l)
	}
	l.Work = p.k.rest()
	if len(p.k.Missed) > len(p.missed) || p.mayContradict() || p.hasIncompatibleTrace() {
		p.analyzeCases(l)
	}
	if len(p.k.Missed) == 0 && len(p.k.Traces) > 0 {
		p.k.Unreached = p.unreachedEvent()
		if p.k.Loops || p.k.Cases > 0 {
			p.k.Untaken = p.untakenBranch()
		}
	}
	return p.k
}

// clusterLimits divides the limits among the blocks of a cluster that are analyzed separately.
func (p *program) clusterLimits(l Limits) Limits {
	if n := p.k.Ranks; n > maxSmallCluster {
		l.Steps, l.Traces = p.k.Within(l.Steps*n/maxSmallCluster), l.Traces*n/maxSmallCluster
	}
	l.Work = p.k.rest()
	return l
}

// analyzeRanks analyzes each block of a cluster that must be analyzed separately, without
// substituting constants for inputs.
func (p *program) analyzeRanks(l Limits) {
	w := &walk{program: p, limits: p.clusterLimits(l)}
	for w.rank = range p.k.Ranks {
		w.start()
	}
	p.k.Spent += w.spent()
}

// stepsPerEvent is the cost of analyzing an event, in steps.
const stepsPerEvent = 6

// A state is a set of threads at a position in the kernel, with what is known about them.
type state struct {
	block      int
	at         int
	regs       cowTable[*value.Value]
	threads    value.Set
	facts      *Facts
	events     log[Event]
	choices    log[Choice]
	open       []Choice
	iterations cowMap[*graph.Loop, int]
	// number of executions of instructions that yield a new value each time
	times   cowMap[*ir.Instr, int]
	pending cowMap[*ir.Instr, *value.Value] // waits that have not succeeded, with their results
	clocks  cowMap[string, *value.Value]    // last values that were read from each clock
	// registers that lanes of the warp on another branch may have written
	mixed   cowMap[int, bool]
	skipped int
}

// countExecution counts an execution of an instruction, and returns the number of executions so
// far.
func (s *state) countExecution(in *ir.Instr) int {
	n := s.times.at(in) + 1
	s.times.set(in, n)
	return n
}

func (s *state) clone() *state {
	c := *s
	c.regs = s.regs.fork()
	c.facts = s.facts.clone()
	c.events, c.choices = s.events.fork(), s.choices.fork()
	c.open = slices.Clip(s.open)
	c.iterations, c.times, c.pending, c.clocks, c.mixed = s.iterations.fork(), s.times.fork(),
		s.pending.fork(), s.clocks.fork(), s.mixed.fork()
	return &c
}

// A walk holds the state of one analysis of a kernel.
type walk struct {
	*program
	limits       Limits
	steps        int
	events       int
	forks        map[*ir.Instr]int
	cond         *value.Value // the guard of the instruction that is evaluated, assumed to be true
	work         []*state
	known        map[*value.Atom]int64 // constants substituted for inputs
	with         string                // text for the constants
	pass         int                   // number of the set of constants
	tracesBefore int                   // number of traces before the walk
	rank         int                   // rank of the analyzed block
	// memory of the paths that have ended, for reuse
	spareEvents  spare[Event]
	spareChoices spare[Choice]

	evaluations map[evaluationKey]*value.Value // cache of evaluateFor
}

// limitReached reports whether a limit of the walk is reached.
func (w *walk) limitReached() bool {
	l := &w.limits
	return w.steps > l.Steps || w.events > l.Steps || l.Work > 0 && w.spent() > l.Work ||
		len(w.k.Traces)-w.tracesBefore >= l.Traces
}

// spent returns the cost of the walk in steps.
func (w *walk) spent() int { return w.steps + stepsPerEvent*w.events }

func (w *walk) run() {
	for len(w.work) > 0 {
		s := w.work[len(w.work)-1]
		w.work = w.work[:len(w.work)-1]
		for s != nil {
			if w.limitReached() {
				w.miss("more paths through the kernel than the limit (" +
					strconv.Itoa(len(w.k.Traces)) + " traces)")
				return
			}
			s = w.advance(s)
		}
	}
}

// finish adds the trace of s. why is the reason why the trace is incomplete, or "". It returns
// nil, the state that continues.
func (w *walk) finish(s *state, why string) *state {
	w.events += s.events.len()
	w.k.Traces = append(w.k.Traces,
		&Trace{Threads: s.threads, Rank: w.rank, Events: s.events.list(), Choices: s.choices.list(),
			Stopped: why, Facts: s.facts})
	s.events.free(&w.spareEvents)
	s.choices.free(&w.spareChoices)
	if why != "" {
		w.miss(why)
	}
	return nil
}

// advance executes s up to the end of its block and returns the next state, or nil if the path
// ends.
func (w *walk) advance(s *state) *state {
	for ; s.at < len(w.blocks[s.block]); s.at++ {
		st := &w.blocks[s.block][s.at]
		w.steps += st.size
		if st.kind != Other {
			if gone, stop := w.event(s, st); stop != "" {
				return w.finish(s, stop)
			} else if gone {
				return nil
			}
		}
		if st.value {
			w.compute(s, st)
		}
	}
	return w.leave(s)
}

// leave moves s from the end of a block to the next block. It returns nil if the path ends.
func (w *walk) leave(s *state) *state {
	w.steps++
	in := w.ends[s.block]
	if in == nil {
		return w.enter(s, s.block+1)
	}
	guard := w.guard(s, in)
	if in.Has(isa.EffectTerminator) {
		return w.end(s, in, guard)
	}
	if in.Kind() == isa.KindBrxIdx {
		return w.forkTargets(s, w.flow.Succs[s.block])
	}
	taken := w.target(in)
	if taken < 0 {
		return w.finish(s, "a branch with an unknown target")
	}
	if guard == nil {
		return w.enter(s, taken)
	}
	next := s.block + 1
	guard = w.resolve(s, guard)
	if guard.Const() {
		if full := w.guard(s, in); full.Tid() && !full.Const() {
			w.recordDecided(s, in, full, guard.K != 0)
		}
		if guard.K == 0 {
			taken, next = next, taken
		}
		if len(w.notWhole) > 0 {
			if a, _ := w.guard(s, in).Condition(); w.notWhole[a] {
				w.wholeWarps[next] = true
			}
		}
		w.leaveWaitLoop(s, taken, next)
		return w.enter(s, taken)
	}
	if next >= len(w.blocks) {
		return w.finish(s, "a function that runs past its end")
	}
	if w.onlyTraps[taken] != w.onlyTraps[next] {
		w.assumeNonTrap(s, guard, w.onlyTraps[next])
		if w.onlyTraps[next] {
			return w.enter(s, taken)
		}
		return w.enter(s, next)
	}
	return w.splitBranch(s, in, guard, taken, next)
}

// target returns the index of the block that a branch names, or -1.
func (p *program) target(in *ir.Instr) int {
	for i := range in.Args {
		if b := in.Args[i].Block(); b != nil {
			if n, ok := p.place[b]; ok {
				return n
			}
		}
	}
	return -1
}

// end evaluates ret, exit or trap. It returns the state of threads that do not leave the kernel,
// or nil.
func (w *walk) end(s *state, in *ir.Instr, guard *value.Value) *state {
	if guard != nil {
		holds, known := s.facts.Decided(guard, s.threads)
		if known && !holds {
			return w.enter(s, s.block+1)
		}
		if !known && isTrap(in) {
			w.assumeNonTrap(s, guard, false)
			return w.enter(s, s.block+1)
		}
		if !known {
			stay := s.clone()
			w.choose(stay, in, guard, false)
			w.push(w.enter(stay, s.block+1))
			w.choose(s, in, guard, true)
		}
	}
	if isTrap(in) {
		return nil
	}
	s.events.add(Event{Kind: Exit, In: in, Block: s.block, Threads: w.intern(s.threads),
		Parted: s.open}, &w.spareEvents)
	return w.finish(s, "")
}

func (w *walk) push(s *state) {
	if s != nil {
		w.work = append(w.work, s)
	}
}

// enter moves s to the start of a block. It returns nil if the path is not analyzed any further.
func (w *walk) enter(s *state, block int) *state {
	if block < len(w.blocks) && w.onlyTraps[block] {
		return nil
	}
	if block >= len(w.blocks) {
		s.events.add(Event{Kind: Exit, Block: s.block, Threads: w.intern(s.threads),
			Parted: s.open}, &w.spareEvents)
		return w.finish(s, "")
	}
	if l := w.loops[block]; l != nil && l.Head == block {
		if l.Has(s.block) {
			s.iterations.set(l, s.iterations.at(l)+1)
			if s.iterations.at(l) > 4096 {
				return w.finish(s, "a loop with too many iterations")
			}
		} else {
			s.iterations.set(l, 0)
		}
	}
	w.takenEdges[[2]int{s.block, block}] = true
	s.block, s.at = block, 0
	if len(s.open) > 0 {
		s.open = slices.DeleteFunc(slices.Clone(s.open), func(c Choice) bool {
			over := block != c.Block && w.post.Has(block, c.Block)
			if over && c.Splits {
				w.markMixed(s, c.Block)
			}
			return over
		})
	}
	return s
}
