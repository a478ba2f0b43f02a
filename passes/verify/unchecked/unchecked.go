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
	"github.com/ptxdsl/ptxdsl/passes/verify"
)

// The reasons, as the verdict line prints them after "not checked: ".
const (
	globalOrder  = "order of global-memory accesses between threads and blocks"
	sharedBounds = "bounds and initialization of shared memory, and lanes that store to one address"
	volatile     = "volatile accesses of shared memory"
	memberMask   = "member masks of warp-wide instructions under data-dependent branches"
)

// Analyzer returns the analyzer.
func Analyzer() *verify.Analyzer {
	return &verify.Analyzer{
		Name: "unchecked",
		Doc: `Unchecked names what no analyzer decides of a kernel: the order of accesses to global memory
if the kernel writes any, bounds and initialization of shared memory, volatile accesses, and member
masks of warp-wide instructions that only some lanes may reach.`,
		Flow: true,
		Run:  run,
	}
}

func run(p *verify.Pass) {
	for _, b := range p.Func.Blocks {
		for _, in := range b.Instrs {
			switch {
			case sharedAccess(in):
				p.Unchecked(sharedBounds)
				if in.Mod("volatile") {
					p.Unchecked(volatile)
				}
			case globalWrite(in):
				p.Unchecked(globalOrder)
			}
		}
	}
	if undecidedLanes(p) {
		p.Unchecked(memberMask)
	}
}

// undecidedLanes reports whether lanes of a warp may part ahead of a warp-wide instruction, on a
// condition that is not known.
func undecidedLanes(p *verify.Pass) bool {
	if len(p.Traces) == 0 {
		return undecidedFlow(p)
	}
	for _, t := range p.Traces {
		for i := range t.Events {
			e := &t.Events[i]
			if warpWide(e.In) && slices.ContainsFunc(e.Parted, func(c trace.Choice) bool { return c.Maybe }) {
				return true
			}
		}
	}
	return false
}

// undecidedFlow is undecidedLanes for a kernel that was not followed.
func undecidedFlow(p *verify.Pass) bool {
	var levels *uniform.Levels // made for the first warp-wide instruction
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
	case "shfl", "vote", "match", "redux":
		return in.Mod("sync")
	case "activemask":
		return true
	}
	return false
}

// accesses are the opcodes that read or write memory as a thread does.
var accesses = map[string]bool{"ld": true, "st": true, "atom": true, "red": true, "ldu": true}

func sharedAccess(in *ir.Instr) bool {
	switch head := in.Head(); {
	case accesses[head]:
		return in.Mod("shared") || in.Mod("shared::cta") || in.Mod("shared::cluster")
	default:
		return head == "ldmatrix" || head == "stmatrix"
	}
}

// globalWrite reports whether an instruction may write global memory.
func globalWrite(in *ir.Instr) bool {
	switch in.Head() {
	case "st", "atom", "red":
		return !localStore(in)
	case "cp":
		return in.Mod("bulk") && strings.Contains(in.Op, ".global.shared::cta")
	case "multimem", "sust", "sured":
		return true
	}
	return false
}

// localStore reports whether a store goes to a state space other than global memory.
func localStore(in *ir.Instr) bool {
	for _, word := range strings.Split(in.Op, ".")[1:] {
		if space, ok := isa.ParseSpace("." + word); ok {
			return space != isa.Global
		}
	}
	return false // a generic address
}
