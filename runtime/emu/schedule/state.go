// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"encoding/binary"
	"fmt"
	"hash/maphash"
)

// A cell is the state of an object.
type cell struct {
	phase, pending, expected int32
	bytes                    int64
	valid                    bool
}

// A state holds the progress of all actors and the states of all objects.
type state struct {
	t     *Trace
	at    []int32 // next operation of each actor, or -1 for an asynchronous one that is not issued
	cells []cell
	came  [][3]int32 // phases of the barriers that an actor joined last, by class
	left  int        // remaining operations of threads
}

// start returns the state before the launch.
func (t *Trace) start() *state {
	s := &state{t: t, at: make([]int32, len(t.actors)), cells: make([]cell, len(t.objects)),
		came: make([][3]int32, len(t.actors))}
	for i := range t.actors {
		if t.actors[i].async {
			s.at[i] = -1
		} else {
			s.left += len(t.actors[i].ops)
		}
	}
	return s
}

// next returns the next operation of an actor, or nil.
func (s *state) next(a int) *op {
	x := &s.t.actors[a]
	if i := s.at[a]; i >= 0 && int(i) < len(x.ops) {
		return &x.ops[i]
	}
	return nil
}

// enabled reports whether an actor can run its next operation.
func (s *state) enabled(a int) bool {
	o := s.next(a)
	if o == nil {
		return false
	}
	switch o.kind {
	case opWait: // by parity
		return (s.cells[o.object].phase^o.phase)&1 == 0
	case opLeave:
		return s.cells[o.object].phase > s.came[a][s.t.objects[o.object].class]
	case opEffect:
		b := s.t.actors[a].before
		return b < 0 || s.at[b] > 0
	}
	return true
}

// A Kind is a kind of violation.
type Kind string

// Kinds of violations.
const (
	Deadlock      Kind = "deadlock"
	MissedArrival Kind = "missed arrival"
	Lap           Kind = "lap"
	OverArrival   Kind = "over-arrival"
)

// step runs the next operation of an actor. The result flipped lists the objects whose phase ended.
func (s *state) step(a int, flipped []int32) (Kind, []int32) {
	o := s.next(a)
	s.at[a]++
	if !s.t.actors[a].async {
		s.left--
	}
	c := &s.cells[o.object]
	switch o.kind {
	case opInit:
		*c = cell{pending: o.count, expected: o.count, valid: true}
		return "", append(flipped, o.object)
	case opInval:
		c.valid = false
	case opWait:
		if c.phase != o.phase {
			return Lap, flipped
		}
	case opArrive:
		c.expected -= o.drops
		return s.signal(o, flipped)
	case opJoin:
		x := &s.t.objects[o.object]
		s.came[a][x.class] = c.phase
		c.pending += o.count
		if int(c.phase) < len(x.want) && c.pending >= x.want[c.phase] {
			c.pending -= x.want[c.phase]
			c.phase++
			return "", append(flipped, o.object)
		}
	case opIssue:
		for _, i := range o.issues {
			s.at[i] = 0
		}
	case opEffect:
		for i := range o.effects {
			kind, f := s.signal(&o.effects[i], flipped)
			if flipped = f; kind != "" {
				return kind, flipped
			}
		}
	}
	return "", flipped
}

// signal counts arrivals and bytes at an mbarrier.
func (s *state) signal(o *op, flipped []int32) (Kind, []int32) {
	c := &s.cells[o.object]
	c.bytes += o.bytes
	if o.count > c.pending {
		return OverArrival, flipped
	}
	c.pending -= o.count
	if c.pending == 0 && c.bytes == 0 && (o.count > 0 || o.bytes < 0) {
		c.phase++
		c.pending = c.expected
		return "", append(flipped, o.object)
	}
	return "", flipped
}

// hash returns a hash of the state.
func (s *state) hash(seed maphash.Seed) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	var b [20]byte
	for _, x := range s.at {
		binary.LittleEndian.PutUint32(b[:], uint32(x))
		h.Write(b[:4])
	}
	for _, x := range s.came {
		binary.LittleEndian.PutUint32(b[:], uint32(x[1]))
		binary.LittleEndian.PutUint32(b[4:], uint32(x[2]))
		h.Write(b[:8])
	}
	for i := range s.cells {
		c := &s.cells[i]
		binary.LittleEndian.PutUint32(b[:], uint32(c.phase))
		binary.LittleEndian.PutUint32(b[4:], uint32(c.pending))
		binary.LittleEndian.PutUint32(b[8:], uint32(c.expected))
		binary.LittleEndian.PutUint64(b[12:], uint64(c.bytes))
		h.Write(b[:])
	}
	return h.Sum64()
}

// clone returns a copy of the state, which can be modified.
func (s *state) clone() *state {
	x := *s
	x.at = append([]int32(nil), s.at...)
	x.cells = append([]cell(nil), s.cells...)
	x.came = append([][3]int32(nil), s.came...)
	return &x
}

// done reports whether all threads have ended.
func (s *state) done() bool { return s.left == 0 }

// stuck describes a state in which no actor can run, and what the threads wait for.
func (s *state) stuck() (Kind, []string) {
	kind := Deadlock
	var notes []string
	for a := range s.t.actors[:s.t.threads] {
		o := s.next(a)
		if o == nil {
			continue
		}
		c, x := &s.cells[o.object], &s.t.objects[o.object]
		note := fmt.Sprintf("%s: %s: waits for phase %d of %s", s.t.actors[a].name(), s.t.place(o),
			o.phase, x.name)
		switch {
		case x.barrier:
			note += fmt.Sprintf("; %d threads arrived", c.pending)
		case c.phase >= o.phase:
			kind = Lap
			note += fmt.Sprintf(", which is complete: the mbarrier is in phase %d", c.phase)
		default:
			note += fmt.Sprintf("; %d of %d arrivals and %d bytes are pending in phase %d",
				c.pending, c.expected, c.bytes, c.phase)
			if kind != Lap && !s.arrives(o.object) {
				kind = MissedArrival
			}
		}
		notes = append(notes, note)
	}
	return kind, notes
}

// arrives reports whether an actor still has arrivals to make at an mbarrier.
func (s *state) arrives(object int32) bool {
	for a := range s.t.actors {
		x := &s.t.actors[a]
		for i := max(0, s.at[a]); int(i) < len(x.ops); i++ {
			o := &x.ops[i]
			if o.kind == opArrive && o.object == object {
				return true
			}
			for k := range o.effects {
				if o.effects[k].object == object {
					return true
				}
			}
		}
	}
	return false
}

// name returns the name of an actor in reports and witnesses, such as 0.4.0 for lane 0 of warp 4 of
// block 0.
func (a *actor) name() string {
	if a.async {
		return fmt.Sprintf("block %d, warp %d, lane %d, operation %d", a.block, a.warp, a.lane,
			a.nth)
	}
	return fmt.Sprintf("block %d, warp %d, lanes %08x", a.block, a.warp, a.lanes)
}
