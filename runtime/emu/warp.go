// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package emu

import (
	"fmt"
	"math/bits"

	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/isa/eval"
	"github.com/ptxdsl/ptxdsl/isa/eval/tensorcore"
)

// A warp is 32 lanes. Lanes that diverge form fragments, which run alternately.
type warp struct {
	block *block
	index int    // index in the block
	live  uint32 // lanes that exist and have not exited
	begun uint32 // lanes that exist

	// state of the current fragment
	cur   *fragment
	regs  []eval.Vector
	preds []uint32
	carry uint32 // condition code

	ready   []*fragment // fragments that can run, except cur
	waiting []*fragment // fragments that wait for other fragments
	spins   int         // consecutive strong loads and atomic operations
	steady  int         // instructions since it yielded
	sample  uint64      // signature of a recent state of the warp
	repeats bool        // the warp has returned to the sampled state
	yield   bool        // other warps must run before the current instruction can succeed

	thread      [3]eval.Vector // %tid
	localRegion region         // local memory of all lanes, one after another
	perLane     uint64         // bytes per lane

	frame    eval.Frame
	scratch  [8]eval.Vector
	exchange exchange
	out      [4]eval.Vector
	where    access
	address  eval.Vector
	space    isa.Space   // state space of the addresses; Generic if the lanes access several
	recent   [16]*region // cache, indexed by instruction

	root                   *frame       // frame of the kernel
	spare                  []*frame     // frames to reuse
	copies, bulk           []*operation // operations in flight
	copyGroups, bulkGroups groupCount
	tensorLoads            []*operation           // tcgen05.ld operations in flight
	tensorStores           []*operation           // tcgen05.st operations in flight
	tensorTail             [eval.Lanes]*operation // last tensor-core operation of each lane
	// wgmma operations that no wait has covered, oldest first
	groupJobs  []*groupJob
	groupCount int   // number of wgmma.commit_group
	registers  int   // registers per thread, after setmaxnreg
	requests   []int // numbers of registers of its setmaxnreg instructions
	// number of the collective operation with the peer block at which the warp waits, or 0
	pairSerial int
	matrix     *tensorcore.Frame
	result     [8]eval.Vector
	arrivals   int // arrivals at the cluster barrier
}

// A fragment is a set of lanes of a warp that are at the same instruction.
type fragment struct {
	mask    uint32
	pc      int
	frame   *frame
	joins   *join // reconvergence points, innermost first
	state   waitState
	since   int64 // value of the block's instruction count when it began to wait
	group   wait  // the collective at which it waits
	expired bool  // its wait has timed out
	tried   int   // the mbarrier.try_wait that timed out at once, plus 1
	// the last wait that timed out, for the report of a hang; without a note if a wait has
	// succeeded since
	inVain wait
}

// A frame is a call of a function. The fragments of a call share it, since they have different
// lanes.
type frame struct {
	program *program
	regs    []eval.Vector
	preds   []uint32
	local   uint64 // where the frame's local memory begins
	top     uint64 // where the local memory of a callee begins
	back    int    // return position in the caller
	caller  *frame
	lanes   uint32     // lanes that have not returned
	results []argument // results in the caller

	unwritten *shadow // nil if nothing is marked
}

// A join is a reconvergence point of lanes that diverged before it.
type join struct {
	pc    int
	frame *frame
	all   uint32 // expected lanes
	come  uint32 // waiting lanes
	up    *join
}

// A waitState specifies what a fragment waits for.
type waitState uint8

// What fragments wait for.
const (
	runs waitState = iota
	// waiting for the other lanes, at an instruction that all lanes must execute together
	waitsConverge
	waitsLanes // for the lanes of a mask, at instructions of the same kind
	// For the lanes of a mask, at any instructions that synchronize with each other.
	waitsMembers
	waitsBarrier    // for other warps
	waitsCluster    // for other blocks of the cluster
	waitsPhase      // for an mbarrier
	waitsCompletion // for asynchronous operations
	waitsPool       // for registers
)

