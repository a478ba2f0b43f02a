// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"cmp"
	"slices"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// Deferred checks evaluate, for each thread of the first block, what the kernel does in the first
// iteration of every loop. They compare accesses with the bounds of variables, and calls for a
// whole warp or block with the conditions around them. Values that depend on data or on the launch
// are unknown and give no finding.

// A deferredCheck is a builder call that finish checks.
type deferredCheck struct {
	pos   ir.Pos
	conds []condition // conditions that hold at the call, the outermost first
	what  string      // name of a call by all threads of a warp or block
	block bool        // the call is by all threads of the block instead of the warp
	// each thread contributes a value; the value of a thread that has left the kernel is missing
	brings bool
	most   int // thread count of a named barrier
	role   *role
	// For an access:
	space  isa.Space
	reg    *ir.Reg // the address, to which off is added
	off    int64
	bytes  int64
	writes bool
	nc     bool // uses the read-only cache
	// For a position in a tile: reg is the first row or column, and bytes the number of rows or
	// columns.
	tile  *SharedTile
	limit int64 // number of rows or columns of the tile
	place string
	// For a store of an accumulator: its position and size.
	stored *storedTile
}

// A condition is a predicate that is true here, or false if it is negated.
type condition struct {
	p    *ir.Reg
	not  bool
	left bool // the other threads have left the kernel
	loop bool // a loop condition: the loop has another iteration
}

// maxDeferred limits the deferred checks of a kernel, and mostAlike those with the same source
// lines.
const (
	maxDeferred = 1024
	mostAlike   = 8
)

// watch records a deferred check, unless nothing can be decided about it.
func (k *Kernel) watch(w deferredCheck) {
	if k.parted || !k.f.Kernel || len(k.deferred) >= maxDeferred {
		return
	}
	alike := 0
	for i := len(k.deferred) - 1; i >= 0 && i >= len(k.deferred)-2*mostAlike; i-- {
		if k.deferred[i].what == w.what && k.m.calls.same(k.deferred[i].pos, w.pos) {
			alike++
		}
	}
	if alike >= mostAlike {
		return
	}
	w.conds, w.role = k.conds, k.role
	k.held = max(k.held, len(k.conds))
	if k.deferred == nil {
		k.deferred = make([]deferredCheck, 0, 16)
	}
	k.deferred = append(k.deferred, w)
}

// accesses records an access of a thread to bytes at a.
//
//go:noinline
func (k *Kernel) accesses(a Addr, bytes int64, writes bool, mods []Mod) {
	a.use.access(k, writes)
	a.aligned(bytes)
	if isShared(a.space) && a.k == k && (a.reg != nil || a.v != nil) {
		k.touches(a, bytes, writes)
	}
	k.reachesFor(a, bytes, writes, mods)
}

// combines records an atomic operation on bytes at a, which must have been written before.
//
//go:noinline
func (k *Kernel) combines(a Addr, bytes int64) {
	a.use.combine(k)
	a.aligned(bytes)
	k.reachesFor(a, bytes, true, nil)
}

// reachesFor records the position of an access.
func (k *Kernel) reachesFor(a Addr, bytes int64, writes bool, mods []Mod) {
	switch {
	case a.k != k || a.reg == nil && a.v == nil:
	case a.v != nil:
		if size := a.v.Size(); a.v.Dims != nil && a.v.Dims[0] != ir.Unsized && (a.off < 0 || a.off+bytes > size) {
			k.fault(&ruleMemory, "out of bounds: %d bytes at byte %d of %s, which has %d", bytes, a.off, a.v.Name, size)
		}
	case a.space == isa.Global || a.space == isa.Shared || a.space == isa.Local || a.space == isa.Const:
		k.watch(deferredCheck{pos: k.m.calls.above(), space: a.space, reg: a.reg, off: a.off, bytes: bytes, writes: writes, nc: slices.Contains(mods, NC)})
	}
}

// together records a call that all threads of a warp, or of the block, must execute.
//
//go:noinline
func (k *Kernel) together(what string, block bool) {
	if len(k.conds) > 0 && (k.role == nil || k.chosen()) {
		k.watch(deferredCheck{pos: k.m.calls.above(), what: what, block: block, brings: what != "Sync" && what != "SyncWarp" && what != "SyncCluster"})
	}
}

