// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package globalsync

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/passes/analysis/graph"
	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
)

// checkFlagArray reports data that blocks certainly exchange without the required ordering.
func (w *paths) checkFlagArray(h *flagArray) {
	if len(h.loads) == 0 || w.isBlockLocal(h) {
		return
	}
	for _, m := range h.raised {
		if !w.checkRelease(h, m) {
			w.checkEarlyFlag(h, m)
			w.raiseReview(h, m)
		}
	}
	for _, m := range slices.Concat(h.spins, h.counts) {
		if !w.checkAcquire(h, m) {
			w.checkProxyFence(h, m)
		}
	}
	for _, m := range h.once {
		w.checkIgnored(h, m)
	}
}

// isBlockLocal reports whether flags may synchronize only the threads of one block: all accesses
// to the flags have block scope, and neither the threads that set the flags nor the addresses
// depend on the block index alone.
func (w *paths) isBlockLocal(h *flagArray) bool {
	for _, s := range h.stores {
		for _, l := range h.loads {
			x, y := w.electors.addressUse(w.instr(s)), w.electors.addressUse(w.instr(l))
			if x != y && x != unknownUse && y != unknownUse && w.crossingOf(s, l) == crosses {
				return false
			}
		}
	}
	return !slices.ContainsFunc(slices.Concat(h.raised, h.spins, h.counts, h.once),
		func(m position) bool {
			return !w.instr(m).HasMod(isa.ModCTA) || w.electors.dependsOnBlock(m)
		})
}

// report reports an error about a flag. It makes at most one finding per flag; for a second, it
// returns a relatedPlaces without effect.
func (w *paths) report(rule *diag.Rule, flag position, text string) *relatedPlaces {
	in := w.instr(flag)
	if w.errors[in] {
		return &relatedPlaces{}
	}
	w.errors[in] = true
	f := w.Report(rule, in, "%s", text).As(diag.Error)
	if in.HasMod(isa.ModCluster) && w.Cluster == 0 {
		f.As(diag.Review) // the launch may make a cluster of the blocks
	}
	return &relatedPlaces{func(m position, what string) { f.Also(w.instr(m), "%s", what) }}
}

// relatedPlaces adds related positions to a finding. The zero relatedPlaces does nothing.
type relatedPlaces struct {
	also func(m position, what string)
}

func (r *relatedPlaces) add(m position, what string) *relatedPlaces {
	if r.also != nil {
		r.also(m, what)
	}
	return r
}

// checkRelease reports flag m if it is set without release ordering although another block reads
// data that was stored before it. It returns whether it made a finding.
func (w *paths) checkRelease(h *flagArray, m position) bool {
	flag := w.instr(m)
	if w.isRelease(flag) {
		return false
	}
	var store, load position
	found := w.searchBackward(m, false, func(at position, in *ir.Instr, _ bool) continuation {
		switch {
		case w.isFence(in):
			return walkPrune
		// the flag answers an earlier wait
		case in != flag && slices.Contains(h.spins, at) && !h.isLock:
			return walkPrune
		case slices.Contains(h.stores, at):
			if l, ok := w.loadOf(h, at); ok {
				store, load = at, l
				return walkStop
			}
		}
		return walkContinue
	})
	if found == nil || w.electors.budget < 0 {
		return false
	}
	w.report(&ruleOrder, m, w.describeMissingRelease(flag)).add(store, "stored before the flag").
		add(load, "read by another block after it reads the flag")
	return true
}

// describeMissingRelease describes a flag that is set without release ordering, for messages.
func (w *paths) describeMissingRelease(flag *ir.Instr) string {
	const then = ": other blocks may see it before the data stored earlier"
	switch {
	case isWeak(flag, trace.Store):
		return "inter-block flag is set by a weak store, which orders nothing" + then
	case flag.HasMod(isa.ModRelease, isa.ModAcqRel) && flag.HasMod(isa.ModCTA):
		return "release of an inter-block flag has .cta scope, which does not cover other blocks" +
			then
	case flag.HasMod(isa.ModRelease, isa.ModAcqRel):
		return "release of an inter-block flag has .cluster scope, but the kernel has no cluster" +
			then
	}
	return "inter-block flag has no release ordering: other blocks may see the flag before the data " +
		"stored earlier"
}

// isRelease reports whether an instruction is a release whose scope includes all blocks.
func (w *paths) isRelease(in *ir.Instr) bool { return isRelease(in) && !w.isClusterScoped(in) }

// isAcquire reports whether an instruction is an acquire whose scope includes all blocks.
func (w *paths) isAcquire(in *ir.Instr) bool { return isAcquire(in) && !w.isClusterScoped(in) }

// isFence reports whether an instruction is a fence whose scope includes all blocks.
func (w *paths) isFence(in *ir.Instr) bool { return isFence(in) && !w.isClusterScoped(in) }

// isClusterScoped reports whether an instruction has cluster scope in a kernel that is launched
// without clusters.
func (w *paths) isClusterScoped(in *ir.Instr) bool {
	return in.HasMod(isa.ModCluster) &&
		(w.Cluster == 1 || w.Cluster == 0 && !w.readsSpecial("%cluster"))
}

