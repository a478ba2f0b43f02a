// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"errors"
	"fmt"
	"slices"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime/emu"
	"github.com/ptxdsl/ptxdsl/runtime/emu/race"
	"github.com/ptxdsl/ptxdsl/runtime/emu/schedule"
)

// A run is the outcome of one launch.
type run struct {
	schedule seeding
	count    uint64
	filled   bool // arrays hold numbers, not zeros
	// arrays that the kernel only reads hold numbers, and all other arrays hold zeros
	inputs   bool
	block    uint32 // another block size than that of the kernel's other launches, or 0
	races    []*race.Race
	fault    *emu.Fault
	err      error  // the launch was refused
	outside  bool   // an access was out of bounds of the arrays
	beyond   bool   // an access was out of bounds of shared memory
	result   uint64 // a hash of all arrays
	reached  func(line int) bool
	skipped  int
	events   uint64             // number of events that the detector received
	recorder *schedule.Recorder // records the synchronizations of the launch; nil for most launches
}

// Derived array sizes start at the first and grow to the second while accesses are out of bounds.
const (
	firstArray = 1 << 20
	mostArray  = 1 << 26
	mostWork   = 20_000_000 // instruction limit of a launch

	mostEndless = 10 // launches of a file that reach the limit before its other kernels are skipped

	moreSeeds = 12        // schedules of a kernel whose blocks synchronize
	cheap     = 50_000    // kernels with fewer events run with more schedules
	cheapWork = 2_000_000 // instruction limit of these further launches
	endless   = 20        // times the events of another schedule, for a launch that does not end
)

// check runs the launches of the kernel.
func (k *kernel) check() Result {
	k.derive()
	r := Result{Kernel: k.fn.Name}
	if *k.endless >= mostEndless {
		r.Incomplete = append(r.Incomplete,
			"a launch of another kernel in the file did not end; check this kernel alone with -kernel")
		return r
	}
	for _, p := range k.params {
		if p.kind == paramBytes && len(k.shape.Args) == 0 {
			r.Incomplete = append(r.Incomplete,
				fmt.Sprintf(
					"parameter %s is a structure, which check assumed to be zero; give a launch",
					p.v.Name))
		}
	}
	runs := k.runs(&r)
	k.judge(&r, runs)
	return r
}

// runs runs launches with different counts until all lines are reached. It then runs other
// schedules of the first launch that succeeded.
func (k *kernel) runs(r *Result) []*run {
	schedules := k.schedules()
	k.chooseBlock(schedules[0])
	counts := k.counts()
	if len(k.shape.Args) > 0 {
		counts = counts[:1]
	}
	all, best, ok := k.trials(r, schedules[0], counts)
	if !ok {
		return all
	}
	if best == nil && all[0].fault != nil && k.unchecked(all[0]) == waitsForDevices {
		r.NotReached = k.unreached(all)
		return all[:1]
	}
	if best == nil {
		best = all[0]
	}
	if k.options.Order != nil {
		return []*run{k.follow(r, best, k.options.Order)}
	}
	if k.options.Stop {
		if list := k.certain(best, all); list != nil {
			return list
		}
	}
	if k.options.Seed == nil && best.fault == nil && best.events < cheap && k.betweenBlocks() {
		for range moreSeeds {
			schedules = append(schedules, scheduleOf(uint64(len(schedules))))
		}
	}
	if best.fault == nil && best.events < cheap {
		k.limit = cheapWork
	}
	for _, s := range schedules[1:] {
		x := k.launch(s, best.count, false)
		all = append(all, x)
		if x.fault != nil && x.fault.Message == emu.LimitReached {
			break
		}
	}
	k.limit = 0
	if len(k.shape.Args) == 0 {
		all = append(all, k.launch(schedules[0], best.count, true))
		if len(counts) > 1 {
			all = append(all, k.launch(schedules[0], 0, false))
			r.Tried = append(r.Tried, k.describe(0)+ending(all[len(all)-1]))
		}
	}
	all = append(all, k.inputLaunch(best)...)
	all = append(all, k.partial(r, best)...)
	all = append(all, k.otherBlocks(best)...)
	r.NotReached = k.unreached(all)
	k.search(r, best, all)
	k.uninitialized(r, best, all)
	return all
}

