// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package unchecked names the hazards of a kernel that no analyzer decides, so that the kernel is
// reported as incomplete and not as clean. It reports no findings.
package unchecked

import (
	"slices"
	"strings"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
	"github.com/ptxdsl/ptxdsl/passes/analysis/uniform"
	"github.com/ptxdsl/ptxdsl/passes/analysis/value"
	"github.com/ptxdsl/ptxdsl/passes/verify"
)

// The reasons, as the verdict line prints them after "not checked: ".
const (
	globalOrder  = "order of global-memory accesses between threads and blocks"
	sharedBounds = "bounds and initialization of shared memory, and lanes that store to one address"
	volatile     = "volatile accesses of shared memory"
	sharedOrder  = "order that relaxed, acquire and release accesses of shared memory make"
	memberMask   = "member masks of warp-wide instructions under data-dependent branches"
)

// Analyzer returns the analyzer.
func Analyzer() *verify.Analyzer {
	return &verify.Analyzer{
		Name: "unchecked",
		Doc: `Unchecked names what no analyzer decides of a kernel: the order of accesses to global memory
if the kernel writes any or waits for a flag there, bounds and initialization of shared memory,
volatile and ordered accesses of shared memory, and member masks of warp-wide instructions that only
some lanes may reach.`,
		Flow: true,
		Run:  run,
	}
}

func run(p *verify.Pass) {
	for _, b := range p.Func.Blocks {
		for _, in := range b.Instrs {
			if in.Directive() {
				continue
			}
			if sharedAccess(p, in) {
				p.Unchecked(sharedBounds)
				ordering(p, in)
			}
			if globalWrite(in) || globalFlag(in) {
				p.Unchecked(globalOrder)
			}
		}
	}
	if undecidedLanes(p) {
		p.Unchecked(memberMask)
	}
}

// ordering returns the memory ordering of a load or store of shared memory.
func ordering(p *verify.Pass, in *ir.Instr) {
	switch head := in.Head(); {
	case head != "ld" && head != "st":
	case in.Mod("volatile"):
		p.Unchecked(volatile)
	case ordered(in):
		p.Unchecked(sharedOrder)
	}
}

// ordered reports whether a load or store has memory semantics other than weak.
func ordered(in *ir.Instr) bool {
	return in.Mod("relaxed") || in.Mod("acquire") || in.Mod("release") || in.Mod("mmio")
}

// undecidedLanes reports whether lanes of a warp may diverge on an unknown condition before a
// warp-wide instruction.
func undecidedLanes(p *verify.Pass) bool {
	if len(p.Traces) == 0 {
		return undecidedFlow(p)
	}
	for _, t := range p.Traces {
		for i := range t.Events {
			e := &t.Events[i]
			if warpWide(e.In) && undecided(e) {
				return true
			}
		}
	}
	return false
}

// undecided reports whether it is unknown which lanes execute an event together: they diverged on
// an unknown condition, the guard is unknown, or they diverged and the member mask is unknown.
func undecided(e *trace.Event) bool {
	if e.Guard != nil && e.Guard.Level() > value.Warp && !e.Guard.Tid() {
		return true
	}
	known := e.In.Head() != "activemask" && knownMask(e)
	return slices.ContainsFunc(e.Parted, func(c trace.Choice) bool {
		return c.Maybe || c.Splits && !known
	})
}

// knownMask reports whether the member mask, the last operand, is a known value.
func knownMask(e *trace.Event) bool {
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

// undecidedFlow is undecidedLanes for a kernel that was not followed.
func undecidedFlow(p *verify.Pass) bool {
	var levels *uniform.Levels // computed for the first warp-wide instruction
	for _, b := range p.Func.Blocks {
		for _, in := range b.Instrs {
			if !warpWide(in) {
				continue
			}
			if levels == nil {
				levels = uniform.Of(p.Flow)
			}
			if levels.At(in) < uniform.Warp {
				return true
			}
		}
	}
	return false
}

// warpWide reports whether an instruction names the lanes that execute it together.
func warpWide(in *ir.Instr) bool {
	switch in.Head() {
	case "shfl", "vote", "match", "redux", "elect":
		return in.Mod("sync")
	case "bar":
		return in.Mod("warp")
	case "activemask":
		return true
	}
	return false
}

// accesses are the opcodes with which a thread accesses memory.
var accesses = map[string]bool{"ld": true, "st": true, "atom": true, "red": true, "ldu": true}

// sharedAccess reports whether an instruction may read or write shared memory.
func sharedAccess(p *verify.Pass, in *ir.Instr) bool {
	switch head := in.Head(); {
	case accesses[head]:
		space := spaceOf(in)
		return space == isa.Shared || space == isa.Generic && p.Generic
	case head == "ldmatrix", head == "stmatrix":
		return true
	case head == "cp":
		return strings.Contains(in.Op, ".shared")
	case head == "wgmma":
		return in.Mod("mma_async")
	case head == "tcgen05":
		return in.Mod("mma") || in.Mod("cp")
	}
	return false
}

// globalWrite reports whether an instruction may write global memory.
func globalWrite(in *ir.Instr) bool {
	switch in.Head() {
	case "st", "atom", "red":
		space := spaceOf(in)
		return space == isa.Global || space == isa.Generic
	case "cp":
		return in.Mod("bulk") && strings.Contains(in.Op, ".global.shared::cta")
	case "multimem", "sust", "sured", "call", "tensormap":
		return true
	}
	return false
}

// globalFlag reports whether an instruction reads global memory with an ordering, such as a wait
// for a flag.
func globalFlag(in *ir.Instr) bool {
	space := spaceOf(in)
	return in.Head() == "ld" && (space == isa.Global || space == isa.Generic) &&
		(in.Mod("volatile") || ordered(in))
}

// spaceOf returns the state space that an access names; Generic if it names none.
func spaceOf(in *ir.Instr) isa.Space {
	for _, word := range strings.Split(in.Op, ".")[1:] {
		if space, ok := isa.ParseSpace("." + word); ok {
			return space.Base()
		}
	}
	return isa.Generic
}
