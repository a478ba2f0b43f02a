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

// spinBlocks is the largest number of blocks in a spin loop.
const spinBlocks = 8

// paths searches the paths to and from flags.
type paths struct {
	*verify.Pass
	electors *electors
	loops    []*graph.Loop        // innermost loop of each block
	waits    map[*graph.Loop]bool // whether a loop only waits, for loops that were examined
	alone    bool                 // a block is one warp
	heard    map[base][]mark      // loads and atomics that wait, by the array of the flag
	near     map[base]bool        // arrays whose flags are set only for the block itself
	// Arrays that are both stored and loaded as data; nil until it is computed.
	both    map[base]bool
	onwards map[int][]bool     // cache: blocks reachable from a block
	errors  map[*ir.Instr]bool // flags for which an error was reported
	post    *graph.Tree        // cache: postdominators
	passes  []*flagArray       // the arrays with flags
}

func newPaths(p *verify.Pass) *paths {
	f := p.Flow
	_, loops, _ := graph.Loops(f.Succs, f.Preds, graph.Dominators(f.Succs, f.Preds))
	return &paths{Pass: p, electors: newElectors(f), loops: loops,
		waits: make(map[*graph.Loop]bool),
		heard: make(map[base][]mark), near: make(map[base]bool), alone: p.Pool.Threads <= 32,
		onwards: make(map[int][]bool), errors: make(map[*ir.Instr]bool)}
}

// isExchanged reports whether an instruction accesses an array that the kernel both stores to and
// loads from. Blocks may exchange data through such an array.
func (w *paths) isExchanged(in *ir.Instr) bool {
	if w.both == nil {
		loaded, stored := make(map[base]bool), make(map[base]bool)
		for _, b := range w.Func.Blocks {
			for _, in := range b.Instrs {
				switch {
				case in.Directive():
				case isWeak(in, trace.Load):
					loaded[w.electors.array(in)] = true
				case isWeak(in, trace.Store):
					stored[w.electors.array(in)] = true
				}
			}
		}
		maps.DeleteFunc(stored, func(b base, _ bool) bool { return b.v == nil || !loaded[b] })
		w.both = stored
	}
	return w.both[w.electors.array(in)]
}

// instr returns the instruction at a position.
func (w *paths) instr(m mark) *ir.Instr { return w.Func.Blocks[m.block].Instrs[m.at] }

// chosen returns the predicates that select the thread that handles a flag, and whether that is one
// lane per warp. The set is empty if all threads handle the flag.
func (w *paths) chosen(m mark) (set picks, warp bool) {
	set = w.electors.at(m)
	warp = w.alone
	for r := range set {
		warp = warp || w.electors.picks(r) == lane
	}
	return set, warp
}

// A continuation tells a search how to continue after an instruction.
type continuation uint8

const (
	goOn  continuation = iota
	pass               // a fence, which some searches look for
	prune              // do not go further on this path
	stop               // found
)

// A searchState is a position on a path, and whether the path to it has met the requirement of the
// search.
type searchState struct {
	block  int
	passed bool
}

// An inspector decides how a search continues at an instruction. The argument passed reports
// whether the path to it has met the requirement of the search.
type inspector func(at mark, in *ir.Instr, passed bool) continuation

// along visits the instructions of a basic block in order. It returns the instruction that look
// finds, or whether the path continues after the block.
func (w *paths) along(s *searchState, list iter.Seq2[int, *ir.Instr],
	inspector inspector) (found *ir.Instr, on bool) {
	for i, in := range list {
		if w.electors.left--; in.Directive() {
			continue
		}
		switch inspector(mark{s.block, i}, in, s.passed) {
		case stop:
			return in, false
		case pass:
			s.passed = true
		case prune:
			return nil, false
		}
	}
	return nil, true
}

