// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"fmt"
	"strings"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime/emu"
	"github.com/ptxdsl/ptxdsl/runtime/emu/schedule"
)

// Limits of the launches in which warps are delayed.
const (
	maxDelays = 128       // launches
	maxEvents = 2_000_000 // events of all these launches together
)

// Reasons why orders of accesses to flags were not searched.
const (
	manyFlags = "orders of accesses to flags in memory: the launch has too many of them to search"
	longFlags = "orders of accesses to flags in memory: the launch is too long to search"
)

// A delayed describes the order of a run in which warps were delayed.
type delayed []schedule.Point

// String describes the order for a message.
func (d delayed) String() string {
	var list []string
	for _, p := range d {
		list = append(list, p.String())
	}
	return "the order that delays " + strings.Join(list, ", then ")
}

// delays searches the orders of accesses through which threads synchronize: flags, counters and
// locks in memory. Each launch delays one or two warps at such an access until no other thread can
// make progress. The launches stop after the first one that hangs or races.
func (k *kernel) delays(r *Result, best *run, all []*run) []*run {
	if k.options.Search < 0 || k.options.Seed != nil || best.fault != nil || best.err != nil ||
		!k.meetsInMemory() || failed(best, all) {
		return nil
	}
	base, points := k.points(best)
	if base == nil || base.fault != nil || base.err != nil {
		return nil
	}
	list := points.List()
	if len(list) == 0 {
		return nil
	}
	budget := min(maxDelays, maxEvents/int(base.events+1))
	if len(list) > budget {
		why := manyFlags
		if budget < maxDelays {
			why = longFlags
		}
		r.Incomplete = append(r.Incomplete, why)
		return nil
	}
	var plans []delayed
	for _, p := range list {
		plans = append(plans, delayed{p})
	}
	delays := 1
	if pairs := pairsOf(list); len(plans)+len(pairs) <= budget {
		plans, delays = append(plans, pairs...), 2
	}
	runs := []*run{base}
	for _, x := range k.together(k.delayTasks(base, plans)) {
		runs = append(runs, x...)
		if y := x[0]; y.fault != nil || y.unordered() {
			return runs
		}
	}
	r.Bounds = append(r.Bounds, fmt.Sprintf("at most %s at an access to a flag",
		counted(delays, "delayed warp")))
	return runs
}

// counted returns a number with a noun.
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// pairsOf returns the orders in which two warps are delayed.
func pairsOf(list []schedule.Point) (pairs []delayed) {
	for _, p := range list {
		for _, q := range list {
			if !p.Together(q) {
				pairs = append(pairs, delayed{p, q})
			}
		}
	}
	return pairs
}

// points runs the best launch in the order of seed 0, with numbers in its inputs if it has any, and
// returns the points at which warps may be delayed.
func (k *kernel) points(best *run) (*run, *schedule.Points) {
	for _, k.inputs = range []bool{true, false} {
		if k.inputs && (len(k.shape.Args) > 0 || !k.hasInputs()) {
			continue
		}
		points := &schedule.Points{}
		k.watch, k.limit = []emu.Observer{points}, cheapWork
		x := k.launch(scheduleOf(0), best.count, best.filled)
		k.watch, k.limit, k.inputs = nil, 0, false
		if x.fault == nil && x.err == nil {
			return x, points
		}
	}
	return nil, nil
}

// delayTasks returns the launches of plans.
func (k *kernel) delayTasks(base *run, plans []delayed) (list []task) {
	for _, p := range plans {
		list = append(list, func(own *kernel) []*run {
			own.watch = []emu.Observer{&schedule.Delays{Points: p}}
			own.limit, own.inputs = cheapWork, base.inputs
			x := own.launch(scheduleOf(0), base.count, base.filled)
			x.delayed = p
			return []*run{x}
		})
	}
	return list
}

// meetsInMemory reports whether threads may synchronize through memory: the kernel has strong or
// volatile accesses, or atomic operations whose result it may use.
func (k *kernel) meetsInMemory() (yes bool) {
	k.instructions(func(in *ir.Instr) {
		switch op := in.Form.Operation(); op.Kind {
		case isa.KindAtom:
			yes = true
		case isa.KindLd:
			yes = yes || op.Order > isa.Weak
		}
	})
	return yes
}

// failed reports whether a launch has a race, or a fault with the integers of the best launch.
// Launches with other contents or with blocks of another size do not count, because their findings
// do not.
func failed(best *run, all []*run) bool {
	for _, x := range all {
		if !x.filled && !x.hasOtherBlock() &&
			(x.unordered() || x.fault != nil && x.count == best.count) {
			return true
		}
	}
	return false
}

// delayFault returns the finding for a launch that ends in one order, but not in another.
func (k *kernel) delayFault(x *run) (d diag.Diagnostic, ok bool) {
	f := x.fault
	d = diag.Diagnostic{Place: f.Place, Rule: RuleHang, Severity: diag.Error}
	switch {
	case f.Message == emu.LimitReached:
		d.Message = "kernel does not end: threads wait for each other in a loop"
	case f.Has(emu.CauseHang):
		d.Message = string(emu.CauseHang)
	default:
		return d, false
	}
	if f.Waiting != nil {
		d.Place, d.Message = f.Waiting.Place, string(emu.CauseHang)+": "+f.Waiting.Reason
	}
	if d.Place.Line == 0 {
		d.Place, _ = k.module.At(k.fn.Pos)
	}
	d.Message += " in " + x.delayed.String()
	for i, n := range f.Notes {
		if i < 4 {
			d.Related = append(d.Related, diag.Related{Place: d.Place, Message: n})
		}
	}
	return d, true
}
