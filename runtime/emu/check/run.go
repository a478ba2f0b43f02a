// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
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
	// arrays that the kernel only reads are filled with small numbers, and all other arrays with
	// zeros
	inputs  bool
	block   [3]uint32 // another block size than that of the kernel's other launches, or zero
	blocks  uint32    // another number of blocks, or 0
	paired  bool      // clusters have two blocks, unlike those of the kernel's other launches
	row     bool      // the grid has one dimension, unlike that of the kernel's other launches
	races   []*race.Race
	fault   *emu.Fault
	err     error  // the launch was refused
	outside bool   // an access was out of bounds of the arrays
	beyond  bool   // an access was out of bounds of shared memory
	result  uint64 // a hash of all arrays
	reached func(line int) bool
	skipped int
	events  uint64 // number of events that the detector received
	// recorder records the synchronizations of the launch; nil for most launches
	recorder *schedule.Recorder
	delayed  delayed // where warps were delayed; nil for most launches
	// lanes did not reconverge by themselves, and elect.sync elected the last lane
	scattered bool
	limit     int64  // limit of instructions
	tried     string // description of the launch, if it is not one of the first ones
}

// Limits of derived launches. The size of arrays starts at firstArray and grows to maxArray while
// accesses are out of bounds.
const (
	firstArray = 1 << 20
	maxArray   = 1 << 26
	maxWork    = 20_000_000 // instruction limit of a launch

	maxEndless = 10 // launches of a file that reach the limit before its other kernels are skipped

	moreSeeds = 12        // schedules of a kernel whose blocks or groups of warps synchronize
	cheap     = 50_000    // kernels with fewer events run with more schedules
	cheapWork = 2_000_000 // instruction limit of these further launches
	endless   = 20        // times the events of another schedule, for a launch that does not end
)

// check runs the launches of the kernel, whose launch is derived.
func (k *kernel) check() Result {
	r := Result{Kernel: k.fn.Name}
	if *k.endless >= maxEndless {
		r.Incomplete = append(r.Incomplete,
			"a launch of another kernel in the file did not end; check this kernel alone with -kernel")
		return r
	}
	if k.structure != "" {
		r.Incomplete = append(r.Incomplete, fmt.Sprintf(
			"parameter %s is a structure that the kernel reads at varying offsets or passes on; check assumed these parts to be zero; give a launch",
			k.structure))
	}
	runs := k.runs(&r)
	for _, x := range runs {
		if x.limited() && x.limit != cheapWork {
			*k.endless++
		}
	}
	k.judge(&r, runs)
	return r
}

// runs runs launches with different counts until all lines are reached. It then runs other
// schedules of the first launch that succeeded.
func (k *kernel) runs(r *Result) []*run {
	schedules := k.schedules()
	k.findPointers(schedules[0])
	k.chooseBlock(schedules[0])
	counts := k.counts()
	if len(k.shape.Args) > 0 {
		counts = counts[:1]
	}
	all, best, ok := k.trials(r, schedules[0], counts)
	if !ok {
		return all
	}
	if best == nil && all[0].fault != nil {
		if why := k.unchecked(all[0]); why == waitsForDevices || why == waitsForKernels {
			r.NotReached = k.unreached(all)
			return all[:1]
		}
	}
	if best == nil {
		best = all[0]
	}
	best, all = k.chooseGrid(r, schedules[0], best, all)
	if k.options.Order != nil {
		return []*run{k.follow(r, best, k.options.Order)}
	}
	if k.options.Stop {
		if list := k.certain(best, all); list != nil {
			return list
		}
	}
	if k.options.Seed == nil && best.fault == nil && best.events < cheap &&
		(k.betweenBlocks() || k.meetsInGroups()) {
		for range moreSeeds {
			schedules = append(schedules, scheduleOf(uint64(len(schedules))))
		}
	}
	all, values := k.further(r, schedules[1:], best, all, len(counts) > 1)
	all = append(all, k.scatter(best, values, all)...)
	all = append(all, k.delays(r, best, all)...)
	r.NotReached = k.unreached(all)
	k.search(r, best, all)
	k.uninitialized(r, best, values, all)
	return all
}

