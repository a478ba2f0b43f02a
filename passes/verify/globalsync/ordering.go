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

// judge reports data that blocks certainly exchange without the required ordering.
func (w *paths) judge(h *flagArray) {
	if len(h.loads) == 0 || w.local(h) {
		return
	}
	for _, m := range h.raised {
		if !w.released(h, m) {
			w.checkEarlyFlag(h, m)
			w.raiseReview(h, m)
		}
	}
	for _, m := range slices.Concat(h.spins, h.counts) {
		if !w.acquired(h, m) {
			w.converted(h, m)
		}
	}
	for _, m := range h.once {
		w.checkIgnored(h, m)
	}
}

// local reports whether flags may synchronize only the threads of one block. Then all accesses have
// block scope, and neither the threads that set the flags nor the addresses depend on the block
// index alone.
func (w *paths) local(h *flagArray) bool {
	for _, s := range h.stores {
		for _, l := range h.loads {
			x, y := w.electors.addressUse(w.instr(s)), w.electors.addressUse(w.instr(l))
			if x != y && x != opaque && y != opaque && w.cross(s, l) == sure {
				return false
			}
		}
	}
	return !slices.ContainsFunc(slices.Concat(h.raised, h.spins, h.counts, h.once),
		func(m mark) bool {
			return !w.instr(m).HasMod(isa.ModCTA) || w.electors.byBlock(m)
		})
}

// report reports an error about a flag, at most one per flag.
func (w *paths) report(rule *diag.Rule, flag mark, text string) *relatedPlaces {
	in := w.instr(flag)
	if w.errors[in] {
		return &relatedPlaces{}
	}
	w.errors[in] = true
	f := w.Report(rule, in, "%s", text).As(diag.Error)
	if in.HasMod(isa.ModCluster) && w.Cluster == 0 {
		f.As(diag.Review) // the launch may make a cluster of the blocks
	}
	return &relatedPlaces{func(m mark, what string) { f.Also(w.instr(m), "%s", what) }}
}

// reported adds related places to a finding, if there is one.
type relatedPlaces struct {
	also func(m mark, what string)
}

func (r *relatedPlaces) at(m mark, what string) *relatedPlaces {
	if r.also != nil {
		r.also(m, what)
	}
	return r
}

// released reports a flag that is set without release ordering although another block reads data
// that was stored before it. It returns whether it did.
func (w *paths) released(h *flagArray, m mark) bool {
	flag := w.instr(m)
	if w.releases(flag) {
		return false
	}
	var store, load mark
	found := w.back(m, false, func(at mark, in *ir.Instr, _ bool) continuation {
		switch {
		case w.fences(in):
			return prune
		case in != flag && slices.Contains(h.spins, at) && !h.takes: // this answers an earlier wait
			return prune
		case isWeak(in, trace.Store) && slices.Contains(h.stores, at):
			if l, ok := w.passed(h, at); ok {
				store, load = at, l
				return stop
			}
		}
		return goOn
	})
	if found == nil || w.electors.left < 0 {
		return false
	}
	w.report(&ruleOrder, m, w.unreleased(flag)).at(store, "stored before the flag").
		at(load, "read by another block after it reads the flag")
	return true
}

