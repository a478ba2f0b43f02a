// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package globalsync checks synchronization between blocks through global memory. It handles a
// thread that sets a flag after its whole block has stored data, and a thread that waits for a
// flag before its whole block reads data. It uses the control-flow graph and needs no traces.
package globalsync

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
	"github.com/ptxdsl/ptxdsl/passes/verify"
)

// Analyzer is the analyzer for synchronization through global memory.
var Analyzer = &verify.Analyzer{
	Name: "globalsync",
	Doc: `Globalsync reports data that blocks exchange through global memory, if the flags, counters
or locks between them do not order it: a release, acquire, block barrier or proxy fence is missing,
a scope does not cover the reader, or a flag is set too early or tested only once. The finding is
an error if the kernel stores and loads the same array on both sides of a flag, else a review.`,
	Rules:    diag.Rules{ruleFlag, ruleOrder, ruleAtomic, ruleGrid},
	Pages:    pages,
	Tells:    diag.Rules{ruleProxy},
	Requires: []trace.Kind{trace.Atomic, trace.Store, trace.Load},
	Flow:     true,
	Run:      run,
}

// A position identifies an instruction of a kernel by its basic block and its index in the block.
type position struct{ block, at int }

// signalPositions holds the instructions of a kernel that may pass data between blocks.
type signalPositions struct {
	raised  []position // writes that may signal other blocks
	awaited []position // reads that may receive a signal
	weak    []position // plain loads, which may also receive a signal
	copies  []position // bulk copies of data that the kernel also stores
}

func run(p *verify.Pass) {
	if p.Alone() {
		return
	}
	found := findSignals(p)
	if len(found.raised)+len(found.awaited)+len(found.copies) == 0 {
		return
	}
	w := newPaths(p)
	once := w.keepElected(found)
	w.recordWaits(found)
	defer w.checkAtomics()
	w.flagArrays = w.findFlagArrays(found.raised, once)
	for _, h := range w.flagArrays {
		w.checkFlagArray(h)
		w.checkGridBarrier(h)
	}
	w.check(found)
	if w.electors.budget < 0 {
		p.Missed("inter-block flags in global memory (B10, B11): there are too many to check")
	}
}

// findSignals finds the instructions of a kernel that may pass data between blocks.
func findSignals(p *verify.Pass) *signalPositions {
	found, stores := &signalPositions{}, p.Needs(trace.Store)
	for b, block := range p.Func.Blocks {
		for i, in := range block.Instrs {
			if in.Directive() {
				continue
			}
			kind := trace.Of(in)
			if maySignal(in, kind) {
				found.raised = append(found.raised, position{b, i})
			}
			if mayReceive(in, kind) {
				found.awaited = append(found.awaited, position{b, i})
			} else if isWeak(in, trace.Load) {
				found.weak = append(found.weak, position{b, i})
			}
			if kind == trace.BulkLoad && stores {
				found.copies = append(found.copies, position{b, i})
			}
		}
	}
	return found
}

// keepElected removes signals in private memory and waits that are not in a spin loop from found.
// It returns the loads with memory ordering that are not in a spin loop.
func (w *paths) keepElected(found *signalPositions) (once []position) {
	found.raised = slices.DeleteFunc(found.raised,
		func(m position) bool { return w.electors.isPrivate(w.instr(m)) })
	for _, m := range found.awaited {
		if trace.Of(w.instr(m)) == trace.Load && !w.isSpin(m) {
			once = append(once, m)
		}
	}
	found.awaited = slices.DeleteFunc(found.awaited, func(m position) bool {
		return !w.isSpin(m) || !w.electors.mayPoll(w.instr(m)) || w.addressChanges(m) ||
			w.electors.isPrivate(w.instr(m))
	})
	return once
}

// recordWaits records the waits for each array, including plain loads in spin loops.
func (w *paths) recordWaits(found *signalPositions) {
	for _, m := range found.awaited {
		array := w.electors.baseOf(w.instr(m))
		w.waitsByBase[array] = append(w.waitsByBase[array], m)
	}
	for _, m := range found.weak {
		array := w.electors.baseOf(w.instr(m))
		set := slices.ContainsFunc(found.raised,
			func(r position) bool { return w.electors.baseOf(w.instr(r)) == array })
		if array.v != nil && set && w.isSpin(m) && w.decidesLoop(m) && !w.addressChanges(m) {
			w.waitsByBase[array] = append(w.waitsByBase[array], m)
		}
	}
}

