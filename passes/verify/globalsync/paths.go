// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package globalsync

import (
	"iter"
	"maps"
	"slices"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/passes/analysis/graph"
	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
	"github.com/ptxdsl/ptxdsl/passes/verify"
)

// maxSpinBlocks is the largest number of basic blocks in a spin loop.
const maxSpinBlocks = 8

// A paths searches the control-flow paths to and from flags.
type paths struct {
	*verify.Pass
	electors    *threadSelection
	loops       []*graph.Loop        // innermost loop of each basic block, or nil
	waits       map[*graph.Loop]bool // cache of isIdle
	singleWarp  bool                 // a thread block is one warp
	waitsByBase map[base][]position  // loads and atomics that wait, by the array of the flag
	blockLocal  map[base]bool        // arrays whose flags are set only for the block itself
	// exchanged holds the arrays that are both stored and loaded as data. It is nil until
	// isExchanged computes it.
	exchanged  map[base]bool
	reachable  map[int][]bool     // cache: blocks reachable from each block
	errors     map[*ir.Instr]bool // flags for which an error was reported
	post       *graph.Tree        // cache: postdominators
	flagArrays []*flagArray       // the arrays that contain flags
}

func newPaths(p *verify.Pass) *paths {
	f := p.Flow
	_, loops, _ := graph.Loops(f.Succs, f.Preds, graph.Dominators(f.Succs, f.Preds))
	return &paths{Pass: p, electors: newThreadSelection(f, p.Uniform), loops: loops,
		waits:       make(map[*graph.Loop]bool),
		waitsByBase: make(map[base][]position), blockLocal: make(map[base]bool),
		singleWarp: p.Pool.Threads <= 32,
		reachable:  make(map[int][]bool), errors: make(map[*ir.Instr]bool)}
}

// isExchanged reports whether an instruction accesses an array that the kernel both stores to and
// loads from. Blocks may exchange data through such an array.
func (w *paths) isExchanged(in *ir.Instr) bool {
	if w.exchanged == nil {
		loaded, stored := make(map[base]bool), make(map[base]bool)
		for _, b := range w.Func.Blocks {
			for _, in := range b.Instrs {
				switch {
				case in.Directive():
				case isWeak(in, trace.Load):
					loaded[w.electors.baseOf(in)] = true
				case isWeak(in, trace.Store):
					stored[w.electors.baseOf(in)] = true
				}
			}
		}
		maps.DeleteFunc(stored, func(b base, _ bool) bool { return b.v == nil || !loaded[b] })
		w.exchanged = stored
	}
	return w.exchanged[w.electors.baseOf(in)]
}

// isData reports whether an instruction is a weak access of global memory of the given kind, or a
// volatile access of an array that contains no flags. Volatile accesses are not ordered either.
func (w *paths) isData(in *ir.Instr, kind trace.Kind) bool {
	if isWeak(in, kind) {
		return true
	}
	if trace.Of(in) != kind || !in.HasMod(isa.ModVolatile) || !in.HasMod(isa.ModGlobal) {
		return false
	}
	array := w.electors.baseOf(in)
	return array.v != nil && len(w.waitsByBase[array]) == 0
}

// instr returns the instruction at position m.
func (w *paths) instr(m position) *ir.Instr { return w.Func.Blocks[m.block].Instrs[m.at] }

// handlingThreads returns the predicates that select the thread that accesses a flag. warp is set
// if one lane per warp accesses the flag. The set is empty if all threads access the flag.
func (w *paths) handlingThreads(m position) (set predicates, warp bool) {
	set = w.electors.predicatesAt(m)
	warp = w.singleWarp
	for r := range set {
		warp = warp || w.electors.selectionOf(r) == byLane
	}
	return set, warp
}

// A continuation specifies how a search continues after an instruction.
type continuation uint8

const (
	walkContinue continuation = iota
	walkPass                  // a fence, which some searches look for
	walkPrune                 // do not continue on this path
	walkStop                  // end the search: the instruction was found
)

// A searchState is a basic block at which a search continues. passed is set if the path to the
// block contains an instruction for which the inspector returned walkPass.
type searchState struct {
	block  int
	passed bool
}

// An inspector determines how a search continues after an instruction. The argument passed is set
// if the inspector has returned walkPass for an earlier instruction of the path.
type inspector func(at position, in *ir.Instr, passed bool) continuation

// visitBlock calls inspector for the instructions of a basic block in order. It returns the
// instruction for which inspector returned walkStop, or nil. on reports whether the path
// continues after the block.
func (w *paths) visitBlock(s *searchState, list iter.Seq2[int, *ir.Instr],
	inspector inspector) (found *ir.Instr, on bool) {
	for i, in := range list {
		if w.electors.budget--; in.Directive() {
			continue
		}
		switch inspector(position{s.block, i}, in, s.passed) {
		case walkStop:
			return in, false
		case walkPass:
			s.passed = true
		case walkPrune:
			return nil, false
		}
	}
	return nil, true
}