// checkAcquire reports data that is read after flag m of another block without acquire ordering.
// It returns whether it made a finding.
func (w *paths) checkAcquire(h *flagArray, m position) bool {
	flag := w.instr(m)
	loop := w.loops[m.block]
	spins := slices.Contains(h.spins, m)
	if w.isAcquire(flag) || spins && w.hasFence(loop) || !spins && w.fencesIfSignaled(flag) {
		return false
	}
	var load, store position
	inspector := func(at position, in *ir.Instr, _ bool) continuation {
		switch {
		case w.isFence(in), w.isAcquire(in):
			return walkPrune
		case slices.Contains(h.loads, at) && !in.HasMod(isa.ModVolatile):
			if s, ok := w.storeOf(h, at); ok {
				load, store = at, s
				return walkStop
			}
		}
		return walkContinue
	}
	found := false
	if spins {
		found = w.searchAfterLoop(m, inspector)
	} else {
		found = w.searchForward(m, inspector)
	}
	if !found || w.electors.budget < 0 || w.instr(load) == nil {
		return false
	}
	text := "wait for an inter-block flag has no acquire ordering: later loads may return old data"
	switch {
	case isWeak(flag, trace.Load):
		text = "inter-block flag is polled by a weak load, which orders nothing and may never see " +
			"the flag change"
	case flag.HasMod(isa.ModAcquire, isa.ModAcqRel):
		text = "acquire of an inter-block flag does not cover other blocks: its scope is too narrow"
	case !spins:
		text = "read of a counter that other blocks increment has no acquire ordering: later loads may return old data"
	case h.isLock:
		text = "lock is taken without acquire ordering: later loads may return old data"
	}
	w.report(&ruleOrder, m, text).add(load, "read after the flag, without a fence in between").
		add(store, "stored here by another block")
	return true
}

// fencesIfSignaled reports whether a branch on the result of a counter leads to a fence on one
// side. The other side is then that of a block that is not the last.
func (w *paths) fencesIfSignaled(counter *ir.Instr) bool {
	for b, block := range w.Func.Blocks {
		in := block.Last()
		if in == nil || in.Guard.Reg == nil || !in.Ends() ||
			!w.isComputedFrom(counter, in.Guard.Reg) {
			continue
		}
		for _, to := range w.Flow.Succs[b] {
			if slices.ContainsFunc(w.Func.Blocks[to].Instrs, w.isFence) {
				return true
			}
		}
	}
	return false
}

// searchForward calls inspector for the instructions on all paths forward from a position. It
// reports whether inspector returned walkStop.
func (w *paths) searchForward(m position, inspector inspector) bool {
	seen := make(map[int]bool)
	work := []int{m.block}
	for first := true; len(work) > 0 && w.electors.budget >= 0; first = false {
		b := work[len(work)-1]
		work = work[:len(work)-1]
		on := true
		for i, in := range w.Func.Blocks[b].Instrs {
			if w.electors.budget--; in.Directive() || first && i <= m.at {
				continue
			}
			did := inspector(position{b, i}, in, false)
			if did == walkStop {
				return true
			}
			if on = did != walkPrune; !on {
				break
			}
		}
		for _, to := range w.Flow.Succs[b] {
			if on && !seen[to] {
				seen[to] = true
				work = append(work, to)
			}
		}
	}
	return false
}

// checkEarlyFlag reports a flag that is set before the data that it announces is stored.
func (w *paths) checkEarlyFlag(h *flagArray, m position) {
	if len(h.spins) == 0 || h.isLock || isReset(w.instr(m)) {
		return
	}
	var store, load position
	w.searchForward(m, func(at position, in *ir.Instr, _ bool) continuation {
		switch {
		case slices.Contains(h.spins, at):
			return walkPrune
		case slices.Contains(h.late, at) && !w.reaches(at, m):
			if l, ok := w.loadOf(h, at); ok && !w.reaches(at, l) && !w.announcesOther(h, at) {
				store, load = at, l
				return walkStop
			}
		}
		return walkContinue
	})
	if w.instr(store) == nil || load == (position{}) || w.electors.budget < 0 {
		return
	}
	w.report(&ruleOrder, m, "inter-block flag is set before the data that it announces is stored").
		add(store, "stored after the flag").add(load,
		"read by another block after it reads the flag")
}

// announcesOther reports whether data of the same array is also stored before a flag. The flag
// may then announce that data.
func (w *paths) announcesOther(h *flagArray, store position) bool {
	array := w.electors.baseOf(w.instr(store))
	return slices.ContainsFunc(h.stores, func(s position) bool {
		return w.electors.baseOf(w.instr(s)) == array
	})
}