// maxBlocks is the number of blocks of a derived grid if two blocks do not reach all lines.
const maxBlocks = 4

// chooseGrid launches more blocks if two of them do not execute all lines. It returns the runs with
// more blocks if these execute more lines, otherwise the runs so far.
func (k *kernel) chooseGrid(r *Result, s seeding, best *run, all []*run) (*run, []*run) {
	shape := &k.shape
	if k.options.Launch != nil || k.options.Seed != nil || k.options.Order != nil ||
		best.fault != nil || shape.Cluster[0] != 0 || shape.Grid != [3]uint32{2, 1, 1} ||
		best.events > cheap || !k.usesBlockIndex() {
		return best, all
	}
	missing := len(k.unreached(all))
	if missing == 0 {
		return best, all
	}
	shape.Grid[0] = maxBlocks
	x := k.recorded(s, best.count, false)
	runs := []*run{x}
	more := func() bool { return len(k.unreached(slices.Concat(all, runs))) < missing }
	if k.betweenBlocks() { // which lines are executed may depend on the schedule
		for seed := uint64(1); seed <= 2 && x.fault == nil && x.err == nil && !more(); seed++ {
			if y := k.launch(scheduleOf(seed), best.count, false); y.fault == nil {
				runs = append(runs, y)
			}
		}
	}
	if x.fault != nil || x.err != nil || !more() {
		shape.Grid[0] = 2
		return best, all
	}
	r.Tried = append(r.Tried, k.describe(best.count))
	return x, runs
}

// further runs launches that do not depend on each other: the best run with other schedules,
// variations of the best run, and values, which is the best run with a check of uninitialized
// values.
func (k *kernel) further(r *Result, schedules []seeding, best *run, before []*run,
	counts bool) (all []*run, values *run) {
	var others sequence
	searches := k.searchesValues(best, before)
	for i, s := range schedules {
		others.add(func(own *kernel) *run {
			if best.fault == nil && best.events < cheap {
				own.limit = cheapWork
			}
			if i == 0 && searches {
				if values = own.withValues(s, best); values.fault == nil {
					return values
				}
			}
			x := own.launch(s, best.count, false)
			if x.limited() && own.limit != 0 && x.events <= best.events*endless {
				own.limit = 0 // the launch is slow, but may still end
				x = own.launch(s, best.count, false)
			}
			return x
		})
	}
	tasks := append(others.tasks, k.variations(best, counts)...)
	if len(schedules) == 0 && searches {
		tasks = append(tasks, func(own *kernel) []*run {
			values = own.withValues(best.schedule, best)
			return nil
		})
	}
	all = before
	add := func(list []*run) {
		all = append(all, list...)
		for _, x := range list {
			if x.tried != "" {
				r.Tried = append(r.Tried, x.tried)
			}
		}
	}
	for i, list := range k.together(tasks) {
		if i < int(others.end.Load()) || i >= len(schedules) {
			add(list)
		}
	}
	if len(k.shape.Args) == 0 && (len(k.unreached(all)) > 0 || k.suspect(all) ||
		values != nil && values.fault != nil) {
		add(k.otherContents(best, all))
	}
	return all, values
}

// maxContents is the maximum number of schedules that are run with other contents.
const maxContents = 4

// otherContents runs the best launch with numbers in its arrays. If other schedules have races that
// the first one does not have, it runs them too, until one of them has a race.
func (k *kernel) otherContents(best *run, all []*run) (list []*run) {
	schedules := []seeding{best.schedule}
	if !best.unordered() {
		for _, x := range all {
			if x.schedule != best.schedule && x.count == best.count && x.unordered() &&
				len(schedules) < maxContents {
				schedules = append(schedules, x.schedule)
			}
		}
	}
	if best.fault == nil && best.events < cheap {
		k.limit = cheapWork // flags that do not start at zero may make blocks wait without end
		defer func() { k.limit = 0 }()
	}
	for _, s := range schedules {
		x := k.launch(s, best.count, true)
		list = append(list, x)
		if x.fault != nil || x.err != nil || x.unordered() {
			return list
		}
	}
	for _, x := range all { // the race may depend on the count
		if x.count != best.count && x.blocks == 0 && !x.hasOtherBlock() && x.unordered() {
			return append(list, k.launch(x.schedule, x.count, true))
		}
	}
	return list
}

