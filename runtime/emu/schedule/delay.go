// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"fmt"
	"math/bits"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime/emu"
)

// A Point is an access to memory through which threads may synchronize: the nth execution of an
// instruction by a warp.
type Point struct {
	at  site
	nth int
}

// A site is an instruction of a warp.
type site struct {
	block, warp uint32
	instr       *ir.Instr
}

// Together reports whether both points are accesses of one warp.
func (p Point) Together(q Point) bool {
	return p.at.block == q.at.block && p.at.warp == q.at.warp
}

// String describes the point for a message.
func (p Point) String() string {
	return fmt.Sprintf("warp %d of block %d before execution %d of %s", p.at.warp, p.at.block,
		p.nth+1, p.at.instr.Op)
}

// Points is an Observer that collects the points of a launch. Of a loop, it keeps the first
// executions only.
type Points struct {
	Truncated bool // later executions of loops were dropped

	counts    map[site]int
	list      []candidate
	locations map[emu.Address]*location
}

// A candidate is a point with the addresses of its lanes.
type candidate struct {
	Point
	locations []*location
}

// A location is a location in memory.
type location struct {
	by     site // a warp that accessed it
	shared bool // accessed by other warps
	stored bool
	read   bool // not by reductions only, whose order does not matter
}

// maxExecutions is how many executions of an instruction by a warp are points.
const maxExecutions = 3

// Observe handles an event.
func (p *Points) Observe(e *emu.Event) {
	if e.Kind == emu.EventBegin {
		*p = Points{counts: map[site]int{}, locations: map[emu.Address]*location{}}
	}
	if !synchronizes(e) {
		return
	}
	at := site{e.Block, e.Warp, e.Instr}
	n := p.counts[at]
	p.counts[at]++
	if n >= maxExecutions {
		p.Truncated = true
		return
	}
	c := candidate{Point: Point{at, n}}
	for m := e.Mask; m != 0; m &= m - 1 {
		a := e.At[bits.TrailingZeros32(m)]
		x := p.locations[a]
		if x == nil {
			x = &location{by: at}
			p.locations[a] = x
		}
		x.shared = x.shared || x.by.block != at.block || x.by.warp != at.warp
		x.stored = x.stored || e.Kind != emu.EventRead
		x.read = x.read || e.Kind != emu.EventWrite && e.Instr.Kind() != isa.KindRed
		c.locations = append(c.locations, x)
	}
	p.list = append(p.list, c)
}

// List returns the points at locations that several warps access, and that are both read and stored
// to, in the order of the launch.
func (p *Points) List() (list []Point) {
	for _, c := range p.list {
		for _, x := range c.locations {
			if x.shared && x.stored && x.read {
				list = append(list, c.Point)
				break
			}
		}
	}
	return list
}

// synchronizes reports whether an event is an access by which threads may synchronize: a strong or
// a volatile one, or an atomic operation.
func synchronizes(e *emu.Event) bool {
	if e.Operation != 0 || e.Instr == nil {
		return false
	}
	switch e.Kind {
	case emu.EventAtomic:
		return true
	case emu.EventRead, emu.EventWrite:
		return e.Order > isa.Weak
	}
	return false
}

// Delays is an Observer that delays warps at points. Each warp waits at its point until no other
// thread can make progress. Then the warp of the first of Points continues, and so on.
type Delays struct {
	Points []Point

	counts map[site]int
	next   int // Points[:next] were released
}

// Observe counts the executions of instructions.
func (d *Delays) Observe(e *emu.Event) {
	if e.Kind == emu.EventBegin {
		d.counts, d.next = map[site]int{}, 0
	}
	if synchronizes(e) {
		d.counts[site{e.Block, e.Warp, e.Instr}]++
	}
}

// Holds reports whether a warp must wait before an instruction.
func (d *Delays) Holds(block, warp uint32, in *ir.Instr) bool {
	for _, p := range d.Points[d.next:] {
		if p.at.instr == in && p.at.block == block && p.at.warp == warp &&
			d.counts[p.at] == p.nth {
			return true
		}
	}
	return false
}

// Release lets the warp of the next point continue. It reports whether one was held.
func (d *Delays) Release() bool {
	if d.next == len(d.Points) {
		return false
	}
	d.next++
	return true
}
