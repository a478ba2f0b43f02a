// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package race

import (
	"math/bits"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime/emu"
)

// A departure is the exit of lanes of a warp.
type departure struct {
	first stamp  // exit of the first of them
	lanes uint32 // all of them
}

// exit ends threads. When the last thread of a block exits, accesses of other blocks to its shared
// memory must be ordered before the exit.
func (d *Detector) exit(e *emu.Event) {
	w := e.Block*uint32(d.perWarp) + e.Warp
	x, left := d.gone[w]
	if !left {
		t := d.threadOf(e.Block, e.Warp, bits.TrailingZeros32(e.Mask))
		x.first = d.stampOf(e, t.thread, t.thread*slots, t.own[slotMain])
	}
	x.lanes |= e.Mask
	d.gone[w] = x
	k := &d.blocks[e.Block]
	if k.live -= count(e.Mask); k.live > 0 {
		return
	}
	k.ended = true
	if len(k.remote) == 0 {
		return
	}
	var s sum
	n := uint32(d.perWarp * 32)
	for i := e.Block * n; i < (e.Block+1)*n; i++ {
		s.add(&d.threads[i].view)
	}
	for agent, x := range k.remote {
		if s.all.at(agent) < x.epoch {
			d.exitRace(e, x)
		}
	}
}

// incomplete reports bar.sync, or a barrier with .aligned, that a warp executes after some of its
// lanes have exited. PTX requires that all threads of the warp execute such a barrier.
func (d *Detector) incomplete(e *emu.Event) {
	x, left := d.gone[e.Block*uint32(d.perWarp)+e.Warp]
	if !left || e.Instr == nil || !e.Instr.Has(isa.EffectConvergent) && !has(e, isa.ModAligned) {
		return
	}
	t := d.threadOf(e.Block, e.Warp, bits.TrailingZeros32(e.Mask))
	y := d.stampOf(e, t.thread, t.thread*slots, t.own[slotMain])
	d.report(Race{
		Rule: RuleExited, Severity: diag.Review,
		Message: "aligned barrier after lanes of the warp have exited",
		Missing: "the exited lanes at the barrier",
		Fix:     "let all lanes of the warp execute the barrier, or use barrier.sync without .aligned",
	}, &x.first, &y, emu.Address{})
}

// partial reports an instruction of the whole warp, other than a barrier, that a warp executes
// after some of its lanes have exited.
func (d *Detector) partial(e *emu.Event) {
	x, left := d.gone[e.Block*uint32(d.perWarp)+e.Warp]
	if !left || e.Instr == nil {
		return
	}
	r := Race{
		Rule: RuleExited, Severity: diag.Review,
		Message: "instruction of the whole warp after lanes of the warp have exited",
		Missing: "the exited lanes at the instruction",
		Fix:     "let all lanes of the warp execute the instruction, and guard the work instead",
	}
	switch e.Instr.Kind() {
	case isa.KindBarrierSync, isa.KindBarrierRed, isa.KindBarrierArrive,
		isa.KindBarrierClusterArrive, isa.KindBarrierClusterWait:
		return
	case isa.KindLdmatrix, isa.KindStmatrix, isa.KindMovmatrix, isa.KindMma, isa.KindWmmaMma,
		isa.KindWmmaLoadA, isa.KindWmmaLoadB, isa.KindWmmaLoadC, isa.KindWmmaStoreD,
		isa.KindWgmmaMmaAsync:
		r.Severity = diag.Error // the fragments of the exited lanes are missing
	case isa.KindShfl, isa.KindVote, isa.KindMatch, isa.KindRedux, isa.KindBarWarpSync:
		r.Message = "member mask names lanes of the warp that have exited"
		r.Fix = "compute the mask before the branch, with vote.sync.ballot"
	}
	t := d.threadOf(e.Block, e.Warp, bits.TrailingZeros32(e.Mask))
	y := d.stampOf(e, t.thread, t.thread*slots, t.own[slotMain])
	d.report(r, &x.first, &y, emu.Address{})
}