// lanes records that all lanes of a warp execute an MMA, or load its operands.
//
//go:noinline
func (k *Kernel) lanes(what string) {
	if k.chosen() {
		k.watch(deferredCheck{pos: k.m.calls.above(), what: what})
	}
}

// meetsAt records a call at a named barrier for the given number of threads.
//
//go:noinline
func (k *Kernel) meetsAt(what string, threads int) {
	k.watch(deferredCheck{pos: k.m.calls.above(), what: what, most: threads})
}

// chosen reports whether a condition other than a loop condition holds here.
func (k *Kernel) chosen() bool {
	return slices.ContainsFunc(k.conds, func(c condition) bool { return !c.loop && !c.left })
}

// threads returns the first thread that can execute a deferred check, and one past the last.
func (w *deferredCheck) threads(k *Kernel) (first, end int) {
	switch {
	case w.role == nil:
		return 0, cmp.Or(k.BlockThreads(), 32)
	case w.role.single:
		return 32 * w.role.first, 32 * (w.role.first + 1)
	}
	return 32 * w.role.first, 32 * (w.role.first + w.role.n)
}

// under emits code that is executed if p is true, or false if not is set.
func (k *Kernel) under(p Reg[Pred], not bool, build func()) {
	k.amid(condition{p: p.r, not: not}, p.IsConstant(), false, build)
}

// hold adds a condition to the current ones. Earlier deferred checks keep the list without it.
func (k *Kernel) hold(c condition) {
	if len(k.conds) < k.held {
		k.conds, k.held = slices.Clone(k.conds), 0
	}
	k.conds = append(k.conds, c)
}

// amid emits code under a condition, unless it is constant. Threads that leave the loop or the
// kernel inside the code do not execute what follows.
func (k *Kernel) amid(c condition, constant, loop bool, build func()) {
	n, left, out := len(k.conds), k.left, k.out
	k.left, k.out = false, false
	if !constant {
		k.hold(c)
	}
	build()
	k.conds = k.conds[:n]
	k.parted = k.parted || k.left || k.out && !loop
	k.left, k.out = left, out
}

// remain records that only threads for which p is false continue.
func (k *Kernel) remain(p Reg[Pred], kernel bool) {
	if p.r != nil {
		k.hold(condition{p: p.r, not: true, left: kernel})
	}
	k.left, k.out = k.left || kernel, k.out || !kernel
}

// checkDeferred runs the deferred checks.
func (k *Kernel) checkDeferred() {
	if len(k.deferred) == 0 && len(k.takings) == 0 && len(k.touched) == 0 {
		return
	}
	t := k.newThreadEval()
	told := places{calls: &k.m.calls}
	outside := make(map[string]bool) // lines that have an index outside of a tile
	for i := range k.deferred {
		w := &k.deferred[i]
		if told.has(w.pos) || t.work > mostWork {
			continue
		}
		found := false
		switch {
		case w.tile != nil:
			if found = k.checkPlace(t, w); found {
				outside[k.lineOf(w.pos)] = true
			}
		case w.stored != nil:
			found = k.checkStored(t, w)
		case w.what != "":
			found = k.checkTogether(t, w)
		case w.space == isa.Shared && len(outside) > 0 && outside[k.lineOf(w.pos)]:
			// The invalid access follows from the index, which is already reported.
		default:
			found = k.checkAccess(t, w)
		}
		if found {
			told.add(w.pos)
		}
	}
	k.checkReadOnly(t)
	k.checkNever(t, &told)
	k.checkRaces(t, &told)
	k.checkLast(t, &told)
	k.checkCovers(t)
	k.checkStores(t, &told)
	k.checkExtents(t, &told)
	t.end()
	k.deferred, k.takings, k.touched = nil, nil, nil
}

// lineOf returns the author's file and line of a position.
func (k *Kernel) lineOf(pos ir.Pos) string {
	at, _ := k.m.calls.Place(pos)
	return at.String()
}