// suspect reports whether the findings about runs may change with other contents of the arrays.
func (k *kernel) suspect(runs []*run) bool {
	return slices.ContainsFunc(runs, func(x *run) bool {
		return x.fault != nil || x.err != nil || len(x.races) > 0
	})
}

// variations returns launches that differ from the best run in their inputs, counts or blocks.
func (k *kernel) variations(best *run, counts bool) (list []task) {
	if len(k.shape.Args) > 0 {
		return nil
	}
	if counts {
		list = append(list, func(own *kernel) []*run {
			x := own.launch(best.schedule, 0, false)
			x.tried = own.describe(0) + ending(x)
			return []*run{x}
		})
	}
	return append(list,
		func(own *kernel) []*run { return own.inputLaunch(best) },
		func(own *kernel) []*run { return own.partial(best) },
		func(own *kernel) []*run { return own.moreBlocks(best) },
		func(own *kernel) []*run { return own.pairedBlocks(best) },
		func(own *kernel) []*run { return own.otherBlocks(best) },
		func(own *kernel) []*run { return own.oneRow(best) })
}

// moreBlocks runs launches with twice as many blocks if blocks synchronize, or work in rows and
// columns. With two blocks, there may be only one producer and one consumer, or one row.
func (k *kernel) moreBlocks(best *run) (list []*run) {
	if k.options.Launch != nil || k.options.Seed != nil || best.fault != nil || best.err != nil ||
		best.events > cheap || !k.dependsOnGrid() {
		return nil
	}
	k.shape.Grid[0] *= 2
	k.limit = cheapWork
	seeds := uint64(3)
	if best.events < cheap/25 {
		seeds = moreSeeds
	}
	for seed := range seeds {
		x := k.launch(scheduleOf(seed), best.count, false)
		x.blocks = k.shape.Grid[0] * k.shape.Grid[1] * k.shape.Grid[2]
		if x.err != nil || x.fault != nil && (seed == 0 || !x.fault.Has(emu.CauseHang)) {
			break // the kernel may not support this number
		}
		if list = append(list, x); seed == 0 {
			x.tried = k.describe(best.count)
		}
		if x.fault != nil {
			break // a hang, which takes long
		}
	}
	return list
}

// pairedBlocks runs a launch with clusters of two blocks, if the kernel accesses the shared memory
// of other blocks but declares no cluster. A kernel that never waits for its cluster may be written
// for clusters of one block.
func (k *kernel) pairedBlocks(best *run) []*run {
	if k.options.Launch != nil || k.options.Seed != nil || k.shape.Cluster[0] != 0 ||
		!k.uses(isa.KindMapa) {
		return nil
	}
	k.shape.Cluster, k.shape.Grid[0] = twoBlocks, k.shape.Grid[0]*2
	x := k.launch(best.schedule, best.count, false)
	if x.fault != nil || x.err != nil {
		return nil
	}
	x.paired, x.blocks = true, k.shape.Grid[0]*k.shape.Grid[1]*k.shape.Grid[2]
	x.tried = k.describe(best.count)
	return []*run{x}
}

// certain returns the runs so far and, if they contain an error, runs that may turn it into a
// review. It returns nil if no error remains.
func (k *kernel) certain(best *run, all []*run) []*run {
	if len(k.races(all)) == 0 && (best.fault == nil || len(k.shape.Args) == 0 && k.varies()) {
		return nil
	}
	if best.fault == nil && len(k.shape.Args) == 0 {
		all = append(all, k.launch(best.schedule, best.count, true))
		all = append(all, k.otherBlocks(best)...)
		all = append(all, k.oneRow(best)...)
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

// partial runs launches in which the data ends in the middle of a block and of a warp, if the
// kernel compares a thread index with each of its integer parameters.
func (k *kernel) partial(best *run) (list []*run) {
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
		x.tried = k.describe(n) + ending(x)
		list = append(list, x)
	}
	return list
}

// ending describes the error with which a launch ended, or "" if there is none.
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
