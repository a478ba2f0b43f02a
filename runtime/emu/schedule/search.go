// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"fmt"
	"hash/maphash"
	"slices"
	"strings"
)

// Options limit a search.
type Options struct {
	States      int // states to visit; 0 means 200,000
	Preemptions int // voluntary switches in one order; 0 means MaxPreemptions
}

// MaxPreemptions is the default limit of voluntary switches in one order.
const MaxPreemptions = 4

// A Result is the result of a search.
type Result struct {
	States    int // states visited in all orders
	Merged    int // orders that ended at a state visited before
	Orders    int // orders that ran to their end
	Actors    int
	Steps     int        // steps of one order
	Complete  bool       // no limit was reached: every order is equivalent to one that ran
	TooLarge  bool       // the launch has too many synchronizations to search
	Flags     bool       // threads read flags in memory, which the search does not follow
	Stopped   bool       // the limit of states was reached
	Preempted bool       // an order with more preemptions than the limit was left out
	Violation *Violation // the first one found
}

// String summarizes the result in a line.
func (r *Result) String() string {
	text := fmt.Sprintf("searched %d states in %d orders of %d threads and operations", r.States,
		r.Orders, r.Actors)
	switch {
	case r.TooLarge:
		return "not searched: the launch has too many synchronizations"
	case r.Violation != nil:
		return text + ": " + string(r.Violation.Kind)
	case r.Complete:
		return text + ": every other order is equivalent to one of these"
	}
	var why []string
	if r.Stopped {
		why = append(why, "it stopped at its limit of states")
	}
	if r.Preempted {
		why = append(why, fmt.Sprintf("it left out orders with more than %d preemptions",
			MaxPreemptions))
	}
	if r.Flags {
		why = append(why, "it does not follow flags in memory")
	}
	return text + ": the search did not cover all orders: " + strings.Join(why, "; ")
}

// A Violation is an order with a synchronization error.
type Violation struct {
	Kind    Kind
	Notes   []string
	Witness Witness
	steps   []int
}

// A frame is a state on the current path of the search, with the step that is taken from it.
type frame struct {
	before    *state
	actor     int
	backtrack []int
	done      []int
	sleep     []int
	entry     []int // the sleep set when the state was reached
	preempted int
	hash      uint64

	// the step that is taken
	op    *op
	clock []int32
}

// A track holds the state of a synchronization object on the current path: the arrivals in its
// last phase, and the events of the current phase.
type track struct {
	last     []int // arrivals in the previous phase
	flipped  []int32
	phases   [][]int32 // for a barrier: the clock at the end of each phase
	arrivals []int32   // joined clock of the arrivals in this phase
	steps    []int     // arrivals in this phase
	expects  []int     // expect-tx steps without an arrival
	waits    []int     // steps that waited for the previous phase
}

// A search is a depth-first search with dynamic partial-order reduction.
type search struct {
	t       *Trace
	o       Options
	r       *Result
	path    []*frame
	visited map[uint64][]int // states that were left, with their sleep sets
	seed    maphash.Seed
	clocks  [][]int32 // clocks of actors
	tracks  []track
	whole   bool // do not merge states
}

// bounded reports whether a limit was reached.
func (x *search) bounded() bool { return x.r.Stopped || x.r.Preempted }

// maxWork limits the number of operations of a trace times its actors.
const maxWork = 20_000_000

// Size returns the number of operations of a trace times its actors.
func (t *Trace) Size() (n int) {
	for i := range t.actors {
		n += len(t.actors[i].ops)
	}
	return n * len(t.actors)
}

// Search searches the orders of a trace.
func Search(t *Trace, o Options) *Result {
	if o.States == 0 {
		o.States = 200_000
	}
	if o.Preemptions == 0 {
		o.Preemptions = MaxPreemptions
	}
	if n := t.Size(); n > maxWork || t.truncated {
		return &Result{Actors: len(t.actors), TooLarge: true, Flags: t.flags}
	}
	if len(t.actors) == 0 {
		return &Result{Complete: !t.flags, Flags: t.flags}
	}
	x := &search{t: t, o: o, r: &Result{Actors: len(t.actors), Flags: t.flags},
		visited: map[uint64][]int{}, seed: maphash.MakeSeed()}
	x.run()
	if x.r.Violation == nil && x.r.Merged > 0 && !x.bounded() {
		// An order that ended at a visited state may still race with the steps that led to that
		// state. Without merging, no order ends early.
		x.whole, x.path, x.visited = true, nil, map[uint64][]int{}
		x.run()
	}
	x.r.Complete = !x.bounded() && x.r.Violation == nil && !t.flags
	if v := x.r.Violation; v != nil {
		t.minimize(v)
	}
	return x.r
}

