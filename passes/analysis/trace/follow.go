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

// Follow returns the traces of a kernel, within limits.
func Follow(m *ir.Module, f *ir.Func, l Limits) *Kernel {
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
	return p.followed(l)
}

// FollowGlobal follows a kernel for its accesses to global memory, even if Follow would not follow
// it. It neither enters calls nor substitutes constants for inputs.
func FollowGlobal(m *ir.Module, f *ir.Func, l Limits) *Kernel {
	p := newProgram(m, f)
	p.global = true
	p.k.work, p.k.Ranks, p.k.Grid = l.Work, 1, l.Grid
	if p.k.Needs(Call) || len(f.Blocks) == 0 {
		return p.k
	}
	p.prepare()
	p.apart(l)
	return p.k
}

// followed follows a kernel with relevant instructions.
func (p *program) followed(l Limits) *Kernel {
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
	p.k.Ranks = ranks(p.k)
	p.apart(l)
	if p.k.Ranks > ranked && len(p.k.Missed) > len(p.missed) {
		p.k.Ranks = 1
		p.k.Traces, p.k.Missed, p.k.Loops = nil, slices.Clone(p.missed), false
		p.apart(l)
	}
	l.Work = p.k.rest()
	if len(p.k.Missed) > len(p.missed) || p.tangled() || p.hasIncompatibleTrace() {
		p.cases(l)
	}
	if len(p.k.Missed) == 0 && len(p.k.Traces) > 0 {
		p.k.Unseen = p.unreachedEvent()
		if p.k.Loops || p.k.Cases > 0 {
			p.k.Untaken = p.untakenBranch()
		}
	}
	return p.k
}

// shared divides the limits among the blocks of a cluster that are followed separately.
func (p *program) shared(l Limits) Limits {
	if n := p.k.Ranks; n > ranked {
		l.Steps, l.Traces = p.k.Within(l.Steps*n/ranked), l.Traces*n/ranked
	}
	l.Work = p.k.rest()
	return l
}

// apart follows each block of a cluster that must be followed separately, without substituting
// constants for inputs.
func (p *program) apart(l Limits) {
	w := &walk{program: p, limits: p.shared(l)}
	for w.rank = range p.k.Ranks {
		w.start()
	}
	p.k.Spent += w.spent()
}

// perEvent is the cost of analyzing an event, in steps.
const perEvent = 6

// A state is a class of threads at a position in the kernel.
type state struct {
	block      int
	at         int
	regs       table[*value.Value]
	threads    value.Set
	facts      *Facts
	events     log[Event]
	choices    log[Choice]
	open       []Choice
	iterations book[*graph.Loop, int]
	// executions of instructions with a new value each time
	times   book[*ir.Instr, int]
	pending book[*ir.Instr, *value.Value] // waits that have not succeeded
	clocks  book[string, *value.Value]    // last values read
	// Registers that lanes of the warp on another branch may have written.
	mixed   book[int, bool]
	skipped int
}

// again counts how many times the state has executed an instruction.
func (s *state) again(in *ir.Instr) int {
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

// A walk holds the state of following one kernel.
type walk struct {
	*program
	limits Limits
	steps  int
	events int
	forks  map[*ir.Instr]int
	cond   *value.Value // true when a guarded instruction is computed
	work   []*state
	known  map[*value.Atom]int64 // constants substituted for inputs
	with   string                // text for the constants
	pass   int                   // number of the pass that substitutes constants
	before int                   // number of traces of earlier passes
	rank   int                   // rank of the followed block
	// Memory of the paths that have ended.
	spareEvents  spare[Event]
	spareChoices spare[Choice]

	fixings map[fixing]*value.Value // see fixed
}

// limitReached reports whether the limits of a walk are reached.
func (w *walk) limitReached() bool {
	l := &w.limits
	return w.steps > l.Steps || w.events > l.Steps || l.Work > 0 && w.spent() > l.Work ||
		len(w.k.Traces)-w.before >= l.Traces
}

// spent returns the cost of a walk in steps.
func (w *walk) spent() int { return w.steps + perEvent*w.events }

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

// finish adds the trace of s.
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

// advance follows s to the end of its block and returns the next state, or nil if it ends.
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

// leave moves from the end of a block to the next block.
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
		return w.fork(s, w.flow.Succs[s.block])
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
			w.decided(s, in, full, guard.K != 0)
		}
		if guard.K == 0 {
			taken, next = next, taken
		}
		if len(w.whole) > 0 {
			if a, _ := w.guard(s, in).Condition(); w.whole[a] {
				w.ruled[next] = true
			}
		}
		w.expire(s, taken, next)
		return w.enter(s, taken)
	}
	if next >= len(w.blocks) {
		return w.finish(s, "a function that runs past its end")
	}
	if w.doomed[taken] != w.doomed[next] {
		w.followNonTrap(s, guard, w.doomed[next])
		if w.doomed[next] {
			return w.enter(s, taken)
		}
		return w.enter(s, next)
	}
	return w.part(s, in, guard, taken, next)
}

// target returns the block that a branch names.
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

// end evaluates ret, exit or trap.
func (w *walk) end(s *state, in *ir.Instr, guard *value.Value) *state {
	if guard != nil {
		holds, known := s.facts.Decided(guard, s.threads)
		if known && !holds {
			return w.enter(s, s.block+1)
		}
		if !known && traps(in) {
			w.followNonTrap(s, guard, false)
			return w.enter(s, s.block+1)
		}
		if !known {
			stay := s.clone()
			w.choose(stay, in, guard, false)
			w.push(w.enter(stay, s.block+1))
			w.choose(s, in, guard, true)
		}
	}
	if traps(in) {
		return nil
	}
	s.events.add(Event{Kind: Exit, In: in, Block: s.block, Threads: w.interned(s.threads),
		Parted: s.open}, &w.spareEvents)
	return w.finish(s, "")
}

func (w *walk) push(s *state) {
	if s != nil {
		w.work = append(w.work, s)
	}
}

// enter moves s to the start of a block. It returns nil if s is not followed from there.
func (w *walk) enter(s *state, block int) *state {
	if block < len(w.blocks) && w.doomed[block] {
		return nil
	}
	if block >= len(w.blocks) {
		s.events.add(Event{Kind: Exit, Block: s.block, Threads: w.interned(s.threads),
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
	w.taken[[2]int{s.block, block}] = true
	s.block, s.at = block, 0
	if len(s.open) > 0 {
		s.open = slices.DeleteFunc(slices.Clone(s.open), func(c Choice) bool {
			over := block != c.Block && w.post.Has(block, c.Block)
			if over && c.Splits {
				w.mix(s, c.Block)
			}
			return over
		})
	}
	return s
}
