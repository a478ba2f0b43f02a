// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package unchecked lists the hazards of a kernel that no analyzer checks, so that the verdict on
// the kernel is incomplete and not clean. It reports no findings.
package unchecked

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
	"github.com/ptxdsl/ptxdsl/passes/analysis/uniform"
	"github.com/ptxdsl/ptxdsl/passes/analysis/value"
	"github.com/ptxdsl/ptxdsl/passes/verify"
)

// The hazards, as verify prints them after "not checked: ".
const (
	globalOrder  = "order of global-memory accesses between threads and blocks"
	sharedBounds = "bounds and initialization of shared memory, and lanes that store to one address"
	volatile     = "volatile accesses of shared memory"
	sharedOrder  = "ordering by relaxed, acquire and release accesses to shared memory"
	memberMask   = "member masks of warp-wide instructions under data-dependent branches"
)

// Analyzer is the analyzer for hazards that no other analyzer checks.
var Analyzer = &verify.Analyzer{
	Name: "unchecked",
	Doc: `Unchecked lists the properties of a kernel that no analyzer decides: the order of accesses to
global memory if the kernel writes it or waits for a flag there, bounds and initialization of
shared memory, volatile and ordered accesses to shared memory, and member masks of warp-wide
instructions that only some lanes may reach.`,
	Flow: true,
	Run:  run,
}

func run(p *verify.Pass) {
	for _, b := range p.Func.Blocks {
		for _, in := range b.Instrs {
			if in.Directive() {
				continue
			}
			if accessesShared(p, in) {
				p.Unchecked(sharedBounds)
				recordOrdering(p, in)
			}
			if writesGlobal(in) || readsGlobalFlag(in) {
				p.Unchecked(globalOrder)
			}
		}
	}
	if hasUndecidedLanes(p) {
		p.Unchecked(memberMask)
	}
}

// recordOrdering records a load or store of shared memory whose memory ordering no rule checks.
func recordOrdering(p *verify.Pass, in *ir.Instr) {
	switch head := in.Kind().Head(); {
	case head != isa.HeadLd && head != isa.HeadSt:
	case in.HasMod(isa.ModVolatile):
		p.Unchecked(volatile)
	case hasOrdering(in):
		p.Unchecked(sharedOrder)
	}
}

// hasOrdering reports whether a load or store has relaxed, acquire, release or mmio semantics.
func hasOrdering(in *ir.Instr) bool {
	return in.HasMod(isa.ModRelaxed, isa.ModAcquire, isa.ModRelease, isa.ModMMIO)
}

// hasUndecidedLanes reports whether lanes of a warp may diverge on an unknown condition before a
// warp-wide instruction.
func hasUndecidedLanes(p *verify.Pass) bool {
	if len(p.Traces) == 0 {
		return hasUndecidedFlow(p)
	}
	for _, t := range p.Traces {
		for i := range t.Events {
			e := &t.Events[i]
			if isWarpWide(e.In) && isUndecided(e) {
				return true
			}
		}
	}
	return false
}

// isUndecided reports whether it is unknown which lanes execute an event together: the lanes
// diverged on an unknown condition, the guard is unknown, or the lanes diverged and the member
// mask is unknown.
func isUndecided(e *trace.Event) bool {
	if e.Guard != nil && e.Guard.Level() > value.Warp && !e.Guard.Tid() {
		return true
	}
	known := e.In.Kind() != isa.KindActivemask && hasKnownMask(e)
	return slices.ContainsFunc(e.Parted, func(c trace.Choice) bool {
		return c.Maybe || c.Splits && !known
	})
}

// hasKnownMask reports whether the member mask, the last operand, is a known value.
func hasKnownMask(e *trace.Event) bool {
	n := len(e.In.Args) - 1
	if n < 0 {
		return false
	}
	if e.In.Args[n].Kind == ir.Int {
		return true
	}
	v := verify.Val(e, n)
	return v != nil && (v.Const() || v.Tid())
}

// hasUndecidedFlow returns the same as hasUndecidedLanes for a kernel without traces. It uses the
// uniformity of branch conditions.
func hasUndecidedFlow(p *verify.Pass) bool {
	for _, b := range p.Func.Blocks {
		for _, in := range b.Instrs {
			if isWarpWide(in) && p.Uniform().At(in) < uniform.Warp {
				return true
			}
		}
	}
	return false
}

// isWarpWide reports whether the lanes of a warp execute an instruction together, as its member
// mask specifies.
func isWarpWide(in *ir.Instr) bool {
	switch in.Kind() {
	case isa.KindShfl, isa.KindVote, isa.KindMatch, isa.KindRedux, isa.KindElect:
		return in.HasMod(isa.ModSync)
	case isa.KindBarWarpSync, isa.KindActivemask:
		return true
	}
	return false
}

// accessHeads holds the opcodes with which a thread accesses memory.
var accessHeads = map[isa.Head]bool{isa.HeadLd: true, isa.HeadSt: true, isa.HeadAtom: true,
	isa.HeadRed: true, isa.HeadLdu: true}

// accessesShared reports whether an instruction may read or write shared memory.
func accessesShared(p *verify.Pass, in *ir.Instr) bool {
	switch head := in.Kind().Head(); {
	case accessHeads[head]:
		space := in.Space().Base()
		return space == isa.Shared || space == isa.Generic && p.Generic
	case head == isa.HeadLdmatrix, head == isa.HeadStmatrix:
		return true
	case head == isa.HeadCp:
		return in.NamesShared()
	case head == isa.HeadWgmma:
		return in.Kind() == isa.KindWgmmaMmaAsync
	case head == isa.HeadTcgen05:
		return trace.Of(in) == trace.TensorMultiply || trace.Of(in) == trace.TensorCopy
	}
	return false
}

// writesGlobal reports whether an instruction may write global memory.
func writesGlobal(in *ir.Instr) bool {
	switch in.Kind().Head() {
	case isa.HeadSt, isa.HeadAtom, isa.HeadRed:
		space := in.Space().Base()
		return space == isa.Global || space == isa.Generic
	case isa.HeadCp:
		return trace.Of(in) == trace.BulkStore
	case isa.HeadMultimem, isa.HeadSust, isa.HeadSured, isa.HeadCall, isa.HeadTensormap:
		return true
	}
	return false
}

// readsGlobalFlag reports whether an instruction reads global memory with memory ordering, for
// example to wait for a flag.
func readsGlobalFlag(in *ir.Instr) bool {
	space := in.Space().Base()
	return in.Kind() == isa.KindLd && (space == isa.Global || space == isa.Generic) &&
		(in.HasMod(isa.ModVolatile) || hasOrdering(in))
}
