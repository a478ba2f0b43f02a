// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"slices"
	"strconv"
	"strings"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/passes/analysis/graph"
	"github.com/ptxdsl/ptxdsl/passes/analysis/value"
)

// Of a kernel, Follow gives what threads do in it, within limits.
func Follow(m *ir.Module, f *ir.Func, l Limits) *Kernel {
	p := newProgram(m, f)
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
	if !interesting || len(f.Blocks) == 0 {
		return p.k
	}
	p.prepare()
	if !p.k.Needs(Copy, BulkLoad, BulkStore, GroupMultiply, TensorAlloc, TensorMultiply, Init, Wait, ClusterArrive) {
		// Barriers alone are seen on few ways as well as on many.
		l.Steps /= 4
	}
	start := &state{facts: newFacts(p.pool), regs: make([]*value.Value, len(f.Regs)), threads: p.pool.All(),
		turns: make(map[*graph.Loop]int), times: make(map[*ir.Instr]int), pending: make(map[*ir.Instr]*value.Value)}
	w := &walk{program: p, limits: l, work: []*state{start}, forks: make(map[*ir.Instr]int)}
	w.run()
	return p.k
}

func (p *program) onlyQuietCalls() bool {
	for _, b := range p.k.Func.Blocks {
		for _, in := range b.Instrs {
			if Of(in.Op) == Call {
				if f := callee(in); f == nil || !p.isQuiet(f, 0) {
					return false
				}
			}
		}
	}
	return true
}

// A state is a class of threads at a place in the kernel.
type state struct {
	block   int
	at      int
	regs    []*value.Value
	threads value.Set
	facts   *Facts
	events  []Event
	choices []Choice
	open    []Choice
	turns   map[*graph.Loop]int
	times   map[*ir.Instr]int          // how often an instruction that gives something new was met
	pending map[*ir.Instr]*value.Value // waits that did not succeed
	skipped int
}

func (s *state) clone() *state {
	c := *s
	c.regs = slices.Clone(s.regs)
	c.facts = s.facts.clone()
	c.events = slices.Clip(s.events)
	c.choices = slices.Clip(s.choices)
	c.open = slices.Clip(s.open)
	c.turns = make(map[*graph.Loop]int, len(s.turns))
	for k, v := range s.turns {
		c.turns[k] = v
	}
	c.times = make(map[*ir.Instr]int, len(s.times))
	for k, v := range s.times {
		c.times[k] = v
	}
	c.pending = make(map[*ir.Instr]*value.Value, len(s.pending))
	for k, v := range s.pending {
		c.pending[k] = v
	}
	return &c
}

// A walk is the work on one kernel.
type walk struct {
	*program
	limits Limits
	steps  int
	events int
	forks  map[*ir.Instr]int
	cond   *value.Value // holds where an instruction under a guard is computed
	work   []*state
}

func (w *walk) run() {
	for len(w.work) > 0 {
		s := w.work[len(w.work)-1]
		w.work = w.work[:len(w.work)-1]
		for s != nil {
			if w.steps > w.limits.Steps || w.events > w.limits.Steps || len(w.k.Traces) >= w.limits.Traces {
				w.miss("more ways through the kernel than were followed (" + strconv.Itoa(len(w.k.Traces)) + " traces)")
				return
			}
			s = w.advance(s)
		}
	}
}

// finish keeps the trace of s.
func (w *walk) finish(s *state, why string) *state {
	w.events += len(s.events)
	w.k.Traces = append(w.k.Traces, &Trace{Threads: s.threads, Events: slices.Clip(s.events), Choices: slices.Clip(s.choices), Stopped: why, Facts: s.facts})
	if why != "" {
		w.miss(why)
	}
	return nil
}

