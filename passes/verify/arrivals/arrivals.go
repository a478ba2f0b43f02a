// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package arrivals reports waits at mbarriers and semaphores at which no thread arrives.
package arrivals

import (
	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/passes/verify/annotated"
)

// Mbarriers returns the analyzer for mbarriers without arrivals.
func Mbarriers() *annotated.Analyzer {
	return &annotated.Analyzer{
		Name: "mbarrier-arrivals",
		Doc: `It reports mbarriers of pipelines that no role consumes, and waits at mbarriers at which
nothing arrives. An mbarrier whose address the author uses counts as reached.`,
		Rules: []*diag.Rule{&annotated.Protocol},
		Final: true,
		Run:   runMbarriers,
	}
}

// Semaphores returns the analyzer for semaphores without arrivals.
func Semaphores() *annotated.Analyzer {
	return &annotated.Analyzer{
		Name: "semaphore-arrivals",
		Doc: `It warns about waits at semaphores in kernels without an instruction that may increment a
counter. Another launch may increment it.`,
		Rules: []*diag.Rule{&annotated.Protocol},
		Run:   runSemaphores,
	}
}

func runMbarriers(p *annotated.Pass) {
	for _, b := range p.Notes.Barriers {
		switch {
		case b.Count == 0:
			p.Report(b.Pos, &annotated.Protocol,
				"deadlock: no thread arrives at %s; no role consumes the stages that another produces",
				b.Name)
		case b.Waited != ir.NoPos && !b.Comes:
			p.Report(b.Waited, &annotated.Protocol,
				"deadlock: no thread arrives at mbarrier %s, so its phase never completes; use Arrive, or ArriveExpect for copies",
				b.Name)
		}
	}
}

func runSemaphores(p *annotated.Pass) {
	if len(p.Notes.SemaphoreWaits) == 0 || mayIncrement(p) {
		return
	}
	for _, pos := range p.Notes.SemaphoreWaits {
		p.Warn(pos, &annotated.Protocol,
			"deadlock: no thread of this kernel arrives at the semaphore, so the wait never returns unless another launch increments it")
	}
}

// mayIncrement reports whether the kernel has an instruction that may increment a counter in
// global memory: an atomic, a call, or more stores than those that reset the counters.
func mayIncrement(p *annotated.Pass) bool {
	stores := 0
	for _, b := range p.Func.Blocks {
		for _, in := range b.Instrs {
			switch in.Kind().Head() {
			case isa.HeadAtom, isa.HeadRed, isa.HeadCall, isa.HeadMultimem:
				return true
			case isa.HeadSt:
				if in.HasMod(isa.ModRelease, isa.ModRelaxed, isa.ModVolatile) {
					stores++
				}
			}
		}
	}
	return stores > p.Notes.Resets
}