// A wait describes the collective instruction at which a fragment waits.
type wait struct {
	mask uint32
	note func() string // text for reports
	met  func() bool   // reports whether the wait is over; nil if another fragment ends the wait
	// the mbarrier whose phase is awaited, or nil
	phase *phaseState
}

// enter makes f the current fragment of the warp.
func (w *warp) enter(f *fragment) {
	w.cur = f
	w.regs, w.preds = f.frame.regs, f.frame.preds
}

// run runs the warp for up to budget instructions, until it cannot continue or yields. It returns
// the number of instructions.
func (w *warp) run(budget int) int {
	n := 0
	for n < budget {
		if w.cur == nil && !w.next() {
			return n
		}
		ran, act := w.burst(min(budget-n, sliceLength))
		n += ran
		if act == failed {
			return n
		}
		if w.spins >= spinsToBreak {
			w.spins = 0
			w.breakJoins()
		}
		if w.yield || act == advance && len(w.ready) > 0 {
			w.rotate()
		}
		if w.yield {
			w.yield, w.steady = false, 0
			return n
		}
	}
	w.steady += n
	return n
}

// spinsToBreak is the number of strong loads and atomic operations after which lanes that wait to
// reconverge continue without the other lanes of the warp. The other lanes may spin until the
// waiting lanes have done something.
const spinsToBreak = 4096

// sliceLength is how many instructions a fragment runs before another fragment of its warp runs.
const sliceLength = 256

// next makes the first ready fragment current. It returns false if no fragment is ready.
func (w *warp) next() bool {
	if len(w.ready) == 0 {
		return false
	}
	f := w.ready[0]
	w.ready = w.ready[:copy(w.ready, w.ready[1:])]
	w.enter(f)
	return true
}

// rotate makes the next ready fragment current, and appends the current one to the ready fragments.
func (w *warp) rotate() {
	if w.cur == nil || len(w.ready) == 0 {
		return
	}
	w.ready = append(w.ready, w.cur)
	w.next()
}

// burst runs the current fragment until it stops or has used its budget. It returns the number of
// instructions and the last action.
func (w *warp) burst(budget int) (n int, last action) {
	f := w.cur
	code := f.frame.program.code
	counted := 0
	stepper, guide, holder := w.block.grid.stepper, w.block.grid.guide, w.block.grid.holder
	for n < budget {
		in := &code[f.pc]
		if in.leader && f.joins != nil && f.joins.pc == f.pc && f.joins.frame == f.frame {
			w.arrive(f)
			if f = w.cur; f == nil {
				break
			}
			code = f.frame.program.code
			continue
		}
		n++
		mask := f.mask
		if in.guard >= 0 {
			p := w.preds[in.guard]
			if in.not {
				p = ^p
			}
			if s := f.frame.unwritten; s != nil && s.preds[in.guard]&mask != 0 {
				if last = w.runGuarded(in, mask&p, s.preds[in.guard]&mask); last != advance {
					break
				}
				f.pc++
				continue
			}
			if mask &= p; mask == 0 {
				f.pc++
				continue
			}
		}
		if guide != nil && !w.allowed(guide, in, mask) || holder != nil && w.held(holder, in) {
			n--
			w.yield, last = true, moved
			break
		}
		counted += bits.OnesCount32(mask)
		if stepper != nil && in.at != nil {
			w.block.clock++
			w.block.grid.step(w, mask)
		}
		if f.frame.unwritten == nil {
			last = in.run(w, mask)
		} else {
			last = w.runMarked(in, mask)
		}
		switch last {
		case advance:
			f.pc++
			if w.yield {
				goto out
			}
		case moved:
			if f = w.cur; f == nil {
				goto out
			}
			code = f.frame.program.code
		default:
			goto out
		}
	}
out:
	w.block.executed += int64(n)
	w.block.threadInstructions += int64(counted)
	return n, last
}

// arrive handles a fragment that reaches its innermost join. The last one continues with all lanes.
func (w *warp) arrive(f *fragment) {
	j := f.joins
	j.come |= f.mask
	if j.come == j.all {
		f.mask, f.joins = j.all, j.up
		return
	}
	w.cur = nil
}

