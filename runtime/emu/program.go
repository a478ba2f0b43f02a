// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package emu

import (
	"sync"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa/eval"
)

// An action specifies how a warp continues after an instruction.
type action uint8

// How a warp continues.
const (
	advance action = iota // to the next instruction
	moved                 // the fragment has already moved
	parked                // the fragment waits or has exited
	failed                // the block has faulted
)

// A step runs an instruction for the lanes of a mask.
type step func(w *warp, mask uint32) action

// A command is a decoded instruction.
type command struct {
	run    step
	guard  int32 // index of the predicate, or -1
	not    bool  // the guard is negated
	leader bool  // a branch may lead to this instruction, and fragments may reconverge at it
	at     *ir.Instr
	source int32       // index of the line that .loc names, or 0
	meets  *collective // the exchange between lanes at this instruction, or nil
}

// A program is a decoded function.
type program struct {
	fn       *ir.Func
	code     []command
	regs     int // number of vectors in a frame
	preds    int
	local    int // bytes of a lane, including parameters
	epilogue int // index of the last command, where fragments reconverge before they return
	params   []place
	results  []place
	slots    map[*ir.Reg]slot // for steppers
	labels   []*ir.Label      // the nearest label before each command

	once      sync.Once // for undefined
	undefined []*ir.Reg // see undefinedAtStart
}

// A place is the location of a parameter or result of a function: in the local memory of the
// frame, or in registers if it is declared with .reg.
type place struct {
	at, size int
	regs     []ref
}

// A refKind is the kind of a ref.
type refKind uint8

// Kinds of ref.
const (
	refRegister refKind = iota
	refPredicate
	refConstant
	refComputed // a special register or an address that depends on the block
	refSink
)

// A ref is a scalar operand of a decoded instruction.
type ref struct {
	kind     refKind
	not      bool  // a predicate is negated
	index    int32 // index of a register or a predicate
	constant *eval.Vector
	varies   bool   // a constant differs between lanes
	truth    uint32 // lanes of a constant predicate
	compute  func(w *warp, to *eval.Vector)
	holds    func(w *warp) uint32 // evaluates a predicate that is a special register
	bits     int                  // declared width of the register
}

// value returns an operand for all lanes. Scratch is memory for operands that are computed.
func (w *warp) value(r *ref, scratch *eval.Vector) *eval.Vector {
	switch r.kind {
	case refRegister:
		return &w.regs[r.index]
	case refConstant:
		return r.constant
	case refComputed:
		r.compute(w, scratch)
	}
	return scratch
}

// truth returns the mask of lanes for which a predicate operand is true.
func (w *warp) truth(r *ref) uint32 {
	p := r.truth
	switch {
	case r.holds != nil:
		p = r.holds(w)
	case r.kind == refPredicate:
		p = w.preds[r.index]
	}
	if r.not {
		return ^p
	}
	return p
}

// write stores a result for the lanes of a mask.
func (w *warp) write(r *ref, mask uint32, from *eval.Vector) {
	if r.kind != refRegister {
		return
	}
	blend(&w.regs[r.index], from, mask)
}

// writeTruth stores a predicate for the lanes of a mask.
func (w *warp) writeTruth(r *ref, mask, p uint32) {
	if r.kind == refPredicate {
		w.preds[r.index] = w.preds[r.index]&^mask | p&mask
	}
}

// blend copies the elements of the lanes in mask from one vector to another.
func blend(to, from *eval.Vector, mask uint32) {
	if mask == full {
		*to = *from
		return
	}
	for l := range to {
		if mask>>l&1 != 0 {
			to[l] = from[l]
		}
	}
}

// full is the mask of all lanes of a warp.
const full = 1<<eval.Lanes - 1

// splat returns a vector with x in all lanes.
func splat(x uint64) *eval.Vector {
	v := new(eval.Vector)
	for l := range v {
		v[l] = x
	}
	return v
}