// raiseReview checks a flag that one thread sets for its whole block. If another block certainly
// reads the data, it turns the review into an error.
func (w *paths) raiseReview(h *flagArray, m position) {
	set, warp := w.handlingThreads(m)
	if len(set) == 0 || !w.isRelease(w.instr(m)) && !w.fenceBefore(m) {
		return
	}
	var store, load position
	found := w.searchBackward(m, false, func(at position, in *ir.Instr, _ bool) continuation {
		switch {
		case synchronizesBlock(in, warp):
			return walkPrune
		case slices.Contains(h.stores, at) && hasMoreThreads(w.electors.predicatesAt(at), set):
			if l, ok := w.loadOf(h, at); ok {
				store, load = at, l
				return walkStop
			}
		}
		return walkContinue
	})
	if found == nil || w.electors.budget < 0 {
		return
	}
	w.report(&ruleFlag, m,
		"one thread signals other blocks, but no block barrier follows the stores of the other threads").add(store, "more threads store here than set the flag").
		add(load, "read by another block after it reads the flag")
}

// fenceBefore reports whether a fence precedes an instruction in its basic block.
func (w *paths) fenceBefore(m position) bool {
	return slices.ContainsFunc(w.Func.Blocks[m.block].Instrs[:m.at], w.isFence)
}

// checkProxyFence reports a bulk copy of data that another block wrote through the generic proxy,
// if there is a proxy fence neither after the store nor before the copy.
func (w *paths) checkProxyFence(h *flagArray, m position) {
	var copied, store position
	inspector := func(at position, in *ir.Instr, _ bool) continuation {
		switch {
		case isProxyFence(in):
			return walkPrune
		case trace.Of(in) == trace.BulkLoad && slices.Contains(h.loads, at):
			if s, ok := w.storeOf(h, at); ok && !w.hasProxyFence(h, s) {
				copied, store = at, s
				return walkStop
			}
		}
		return walkContinue
	}
	found := false
	if slices.Contains(h.spins, m) {
		found = w.searchAfterLoop(m, inspector)
	} else {
		found = w.searchForward(m, inspector)
	}
	if !found || w.electors.budget < 0 || copied == (position{}) || w.errors[w.instr(copied)] {
		return
	}
	w.report(&ruleProxy, copied,
		"missing fence.proxy.async between this acquire and a bulk copy of data that another block stored").add(m, "the flag is read here").add(store, "stored here")
}

// isProxyFence reports whether an instruction orders global memory between the generic and the
// async proxy.
func isProxyFence(in *ir.Instr) bool {
	return trace.Of(in) == trace.ProxyFence && in.HasMod(isa.ModAsync) && !in.NamesShared()
}

// hasProxyFence reports whether a proxy fence follows a store on every path to a flag.
func (w *paths) hasProxyFence(h *flagArray, store position) bool {
	missing := w.searchForward(store, func(at position, in *ir.Instr, _ bool) continuation {
		switch {
		case isProxyFence(in):
			return walkPrune
		case slices.Contains(h.raised, at):
			return walkStop
		}
		return walkContinue
	})
	return !missing
}

// checkIgnored reports a flag that is read only once, if the kernel reads data of another block
// afterwards whatever the value of the flag is.
func (w *paths) checkIgnored(h *flagArray, m position) {
	if len(h.stores) == 0 || w.loops[m.block] != nil {
		return
	}
	if w.post == nil {
		w.post = graph.Postdominators(w.Flow.Succs, w.Flow.Preds, w.Flow.Leaves)
	}
	for _, l := range h.loads {
		if !w.reaches(m, l) || l.block != m.block && !w.post.Has(l.block, m.block) {
			continue
		}
		if slices.ContainsFunc(h.spins, func(s position) bool { return w.reaches(s, l) }) {
			continue
		}
		s, ok := w.storeOf(h, l)
		if !ok || w.reaches(s, l) || w.reaches(l, s) || w.selects(m, l) {
			continue
		}
		w.report(&ruleOrder, m,
			"inter-block flag is tested once instead of in a loop: the data is read "+
				"whether the flag is set or not").add(l, "read here").add(s,
			"stored here by another block")
		return
	}
}

// selects reports whether the address of a load depends on the value of a flag: it reads the data
// that the flag announces, such as the current one of two buffers.
func (w *paths) selects(flag, load position) bool {
	found := false
	w.instr(load).Registers(func(r *ir.Reg, a isa.Access) {
		found = found || a != isa.Write && w.isComputedFrom(w.instr(flag), r)
	})
	return found
}

// reportMissingProxyFence reports a bulk copy from an array after stores of threads to the same
// array, with no proxy fence between the stores and the copy.
func (w *paths) reportMissingProxyFence(m position) {
	from := w.instr(m)
	array := w.electors.baseOf(from)
	if array.v == nil {
		return
	}
	found := w.searchBackward(m, false, func(_ position, in *ir.Instr, _ bool) continuation {
		switch {
		case trace.Of(in) == trace.ProxyFence && in.HasMod(isa.ModAsync) && !in.NamesShared():
			return walkPrune
		case isWeak(in, trace.Store) && w.electors.baseOf(in) == array:
			return walkStop
		}
		return walkContinue
	})
	if found != nil {
		w.Report(&ruleProxy, from, "missing fence.proxy.async between a global store and a bulk "+
			"copy that may read it").
			As(diag.Review).Also(found, "written here")
	}
}
