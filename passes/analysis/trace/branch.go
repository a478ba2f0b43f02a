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

// splitBranch analyzes both sides of an undecided branch, unless one side is irrelevant or
// impossible. It returns the state that continues, and queues the state for the other side.
func (w *walk) splitBranch(s *state, in *ir.Instr, cond *value.Value, taken, next int) *state {
	r := w.region(s.block)
	if r.ok {
		return w.skipRegion(s, r)
	}
	if sub := w.threadCondition(cond, s); sub != nil {
		other := s.clone()
		w.choose(other, in, sub, false)
		w.push(other)
		w.choose(s, in, sub, true)
		return s
	}
	if list := w.uniformGroups(cond, s.threads); list != nil {
		for _, threads := range list[1:] {
			other := s.clone()
			other.threads = threads
			w.push(other)
		}
		s.threads = list[0]
		return s
	}
	if again, success := w.decideRetry(s, cond, taken, next); again {
		w.choose(s, in, cond, success)
		if success {
			return w.enter(s, taken)
		}
		return w.enter(s, next)
	}
	first, second := true, true
	// A region that only accesses memory is analyzed as if it were executed. If it is not
	// executed, its accesses are only surplus.
	if soft := r.soft && !cond.Tid(); soft && taken == r.end {
		first = false
	} else if soft && next == r.end {
		second = false
	}
	test := false
	for l := w.loops[s.block]; l != nil; l = l.Parent {
		out1, out2 := !l.Has(taken), !l.Has(next)
		if out1 == out2 {
			continue
		}
		test = true
		stay, exit := w.mayContinue(s, l, cond, taken == l.Head || next == l.Head)
		if out1 {
			first, second = exit, stay
		} else {
			first, second = stay, exit
		}
		break
	}
	if first && second && !test {
		if way, steady := w.steadyBranch(s, in, cond); steady {
			first, second = way, !way
		}
	}
	if first && second && w.isSampled(in, cond) {
		first = w.forks[in]%2 == 0
		second = !first
	}
	if first && second {
		other := s.clone()
		w.choose(other, in, cond, false)
		w.push(w.enter(other, next))
	} else if second {
		w.choose(s, in, cond, false)
		return w.enter(s, next)
	}
	w.choose(s, in, cond, true)
	return w.enter(s, taken)
}

// steadyBranch returns the side of a branch to take in the middle iterations of a loop. It is the
// side taken in the previous iteration, or the other side after enough iterations. The first and
// the last iterations show all other behavior. steady is false if the branch must be analyzed
// normally.
func (w *walk) steadyBranch(s *state, in *ir.Instr, cond *value.Value) (way, steady bool) {
	l := w.loops[s.block]
	for l != nil && !w.active[l] {
		l = l.Parent
	}
	if a, _ := cond.Condition(); l == nil || a == nil || a.Tid || a.Op != value.OpLt ||
		cond.Level() > value.Block {
		return false, false
	}
	n, most := s.iterations.at(l), w.iterations[l]
	if s.block != l.Head {
		n++
	}
	if n <= 1 || n == outerIterations-1 || n == most-1 {
		return false, false
	}
	w.k.Loops = true
	for c := range s.choices.backward() {
		if c.In == in {
			return c.Taken == (n < most), true
		}
	}
	return false, false
}

// isSampled reports whether a branch was split so often that only one side is analyzed from now on.
func (w *walk) isSampled(in *ir.Instr, cond *value.Value) bool {
	if a, _ := cond.Condition(); a != nil && (a.Tid || a.Op == value.OpDone) {
		return false
	}
	w.forks[in]++
	if w.forks[in] <= 24 && len(w.work) < w.limits.Traces {
		return false
	}
	w.miss("some combinations of branches (there are too many)")
	return true
}

// threadCondition returns an undecided part of a condition that depends on the thread index, or
// nil. Threads are split on this part before the whole condition is considered.
func (w *walk) threadCondition(cond *value.Value, s *state) *value.Value {
	a, _ := cond.Condition()
	if a == nil || a.Tid || a.Nested >= value.MaxNested || a.Op != value.OpAnd &&
		a.Op != value.OpOr &&
		a.Op != value.OpXor && a.Op != value.OpSelect {
		return nil
	}
	for _, arg := range a.Args {
		if arg.Width != 1 || arg.Const() {
			continue
		}
		if _, known := s.facts.Decided(arg, s.threads); known {
			continue
		}
		if arg.Tid() {
			return arg
		}
		if sub := w.threadCondition(arg, s); sub != nil {
			return sub
		}
	}
	return nil
}

