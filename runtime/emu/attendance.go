// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package emu

import (
	"fmt"
	"slices"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// maxWarps is the maximum number of warps in a block.
const maxWarps = 32

// An attendance records who arrives at an mbarrier, for the report of a hang.
type attendance struct {
	came, before [maxWarps]uint32 // lanes of its block, in this phase and in the one before
	lines        []*command       // instructions that arrived, in any phase
	last         *command
	lastWarp     int

	// number of completed phases at the last wait that each warp of the block has passed
	observed [maxWarps]uint64
}

// note records an arrival of a lane.
func (a *attendance) note(w *warp, lane int, owner *block) {
	if w.block == owner {
		a.came[w.index] |= 1 << lane
	}
	in := w.command()
	if in != a.last && !slices.Contains(a.lines, in) {
		a.lines = append(a.lines, in)
	}
	a.last, a.lastWarp = in, w.index
}

// next starts a new phase, in which no lane has arrived yet.
func (a *attendance) next() { a.before, a.came = a.came, [maxWarps]uint32{} }

// state describes who arrived at an mbarrier, and who is missing.
func (a *attendance) state(g *grid, p *phaseState) string {
	if a.last == nil {
		return "; no thread arrived" + a.notExecuted(g, p)
	}
	text := fmt.Sprintf("; the last arrival was by warp %d at %s", a.lastWarp, g.lineOf(a.last))
	if p.pending == 0 {
		return text
	}
	var missing [maxWarps]uint32
	for i, lanes := range a.before {
		missing[i] = lanes &^ a.came[i]
	}
	if list := lanesOf(&a.came); len(list) > 0 {
		text += "; arrived in this phase: " + listed(list)
	}
	if list := lanesOf(&missing); len(list) > 0 {
		text += "; arrived only in the previous phase: " + listed(list)
		if p.owner.exited(&missing) {
			text += fmt.Sprintf(", which exited since then: the %s", CauseTripCounts)
		}
		return text
	}
	return text + a.notExecuted(g, p)
}

// exited reports whether some of the given lanes have exited; lanes[i] is a mask for warp i of
// block b.
func (b *block) exited(lanes *[maxWarps]uint32) bool {
	for i, w := range b.warps[:b.count] {
		if w.live&lanes[i] != 0 {
			return false
		}
	}
	return true
}

// parityHint returns a hint why the parity of a wait that hangs may be wrong, or "".
func (p *phaseState) parityHint(w *warp) string {
	switch {
	case w.block != p.owner:
	case p.phase > p.visits.observed[w.index]:
		return fmt.Sprintf(
			"; phase %d completed without a wait of this warp: the wait has %s, or the mbarrier is two "+
				"phases ahead", p.phase-1, CauseParity)
	case p.phase == 0 && p.visits.last == nil:
		return fmt.Sprintf(
			"; if this is a producer that waits for a free buffer, it has %s: its first "+
				"wait needs 1", CauseParity)
	}
	return ""
}

// notExecuted lists the instructions that could have arrived and did not.
func (a *attendance) notExecuted(g *grid, p *phaseState) string {
	var lines []int
	for _, prog := range g.image.programs {
		for i := range prog.code {
			if in := &prog.code[i]; in.mayArriveAt(g, p.at) && !slices.Contains(a.lines, in) {
				at, _ := g.image.module.ir.At(in.at.Pos)
				lines = append(lines, at.Line)
			}
		}
	}
	if len(lines) == 0 {
		return ""
	}
	slices.Sort(lines)
	var list []string
	for _, line := range slices.Compact(lines) {
		list = append(list, fmt.Sprintf("line %d", line))
	}
	return "; not executed: the arrival at " + listed(list)
}

// mayArriveAt reports whether the instruction may arrive at the mbarrier at offset at of shared
// memory. It returns false if the instruction does not arrive at mbarriers, or names another one.
func (c *command) mayArriveAt(g *grid, at uint64) bool {
	if c.at == nil || c.at.Form == nil {
		return false
	}
	switch c.at.Form.Form.Kind {
	case isa.KindMbarrierArrive, isa.KindMbarrierArriveExpectTx, isa.KindMbarrierArriveDrop,
		isa.KindMbarrierArriveDropExpectTx,
		isa.KindCpAsyncMbarrierArrive, isa.KindTcgen05Commit:
	default:
		return false
	}
	for i := range c.at.Args {
		o := &c.at.Args[i]
		if o.Kind != ir.Address || o.Var() == nil {
			continue
		}
		for _, s := range g.image.sharedSymbols {
			if s.name == o.Var().Name {
				return at == s.at+uint64(o.Value)
			}
		}
	}
	return true
}

// lanesOf returns a description of each warp that has some of the given lanes, for messages. It
// names the lanes unless all lanes of the warp are included.
func lanesOf(warps *[maxWarps]uint32) (list []string) {
	for i, lanes := range warps {
		switch lanes {
		case 0:
		case full:
			list = append(list, fmt.Sprintf("warp %d", i))
		default:
			list = append(list, fmt.Sprintf("lanes %08x of warp %d", lanes, i))
		}
	}
	return list
}
