// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package emu

import (
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa/eval"
)

// An action says how a warp goes on after an instruction.
type action uint8

// Actions.
const (
	advance action = iota // to the next instruction
	moved                 // the fragment has another place already
	parked                // the fragment waits or has ended
	failed                // the block has a fault
)

// A step runs an instruction for the lanes of a mask.
type step func(w *warp, mask uint32) action

// A command is a decoded instruction.
type command struct {
	run    step
	guard  int32 // index of the predicate, or -1
	not    bool  // of the guard
	leader bool  // control may come here by a branch, and fragments may join here
	at     *ir.Instr
	source int32       // index of the line that .loc names, or 0
	meets  *collective // what lanes exchange here, nil for nothing
}

// A program is a decoded function.
type program struct {
	fn       *ir.Func
	code     []command
	regs     int // vectors of a frame
	preds    int
	local    int // bytes of a lane, with parameters
	epilogue int // where fragments join before they return; the last command
	params   []place
	results  []place
	slots    map[*ir.Reg]slot // for a stepper
	labels   []*ir.Label      // the nearest one before each command
}

// A place is where a parameter or a result of a function lies: in the frame's local memory, or in
// registers where the declaration says .reg.
type place struct {
	at, size int
	regs     []ref
}

// A refKind says what a ref is.
type refKind uint8

// Kinds of ref.
const (
	refRegister refKind = iota
	refPredicate
	refConstant
	refComputed // a special register or an address that depends on the block
	refSink
)

// A ref is one scalar operand of a decoded instruction.
type ref struct {
	kind     refKind
	not      bool  // of a predicate
	index    int32 // of a register or a predicate
	constant *eval.Vector
	varies   bool   // the constant differs from lane to lane
	truth    uint32 // of a predicate that is a constant
	compute  func(w *warp, to *eval.Vector)
	holds    func(w *warp) uint32 // of a predicate that is a special register
	bits     int                  // of the register, as it was declared
}

// value returns the lanes of an operand. Scratch is memory for those that are computed.
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

// truth returns the lanes for which a predicate operand holds.
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

// blend copies the lanes of a mask.
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

// full is the mask of a whole warp.
const full = 1<<eval.Lanes - 1

// splat returns a vector of one value.
func splat(x uint64) *eval.Vector {
	v := new(eval.Vector)
	for l := range v {
		v[l] = x
	}
	return v
}
