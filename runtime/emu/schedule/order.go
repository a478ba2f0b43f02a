// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package schedule

import "slices"

// join returns the elementwise maximum of clocks a and b. It may modify a.
func join(a, b []int32) []int32 {
	for len(a) < len(b) {
		a = append(a, 0)
	}
	for i, n := range b {
		a[i] = max(a[i], n)
	}
	return a
}

// follow executes the step of frame i on a copy of its state. If look is set, it also schedules
// other orders for the earlier steps with which this step races.
func (x *search) follow(i int, s *state, look bool) {
	f := x.path[i]
	f.op = s.next(f.actor)
	x.r.States++
	clock := slices.Clone(x.clocks[f.actor])
	if b := x.t.actors[f.actor].before; b >= 0 {
		clock = join(clock, x.clocks[b])
	}
	o := f.op
	parts := []op{*o}
	if o.kind == opEffect {
		parts = o.effects
	}
	for k := range parts {
		clock = x.before(i, &parts[k], clock, look)
	}
	clock = join(clock, nil)
	for len(clock) <= f.actor {
		clock = append(clock, 0)
	}
	clock[f.actor] = int32(i) + 1
	f.clock = clock
	x.clocks[f.actor] = clock
	kind, flipped := s.step(f.actor, nil)
	if o.kind == opIssue {
		for _, a := range o.issues {
			x.clocks[a] = join(slices.Clone(x.clocks[a]), clock)
		}
	}
	for k := range parts {
		x.after(i, &parts[k], slices.Contains(flipped, parts[k].object), look)
	}
	if kind != "" && look {
		name := x.t.objects[o.object].name
		notes := []string{x.t.actors[f.actor].name() + ": " + x.t.place(o) + ": " + name}
		if kind == Lap {
			notes[0] += ": the wait completes on another phase than in the launch"
		} else {
			notes[0] += ": more arrivals than the phase expects"
		}
		x.violate(kind, notes)
	}
}

// knows reports whether a step happens before the events with the given clock.
func (x *search) knows(clock []int32, step int) bool {
	a := x.path[step].actor
	return a < len(clock) && clock[a] > int32(step)
}

// before returns the clock of an operation. If look is set, it also schedules other orders for the
// earlier operations with which it races.
func (x *search) before(i int, o *op, clock []int32, look bool) []int32 {
	if o.kind == opIssue {
		return clock
	}
	t := &x.tracks[o.object]
	arrives := o.kind == opArrive || o.kind == opEffect || o.kind == opJoin
	if arrives && look { // it may arrive one phase earlier, in place of another arrival
		for _, s := range t.last {
			if !x.knows(clock, s) {
				x.race(s, i, clock)
			}
		}
	}
	if arrives {
		list := t.expects
		if o.count == 0 && o.bytes > 0 { // expect-tx without an arrival
			list = t.steps
		}
		for _, s := range list {
			if look && !x.knows(clock, s) {
				x.race(s, i, clock)
			}
		}
	}
	if o.kind == opLeave {
		f := x.path[i]
		if n := f.before.came[f.actor][x.t.objects[o.object].class]; int(n) < len(t.phases) {
			return join(clock, t.phases[n])
		}
	}
	return join(clock, t.flipped)
}

// after updates the tracks after an operation has run. flipped lists the objects whose phase it
// completed.
func (x *search) after(i int, o *op, flipped, look bool) {
	if o.kind == opIssue {
		return
	}
	t, clock := &x.tracks[o.object], x.path[i].clock
	switch o.kind {
	case opWait:
		t.waits = append(t.waits, i)
	case opArrive, opEffect, opJoin:
		t.arrivals = join(t.arrivals, clock)
		if o.count == 0 && o.bytes > 0 {
			t.expects = append(t.expects, i)
		} else {
			t.steps = append(t.steps, i)
		}
	case opInit:
		t.arrivals = join(t.arrivals, clock)
	}
	if !flipped {
		return
	}
	for _, w := range t.waits {
		if look && !x.knows(t.arrivals, w) {
			x.race(w, i, clock)
		}
		t.arrivals = join(t.arrivals, x.path[w].clock)
	}
	t.last, t.flipped = append(t.steps, t.expects...), join(slices.Clone(t.flipped), t.arrivals)
	if o.kind == opInit {
		t.last = []int{i}
	}
	t.arrivals, t.steps, t.expects, t.waits = nil, nil, nil, nil
	if x.t.objects[o.object].barrier {
		t.phases = append(t.phases, t.flipped)
	}
}

// race schedules an order in which step i runs before step s.
func (x *search) race(s, i int, clock []int32) {
	f, p := x.path[s], x.path[i].actor
	add := func(a int) {
		if !slices.Contains(f.backtrack, a) {
			f.backtrack = append(f.backtrack, a)
		}
	}
	if f.before.enabled(p) {
		add(p)
		return
	}
	for k := s + 1; k < i; k++ {
		if a := x.path[k].actor; a != f.actor && x.knows(clock, k) && f.before.enabled(a) {
			add(a)
			return
		}
	}
	for a := range x.t.actors {
		if f.before.enabled(a) {
			add(a)
		}
	}
}
