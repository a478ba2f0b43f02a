// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package emu

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa/eval"
)

// A Stepper is an Observer that is also shown every instruction, before the lanes of the event's
// mask run it. An instruction that waits is shown again when it goes on.
type Stepper interface {
	Observer
	Step(*Event, *State)
}

// A State is the state of a warp and its block at an instruction. It is valid during the call.
type State struct {
	warp *warp
	file *ir.Module
}

// step shows the instruction at hand.
func (g *grid) step(w *warp, mask uint32) {
	e := w.event(EventStep, mask)
	g.state = State{warp: w, file: g.image.module.ir}
	g.stepper.Step(e, &g.state)
}

// Clock returns the instructions that the warps of the block have run.
func (s *State) Clock() int64 { return s.warp.block.clock }

// Function returns the function that runs.
func (s *State) Function() *ir.Func { return s.warp.cur.frame.program.fn }

// BlockID returns %ctaid.
func (s *State) BlockID() [3]uint32 { return s.warp.block.id }

// Thread returns %tid of a lane.
func (s *State) Thread(lane int) (tid [3]uint32) {
	for i := range tid {
		tid[i] = uint32(s.warp.thread[i][lane])
	}
	return tid
}

// Label returns the label of the place that the instruction follows, the nearest one before it.
func (s *State) Label() *ir.Label {
	f := s.warp.cur
	return f.frame.program.labels[f.pc]
}

// Register returns the bits of a register of the function that runs, and its declaration. Of a
// vector it returns the first element.
func (s *State) Register(name string, lane int) (bits uint64, r *ir.Reg, ok bool) {
	r, slot := s.warp.cur.frame.program.register(name)
	if r == nil {
		return 0, nil, false
	}
	if slot.pred {
		return uint64(s.warp.preds[slot.index] >> lane & 1), r, true
	}
	return s.warp.regs[slot.index][lane], r, true
}

// Shared returns the shared memory of the block, and for each byte whether it was written: 0xff or
// 0. Offsets are those of addresses in the state space.
func (s *State) Shared() (data, written []byte) {
	r := s.warp.block.shared
	return r.data, r.init
}

// A Symbol is a named part of shared memory.
type Symbol struct {
	Name     string
	At, Size uint64
}

// Symbols returns the shared variables of the block, the dynamic part last.
func (s *State) Symbols() []Symbol {
	g := s.warp.block.grid
	var list []Symbol
	for _, x := range g.image.sharedSymbols {
		list = append(list, Symbol{x.name, x.at, x.size})
	}
	for v, at := range g.image.shared {
		if v.Size() == 0 {
			list = append(list, Symbol{v.Name, at, uint64(len(s.warp.block.shared.data)) - at})
		}
	}
	slices.SortStableFunc(list, func(a, b Symbol) int {
		return int(int64(a.At) - int64(b.At))
	})
	return list
}

// An Mbarrier is the state of an mbarrier.
type Mbarrier struct {
	At                uint64 // in shared memory
	Phase             uint64 // phases that are complete
	Pending, Expected int64  // arrivals
	Bytes             int64  // that were announced and have not come
}

// Mbarriers returns the mbarriers of the block by their addresses.
func (s *State) Mbarriers() []Mbarrier {
	var list []Mbarrier
	for at, p := range s.warp.block.phases {
		list = append(list, Mbarrier{at, p.phase, p.pending, p.expected, p.bytes})
	}
	slices.SortFunc(list, func(a, b Mbarrier) int { return int(int64(a.At) - int64(b.At)) })
	return list
}

// Tensor returns a cell of the block's tensor memory; ok is false where it was never written.
func (s *State) Tensor(lane, column int) (bits uint32, ok bool) {
	t := s.warp.block.tensorMemory
	if t == nil || lane < 0 || lane >= tensorLanes || column < 0 || column >= tensorColumns {
		return 0, false
	}
	return t.cells[lane][column], t.known[lane][column] != 0
}

// Observers returns an observer that shows events to several.
func Observers(list ...Observer) Observer {
	if len(list) == 1 {
		return list[0]
	}
	return several(list)
}

type several []Observer

// Observe shows an event to all.
func (s several) Observe(e *Event) {
	for _, o := range s {
		o.Observe(e)
	}
}

// Step shows an instruction to those that step.
func (s several) Step(e *Event, state *State) {
	for _, o := range s {
		if x, ok := o.(Stepper); ok {
			x.Step(e, state)
		}
	}
}

// stepperOf returns what o shows instructions to, nil where nobody wants them.
func stepperOf(o Observer) Stepper {
	if list, ok := o.(several); ok {
		var steps several
		for _, x := range list {
			if _, ok := x.(Stepper); ok {
				steps = append(steps, x)
			}
		}
		if len(steps) == 0 {
			return nil
		}
		return steps
	}
	s, _ := o.(Stepper)
	return s
}

// register finds a register by its name.
func (p *program) register(name string) (*ir.Reg, slot) {
	for _, r := range p.fn.Regs {
		if r.Name == name {
			return r, p.slots[r]
		}
	}
	return nil, slot{}
}

// Lanes is the number of lanes of a warp.
const Lanes = eval.Lanes
