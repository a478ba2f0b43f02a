// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package emu

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa/eval"
)

// A Stepper is an Observer that also receives every instruction, before the lanes of the event's
// mask run it. An instruction that waits is reported again when it continues.
type Stepper interface {
	Observer
	Step(*Event, *State)
}

// A State is the state of a warp and its block at an instruction. It is valid only during the call.
type State struct {
	warp *warp
	file *ir.Module
}

// step reports the current instruction to the stepper.
func (g *grid) step(w *warp, mask uint32) {
	e := w.event(EventStep, mask)
	g.state = State{warp: w, file: g.image.module.ir}
	g.stepper.Step(e, &g.state)
}

// Clock returns the number of instructions that the warps of the block have run.
func (s *State) Clock() int64 { return s.warp.block.clock }

// Function returns the function that the current instruction belongs to.
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

// Label returns the nearest label before the current instruction, or nil.
func (s *State) Label() *ir.Label {
	f := s.warp.cur
	return f.frame.program.labels[f.pc]
}

// Register returns the bits of a register of the current function, and its declaration. For a
// vector, it returns the first element.
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

// Shared returns the shared memory of the block, and for each byte 0xff if it is initialized and 0
// otherwise. Offsets are addresses in the shared state space.
func (s *State) Shared() (data, written []byte) {
	r := s.warp.block.shared
	return r.data, r.init
}

// A Symbol is a named part of shared memory.
type Symbol struct {
	Name     string
	At, Size uint64
}

// Symbols returns the shared variables of the block, with dynamic shared memory last.
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
	At                uint64 // address in shared memory
	Phase             uint64 // number of completed phases
	Pending, Expected int64  // arrivals
	Bytes             int64  // expected bytes that have not arrived
}

// Mbarriers returns the mbarriers of the block in order of their addresses.
func (s *State) Mbarriers() []Mbarrier {
	var list []Mbarrier
	for at, p := range s.warp.block.phases {
		list = append(list, Mbarrier{at, p.phase, p.pending, p.expected, p.bytes})
	}
	slices.SortFunc(list, func(a, b Mbarrier) int { return int(int64(a.At) - int64(b.At)) })
	return list
}

// Tensor returns a cell of the block's tensor memory. ok is false if the cell is uninitialized.
func (s *State) Tensor(lane, column int) (bits uint32, ok bool) {
	t := s.warp.block.tensorMemory
	if t == nil || lane < 0 || lane >= tensorLanes || column < 0 || column >= tensorColumns {
		return 0, false
	}
	return t.cells[lane][column], t.known[lane][column] != 0
}

// Observers returns an observer that passes events to several observers.
func Observers(list ...Observer) Observer {
	if len(list) == 1 {
		return list[0]
	}
	return observerList(list)
}

type observerList []Observer

// Observe passes an event to all observers of the list.
func (s observerList) Observe(e *Event) {
	for _, o := range s {
		o.Observe(e)
	}
}

// Step passes an instruction to the observers that are Steppers.
func (s observerList) Step(e *Event, state *State) {
	for _, o := range s {
		if x, ok := o.(Stepper); ok {
			x.Step(e, state)
		}
	}
}

// stepperOf returns a Stepper that calls the steppers among the observers in o, or nil if there
// are none.
func stepperOf(o Observer) Stepper {
	if list, ok := o.(observerList); ok {
		var steps observerList
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

// register returns the register with the given name and its slot, or nil.
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

// nothing decodes instructions whose effects a program cannot observe, such as cache hints. Its
// step does nothing.
func nothing(*decoder) (step, error) {
	return func(*warp, uint32) action { return advance }, nil
}