// searchBackward calls inspector for the instructions on all paths backward from a position. It
// returns the instruction for which inspector returned walkStop, or nil.
func (w *paths) searchBackward(m position, passed bool, inspector inspector) *ir.Instr {
	seen := make(map[searchState]bool)
	work := []searchState{{m.block, passed}}
	for first := true; len(work) > 0 && w.electors.budget >= 0; first = false {
		s := work[len(work)-1]
		work = work[:len(work)-1]
		list := w.Func.Blocks[s.block].Instrs
		if first {
			list = list[:m.at]
		}
		found, on := w.visitBlock(&s, slices.Backward(list), inspector)
		if found != nil {
			return found
		}
		for _, before := range w.Flow.Preds[s.block] {
			if next := (searchState{before, s.passed}); on && !seen[next] {
				seen[next] = true
				work = append(work, next)
			}
		}
	}
	return nil
}

// storesBefore reports a flag that one thread sets although other threads have stored or loaded
// data with no barrier before the flag. It returns whether it made a finding.
func (w *paths) storesBefore(m position) bool {
	set, warp := w.handlingThreads(m)
	if len(set) == 0 {
		return false
	}
	flag := w.instr(m)
	releases := isRelease(flag)
	found := w.searchBackward(m, releases,
		func(at position, in *ir.Instr, fenced bool) continuation {
			switch {
			case synchronizesBlock(in, warp):
				return walkPrune
			case isFence(in):
				return walkPass
			case fenced && isWeak(in, trace.Store) &&
				hasMoreThreads(w.electors.predicatesAt(at), set),
				releases && isWeak(in, trace.Load) && w.isExchanged(in) &&
					hasMoreThreads(w.electors.predicatesAt(at), set):
				return walkStop
			}
			return walkContinue
		})
	if found == nil || w.electors.budget < 0 {
		return false
	}
	did := "stored"
	if isWeak(found, trace.Load) {
		did = "read"
	}
	w.Report(&ruleFlag, flag,
		"one thread signals other blocks without a block barrier after the data that other threads %s",
		did).
		Also(found, "%s here by more threads than set the flag", did)
	return true
}

// reportMissingRelease reports a flag that is set without a release or fence after data stores,
// if the kernel waits for flags of the same array.
func (w *paths) reportMissingRelease(m position) {
	flag := w.instr(m)
	array := w.electors.baseOf(flag)
	if isRelease(flag) || isReset(flag) || array.v == nil ||
		!slices.ContainsFunc(w.waitsByBase[array], func(a position) bool {
			return !w.loops[a.block].Has(m.block) &&
				!(flag.HasMod(isa.ModCTA) && w.instr(a).HasMod(isa.ModCTA))
		}) {
		return
	}
	found := w.searchBackward(m, false, func(at position, in *ir.Instr, _ bool) continuation {
		switch {
		// The flag answers an earlier wait.
		case isFence(in), mayReceive(in, trace.Of(in)) && w.electors.baseOf(in) == array:
			return walkPrune
		case w.isData(in, trace.Store) && w.electors.baseOf(in) != array:
			return walkStop
		}
		return walkContinue
	})
	if found != nil {
		w.Report(&ruleOrder, flag, "inter-block flag has no release ordering: other blocks may "+
			"see the flag before the data stored earlier").
			Also(found, "stored before the flag")
	}
}

// accessesAfter reports a loop in which one thread waits for a flag, if other threads then access
// memory without synchronization. It looks for accesses to exchanged memory with no barrier after
// the loop, and for other reads if no barrier follows before the threads exit or wait again. It
// returns whether it made a finding.
func (w *paths) accessesAfter(m position) bool {
	set, warp := w.handlingThreads(m)
	if len(set) == 0 {
		return false
	}
	var used *ir.Instr
	sure := false
	found := w.searchAfterLoop(m, func(at position, in *ir.Instr, passed bool) continuation {
		switch {
		case synchronizesBlock(in, warp):
			return walkPrune
		case !isWeak(in, trace.Load) && !isWeak(in, trace.Store) ||
			!hasMoreThreads(w.electors.predicatesAt(at), set):
		case w.isExchanged(in):
			used, sure = in, w.readsOtherBlock(m, at)
			return walkStop
		case isWeak(in, trace.Load):
			if used == nil {
				used = in
			}
			return walkPass
		}
		return walkContinue
	})
	found = found && w.electors.budget >= 0
	if found {
		does := "read"
		if isWeak(used, trace.Store) {
			does = "store"
		}
		f := w.Report(&ruleFlag, w.instr(m),
			"one thread waits for other blocks, but other threads %s "+
				"afterwards without a block barrier in between", does).
			Also(used, "more threads %s here than wait for the flag", does)
		if sure {
			f.As(diag.Error)
		}
	}
	return found
}

