// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"errors"
	"fmt"

	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime/emu"
	"github.com/ptxdsl/ptxdsl/runtime/emu/schedule"
)

// trials launches the kernel with each of counts, until a run has no fault and reaches all
// instructions. best is the first run without a fault. It returns false if the kernel cannot be
// run.
func (k *kernel) trials(r *Result, s seeding, counts []uint64) (all []*run, best *run, ok bool) {
	missing, limited := -1, 0
	k.fragments = k.uses(isa.KindWgmmaMmaAsync, isa.KindTcgen05Ld)
	defer func() { k.fragments = false }()
	var ahead []*run // runs of the next counts
	for i := 0; i < len(counts) && limited < 2; i++ {
		n := counts[i]
		if len(ahead) == 0 {
			ahead = k.tryCounts(s, counts[i:min(len(counts), i+1+min(i, 1))])
		}
		x := ahead[0]
		ahead = ahead[1:]
		if x.limited() {
			limited++
			k.slow = true
		}
		if x.err != nil {
			r.Incomplete = append(r.Incomplete, refusal(x.err)...)
			var no *emu.Unsupported
			if errors.As(x.err, &no) {
				all = nil
			}
			return all, nil, false
		}
		element := k.element
		if x = k.chooseElement(s, x); k.element != element {
			ahead = nil
		}
		all = append(all, x)
		before := missing
		if missing = len(k.unreached(all)); missing != before || best == nil && x.fault == nil {
			r.Tried = append(r.Tried, k.describe(n)+ending(x))
		}
		if best == nil && x.fault == nil {
			best = x
		}
		if best != nil && missing == 0 {
			break
		}
	}
	return all, best, true
}

// tryCounts launches the kernel with each of counts, and records its synchronizations.
func (k *kernel) tryCounts(s seeding, counts []uint64) (list []*run) {
	var tasks []task
	for _, n := range counts {
		tasks = append(tasks, func(own *kernel) []*run {
			return []*run{own.recorded(s, n, false)}
		})
	}
	for _, runs := range k.together(tasks) {
		list = append(list, runs...)
	}
	return list
}

// recorded runs a launch and records its synchronizations.
func (k *kernel) recorded(s seeding, count uint64, filled bool) *run {
	recorder := &schedule.Recorder{}
	k.watch = []emu.Observer{recorder}
	defer func() { k.watch = nil }()
	x := k.launch(s, count, filled)
	x.recorder = recorder
	return x
}

// refusal returns the reasons why a launch was refused.
func refusal(err error) (list []string) {
	var no *emu.Unsupported
	if !errors.As(err, &no) {
		return []string{err.Error()}
	}
	for i, d := range no.Findings {
		if i < 3 {
			list = append(list, fmt.Sprintf("line %d: %s", d.Place.Line, d.Message))
		}
	}
	return list
}
