// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"fmt"
	"hash/maphash"
)

// An actor is a set of lanes of a warp that run the same operations, or an asynchronous operation.
type actor struct {
	laneKey
	lanes  uint32
	ops    []op
	async  bool
	nth    int   // number of earlier asynchronous operations of its thread
	before int32 // actor that must complete first, or -1
}

// A Trace is the synchronization of a launch.
type Trace struct {
	actors  []actor
	objects []object
	threads int // number of actors that are threads
	place   func(o *op) string

	flags     bool // threads read flags in memory, which the search does not follow
	truncated bool // the launch has too many synchronizations to record
}

// Trace returns the recorded trace.
func (r *Recorder) Trace() *Trace {
	t := &Trace{objects: r.objects, flags: len(r.flags.List()) > 0, truncated: r.full}
	t.place = func(o *op) string {
		if o.instr == nil {
			return ""
		}
		return fmt.Sprintf("line %d: %s", r.launch.Place(o.instr).Line, o.instr.Op)
	}
	for _, x := range r.order {
		x.ops = r.withoutUnsignalled(x.ops)
	}
	r.merge(t)
	for i := range t.actors {
		t.actors[i].ops = r.withoutSingleActor(t.actors[i].ops)
	}
	t.threads = len(t.actors)
	r.operations(t)
	return t
}

// withoutUnsignalled returns ops without the issues of operations that signal no mbarrier.
func (r *Recorder) withoutUnsignalled(ops []op) []op {
	kept := ops[:0]
	for _, x := range ops {
		if x.kind == opIssue && len(r.issued[x.count].effects) == 0 {
			continue
		}
		if x.kind == opIssue {
			x.issues = []int32{x.count}
			x.count = 0
		}
		kept = append(kept, x)
	}
	return kept
}

// withoutSingleActor returns ops without synchronizations among lanes that all belong to one actor.
func (r *Recorder) withoutSingleActor(ops []op) []op {
	kept := ops[:0]
	met := int32(-1)
	for _, x := range ops {
		if o := &r.objects[x.object]; x.kind == opJoin && o.lanes && x.count == o.want[0] {
			met = x.object
			continue
		}
		if x.kind == opLeave && x.object == met {
			continue
		}
		kept = append(kept, x)
	}
	return kept
}

// merge combines the lanes of a warp that run the same operations into actors.
func (r *Recorder) merge(t *Trace) {
	type group struct {
		block, warp uint32
		hash        uint64
	}
	index := make(map[group]int)
	seed := maphash.MakeSeed()
	for _, x := range r.order {
		var h maphash.Hash
		h.SetSeed(seed)
		for i := range x.ops {
			o := &x.ops[i]
			fmt.Fprintf(&h, "%d %d %d %d %d %p;", o.kind, o.object, o.count, o.bytes, o.phase,
				o.instr)
			for _, k := range o.issues {
				for _, e := range r.issued[k].effects {
					fmt.Fprintf(&h, "%d %d %d,", e.object, e.count, e.bytes)
				}
			}
		}
		g := group{x.block, x.warp, h.Sum64()}
		i, ok := index[g]
		if !ok {
			index[g] = len(t.actors)
			t.actors = append(t.actors,
				actor{laneKey: x.laneKey, lanes: 1 << x.lane, ops: x.ops, before: -1})
			continue
		}
		a := &t.actors[i]
		a.lanes |= 1 << x.lane
		for k := range a.ops {
			o, y := &a.ops[k], &x.ops[k]
			o.issues = append(o.issues, y.issues...)
			if o.kind == opArrive || o.kind == opJoin {
				o.count, o.bytes, o.drops = o.count+y.count, o.bytes+y.bytes, o.drops+y.drops
			}
		}
	}
}

// operations adds an actor for each asynchronous operation that signals an mbarrier.
func (r *Recorder) operations(t *Trace) {
	last := make(map[laneKey]int32)
	nth := make(map[laneKey]int)
	for _, a := range r.issued {
		n := nth[a.by]
		nth[a.by]++
		if len(a.effects) == 0 {
			continue
		}
		x := actor{laneKey: a.by, lanes: 1 << a.by.lane, async: true, nth: n, before: -1}
		x.ops = []op{
			{kind: opEffect, effects: a.effects, object: a.effects[0].object, instr: a.instr}}
		a.index = int32(len(t.actors))
		if a.ordered {
			if b, ok := last[a.by]; ok {
				x.before = b
			}
			last[a.by] = a.index
		}
		t.actors = append(t.actors, x)
	}
	for i := range t.actors[:t.threads] {
		for k := range t.actors[i].ops {
			o := &t.actors[i].ops[k]
			for j, n := range o.issues {
				o.issues[j] = r.issued[n].index
			}
		}
	}
}
