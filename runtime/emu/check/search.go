// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"fmt"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/runtime/emu"
	"github.com/ptxdsl/ptxdsl/runtime/emu/schedule"
)

// defaultStates is the default maximum of states that a search visits.
const defaultStates = 50_000

// search records the synchronizations of a launch that succeeded, and searches other orders of
// them. It runs a failing order in the emulator. The finding is an error if that run hangs, faults
// or races, otherwise a review.
func (k *kernel) search(r *Result, best *run, all []*run) {
	if best.fault != nil || best.err != nil || failed(best, all) {
		return
	}
	if k.options.Search < 0 {
		r.Bounds = append(r.Bounds, "no search of orders")
		return
	}
	recorder := best.recorder
	if recorder == nil {
		x := k.recorded(best.schedule, best.count, false)
		recorder = x.recorder
		if x.fault != nil || x.err != nil {
			return
		}
	}
	trace := recorder.Trace()
	states := k.options.Search
	if states == 0 {
		states = defaultStates
	}
	r.Search = schedule.Search(trace, schedule.Options{States: states})
	v := r.Search.Violation
	if v == nil {
		r.limit(states)
		return
	}
	r.Timeline = trace.Timeline(v)
	guided := k.follow(nil, best, v.Witness)
	at, _ := k.module.At(k.fn.Pos)
	d := diag.Diagnostic{Place: at, Rule: RuleSearch, Severity: diag.Review}
	d.Message = fmt.Sprintf("%s in another order of synchronizations: -replay %s", v.Kind,
		v.Witness)
	switch {
	case guided.fault != nil:
		d.Severity = diag.Error
		d.Message += ": " + guided.fault.Message
		if guided.fault.Place.IsValid() {
			d.Place = guided.fault.Place
		}
	case len(guided.races) > 0:
		d.Severity = guided.races[0].Severity
		d.Message += ": " + guided.races[0].Message
	default:
		d.Message += "; the emulator does not confirm it"
	}
	for i, n := range v.Notes {
		if i < 4 {
			d.Related = append(d.Related, diag.Related{Place: d.Place, Message: n})
		}
	}
	r.Findings = append(r.Findings, d)
}

// limit adds the limits that the search reached: a bound on preemptions, or the reason why it
// covers no known part of the orders.
func (r *Result) limit(states int) {
	switch s := r.Search; {
	case s.TooLarge:
		r.Incomplete = append(r.Incomplete,
			"orders of synchronizations: the launch has too many to search")
	case s.Stopped:
		r.Incomplete = append(r.Incomplete, fmt.Sprintf(
			"orders of synchronizations after the first %d states; -search raises this limit",
			states))
	case s.Preempted:
		r.Bounds = append(r.Bounds, fmt.Sprintf("at most %d preemptions",
			schedule.MaxPreemptions))
	}
}

// follow runs a launch again in the order of synchronizations w.
func (k *kernel) follow(r *Result, best *run, w schedule.Witness) *run {
	guide := &schedule.Guide{Witness: w}
	k.watch = []emu.Observer{guide}
	x := k.launch(scheduleOf(0), best.count, false)
	k.watch = nil
	if !guide.Done() {
		x.fault = nil // the launch did not follow the order
		if r != nil {
			r.Incomplete = append(r.Incomplete,
				"this launch cannot run in the order that -replay gives")
		}
	}
	return x
}