// unreleased describes a flag that is set without release ordering, for messages.
func (w *paths) unreleased(flag *ir.Instr) string {
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

// releases reports whether an instruction is a release that covers all blocks.
func (w *paths) releases(in *ir.Instr) bool { return releases(in) && !w.isClusterScoped(in) }

// acquires reports whether an instruction is an acquire that covers all blocks.
func (w *paths) acquires(in *ir.Instr) bool { return acquires(in) && !w.isClusterScoped(in) }

// fences reports whether an instruction is a fence that covers all blocks.
func (w *paths) fences(in *ir.Instr) bool { return fences(in) && !w.isClusterScoped(in) }

// isClusterScoped reports whether an instruction has cluster scope in a kernel that is launched
// without clusters.
func (w *paths) isClusterScoped(in *ir.Instr) bool {
	return in.HasMod(isa.ModCluster) && (w.Cluster == 1 || w.Cluster == 0 && !w.reads("%cluster"))
}

// acquired reports data that is read after a flag of another block without acquire ordering. It
// returns whether it did.
func (w *paths) acquired(h *flagArray, m mark) bool {
	flag := w.instr(m)
	loop := w.loops[m.block]
	spins := slices.Contains(h.spins, m)
	if w.acquires(flag) || spins && w.fenced(loop) {
		return false
	}
	var load, store mark
	inspector := func(at mark, in *ir.Instr, _ bool) continuation {
		switch {
		case w.fences(in), w.acquires(in):
			return prune
		case slices.Contains(h.loads, at):
			if s, ok := w.storeOf(h, at); ok {
				load, store = at, s
				return stop
			}
		}
		return goOn
	}
	found := false
	if spins {
		found = w.onward(m, inspector)
	} else {
		found = w.forth(m, inspector)
	}
	if !found || w.electors.left < 0 || w.instr(load) == nil {
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
	case h.takes:
		text = "lock is taken without acquire ordering: later loads may return old data"
	}
	w.report(&ruleOrder, m, text).at(load, "read after the flag, without a fence in between").
		at(store, "stored here by another block")
	return true
}

// forth searches all paths forward from a position.
func (w *paths) forth(m mark, inspector inspector) bool {
	seen := make(map[int]bool)
	work := []int{m.block}
	for first := true; len(work) > 0 && w.electors.left >= 0; first = false {
		b := work[len(work)-1]
		work = work[:len(work)-1]
		on := true
		for i, in := range w.Func.Blocks[b].Instrs {
			if w.electors.left--; in.Directive() || first && i <= m.at {
				continue
			}
			did := inspector(mark{b, i}, in, false)
			if did == stop {
				return true
			}
			if on = did != prune; !on {
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
func (w *paths) checkEarlyFlag(h *flagArray, m mark) {
	if len(h.spins) == 0 || h.takes || resets(w.instr(m)) {
		return
	}
	var store, load mark
	w.forth(m, func(at mark, in *ir.Instr, _ bool) continuation {
		switch {
		case slices.Contains(h.spins, at):
			return prune
		case slices.Contains(h.late, at) && !w.reaches(at, m):
			if l, ok := w.passed(h, at); ok && !w.reaches(at, l) && !w.announcesOther(h, at) {
				store, load = at, l
				return stop
			}
		}
		return goOn
	})
	if w.instr(store) == nil || load == (mark{}) || w.electors.left < 0 {
		return
	}
	w.report(&ruleOrder, m, "inter-block flag is set before the data that it announces is stored").
		at(store, "stored after the flag").at(load, "read by another block after it reads the flag")
}

// announcesOther reports whether data of the same array is also stored before a flag. The flag may
// then announce that data.
func (w *paths) announcesOther(h *flagArray, store mark) bool {
	array := w.electors.array(w.instr(store))
	return slices.ContainsFunc(h.stores, func(s mark) bool {
		return w.electors.array(w.instr(s)) == array
	})
}

// raiseReview handles a flag that one thread sets or reads for its whole block. It turns the review
// into an error if another block certainly reads the data.
func (w *paths) raiseReview(h *flagArray, m mark) {
	set, warp := w.chosen(m)
	if len(set) == 0 || !w.releases(w.instr(m)) && !w.fenceBefore(m) {
		return
	}
	var store, load mark
	found := w.back(m, false, func(at mark, in *ir.Instr, _ bool) continuation {
		switch {
		case meets(in, warp):
			return prune
		case slices.Contains(h.stores, at) && wider(w.electors.at(at), set):
			if l, ok := w.passed(h, at); ok {
				store, load = at, l
				return stop
			}
		}
		return goOn
	})
	if found == nil || w.electors.left < 0 {
		return
	}
	w.report(&ruleFlag, m,
		"one thread signals other blocks, but no block barrier follows the stores of the other threads").at(store, "more threads store here than set the flag").
		at(load, "read by another block after it reads the flag")
}

// fenceBefore reports whether a fence precedes an instruction in its basic block.
func (w *paths) fenceBefore(m mark) bool {
	return slices.ContainsFunc(w.Func.Blocks[m.block].Instrs[:m.at], w.fences)
}

// converted reports a bulk copy of data that another block wrote through the generic proxy, without
// a proxy fence on either side.
func (w *paths) converted(h *flagArray, m mark) {
	var copied, store mark
	inspector := func(at mark, in *ir.Instr, _ bool) continuation {
		switch {
		case proxyFence(in):
			return prune
		case trace.Of(in) == trace.BulkLoad && slices.Contains(h.loads, at):
			if s, ok := w.storeOf(h, at); ok && !w.converts(h, s) {
				copied, store = at, s
				return stop
			}
		}
		return goOn
	}
	found := false
	if slices.Contains(h.spins, m) {
		found = w.onward(m, inspector)
	} else {
		found = w.forth(m, inspector)
	}
	if !found || w.electors.left < 0 || copied == (mark{}) || w.errors[w.instr(copied)] {
		return
	}
	w.report(&ruleProxy, copied,
		"missing fence.proxy.async between this acquire and a bulk copy of data that another block stored").at(m, "the flag is read here").at(store, "stored here")
}

// proxyFence reports whether an instruction orders global memory between the generic and the
// asynchronous proxy.
func proxyFence(in *ir.Instr) bool {
	return trace.Of(in) == trace.ProxyFence && in.HasMod(isa.ModAsync) && !in.NamesShared()
}

// converts reports whether a proxy fence follows a store on every path to a flag.
func (w *paths) converts(h *flagArray, store mark) bool {
	missing := w.forth(store, func(at mark, in *ir.Instr, _ bool) continuation {
		switch {
		case proxyFence(in):
			return prune
		case slices.Contains(h.raised, at):
			return stop
		}
		return goOn
	})
	return !missing
}

// checkIgnored reports a flag that is read only once, if the kernel then reads data of another
// block no matter what the value is.
func (w *paths) checkIgnored(h *flagArray, m mark) {
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
		if slices.ContainsFunc(h.spins, func(s mark) bool { return w.reaches(s, l) }) {
			continue
		}
		s, ok := w.storeOf(h, l)
		if !ok || w.reaches(s, l) || w.reaches(l, s) || w.selects(m, l) {
			continue
		}
		w.report(&ruleOrder, m,
			"inter-block flag is tested once instead of in a loop: the data is read "+
				"whether the flag is set or not").at(l, "read here").at(s,
			"stored here by another block")
		return
	}
}

// selects reports whether the address of a load depends on the value of a flag: it reads the data
// that the flag announces, such as the current one of two buffers.
func (w *paths) selects(flag, load mark) bool {
	found := false
	w.instr(load).Registers(func(r *ir.Reg, a isa.Access) {
		found = found || a != isa.Write && w.feeds(w.instr(flag), r)
	})
	return found
}
