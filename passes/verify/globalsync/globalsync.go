// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package globalsync checks synchronization between blocks through global memory: a thread that
// sets a flag after its whole block has stored data, or that waits for a flag before its whole
// block reads data. It uses the control-flow graph and needs no traces.
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

// A mark is the position of an instruction in a kernel.
type mark struct{ block, at int }

// marks are the instructions of a kernel that may pass data between blocks.
type marks struct {
	raised  []mark // signals
	awaited []mark // receptions of signals
	weak    []mark // plain loads, which may receive a signal too
	copies  []mark // bulk copies of data that the kernel also stores
}

func run(p *verify.Pass) {
	if p.Alone() {
		return
	}
	found := marksOf(p)
	if len(found.raised)+len(found.awaited)+len(found.copies) == 0 {
		return
	}
	w := newPaths(p)
	once := w.choose(found)
	w.recordWaits(found)
	defer w.atomics()
	w.passes = w.shared(found.raised, once)
	for _, h := range w.passes {
		w.judge(h)
		w.gridwide(h)
	}
	w.check(found)
	if w.electors.left < 0 {
		p.Missed("inter-block flags in global memory (B10, B11): there are too many to check")
	}
}

// marksOf finds the instructions of a kernel that may pass data between blocks.
func marksOf(p *verify.Pass) *marks {
	found, stores := &marks{}, p.Needs(trace.Store)
	for b, block := range p.Func.Blocks {
		for i, in := range block.Instrs {
			if in.Directive() {
				continue
			}
			kind := trace.Of(in)
			if raises(in, kind) {
				found.raised = append(found.raised, mark{b, i})
			}
			if awaits(in, kind) {
				found.awaited = append(found.awaited, mark{b, i})
			} else if isWeak(in, trace.Load) {
				found.weak = append(found.weak, mark{b, i})
			}
			if kind == trace.BulkLoad && stores {
				found.copies = append(found.copies, mark{b, i})
			}
		}
	}
	return found
}

// choose keeps only the signals and waits that elected threads execute. It returns the loads with
// memory ordering that are not in a loop that waits.
func (w *paths) choose(found *marks) (once []mark) {
	found.raised = slices.DeleteFunc(found.raised,
		func(m mark) bool { return w.electors.isPrivate(w.instr(m)) })
	for _, m := range found.awaited {
		if trace.Of(w.instr(m)) == trace.Load && !w.spins(m) {
			once = append(once, m)
		}
	}
	found.awaited = slices.DeleteFunc(found.awaited, func(m mark) bool {
		return !w.spins(m) || !w.electors.asks(w.instr(m)) || w.moves(m) ||
			w.electors.isPrivate(w.instr(m))
	})
	return once
}

// recordWaits records the waits for each array, including plain loads in loops.
func (w *paths) recordWaits(found *marks) {
	for _, m := range found.awaited {
		array := w.electors.array(w.instr(m))
		w.heard[array] = append(w.heard[array], m)
	}
	for _, m := range found.weak {
		array := w.electors.array(w.instr(m))
		set := slices.ContainsFunc(found.raised,
			func(r mark) bool { return w.electors.array(w.instr(r)) == array })
		if array.v != nil && set && w.spins(m) && w.leads(m) && !w.moves(m) {
			w.heard[array] = append(w.heard[array], m)
		}
	}
}

// check checks the memory order of the signals, waits and copies for which nothing has been
// reported.
func (w *paths) check(found *marks) {
	settled := func(m mark) bool { return w.errors[w.instr(m)] }
	raised := slices.DeleteFunc(found.raised, settled)
	awaited := slices.DeleteFunc(found.awaited, settled)
	copies := slices.DeleteFunc(found.copies, settled)
	for _, m := range raised {
		if in := w.instr(m); in.HasMod(isa.ModCTA) {
			w.near[w.electors.array(in)] = true
		}
	}
	for _, m := range raised {
		if !w.storesBefore(m) {
			w.unordered(m)
		}
	}
	for _, m := range awaited {
		if !w.accessesAfter(m) {
			w.unheard(m)
		}
	}
	for _, m := range copies {
		w.copied(m)
	}
}

// raises reports whether an instruction may signal other blocks: it is a release, or may follow a
// fence.
func raises(in *ir.Instr, kind trace.Kind) bool {
	switch kind {
	case trace.Atomic:
		return accessesGlobal(in)
	case trace.Store:
		return accessesGlobal(in) && in.HasMod(isa.ModRelease, isa.ModRelaxed, isa.ModVolatile)
	}
	return in.Kind().Head() == isa.HeadMultimem && in.HasMod(isa.ModRelease, isa.ModAcqRel)
}

// releases reports whether an instruction is itself a release at a scope wider than the block.
func releases(in *ir.Instr) bool {
	return in.HasMod(isa.ModRelease, isa.ModAcqRel) && !in.HasMod(isa.ModCTA)
}

// awaits reports whether an instruction may receive a signal of other blocks.
func awaits(in *ir.Instr, kind trace.Kind) bool {
	switch kind {
	case trace.Atomic:
		return accessesGlobal(in) && in.Kind() == isa.KindAtom
	case trace.Load:
		return accessesGlobal(in) && in.HasMod(isa.ModAcquire, isa.ModRelaxed, isa.ModVolatile)
	}
	return false
}

// resets reports whether an instruction resets a flag.
func resets(in *ir.Instr) bool {
	last := &in.Args[len(in.Args)-1]
	return in.Kind().Head() == isa.HeadSt && last.Kind == ir.Int && last.Value == 0
}

// acquires reports whether an instruction is itself an acquire at a scope wider than the block.
func acquires(in *ir.Instr) bool {
	return in.HasMod(isa.ModAcquire, isa.ModAcqRel) && !in.HasMod(isa.ModCTA)
}

// accessesGlobal reports whether an instruction may access global memory.
func accessesGlobal(in *ir.Instr) bool {
	return !in.NamesShared() && !in.HasMod(isa.ModLocal, isa.ModParam, isa.ModConst)
}

// isWeak reports whether an instruction is certainly a weak load or store of global memory.
func isWeak(in *ir.Instr, kind trace.Kind) bool {
	if trace.Of(in) != kind || !in.HasMod(isa.ModGlobal) {
		return false
	}
	return !in.HasMod(isa.ModVolatile, isa.ModRelaxed, isa.ModRelease, isa.ModAcquire, isa.ModMMIO)
}

// fences reports whether an instruction is a memory fence at a scope wider than the block.
func fences(in *ir.Instr) bool {
	return trace.Of(in) == trace.Fence &&
		in.HasMod(isa.ModGl, isa.ModGPU, isa.ModSys, isa.ModCluster)
}

// meets reports whether an instruction synchronizes the threads of a block. A warp barrier suffices
// if one lane sets the flag for its warp.
func meets(in *ir.Instr, warp bool) bool {
	switch trace.Of(in) {
	case trace.BarrierSync, trace.ClusterWait, trace.Wait:
		return true
	case trace.WarpSync:
		return warp
	}
	return false
}
