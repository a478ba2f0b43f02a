// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package race

import (
	"fmt"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/isa/eval"
	"github.com/ptxdsl/ptxdsl/runtime/emu"
)

// stale detects a strong load y of thread t that may return an older value than the emulator read:
// the thread has read a flag that the storing thread stored later, but no release and acquire order
// the two threads. A flag is a value that decides a branch, or that an atomic operation reads.
func (d *Detector) stale(e *emu.Event, t *thread, y stamp, a emu.Address) {
	c := d.shadow.cell(a.Space, a.Block, a.At/4)
	if c.bytes != nil || len(c.writes) == 0 {
		return
	}
	x := c.writes[len(c.writes)-1]
	s := &d.shadow.sites[x.site]
	if !s.strong || s.async || x.agent == d.previous ||
		x.thread/eval.Lanes == t.thread/eval.Lanes ||
		d.knows(&t.view, &x) {
		return
	}
	flag, known := t.seen[x.thread]
	data := e.Kind == emu.EventRead && d.isData(e.Instr)
	if data && known && flag.at != x.at && flag.serial > x.serial {
		d.report(Race{
			Rule: RuleStale, Severity: diag.Error,
			Message: "strong load may return an old value, although a later store of the same thread has been read",
			Missing: fmt.Sprintf(
				"a release at or before the later store at line %d, and an acquire between its load and this one",
				d.launch.Place(d.shadow.sites[flag.site].instr).Line),
			Fix: "execute fence.acq_rel (__threadfence) between the two stores and between the two loads; volatile and relaxed accesses of different addresses are not ordered",
		}, &x, &y, a)
	}
	if !data && (!known || flag.serial < x.serial) {
		if t.seen == nil {
			t.seen = make(map[uint32]stamp)
		}
		t.seen[x.thread] = x
	}
}

// isData reports whether the value of a load is used, but decides no branch and is no operand of
// an atomic operation.
func (d *Detector) isData(load *ir.Instr) bool {
	if yes, known := d.data[load]; known {
		return yes
	}
	if d.data == nil {
		d.data = make(map[*ir.Instr]bool)
	}
	yes := load != nil && load.Kind() == isa.KindLd && d.usedAsData(load)
	d.data[load] = yes
	return yes
}

// usedAsData is isData without its cache.
func (d *Detector) usedAsData(load *ir.Instr) (used bool) {
	return d.eachUse(load, func(in *ir.Instr, from map[*ir.Reg]bool) bool {
		used = true
		return (in.Guard.Reg == nil || !from[in.Guard.Reg]) && in.Kind() != isa.KindAtom
	}) && used
}