// advance follows s to the end of its block and says where it goes on; nil where it ends.
func (w *walk) advance(s *state) *state {
	for ; s.at < len(w.blocks[s.block]); s.at++ {
		w.steps++
		st := &w.blocks[s.block][s.at]
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

// leave goes from the end of a block to the next.
func (w *walk) leave(s *state) *state {
	w.steps++
	in := w.ends[s.block]
	if in == nil {
		return w.enter(s, s.block+1)
	}
	guard := w.guard(s, in)
	if in.Has("terminator") {
		return w.end(s, in, guard)
	}
	var targets []int
	for _, t := range w.flow.Succs[s.block] {
		targets = append(targets, t)
	}
	if in.Head() == "brx" {
		return w.fork(s, in, targets, guard)
	}
	taken := w.target(in)
	if taken < 0 {
		return w.finish(s, "a branch whose target is not known")
	}
	if guard == nil {
		return w.enter(s, taken)
	}
	next := s.block + 1
	if holds, known := s.facts.Decided(guard, s.threads); known {
		if holds {
			return w.enter(s, taken)
		}
		return w.enter(s, next)
	}
	if next >= len(w.blocks) {
		return w.finish(s, "a function that runs past its end")
	}
	return w.part(s, in, guard, taken, next)
}

// target is the block that a branch names.
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

// end is ret, exit or trap.
func (w *walk) end(s *state, in *ir.Instr, guard *value.Value) *state {
	if guard != nil {
		holds, known := s.facts.Decided(guard, s.threads)
		if known && !holds {
			return w.enter(s, s.block+1)
		}
		if !known {
			stay := s.clone()
			w.choose(stay, in, guard, false)
			w.push(w.enter(stay, s.block+1))
			w.choose(s, in, guard, true)
		}
	}
	if in.Head() == "trap" || in.Head() == "brkpt" {
		return nil
	}
	s.events = append(s.events, Event{Kind: Exit, In: in, Block: s.block, Threads: s.threads, Parted: s.open})
	return w.finish(s, "")
}

func (w *walk) push(s *state) {
	if s != nil {
		w.work = append(w.work, s)
	}
}

// enter puts s at the start of a block.
func (w *walk) enter(s *state, block int) *state {
	if block >= len(w.blocks) {
		s.events = append(s.events, Event{Kind: Exit, Block: s.block, Threads: s.threads, Parted: s.open})
		return w.finish(s, "")
	}
	if l := w.loops[block]; l != nil && l.Head == block {
		if l.Has(s.block) {
			s.turns[l]++
			if !w.active[l] || s.turns[l] > 4096 {
				return w.finish(s, "a loop of very many turns")
			}
		} else {
			s.turns[l] = 0
		}
	}
	s.block, s.at = block, 0
	if len(s.open) > 0 {
		s.open = slices.DeleteFunc(slices.Clone(s.open), func(c Choice) bool { return w.post.Has(block, c.Block) })
	}
	return s
}

// part goes both ways at a branch that is not decided, as far as that makes sense.
func (w *walk) part(s *state, in *ir.Instr, cond *value.Value, taken, next int) *state {
	r := w.region(s.block)
	if r.ok {
		return w.skip(s, r)
	}
	if sub := w.onThread(cond, s); sub != nil {
		other := s.clone()
		w.choose(other, in, sub, false)
		w.push(other)
		w.choose(s, in, sub, true)
		return s
	}
	first, second := true, true
	// What only reads and writes memory is followed as if it ran: that it may not run hides nothing.
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
		stay, exit := w.turn(s, l, cond)
		if out1 {
			first, second = exit, stay
		} else {
			first, second = stay, exit
		}
		break
	}
	if first && second && !test {
		if way, steady := w.steady(s, in, cond); steady {
			first, second = way, !way
		}
	}
	if first && second && w.sample(in, cond) {
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

// steady says which way to take at a test in the middle of a loop's turns: the one of the turn before, and the
// other when enough turns were followed. What may come of it otherwise is seen in the first turns and in
// the last.
func (w *walk) steady(s *state, in *ir.Instr, cond *value.Value) (way, steady bool) {
	l := w.loops[s.block]
	for l != nil && !w.active[l] {
		l = l.Parent
	}
	if a, _ := cond.Condition(); l == nil || a == nil || a.Tid || a.Op != "lt" || cond.Level() > value.Block {
		return false, false
	}
	n, most := s.turns[l], w.turns[l]
	if s.block != l.Head {
		n++
	}
	if n <= 1 || n == around-1 || n == most-1 {
		return false, false
	}
	w.k.Loops = true
	for i := len(s.choices) - 1; i >= 0; i-- {
		if s.choices[i].In == in {
			return s.choices[i].Taken == (n < most), true
		}
	}
	return false, false
}

// sample reports whether a branch was parted at so often that only one way is followed now.
func (w *walk) sample(in *ir.Instr, cond *value.Value) bool {
	if a, _ := cond.Condition(); a != nil && (a.Tid || a.Op == "done") {
		return false
	}
	w.forks[in]++
	if w.forks[in] <= 24 {
		return false
	}
	w.miss("some combinations of branches (there are very many)")
	return true
}

// onThread is a part of a condition that rests on the number of the thread and is not decided: threads
// go apart on it before the whole is looked at.
func (w *walk) onThread(cond *value.Value, s *state) *value.Value {
	a, _ := cond.Condition()
	if a == nil || a.Tid || a.Op != "and" && a.Op != "or" && a.Op != "xor" && a.Op != "select" {
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
		if sub := w.onThread(arg, s); sub != nil {
			return sub
		}
	}
	return nil
}

// turn says whether a loop whose test is not decided may go on, and may be left. Waiting loops and tests on
// the number of the thread are free.
func (w *walk) turn(s *state, l *graph.Loop, cond *value.Value) (stay, exit bool) {
	if a, _ := cond.Condition(); a != nil && (a.Tid || a.Op == "done") {
		return true, true
	}
	n, most := s.turns[l], w.turns[l]
	if !w.active[l] {
		return false, true
	}
	w.k.Loops = true
	if s.block != l.Head {
		n++ // the turn before a test at the end has run
	}
	return n < most, n <= 1 || n == around || n >= most
}

// choose notes which way was taken.
func (w *walk) choose(s *state, in *ir.Instr, cond *value.Value, taken bool) {
	c := Choice{In: in, Block: s.block, Cond: cond, Taken: taken}
	a, _ := cond.Condition()
	before := s.threads
	if a.Tid {
		where := w.pool.Where(cond, s.threads)
		if !taken {
			where = s.threads.Minus(where)
		}
		s.threads = where
	} else {
		s.facts.assume(cond, taken)
	}
	c.Splits, c.Maybe = w.splits(cond, before)
	s.choices = append(s.choices, c)
	if c.Splits || c.Maybe {
		s.open = append(s.open, c)
	}
}

// splits says whether a predicate holds for some and not for other lanes of one warp of s.
func (w *walk) splits(cond *value.Value, s value.Set) (yes, maybe bool) {
	if !cond.Tid() {
		return false, cond.Level() == value.Lane
	}
	where := w.pool.Where(cond, s)
	for n := range value.MaxThreads / 32 {
		if got := where.Lanes(n); got != 0 && got != s.Lanes(n) {
			return true, false
		}
	}
	return false, false
}

// fork goes to every target.
func (w *walk) fork(s *state, in *ir.Instr, targets []int, guard *value.Value) *state {
	for i, t := range targets {
		if i == len(targets)-1 {
			return w.enter(s, t)
		}
		w.push(w.enter(s.clone(), t))
	}
	return w.finish(s, "a branch whose target is not known")
}

// region is what the branch at the end of a block may run, where that is of no interest.
func (w *walk) region(block int) region {
	if r, ok := w.skips[block]; ok {
		return r
	}
	r := region{end: w.post.Parent[block]}
	if between, ok := graph.Between(w.flow.Succs, w.flow.Succs[block], r.end, 500); r.end != graph.None && ok {
		r.ok, r.soft = true, true
		for _, b := range between {
			r.soft = r.soft && b != block && !w.hard[b] && !w.traps(b)
			if w.busy[b] || w.traps(b) {
				r.ok = false
			}
			if !r.ok && !r.soft {
				break
			}
			r.regs = append(r.regs, w.wrote[b]...)
		}
		w.inside(&r, between)
		slices.Sort(r.regs)
		r.regs = slices.Compact(r.regs)
	}
	w.skips[block] = r
	return r
}

// inside notes what the values that a region leaves rest on.
func (w *walk) inside(r *region, blocks []int) {
	for _, b := range blocks {
		for _, st := range w.blocks[b] {
			switch st.head {
			case "atom", "shfl", "match", "activemask", "call", "elect":
				r.apart = true
			}
			st.in.Registers(func(reg *ir.Reg, a isa.Access) {
				if a == isa.Read {
					r.reads = append(r.reads, reg)
				}
			})
			for i := range st.in.Args {
				if o := &st.in.Args[i]; o.Kind == ir.Special && w.special(o.Text).Level() > value.Block {
					r.apart = true
				}
			}
		}
	}
}

// traps reports whether a block leaves the function.
func (w *walk) traps(b int) bool { return w.flow.Leaves[b] }

// skip passes over a region: what it writes is not known behind it.
func (w *walk) skip(s *state, r region) *state {
	in := w.ends[s.block]
	s.times[in]++
	level := value.Block
	if cond := w.guard(s, in); cond != nil {
		level = max(level, cond.Level())
	}
	for _, reg := range r.reads {
		if n, ok := w.number[reg]; ok && s.regs[n] != nil {
			level = max(level, s.regs[n].Level())
		}
	}
	if r.apart {
		level = value.Lane
	}
	for _, n := range r.regs {
		reg := w.k.Func.Regs[n]
		name := strconv.Itoa(n) + "@" + strconv.Itoa(s.block) + "#" + strconv.Itoa(s.times[in])
		s.regs[n] = w.pool.Atom(bitsOf(reg), "after", name, in, level)
	}
	return w.enter(s, r.end)
}

// event notes what one instruction does. Gone says that the trace is of no further interest, stop why it
// cannot go on.
func (w *walk) event(s *state, st *step) (gone bool, stop string) {
	in := st.in
	e := Event{Kind: st.kind, In: in, Block: s.block, Threads: s.threads, Parted: s.open}
	if g := w.guard(s, in); g != nil {
		holds, known := s.facts.Decided(g, s.threads)
		switch {
		case known && !holds:
			return false, ""
		case known:
		case g.Tid():
			e.Threads = w.pool.Where(g, s.threads)
			if split, _ := w.splits(g, s.threads); split {
				e.Parted = append(slices.Clip(s.open), Choice{In: in, Block: s.block, Cond: g, Taken: true, Splits: true})
			}
		default:
			e.Guard = g
			e.Threads = w.narrowed(g, s.threads)
			if g.Level() == value.Lane {
				e.Parted = append(slices.Clip(s.open), Choice{In: in, Block: s.block, Cond: g, Taken: true, Maybe: true})
			}
		}
	}
	if st.kind != Touch {
		e.Vals = w.values(s, in)
		for i, v := range e.Vals {
			if v != nil && in.Guard.Reg != nil {
				e.Vals[i] = w.under(s, v, &e)
			}
		}
	}
	switch st.kind {
	case Call:
		f := callee(in)
		if f != nil && f.Attr(".noreturn") != nil {
			return true, ""
		}
		name := "a function through a pointer"
		if f != nil {
			name = f.Name
		}
		s.events = append(s.events, e)
		return false, "calls of device functions that take part in synchronization (" + name + ")"
	case Wait:
		if was := s.pending[in]; was != nil {
			// The same wait again: if it failed before, nothing has changed.
			if holds, known := s.facts.Decided(was, s.threads); known && !holds && w.same(s, in, &e) {
				return true, ""
			}
		}
		s.times[in]++
		e.Done = w.pool.Atom(1, "done", strconv.Itoa(int(in.Pos))+"#"+strconv.Itoa(s.times[in]), in, value.Block)
		s.pending[in] = e.Done
	}
	s.events = append(s.events, e)
	return false, ""
}

// under is v where the guard of an event holds: of a selection on it, the one side.
func (w *walk) under(s *state, v *value.Value, e *Event) *value.Value {
	for _, t := range v.Terms {
		if t.Atom.Op != "select" {
			continue
		}
		cond := t.Atom.Args[0]
		holds, known := s.facts.Decided(cond, e.Threads)
		if e.Guard != nil && cond == e.Guard {
			holds, known = true, true
		} else if e.Guard != nil && cond == w.pool.Not(e.Guard) {
			holds, known = false, true
		}
		if !known {
			continue
		}
		side := t.Atom.Args[1]
		if !holds {
			side = t.Atom.Args[2]
		}
		rest := w.pool.Sub(v.Width, v, w.pool.Scale(v.Width, w.pool.Alone(t.Atom), t.Factor))
		return w.under(s, w.pool.Add(v.Width, rest, w.pool.Scale(v.Width, side, t.Factor)), e)
	}
	return v
}

// narrowed is the threads of s that a guard does not rule out by their number.
func (w *walk) narrowed(g *value.Value, s value.Set) value.Set {
	if g.Tid() {
		return w.pool.Where(g, s)
	}
	if a, not := g.Condition(); a != nil && a.Op == "and" && !not {
		return w.narrowed(a.Args[1], w.narrowed(a.Args[0], s))
	}
	return s
}

// same reports whether the last event of an instruction was on the same values, with nothing since but
// waiting.
func (w *walk) same(s *state, in *ir.Instr, e *Event) bool {
	for i := len(s.events) - 1; i >= 0; i-- {
		was := &s.events[i]
		if was.In == in {
			return slices.Equal(was.Vals[1:], e.Vals[1:])
		}
	}
	return false
}

// values is what the operands of an instruction hold.
func (w *walk) values(s *state, in *ir.Instr) []*value.Value {
	list := make([]*value.Value, len(in.Args))
	for i := range in.Args {
		o := &in.Args[i]
		switch o.Kind {
		case ir.Address:
			if len(o.Args) > 0 {
				list[i] = w.operand(s, &o.Args[0], 64)
			}
		case ir.Register, ir.Int, ir.Variable, ir.Special:
			list[i] = w.operand(s, o, 64)
		case ir.Pair, ir.Element, ir.Group, ir.Vector:
		}
	}
	return list
}

// guard is the predicate of an instruction, or nil.
func (w *walk) guard(s *state, in *ir.Instr) *value.Value {
	if in.Guard.Reg == nil {
		return nil
	}
	v := w.reg(s, in.Guard.Reg)
	if in.Guard.Not {
		v = w.pool.Not(v)
	}
	return v
}

// reg is what a register holds; one that was never written holds something.
func (w *walk) reg(s *state, r *ir.Reg) *value.Value {
	n, ok := w.number[r]
	if ok && s.regs[n] != nil {
		if w.cond != nil {
			return w.side(s.regs[n])
		}
		return s.regs[n]
	}
	return w.pool.Atom(bitsOf(r), "register", strings.Clone(r.Name), r, value.Lane)
}

// side is v where w.cond holds: what a selection on it selects.
func (w *walk) side(v *value.Value) *value.Value {
	a := v.Single()
	if a == nil || a.Op != "select" {
		return v
	}
	switch a.Args[0] {
	case w.cond:
		return a.Args[1]
	case w.pool.Not(w.cond):
		return a.Args[2]
	}
	return v
}

// bitsOf is the width of a register.
func bitsOf(r *ir.Reg) int {
	if b := r.Type.Bits(); b > 1 {
		return b * max(1, r.Vec)
	}
	return 1
}

// Quits reports whether the threads that go the other way at a choice do nothing of interest any more.
func (k *Kernel) Quits(c Choice) bool {
	in := c.In
	taken := -1
	for i := range in.Args {
		if b := in.Args[i].Block(); b != nil {
			taken = slices.Index(k.Func.Blocks, b)
		}
	}
	other := c.Block + 1
	if !c.Taken {
		other = taken
	}
	if in.Has("terminator") {
		return !c.Taken
	}
	if taken < 0 || other >= len(k.Func.Blocks) || in.Head() != "bra" {
		return false
	}
	blocks, ok := graph.Between(k.Flow.Succs, []int{other}, graph.None, 64)
	if !ok {
		return false
	}
	for _, b := range blocks {
		for _, in := range k.Func.Blocks[b].Instrs {
			switch Of(in.Op) {
			case Other, Load, Store, Atomic, Exit, Fence:
			default:
				if !in.Directive() {
					return false
				}
			}
		}
	}
	return true
}