// back searches all paths backward from a position. It returns the instruction that look finds, or
// nil.
func (w *paths) back(m mark, passed bool, inspector inspector) *ir.Instr {
	seen := make(map[searchState]bool)
	work := []searchState{{m.block, passed}}
	for first := true; len(work) > 0 && w.electors.left >= 0; first = false {
		s := work[len(work)-1]
		work = work[:len(work)-1]
		list := w.Func.Blocks[s.block].Instrs
		if first {
			list = list[:m.at]
		}
		found, on := w.along(&s, slices.Backward(list), inspector)
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

// storesBefore searches for stores of other threads before a flag that one thread sets, and reports
// whether there are any.
func (w *paths) storesBefore(m mark) bool {
	set, warp := w.chosen(m)
	if len(set) == 0 {
		return false
	}
	flag := w.instr(m)
	releases := releases(flag)
	found := w.back(m, releases, func(at mark, in *ir.Instr, fenced bool) continuation {
		switch {
		case meets(in, warp):
			return prune
		case fences(in):
			return pass
		case fenced && isWeak(in, trace.Store) && wider(w.electors.at(at), set),
			releases && isWeak(in, trace.Load) && w.isExchanged(in) &&
				wider(w.electors.at(at), set):
			return stop
		}
		return goOn
	})
	if found == nil || w.electors.left < 0 {
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

// unordered searches for stores before a flag that is not a release, if the kernel waits for flags
// of the same array.
func (w *paths) unordered(m mark) {
	flag := w.instr(m)
	array := w.electors.array(flag)
	if releases(flag) || resets(flag) || array.v == nil ||
		!slices.ContainsFunc(w.heard[array], func(a mark) bool {
			return !w.loops[a.block].Has(m.block) &&
				!(flag.HasMod(isa.ModCTA) && w.instr(a).HasMod(isa.ModCTA))
		}) {
		return
	}
	found := w.back(m, false, func(at mark, in *ir.Instr, _ bool) continuation {
		switch {
		// This answers an earlier wait.
		case fences(in), awaits(in, trace.Of(in)) && w.electors.array(in) == array:
			return prune
		case isWeak(in, trace.Store) && w.electors.array(in) != array:
			return stop
		}
		return goOn
	})
	if found != nil {
		w.Report(&ruleOrder, flag, "inter-block flag has no release ordering: other blocks may "+
			"see the flag before the data stored earlier").
			Also(found, "stored before the flag")
	}
}

// accessesAfter searches for accesses of other threads after a loop in which one thread waits for a
// flag, and reports whether it found any. It looks for accesses to exchanged memory without a
// barrier in between, and for other reads if no barrier follows before the threads exit or wait
// again.
func (w *paths) accessesAfter(m mark) bool {
	set, warp := w.chosen(m)
	if len(set) == 0 {
		return false
	}
	var used *ir.Instr
	sure := false
	found := w.onward(m, func(at mark, in *ir.Instr, passed bool) continuation {
		switch {
		case meets(in, warp):
			return prune
		case !isWeak(in, trace.Load) && !isWeak(in, trace.Store) || !wider(w.electors.at(at), set):
		case w.isExchanged(in):
			used, sure = in, w.fromOthers(m, at)
			return stop
		case isWeak(in, trace.Load):
			if used == nil {
				used = in
			}
			return pass
		}
		return goOn
	})
	found = found && w.electors.left >= 0
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

// unheard searches for loads after a loop that waits for a flag without acquire ordering, or with
// block scope although another block sets the flag.
func (w *paths) unheard(m mark) {
	flag := w.instr(m)
	if flag.HasMod(isa.ModCTA) && w.near[w.electors.array(flag)] {
		return
	}
	loop := w.loops[m.block]
	if acquires(flag) || w.fenced(loop) || w.used(flag, loop) {
		return
	}
	var read *ir.Instr
	w.onward(m, func(_ mark, in *ir.Instr, passed bool) continuation {
		switch {
		case fences(in), acquires(in):
			return prune
		case read == nil && isWeak(in, trace.Load) && !in.HasMod(isa.ModNC):
			read = in
		}
		return goOn
	})
	if read != nil {
		w.Report(&ruleOrder, flag, "wait for an inter-block flag has no acquire ordering: later "+
			"loads may return old data").
			Also(read, "loaded after the wait, without a fence in between")
	}
}

// onward follows all paths out of the loop around a position. It reports whether look finds an
// instruction, or passes its requirement, on some path before the threads exit or reenter the loop.
func (w *paths) onward(m mark, inspector inspector) bool {
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
	for len(work) > 0 && w.electors.left >= 0 {
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
		found, on := w.along(&s, slices.All(w.Func.Blocks[s.block].Instrs), inspector)
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

// spins reports whether a position is in a loop that only waits.
func (w *paths) spins(m mark) bool {
	l := w.loops[m.block]
	if l == nil || len(l.Blocks) > spinBlocks {
		return false
	}
	waits, met := w.waits[l]
	if !met {
		waits = w.idle(l)
		w.waits[l] = waits
	}
	return waits
}

// leads reports whether the result of a load in a loop decides whether the loop ends or continues.
func (w *paths) leads(m mark) bool {
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

// idle reports whether a loop has no stores and no barriers.
func (w *paths) idle(l *graph.Loop) bool {
	for _, b := range l.Blocks {
		for _, in := range w.Func.Blocks[b].Instrs {
			if w.electors.left--; in.Directive() {
				continue
			}
			switch kind := trace.Of(in); {
			case kind == trace.Store, kind == trace.Call, meets(in, true):
				return false
			}
		}
	}
	return true
}

// fenced reports whether a loop contains a fence.
func (w *paths) fenced(l *graph.Loop) bool {
	return slices.ContainsFunc(l.Blocks,
		func(b int) bool { return slices.ContainsFunc(w.Func.Blocks[b].Instrs, fences) })
}

// used reports whether the result of an instruction is also read outside of the loop. It is then
// data and not only a flag.
func (w *paths) used(in *ir.Instr, l *graph.Loop) bool {
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
			if w.electors.left--; w.electors.left < 0 {
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

// copied searches for stores of threads to an array before a bulk copy from it, without a proxy
// fence in between.
func (w *paths) copied(m mark) {
	from := w.instr(m)
	array := w.electors.array(from)
	if array.v == nil {
		return
	}
	found := w.back(m, false, func(_ mark, in *ir.Instr, _ bool) continuation {
		switch {
		case trace.Of(in) == trace.ProxyFence && in.HasMod(isa.ModAsync) && !in.NamesShared():
			return prune
		case isWeak(in, trace.Store) && w.electors.array(in) == array:
			return stop
		}
		return goOn
	})
	if found != nil {
		w.Report(&ruleProxy, from, "missing fence.proxy.async between a global store and a bulk "+
			"copy that may read it").
			As(diag.Review).Also(found, "written here")
	}
}
