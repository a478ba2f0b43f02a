// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package race

import (
	"math/bits"
	"slices"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/runtime/emu"
)

// meet completes a named barrier. If the barrier is one of all threads of the block, but some of
// them have exited, it reports the threads that skipped it: a thread that executed code which
// follows the barrier, and, as a review, a thread that took part in earlier barriers. A thread that
// returns before all barriers is not reported.
func (d *Detector) meet(e *emu.Event, b *barrier) {
	if !b.counted && b.count < d.launch.Threads {
		if x, severity, ok := d.skipper(e.Block, b.last.site); ok {
			d.reportSkipped(x, b.last, severity)
		}
	}
	b.count = 0
}

// skipper returns the last access of an exited thread of a block that skipped a barrier, with the
// severity. It returns false if there is no such thread.
func (d *Detector) skipper(block, barrier uint32) (found stamp, severity diag.Severity, ok bool) {
	for w := range uint32(d.perWarp) {
		for m := d.gone[block*uint32(d.perWarp)+w].lanes; m != 0; m &= m - 1 {
			t := d.threadOf(block, w, bits.TrailingZeros32(m))
			if t.last == 0 {
				continue
			}
			x := stamp{agent: t.thread * slots, thread: t.thread, site: t.last - 1,
				serial: d.serial}
			if d.follows(d.shadow.sites[x.site].instr, d.shadow.sites[barrier].instr) {
				return x, diag.Error, true
			}
			if t.met && !ok {
				found, severity, ok = x, diag.Review, true
			}
		}
	}
	return found, severity, ok
}

// reportSkipped reports that the thread of x, its last access, skipped the barrier y.
func (d *Detector) reportSkipped(x, y stamp, severity diag.Severity) {
	r := Race{
		Rule: RuleSkipped, Severity: severity,
		Message: "barrier of all threads of the block, which some threads skip",
		Missing: "the arrival of these threads at the barrier",
		Fix:     "move the barrier out of the branch or loop, or name the number of threads that take part",
	}
	if severity != diag.Error {
		r.Message = "barrier of all threads of the block, some of which have exited since the previous barrier"
		r.Missing = "the exited threads at the barrier"
		r.Fix = "let all threads reach the barrier, or name the number of threads that take part"
	}
	d.report(r, &x, &y, emu.Address{})
}

// follows reports whether an instruction can be executed after a barrier, but not before it.
func (d *Detector) follows(in, barrier *ir.Instr) bool {
	k := [2]*ir.Instr{in, barrier}
	yes, known := d.after[k]
	if known {
		return yes
	}
	if d.after == nil {
		d.after = make(map[[2]*ir.Instr]bool)
	}
	if fn := d.functionOf(barrier); fn != nil && in != nil && in != barrier {
		flow := ir.FlowOf(fn)
		yes = reaches(flow, barrier, in) && !reaches(flow, in, barrier)
	}
	d.after[k] = yes
	return yes
}

// reaches reports whether control can flow from one instruction of a function to another.
func reaches(flow *ir.Flow, from, to *ir.Instr) bool {
	at := func(in *ir.Instr) (block, index int) {
		for i, b := range flow.Func.Blocks {
			if j := slices.Index(b.Instrs, in); j >= 0 {
				return i, j
			}
		}
		return -1, -1
	}
	b, i := at(from)
	c, j := at(to)
	if b < 0 || c < 0 {
		return false
	}
	return b == c && i < j || slices.Contains(ir.Postorder(flow.Succs, flow.Succs[b]...), c)
}