// release resumes the lanes that wait at j.
func (w *warp) release(j *join) {
	f := &fragment{mask: j.come, pc: j.pc, frame: j.frame, joins: j.up}
	j.all &^= j.come
	j.come = 0
	w.ready = append(w.ready, f)
}

// leave removes lanes from the joins that they will no longer reach: from j outward to the join
// end, which keeps them. If all remaining lanes of a join already wait at it, they continue.
func (w *warp) leave(lanes uint32, j, end *join) {
	for ; j != end && j != nil; j = j.up {
		j.all &^= lanes
		if j.come != 0 && j.come == j.all {
			w.release(j)
		}
	}
}

// end ends lanes of the current fragment.
func (w *warp) end(lanes uint32) action {
	f := w.cur
	w.tell(EventExit, lanes, nil)
	w.live &^= lanes
	f.mask &^= lanes
	w.leave(lanes, f.joins, nil)
	act := moved
	if f.mask == 0 {
		w.cur = nil
		act = parked
	} else {
		f.pc++
	}
	w.recheck()
	w.block.lanesEnded(w)
	return act
}

// split moves some lanes of the current fragment to a new fragment at another command. The lanes
// reconverge at command meet, unless meet is negative or the device scatters lanes.
func (w *warp) split(lanes uint32, to, meet int) {
	f := w.cur
	if meet >= 0 && !w.block.grid.device.options.Scattered &&
		!(f.joins != nil && f.joins.pc == meet && f.joins.frame == f.frame) {
		f.joins = &join{pc: meet, frame: f.frame, all: f.mask, up: f.joins}
	}
	f.mask &^= lanes
	w.ready = append(w.ready, &fragment{mask: lanes, pc: to, frame: f.frame, joins: f.joins})
}

// park makes the current fragment wait in the given state.
func (w *warp) park(state waitState, group wait) action {
	f := w.cur
	f.state, f.group, f.since = state, group, w.block.executed
	w.waiting = append(w.waiting, f)
	w.cur = nil
	return parked
}

// wake resumes a fragment.
func (w *warp) wake(f *fragment) {
	for i, x := range w.waiting {
		if x == f {
			w.waiting = append(w.waiting[:i], w.waiting[i+1:]...)
			break
		}
	}
	f.state, f.group, f.inVain = runs, wait{}, wait{}
	w.ready = append(w.ready, f)
}

// fault ends the block with a message about a lane, or about the warp if lane is negative.
func (w *warp) fault(lane int, notes []string, format string, args ...any) action {
	f := w.describe(w.cur, lane)
	f.Message, f.Notes = fmt.Sprintf(format, args...), notes
	w.block.fail(f)
	return failed
}

// describe returns a fault with the position of a fragment and a lane, but without a message.
func (w *warp) describe(f *fragment, lane int) *Fault {
	e := &Fault{Kernel: w.block.grid.image.entry.Name, Block: w.block.id, Warp: w.index, Lane: lane}
	if lane >= 0 {
		for i := range e.Thread {
			e.Thread[i] = uint32(w.thread[i][lane])
		}
	}
	if f != nil && f.pc < len(f.frame.program.code) {
		w.locateFault(e, &f.frame.program.code[f.pc])
	}
	return e
}

// describeAt returns a fault with the position of a command, but without a message.
func (w *warp) describeAt(in *command, lane int) *Fault {
	e := w.describe(nil, lane)
	w.locateFault(e, in)
	return e
}

// faultAt returns a fault of an operation that a command issued.
func (w *warp) faultAt(in *command, format string, args ...any) *Fault {
	e := w.describeAt(in, -1)
	e.Message = fmt.Sprintf(format, args...)
	return e
}

// locateFault adds the position of a command to a fault.
func (w *warp) locateFault(e *Fault, in *command) {
	if in.at != nil {
		e.Opcode = in.at.Op
		e.Place, _ = w.block.grid.image.module.ir.At(in.at.Pos)
	}
	e.Source = w.block.grid.image.module.lines[in.source]
}