// mayContinue reports whether a loop with an undecided condition may continue and may end. Loops
// that wait and conditions on the thread index are not limited.
func (w *walk) mayContinue(s *state, l *graph.Loop, cond *value.Value, end bool) (stay, exit bool) {
	if a, _ := cond.Condition(); a != nil && a.Tid {
		return true, true
	} else if a != nil && a.Op == value.OpDone {
		// A wait that fails and is repeated with changes, such as another arrival, eventually
		// succeeds.
		return s.iterations.at(l) < 4*outerIterations, true
	}
	n, most := s.iterations.at(l), w.iterations[l]
	if !w.active[l] {
		return false, true
	}
	w.k.Loops = true
	if end {
		n++ // the current iteration of a bottom-tested loop has run
	}
	return n < most, n <= 1 || n == outerIterations || n >= most || l.Parent == nil &&
		n < len(w.endIterations) && w.endIterations[n]
}

// choose records the side of a branch that the threads of s take.
func (w *walk) choose(s *state, in *ir.Instr, cond *value.Value, taken bool) {
	c := Choice{In: in, Block: s.block, Cond: cond, Taken: taken, Soft: w.region(s.block).mild,
		At: s.events.len()}
	a, _ := cond.Condition()
	w.recordDivergence(s, &c)
	if a.Tid {
		where := w.pool.Where(cond, s.threads)
		if !taken {
			where = s.threads.Minus(where)
		}
		s.threads = where
		w.refineFacts(s)
	} else {
		s.facts.assume(cond, taken, s.threads)
	}
	s.choices.add(c, &w.spareChoices)
	if c.Splits || c.Maybe {
		s.open = append(s.open, c)
	}
}

// recordDivergence determines whether lanes of one warp diverge at a branch. It considers the
// threads of other states that reach the branch together with the threads of s.
func (w *walk) recordDivergence(s *state, c *Choice) {
	if !c.Cond.Tid() {
		c.Maybe = c.Cond.Level() == value.Lane
		return
	}
	where := w.pool.Where(c.Cond, w.pool.All())
	c.Away = where
	if c.Taken {
		c.Away = w.pool.All().Minus(where)
	}
	here := w.pool.All()
	for i := range s.open {
		here = here.Minus(s.open[i].Away)
	}
	for n := range value.MaxThreads / 32 {
		if got := where.Lanes(n) & here.Lanes(n); s.threads.Lanes(n) != 0 && got != 0 &&
			got != here.Lanes(n) {
			c.Splits = true
			return
		}
	}
}

// recordDecided records a branch whose outcome for the threads of s depends only on the thread
// index. Other threads of the same warps may take the other side.
func (w *walk) recordDecided(s *state, in *ir.Instr, cond *value.Value, taken bool) {
	c := Choice{In: in, Block: s.block, Cond: cond, Taken: taken, Soft: true, At: s.events.len()}
	if w.recordDivergence(s, &c); c.Splits {
		s.choices.add(c, &w.spareChoices)
		s.open = append(s.open, c)
	}
}

// resolve simplifies a predicate by replacing the parts that are known for the threads of s.
func (w *walk) resolve(s *state, v *value.Value) *value.Value {
	if holds, known := s.facts.Decided(v, s.threads); known {
		return w.pool.Bool(holds)
	}
	if v = w.evaluateFor(v, s.threads); v.Const() {
		return v
	} else if holds, known := s.facts.Decided(v, s.threads); known {
		return w.pool.Bool(holds)
	}
	a, not := v.Condition()
	if a == nil || a.Tid || a.Nested >= value.MaxNested {
		return v
	}
	switch a.Op {
	case value.OpAnd, value.OpOr, value.OpXor:
		v = w.pool.Binary(a.Op, 1, w.resolve(s, a.Args[0]), w.resolve(s, a.Args[1]))
	case value.OpSelect:
		v = w.pool.Select(w.resolve(s, a.Args[0]), w.resolve(s, a.Args[1]), w.resolve(s, a.Args[2]))
	default:
		return v
	}
	if not {
		return w.pool.Not(v)
	}
	return v
}

// forkTargets continues with every target of an indexed branch. It queues all but the last state,
// and returns the last.
func (w *walk) forkTargets(s *state, targets []int) *state {
	for i, t := range targets {
		if i == len(targets)-1 {
			return w.enter(s, t)
		}
		w.push(w.enter(s.clone(), t))
	}
	return w.finish(s, "a branch with an unknown target")
}