// run explores orders until all are done or a limit is reached.
func (x *search) run() {
	s := x.t.start()
	x.reset()
	current := 0
	var sleep []int
	preempted := 0
	for {
		s, current, sleep, preempted = x.descend(s, current, sleep, preempted)
		if x.r.Violation != nil || x.r.Stopped {
			return
		}
		// go back to the deepest state from which another step must be tried
		for len(x.path) > 0 {
			f := x.path[len(x.path)-1]
			f.done = append(f.done, f.actor)
			i := slices.IndexFunc(f.backtrack,
				func(a int) bool {
					return !slices.Contains(f.done, a) && !slices.Contains(f.sleep, a)
				})
			if i < 0 {
				x.visited[f.hash] = f.entry
				x.path = x.path[:len(x.path)-1]
				continue
			}
			a := f.backtrack[i]
			next := f.preempted
			if n := len(x.path); n > 1 && x.path[n-2].actor != a &&
				f.before.enabled(x.path[n-2].actor) && !x.t.actors[a].async {
				next++
			}
			if next > x.o.Preemptions {
				x.r.Preempted = true
				f.done = append(f.done, a)
				continue
			}
			f.sleep = append(slices.Clone(f.sleep), f.done...)
			x.path = x.path[:len(x.path)-1]
			s, current, preempted = f.before, a, next
			x.replay()
			x.resume(s, a, f, next)
			s = x.path[len(x.path)-1].after(x.t)
			sleep = x.child(x.path[len(x.path)-1])
			break
		}
		if len(x.path) == 0 {
			return
		}
	}
}

// after returns the state after the step of a frame has been executed.
func (f *frame) after(*Trace) *state {
	s := f.before.clone()
	s.step(f.actor, nil)
	return s
}

// resume continues the search from a frame with the step of another actor.
func (x *search) resume(s *state, a int, f *frame, preempted int) {
	g := &frame{before: s, actor: a, backtrack: f.backtrack, done: slices.Clone(f.done),
		sleep: f.sleep, entry: f.entry, preempted: f.preempted, hash: f.hash}
	x.path = append(x.path, g)
	x.take(len(x.path)-1, s.clone())
	g.preempted = f.preempted
}

// descend runs an order to its end.
func (x *search) descend(s *state, current int, sleep []int,
	preempted int) (*state, int, []int, int) {
	for x.r.Violation == nil {
		h := s.hash(x.seed)
		if old, ok := x.visited[h]; ok && !x.whole && len(x.path) > 0 && subset(old, sleep) {
			x.r.Merged++
			return s, current, sleep, preempted
		}
		a := x.choose(s, current, sleep)
		if a < 0 {
			x.end(s)
			return s, current, sleep, preempted
		}
		if x.r.States >= x.o.States {
			x.r.Stopped = true
			return s, current, sleep, preempted
		}
		f := &frame{before: s, actor: a, backtrack: []int{a}, sleep: sleep, entry: sleep,
			preempted: preempted, hash: h}
		x.path = append(x.path, f)
		s = s.clone()
		x.take(len(x.path)-1, s)
		sleep, current = x.child(f), a
	}
	return s, current, sleep, preempted
}

// end handles a state in which no actor can run: the end of the launch, a hang, or a state in which
// only sleeping actors could run.
func (x *search) end(s *state) {
	for a := range x.t.actors {
		if s.enabled(a) {
			return // an actor sleeps
		}
	}
	x.r.Orders++
	x.r.Steps = max(x.r.Steps, len(x.path))
	if s.done() {
		return
	}
	kind, notes := s.stuck()
	x.violate(kind, notes)
}

// violate records that the current path ends with a violation.
func (x *search) violate(kind Kind, notes []string) {
	v := &Violation{Kind: kind, Notes: notes}
	for _, f := range x.path {
		v.steps = append(v.steps, f.actor)
	}
	x.r.Violation = v
}

// choose returns the next actor: the one that ran last, otherwise the first thread, otherwise the
// first asynchronous operation.
func (x *search) choose(s *state, current int, sleep []int) int {
	if s.enabled(current) && !slices.Contains(sleep, current) && !x.t.actors[current].async {
		return current
	}
	for a := range x.t.actors {
		if s.enabled(a) && !slices.Contains(sleep, a) {
			return a
		}
	}
	return -1
}

// child returns the sleep set after a step: the actors in the old set whose next step does not
// depend on it.
func (x *search) child(f *frame) (list []int) {
	for _, a := range f.sleep {
		if o := f.before.next(a); a != f.actor && o != nil && !dependent(o, f.op) {
			list = append(list, a)
		}
	}
	return list
}

// dependent reports whether two operations act on the same synchronization object.
func dependent(a, b *op) bool {
	touch := func(o *op, f func(int32) bool) bool {
		if o.kind == opEffect {
			return slices.ContainsFunc(o.effects, func(e op) bool { return f(e.object) })
		}
		return o.kind != opIssue && f(o.object)
	}
	return touch(a, func(i int32) bool { return touch(b, func(k int32) bool { return i == k }) })
}

// subset reports whether every element of a is in b.
func subset(a, b []int) bool {
	return !slices.ContainsFunc(a, func(i int) bool { return !slices.Contains(b, i) })
}

// reset clears the clocks of the actors and the tracks of the objects.
func (x *search) reset() {
	x.clocks = make([][]int32, len(x.t.actors))
	x.tracks = make([]track, len(x.t.objects))
}

// replay recomputes clocks and tracks after the path became shorter.
func (x *search) replay() {
	x.reset()
	n := x.r.States
	for i := range x.path {
		x.follow(i, x.path[i].before.clone(), false)
	}
	x.r.States = n
}

// take runs the step of the last frame of the path.
func (x *search) take(i int, s *state) { x.follow(i, s, true) }