// checkAccess reports an access by the first thread for which it is invalid.
func (k *Kernel) checkAccess(t *threadEval, w *deferredCheck) bool {
	for thread, end := w.threads(k); thread < end; thread++ {
		t.begin(thread)
		at := t.value(w.reg)
		if at.kind != sure {
			if at.kind == vague && t.when == firstTurn {
				// the finding applies to all threads
				return k.checkAligned(t, w, thread)
			}
			continue
		}
		here := t.comes(w.conds)
		if here != sure && t.certain(w.conds) {
			here = sure // some launch executes the block
		}
		if here == vague {
			continue
		}
		// If the launch chooses the block size, only the first thread certainly exists.
		there := here == sure && (thread == 0 || k.BlockThreads() > 0)
		name, size, off, ok := t.find(w.space, at.n+w.off)
		switch {
		case !ok:
		// the launch may pass bounds that keep the access inside
		case there && size > 0 && (off < 0 || off+w.bytes > size):
			k.m.faultAt(w.pos, &ruleMemory, "out of bounds: thread %d%s accesses byte %d of %s, which has %d; an index counts elements, and If can exclude threads", thread, t.late(), off, name, size)
			return true
		case off%w.bytes != 0:
			k.m.faultAt(w.pos, &ruleMemory, "misaligned vector access: thread %d%s accesses byte %d of %s with %d bytes, want a multiple of %d; the index counts elements and must be a multiple of the vector length",
				thread, t.late(), off, name, w.bytes, w.bytes)
			return true
		case there && w.space == isa.Global && off >= 1<<31 && off/w.bytes >= 1<<31:
			k.m.faultAt(w.pos, &ruleMemory, "out of bounds: thread %d of the first block%s accesses byte %d of %s: an index is a U32 and cannot be negative; use If or Select, or AtI(-1) for the preceding element", thread, t.late(), off, name)
			return true
		}
	}
	return false
}

// checkTogether reports a call for all threads of a warp or block that only some of them execute.
func (k *Kernel) checkTogether(t *threadEval, w *deferredCheck) bool {
	if k.BlockThreads() == 0 {
		return false
	}
	begin, end := w.threads(k)
	come := make([]bool, end-begin)
	n := 0
	for i := range come {
		t.begin(begin + i)
		all := true
		for _, c := range w.conds {
			if c.left && !w.brings {
				continue // a barrier does not wait for exited threads
			}
			v := t.holds(c)
			if v.kind != sure {
				return false
			}
			all = all && v.n != 0
		}
		come[i] = all
		if all {
			n++
		}
	}
	for first := 0; first < len(come); first += 32 {
		lanes := come[first:min(first+32, len(come))]
		if in, out := slices.Index(lanes, true), slices.Index(lanes, false); in >= 0 && out >= 0 {
			k.m.faultAt(w.pos, &ruleProtocol, "divergent %s: thread %d of a warp executes it, but thread %d does not; move it out of the condition",
				w.what, begin+first+in, begin+first+out)
			return true
		}
	}
	if w.most > 0 && n > w.most {
		k.m.faultAt(w.pos, &ruleProtocol, "%s: barrier expects %d threads, but %d arrive", w.what, w.most, n)
		return true
	}
	if in, out := slices.Index(come, true), slices.Index(come, false); w.block && w.role == nil && in >= 0 && out >= 0 {
		k.m.faultAt(w.pos, &ruleProtocol, "deadlock: divergent %s: thread %d executes it, but thread %d, of another warp, does not; all threads of the block must", w.what, in, out)
		return true
	}
	return false
}

// checkReadOnly reports loads through the read-only cache of memory that the kernel writes.
func (k *Kernel) checkReadOnly(t *threadEval) {
	if !slices.ContainsFunc(k.deferred, func(w deferredCheck) bool { return w.nc }) {
		return
	}
	type spot struct{ at, base *ir.Reg }
	written := make(map[*ir.Reg][]spot)
	for i := range k.deferred {
		if w := &k.deferred[i]; w.writes && w.space == isa.Global {
			root, base := t.root(w.reg)
			written[root] = append(written[root], spot{w.reg, base})
		}
	}
	told := places{calls: &k.m.calls}
	for i := range k.deferred {
		w := &k.deferred[i]
		root, base := t.root(w.reg)
		if !w.nc || root == nil || len(written[root]) == 0 || told.has(w.pos) {
			continue
		}
		told.add(w.pos)
		rule := ruleMemory
		if !slices.ContainsFunc(written[root], func(p spot) bool {
			return p.base == base || p.at == base || p.base == w.reg || p.at == w.reg
		}) {
			rule.Severity = diag.Warning // different parts of it, which may be disjoint
		}
		k.m.faultAt(w.pos, &rule, "NC load of %s, which the kernel writes, may return stale data; leave NC out", t.pointer(root).Name)
	}
}
