// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/passes/analysis/value"
)

// decideRetry handles a branch on the result of a wait if the threads whose wait fails wait for the
// same phase next. Analyzing both sides would double the number of paths at every wait. If the
// next wait is the same instruction, as in a spin loop, the first wait is assumed to succeed. If
// it is another instruction, as after a first try that does not block, the first wait is assumed
// to fail. again reports whether it decides the branch, and way whether the branch is taken.
func (w *walk) decideRetry(s *state, cond *value.Value, taken, next int) (again, way bool) {
	done, not := cond.Condition()
	if done == nil || done.Op != value.OpDone {
		return false, false
	}
	failed := next // if cond is true, the wait succeeded and the branch is taken
	if not {
		failed = taken
	}
	var first *Event
	for e := range s.events.backward() {
		if e.Done != nil && e.Done.Single() == done {
			first = e
			break
		}
	}
	if first == nil {
		return false, false
	}
	wait := w.nextWait(s, done, failed)
	if wait == nil || wait.Guard != nil || len(wait.Vals) < 3 || len(first.Vals) < 3 ||
		wait.Vals[1] != first.Vals[1] || wait.Vals[2] != first.Vals[2] {
		return false, false
	}
	spins := wait.In == first.In
	if was := s.pending.at(wait.In); was != nil && !spins {
		holds, known := s.facts.Decided(was, s.threads)
		spins = known && !holds && w.repeatsPrevious(s, wait.In, wait)
	}
	// In a spin loop, the wait is assumed to succeed. The branch is taken if success is the
	// condition of the branch.
	return true, spins != not
}

// nextWait returns the next wait of the threads whose wait has failed, from the start of a block.
// It returns nil if another relevant instruction comes first.
func (w *walk) nextWait(s *state, done *value.Atom, block int) *Event {
	const far = 6
	c := s
	fork := func() {
		if c == s {
			c = s.clone()
			c.facts.decided.record(done, false)
		}
	}
	for range far {
		if block >= len(w.blocks) {
			return nil
		}
		for i := range w.blocks[block] {
			st := &w.blocks[block][i]
			if st.kind == Wait {
				return &Event{Kind: Wait, In: st.in, Threads: w.intern(s.threads),
					Guard: w.guard(c, st.in), Vals: w.values(c, st.in)}
			}
			if st.kind != Other {
				return nil
			}
			if st.value {
				fork()
				w.compute(c, st)
			}
		}
		in := w.ends[block]
		switch {
		case in == nil:
			block++
		case in.Kind() != isa.KindBra:
			return nil
		case in.Guard.Reg == nil:
			block = w.target(in)
		default:
			fork()
			guard, taken, next := w.resolve(c, w.guard(c, in)), w.target(in), block+1
			switch {
			case guard.Const():
				stay, exit := taken, next
				if guard.K == 0 {
					stay, exit = next, taken
				}
				if w.leavesWaitLoop(block, stay, exit) {
					return nil // the threads eventually stop waiting
				}
				block = stay
			case taken < 0 || next >= len(w.blocks) || w.onlyTraps[taken] == w.onlyTraps[next]:
				return nil
			case w.onlyTraps[taken]:
				block = next
			default:
				block = taken
			}
		}
		if block < 0 {
			return nil
		}
	}
	return nil
}

// leavesWaitLoop reports whether a decided branch leaves a loop of waits after a fixed number of
// attempts.
func (w *walk) leavesWaitLoop(block, stay, exit int) bool {
	l := w.loops[block]
	return l != nil && w.spins[l] && w.active[l] && exit >= 0 && exit < len(w.blocks) &&
		l.Has(stay) && !l.Has(exit) && !w.onlyTraps[exit]
}

// leaveWaitLoop lets threads whose wait failed leave such a loop in its first iteration, because
// the number of attempts does not matter.
func (w *walk) leaveWaitLoop(s *state, stay, exit int) {
	if !w.leavesWaitLoop(s.block, stay, exit) || s.iterations.at(w.loops[s.block]) > 0 {
		return
	}
	e := s.events.last()
	if e == nil || e.Done == nil || e.Kind != Wait {
		return
	}
	if holds, known := s.facts.Decided(e.Done, s.threads); known && !holds {
		w.push(w.enter(s.clone(), exit))
	}
}