// check checks the memory order of the signals, waits and copies that have no error yet.
func (w *paths) check(found *signalPositions) {
	settled := func(m position) bool { return w.errors[w.instr(m)] }
	raised := slices.DeleteFunc(found.raised, settled)
	awaited := slices.DeleteFunc(found.awaited, settled)
	copies := slices.DeleteFunc(found.copies, settled)
	for _, m := range raised {
		if in := w.instr(m); in.HasMod(isa.ModCTA) {
			w.blockLocal[w.electors.baseOf(in)] = true
		}
	}
	for _, m := range raised {
		if !w.storesBefore(m) {
			w.reportMissingRelease(m)
		}
	}
	for _, m := range awaited {
		if !w.accessesAfter(m) {
			w.reportMissingAcquire(m)
		}
	}
	for _, m := range copies {
		w.reportMissingProxyFence(m)
	}
}

// maySignal reports whether an instruction may signal other blocks: it has release semantics, or
// may follow a fence.
func maySignal(in *ir.Instr, kind trace.Kind) bool {
	switch kind {
	case trace.Atomic:
		return accessesGlobal(in)
	case trace.Store:
		return accessesGlobal(in) && in.HasMod(isa.ModRelease, isa.ModRelaxed, isa.ModVolatile)
	}
	return in.Kind().Head() == isa.HeadMultimem && in.HasMod(isa.ModRelease, isa.ModAcqRel)
}

// isRelease reports whether an instruction itself is a release at a scope wider than the block.
func isRelease(in *ir.Instr) bool {
	return in.HasMod(isa.ModRelease, isa.ModAcqRel) && !in.HasMod(isa.ModCTA)
}

// mayReceive reports whether an instruction may receive a signal from other blocks.
func mayReceive(in *ir.Instr, kind trace.Kind) bool {
	switch kind {
	case trace.Atomic:
		return accessesGlobal(in) && in.Kind() == isa.KindAtom
	case trace.Load:
		return accessesGlobal(in) && in.HasMod(isa.ModAcquire, isa.ModRelaxed, isa.ModVolatile)
	}
	return false
}

// isReset reports whether an instruction stores a constant zero.
func isReset(in *ir.Instr) bool {
	last := &in.Args[len(in.Args)-1]
	return in.Kind().Head() == isa.HeadSt && last.Kind == ir.Int && last.Value == 0
}

// isAcquire reports whether an instruction itself is an acquire at a scope wider than the block.
func isAcquire(in *ir.Instr) bool {
	return in.HasMod(isa.ModAcquire, isa.ModAcqRel) && !in.HasMod(isa.ModCTA)
}

// accessesGlobal reports whether an instruction may access global memory.
func accessesGlobal(in *ir.Instr) bool {
	return !in.NamesShared() && !in.HasMod(isa.ModLocal, isa.ModParam, isa.ModConst)
}

// isWeak reports whether an instruction is certainly a weak access of global memory of the given
// kind.
func isWeak(in *ir.Instr, kind trace.Kind) bool {
	if trace.Of(in) != kind || !in.HasMod(isa.ModGlobal) {
		return false
	}
	return !in.HasMod(isa.ModVolatile, isa.ModRelaxed, isa.ModRelease, isa.ModAcquire, isa.ModMMIO)
}

// isFence reports whether an instruction is a memory fence at a scope wider than the block.
func isFence(in *ir.Instr) bool {
	return trace.Of(in) == trace.Fence &&
		in.HasMod(isa.ModGl, isa.ModGPU, isa.ModSys, isa.ModCluster)
}

// synchronizesBlock reports whether an instruction synchronizes the threads of a block. A warp
// barrier counts only if warp is set, because one lane sets the flag for its warp.
func synchronizesBlock(in *ir.Instr, warp bool) bool {
	switch trace.Of(in) {
	case trace.BarrierSync, trace.ClusterWait, trace.Wait:
		return true
	case trace.WarpSync:
		return warp
	}
	return false
}