// reportMissingAcquire reports loads after a loop that waits for a flag without acquire ordering,
// or with block scope although another block sets the flag.
func (w *paths) reportMissingAcquire(m position) {
	flag := w.instr(m)
	if flag.HasMod(isa.ModCTA) && w.blockLocal[w.electors.baseOf(flag)] {
		return
	}
	loop := w.loops[m.block]
	if isAcquire(flag) || w.hasFence(loop) || w.isUsedOutside(flag, loop) {
		return
	}
	var read *ir.Instr
	w.searchAfterLoop(m, func(_ position, in *ir.Instr, passed bool) continuation {
		switch {
		case isFence(in), isAcquire(in):
			return walkPrune
		case read == nil && isWeak(in, trace.Load) && !in.HasMod(isa.ModNC):
			read = in
		}
		return walkContinue
	})
	if read != nil {
		w.Report(&ruleOrder, flag, "wait for an inter-block flag has no acquire ordering: later "+
			"loads may return old data").
			Also(read, "loaded after the wait, without a fence in between")
	}
}

// searchAfterLoop calls inspector for the instructions on all paths out of the loop around a
// position, until the threads exit or reenter the loop. It reports whether inspector returned
// walkStop on some path, or walkPass on a path that ends there.
func (w *paths) searchAfterLoop(m position, inspector inspector) bool {
	loop := w.loops[m.block]
	seen := make(map[searchState]bool)
	var work []searchState
	for _, b := range loop.Blocks {
		for _, to := range w.Flow.Succs[b] {
			if !loop.Has(to) {
				work = append(work, searchState{to, false})
			}
		}
	}
	for len(work) > 0 && w.electors.budget >= 0 {
		s := work[len(work)-1]
		work = work[:len(work)-1]
		if seen[s] {
			continue
		}
		seen[s] = true
		if loop.Has(s.block) {
			if s.passed {
				return true
			}
			continue
		}
		found, on := w.visitBlock(&s, slices.All(w.Func.Blocks[s.block].Instrs), inspector)
		if found != nil {
			return true
		}
		if on && s.passed && w.Flow.Leaves[s.block] {
			return true
		}
		for _, to := range w.Flow.Succs[s.block] {
			if on {
				work = append(work, searchState{to, s.passed})
			}
		}
	}
	return false
}

// isSpin reports whether a position is in a loop that only waits.
func (w *paths) isSpin(m position) bool {
	l := w.loops[m.block]
	if l == nil || len(l.Blocks) > maxSpinBlocks {
		return false
	}
	waits, met := w.waits[l]
	if !met {
		waits = w.isIdle(l)
		w.waits[l] = waits
	}
	return waits
}

// decidesLoop reports whether the result of a load in a loop decides whether the loop ends or
// continues.
func (w *paths) decidesLoop(m position) bool {
	loop := w.loops[m.block]
	inside := make(map[*ir.Instr]bool)
	var work []*ir.Reg
	for _, b := range loop.Blocks {
		for _, in := range w.Func.Blocks[b].Instrs {
			inside[in] = true
		}
		leaves := slices.ContainsFunc(w.Flow.Succs[b], func(to int) bool { return !loop.Has(to) })
		if in := w.Func.Blocks[b].Last(); leaves && in != nil && in.Guard.Reg != nil {
			work = append(work, in.Guard.Reg)
		}
	}
	load, found := w.instr(m), false
	w.writersOf(work, func(in *ir.Instr) walkStep {
		switch {
		case in == load:
			found = true
			return endWalk
		case inside[in]:
			return readWalk
		}
		return skipWalk
	})
	return found
}

// isIdle reports whether a loop has no stores, no calls and no barriers.
func (w *paths) isIdle(l *graph.Loop) bool {
	for _, b := range l.Blocks {
		for _, in := range w.Func.Blocks[b].Instrs {
			if w.electors.budget--; in.Directive() {
				continue
			}
			switch kind := trace.Of(in); {
			case kind == trace.Store, kind == trace.Call, synchronizesBlock(in, true):
				return false
			}
		}
	}
	return true
}

// hasFence reports whether a loop contains a fence.
func (w *paths) hasFence(l *graph.Loop) bool {
	return slices.ContainsFunc(l.Blocks,
		func(b int) bool { return slices.ContainsFunc(w.Func.Blocks[b].Instrs, isFence) })
}

// isUsedOutside reports whether the result of an instruction is also read outside the loop. The
// result is then data and not only a flag.
func (w *paths) isUsedOutside(in *ir.Instr, l *graph.Loop) bool {
	given := make(map[*ir.Reg]bool)
	in.Registers(func(r *ir.Reg, a isa.Access) {
		if a != isa.Read {
			given[r] = true
		}
	})
	for b, block := range w.Func.Blocks {
		if l.Has(b) {
			continue
		}
		for _, other := range block.Instrs {
			if w.electors.budget--; w.electors.budget < 0 {
				return true
			}
			found := false
			other.Registers(func(r *ir.Reg, a isa.Access) {
				found = found || a != isa.Write && given[r]
			})
			if found {
				return true
			}
		}
	}
	return false
}
