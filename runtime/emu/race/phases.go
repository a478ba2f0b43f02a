// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package race

import (
	"fmt"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime/emu"
)

// flipParity is the fix for a wait with the wrong parity.
const flipParity = "flip the parity each time the ring wraps; the first wait of a consumer has parity 0, that of a producer 1"

// afterRepeat adds a cause to a race of two threads, if the last wait of one of them completed
// for a phase for which it had waited before.
func (d *Detector) afterRepeat(r *Race, x, y *stamp) {
	in := d.threads[y.thread].repeated
	if in == nil {
		in = d.threads[x.thread].repeated
	}
	switch {
	case in == nil:
	case in.Kind() == isa.KindMbarrierTestWait || in.Kind() == isa.KindMbarrierTryWait:
		r.Message, r.Fix = "wait with an old state: "+r.Message,
			"wait with the state that the last arrival returned"
		r.Missing = d.passed(in, "a phase that the thread had already waited for")
	default:
		r.Message, r.Fix = "wait with the wrong parity: "+r.Message, flipParity
		r.Missing = d.passed(in, "a phase that the thread had already waited for")
	}
}

// afterUntrue adds a cause to a race of two threads, if the last wait of one of them returned
// false. It reports whether this is so.
func (d *Detector) afterUntrue(r *Race, x, y *stamp) bool {
	in := d.threads[y.thread].untrue
	if in == nil {
		in = d.threads[x.thread].untrue
	}
	if in == nil {
		return false
	}
	r.Message = "mbarrier.try_wait returns false, but the thread continues: " + r.Message
	r.Missing = fmt.Sprintf("a loop around the wait at line %d, which may return false at any time",
		d.launch.Place(in).Line)
	r.Fix = "repeat the wait until it returns true"
	return true
}

// passed describes a wait that completed on the wrong phase, for a message.
func (d *Detector) passed(in *ir.Instr, phase string) string {
	return fmt.Sprintf("a wait for the current phase: the wait at line %d passed for %s",
		d.launch.Place(in).Line, phase)
}

// wrongPhase describes the missing synchronization if an operation completes on an mbarrier, and
// the last wait of y's thread on this mbarrier completed on an earlier phase. Otherwise it returns
// "".
func (d *Detector) wrongPhase(x, y *stamp) string {
	m := d.completing[x.agent]
	if m == nil {
		return ""
	}
	switch p, ok := m.waits[y.thread]; {
	case !ok || p.phase >= x.epoch:
	case p.again:
		return d.passed(p.instr, "a phase that the thread had already waited for")
	case p.phase == 0:
		return d.passed(p.instr, "the phase before the first")
	}
	return ""
}

// liveRace returns the finding for a write that overwrites a valid mbarrier.
func liveRace(sy *site) Race {
	r := Race{
		Rule: RuleLive, Severity: diag.Error,
		Message: "memory of an mbarrier is overwritten, and no mbarrier.inval precedes",
		Missing: "mbarrier.inval before the memory is used for something else",
		Fix:     "keep data apart from the mbarrier, or execute mbarrier.inval and a barrier before",
	}
	if sy.kind == emu.EventInit {
		r.Message = "mbarrier is initialized again without mbarrier.inval"
		r.Missing, r.Fix = "mbarrier.inval before the second mbarrier.init",
			"initialize the mbarrier once, or execute mbarrier.inval before"
	}
	return r
}

// invalidRace returns the finding for mbarrier.inval while the mbarrier still expects bytes.
func invalidRace() Race {
	return Race{
		Rule: RuleLive, Severity: diag.Error,
		Message: "mbarrier is invalidated while a copy still completes on it",
		Missing: "a wait for the last phase before mbarrier.inval",
		Fix:     "wait for the phase of the copy, then execute mbarrier.inval",
	}
}