// region returns the code between the branch at the end of a block and the point where its paths
// join, and whether this code contains anything relevant.
func (w *walk) region(block int) region {
	if r, ok := w.skips[block]; ok {
		return r
	}
	r := region{end: w.post.Parent[block]}
	if between, ok := graph.Between(w.flow.Succs, w.flow.Succs[block], r.end,
		500); r.end != graph.None && ok {
		r.ok, r.mild = true, true
		again, loops := w.ownWaits(r.end), false
		for _, b := range between {
			loops = loops || b == block
			r.ok = r.ok && !w.busy[b] && !w.leavesAt(b)
			r.mild = r.mild && !w.leavesAt(b) && (!w.hard[b] || w.isSkippable(b, again))
			if !r.ok && !r.mild {
				break
			}
			r.regs = append(r.regs, w.writtenBy[b]...)
		}
		r.soft = r.mild && !loops
		w.recordInputs(&r, between)
		slices.Sort(r.regs)
		r.regs = slices.Compact(r.regs)
	}
	w.skips[block] = r
	return r
}

// ownWaits returns the waits at the start of a block by which a thread waits for its own copies and
// MMAs.
func (w *walk) ownWaits(block int) (list []*ir.Instr) {
	for _, st := range w.blocks[block] {
		switch {
		case st.kind.isOwnWait() && st.in.Guard.Reg == nil:
			list = append(list, st.in)
		case st.kind != Other:
			return list
		}
	}
	return list
}

// isSkippable reports whether a block contains only memory accesses, and waits that a wait in again
// repeats.
func (w *walk) isSkippable(block int, again []*ir.Instr) bool {
	for _, st := range w.blocks[block] {
		switch st.kind {
		case Other, Touch, Load, Store, Atomic:
		default:
			if !st.kind.isOwnWait() ||
				!slices.ContainsFunc(again, func(in *ir.Instr) bool { return covers(in, st.in) }) {
				return false
			}
		}
	}
	return true
}

// covers reports whether wait a implies wait b.
func covers(a, b *ir.Instr) bool {
	if a.Op != b.Op || len(a.Args) != len(b.Args) {
		return false
	}
	for i := range a.Args {
		if x, y := &a.Args[i], &b.Args[i]; x.Kind != ir.Int || y.Kind != ir.Int ||
			x.Value > y.Value {
			return false
		}
	}
	return true
}

// recordInputs records the inputs on which the values that leave a region depend.
func (w *walk) recordInputs(r *region, blocks []int) {
	for _, b := range blocks {
		for _, st := range w.blocks[b] {
			switch st.op {
			case isa.KindAtom, isa.KindShfl, isa.KindMatch, isa.KindActivemask, isa.KindCall,
				isa.KindElect:
				r.apart = true
			}
			r.blind = r.blind || dependsOnMemory(st.in)
			st.in.Registers(func(reg *ir.Reg, a isa.Access) {
				if a == isa.Read {
					r.reads = append(r.reads, reg)
				}
			})
			for i := range st.in.Args {
				if o := &st.in.Args[i]; o.Kind == ir.Special &&
					(isClock(o.Text()) || w.special(nil, o.Text()).Level() > value.Block) {
					r.apart = true
				}
			}
		}
	}
}

// leavesAt reports whether control leaves the function at the end of a block.
func (w *walk) leavesAt(b int) bool { return w.flow.Leaves[b] }

// skipRegion moves s to the end of a region. Registers that the region writes are unknown
// afterwards.
func (w *walk) skipRegion(s *state, r region) *state {
	in := w.ends[s.block]
	time := strconv.Itoa(s.countExecution(in))
	level := value.Block
	var on []*value.Value // inputs of the branch condition
	repeats := !r.apart && !r.blind
	if cond := w.guard(s, in); cond != nil {
		on = append(on, cond)
		repeats = repeats && w.pool.Alike(cond)
	}
	for _, reg := range r.reads {
		if n := w.at(reg); n >= 0 && s.regs.at(n) != nil {
			level = max(level, s.regs.at(n).Level())
			repeats = repeats && w.pool.Alike(s.regs.at(n))
		}
	}
	if r.apart {
		level = value.Lane
	}
	for _, n := range r.regs {
		reg := w.kept[n]
		name := strconv.Itoa(n) + "@" + strconv.Itoa(s.block) + "#" + time
		v := w.pool.Atom(bitsOf(reg), value.OpAfter, name, in, level, on...)
		v.Single().Repeats = repeats
		s.put(n, v)
	}
	return w.enter(s, r.end)
}