// trials launches the kernel with each of counts, until a run has no fault and reaches all
// instructions. best is the first run without a fault. It returns false if the kernel cannot be
// run.
func (k *kernel) trials(r *Result, s seeding, counts []uint64) (all []*run, best *run, ok bool) {
	missing, limited := -1, 0
	k.fragments = k.uses(isa.KindWgmmaMmaAsync, isa.KindTcgen05Ld)
	defer func() { k.fragments, k.watch = false, nil }()
	for _, n := range counts {
		if limited > 1 {
			break
		}
		recorder := &schedule.Recorder{}
		k.watch = []emu.Observer{recorder}
		x := k.launch(s, n, false)
		x.recorder = recorder
		if x.fault != nil && x.fault.Message == emu.LimitReached {
			limited++
			k.slow = true
		}
		var no *emu.Unsupported
		if errors.As(x.err, &no) {
			for i, d := range no.Findings {
				if i < 3 {
					r.Incomplete = append(r.Incomplete,
						fmt.Sprintf("line %d: %s", d.Place.Line, d.Message))
				}
			}
			return nil, nil, false
		}
		if x.err != nil {
			r.Incomplete = append(r.Incomplete, x.err.Error())
			return all, nil, false
		}
		x = k.chooseElement(s, x)
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

// certain returns the runs so far, and the runs that could lower their findings to reviews, if an
// error remains; otherwise nil.
func (k *kernel) certain(best *run, all []*run) []*run {
	if len(k.races(all)) == 0 && (best.fault == nil || len(k.shape.Args) == 0 && k.varies()) {
		return nil
	}
	if best.fault == nil && len(k.shape.Args) == 0 {
		all = append(all, k.launch(best.schedule, best.count, true))
		all = append(all, k.otherBlocks(best)...)
	}
	var r Result
	k.judge(&r, all)
	if r.Verdict() != "error" {
		return nil
	}
	return all
}

// inputLaunch runs a launch with numbers in the arrays that the kernel only reads: branches that
// depend on its inputs are taken, while its flags and counters still start at zero.
func (k *kernel) inputLaunch(best *run) []*run {
	if len(k.shape.Args) > 0 || best.fault != nil || best.err != nil || !k.hasInputs() {
		return nil
	}
	k.inputs = true
	defer func() { k.inputs = false }()
	return []*run{k.launch(best.schedule, best.count, false)}
}

// partial runs launches in which some blocks, warps and lanes are past the end of the data, if the
// kernel compares a thread index with each of its counts.
func (k *kernel) partial(r *Result, best *run) (list []*run) {
	if len(k.shape.Args) > 0 || best.fault != nil || best.err != nil || best.events > cheap ||
		!k.guarded() {
		return nil
	}
	s := &k.shape
	block := uint64(s.Block[0] * s.Block[1] * s.Block[2])
	first := block * uint64(s.Grid[0])
	counts := []uint64{max(32, (first-block/2)&^31) - 16}
	if first > block {
		counts = append(counts, block)
	}
	for _, n := range counts {
		if n == 0 || n == best.count {
			continue
		}
		x := k.launch(best.schedule, n, false)
		r.Tried = append(r.Tried, k.describe(n)+ending(x))
		list = append(list, x)
	}
	return list
}

// chooseBlock chooses the block size of a kernel that does not require one: the first at which all
// accesses to shared memory lie inside.
func (k *kernel) chooseBlock(s seeding) {
	if !k.guessedBlock || len(k.shape.Args) > 0 {
		return
	}
	first := k.shape.Block[0]
	for _, n := range k.blockSizes() {
		k.shape.Block[0] = n
		x := k.launch(s, k.counts()[0], false)
		if x.err != nil {
			break
		}
		if !x.beyond {
			return
		}
	}
	k.shape.Block[0] = first
}

// otherBlocks runs launches with two other block sizes. The kernel may not support the chosen size,
// and a race that depends on it is not an error.
func (k *kernel) otherBlocks(best *run) (list []*run) {
	if !k.guessedBlock || len(k.shape.Args) > 0 || best.fault != nil {
		return nil
	}
	chosen := k.shape.Block[0]
	defer func() { k.shape.Block[0] = chosen }()
	for _, n := range []uint32{chosen / 2 &^ 31, 128, 64, chosen * 2} {
		if n < 64 || n == chosen || len(list) > 0 && list[0].block == n || len(list) == 2 {
			continue
		}
		k.shape.Block[0] = n
		if x := k.launch(best.schedule, best.count, false); x.fault == nil && x.err == nil {
			x.block = n
			list = append(list, x)
		}
	}
	return list
}

// ending describes the error with which a launch ended, or returns "" if it ended without an
// error.
func ending(x *run) string {
	if x.fault == nil {
		return ""
	}
	return ": " + x.fault.Message
}

// unreached returns the lines with accesses to memory or synchronization that no run executed.
func (k *kernel) unreached(all []*run) (lines []int) {
	k.instructions(func(in *ir.Instr) {
		if !watched(in) {
			return
		}
		at, _ := k.module.At(in.Pos)
		for _, x := range all {
			if x.reached != nil && x.reached(at.Line) {
				return
			}
		}
		lines = append(lines, at.Line)
	})
	slices.Sort(lines)
	return slices.Compact(lines)
}

// watched reports whether the race detector observes an instruction.
func watched(in *ir.Instr) bool {
	op := in.Form.Operation()
	switch op.Kind {
	case isa.KindLd, isa.KindSt:
		s := op.Space.Base()
		return s == isa.Global || s == isa.Shared
	case isa.KindAtom, isa.KindRed, isa.KindCpAsync, isa.KindCpAsyncBulk, isa.KindCpAsyncBulkTensor,
		isa.KindMbarrierInit:
		return true
	}
	return false
}
