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

// What a kernel does in its first turn through every loop, in the first block of a launch, can often be worked out while it is built, thread by thread.
// Accesses are held against the variables that they are for so, and what a whole warp or block does against the conditions around it. What rests on
// data, or on what a launch gives, is not told.

// A watched call is one that finish looks at.
type watched struct {
	pos    ir.Pos
	conds  []condition // under which the thread is here, the outermost first
	what   string      // of what all threads of a warp or block do: the name of the call
	block  bool        // all of the block, not of the warp
	brings bool        // each thread brings something, which is missed of those that have left the kernel
	most   int         // the threads that a named barrier is for
	role   *role
	// Of an access:
	space  isa.Space
	reg    *ir.Reg // the address, to which off is added
	off    int64
	bytes  int64
	writes bool
	nc     bool // through the read-only path
	// Of a place in a tile, of which reg is the first row or column, and bytes how many there are:
	tile  *SharedTile
	limit int64 // how many the tile has
	place string
	// Of a store of a warp's or a warpgroup's sums, where they begin, and how many rows and columns there are:
	stored *storedSums
}

// A condition is a predicate, or its contrary, that holds here.
type condition struct {
	p    *ir.Reg
	not  bool
	left bool // the others have left the kernel
	loop bool // a loop's, of which there is a turn
}

// mostWatched is how many calls are looked at, and mostAlike how many of those that are on the same lines.
const (
	mostWatched = 1024
	mostAlike   = 8
)

// watch notes a call, unless nothing can be said of it.
func (k *Kernel) watch(w watched) {
	if k.parted || !k.f.Kernel || len(k.watching) >= mostWatched {
		return
	}
	alike := 0
	for i := len(k.watching) - 1; i >= 0 && i >= len(k.watching)-2*mostAlike; i-- {
		if k.watching[i].what == w.what && k.m.calls.same(k.watching[i].pos, w.pos) {
			alike++
		}
	}
	if alike >= mostAlike {
		return
	}
	w.conds, w.role = k.conds, k.role
	k.held = max(k.held, len(k.conds))
	if k.watching == nil {
		k.watching = make([]watched, 0, 16)
	}
	k.watching = append(k.watching, w)
}

// accesses notes an access of a thread to bytes at a.
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

// combines notes that a thread combines something with bytes at a, which were written before.
//
//go:noinline
func (k *Kernel) combines(a Addr, bytes int64) {
	a.use.combine(k)
	a.aligned(bytes)
	k.reachesFor(a, bytes, true, nil)
}

// reachesFor notes where an access is.
func (k *Kernel) reachesFor(a Addr, bytes int64, writes bool, mods []Mod) {
	switch {
	case a.k != k || a.reg == nil && a.v == nil:
	case a.v != nil:
		if size := a.v.Size(); a.v.Dims != nil && a.v.Dims[0] != ir.Unsized && (a.off < 0 || a.off+bytes > size) {
			k.fault(&ruleMemory, "out of bounds: %d bytes at byte %d of %s, which has %d", bytes, a.off, a.v.Name, size)
		}
	case a.space == isa.Global || a.space == isa.Shared || a.space == isa.Local || a.space == isa.Const:
		k.watch(watched{pos: k.m.calls.above(), space: a.space, reg: a.reg, off: a.off, bytes: bytes, writes: writes, nc: slices.Contains(mods, NC)})
	}
}

// together notes what all threads of a warp, or of the block, do.
//
//go:noinline
func (k *Kernel) together(what string, block bool) {
	if len(k.conds) > 0 && (k.role == nil || k.chosen()) {
		k.watch(watched{pos: k.m.calls.above(), what: what, block: block, brings: what != "Sync" && what != "SyncWarp" && what != "SyncCluster"})
	}
}

// lanes notes that all lanes of a warp multiply, or read what is multiplied.
//
//go:noinline
func (k *Kernel) lanes(what string) {
	if k.chosen() {
		k.watch(watched{pos: k.m.calls.above(), what: what})
	}
}

// meetsAt notes what warps do at a named barrier, which is for so many threads.
//
//go:noinline
func (k *Kernel) meetsAt(what string, threads int) {
	k.watch(watched{pos: k.m.calls.above(), what: what, most: threads})
}

// chosen reports whether a condition holds here besides those of loops.
func (k *Kernel) chosen() bool {
	return slices.ContainsFunc(k.conds, func(c condition) bool { return !c.loop && !c.left })
}

// threads are the first thread that comes to a watched call at all, and the one behind the last.
func (w *watched) threads(k *Kernel) (first, end int) {
	switch {
	case w.role == nil:
		return 0, cmp.Or(k.BlockThreads(), 32)
	case w.role.single:
		return 32 * w.role.first, 32 * (w.role.first + 1)
	}
	return 32 * w.role.first, 32 * (w.role.first + w.role.n)
}

// under builds what runs where p holds, or where it does not.
func (k *Kernel) under(p Reg[Pred], not bool, build func()) {
	k.amid(condition{p: p.r, not: not}, p.IsConstant(), false, build)
}

// hold adds a condition to those that hold here. Calls that are watched have the list as it was.
func (k *Kernel) hold(c condition) {
	if len(k.conds) < k.held {
		k.conds, k.held = slices.Clone(k.conds), 0
	}
	k.conds = append(k.conds, c)
}

// amid builds what runs under a condition, unless that is known. Who leaves it, or the kernel, from within is not there behind it.
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

// remain notes that the threads that go on are those for which p does not hold.
func (k *Kernel) remain(p Reg[Pred], kernel bool) {
	if p.r != nil {
		k.hold(condition{p: p.r, not: true, left: kernel})
	}
	k.left, k.out = k.left || kernel, k.out || !kernel
}

// checkWatched looks at what was noted.
func (k *Kernel) checkWatched() {
	if len(k.watching) == 0 && len(k.takings) == 0 && len(k.touched) == 0 {
		return
	}
	t := k.newTurn()
	told := places{calls: &k.m.calls}
	outside := make(map[string]bool) // lines with an index outside of a tile
	for i := range k.watching {
		w := &k.watching[i]
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
			// The access follows from the index.
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
	k.watching, k.takings, k.touched = nil, nil, nil
}

// lineOf returns the author's file and line of a position.
func (k *Kernel) lineOf(pos ir.Pos) string {
	at, _ := k.m.calls.Place(pos)
	return at.String()
}

// checkAccess reports an access of the first thread that cannot make it.
func (k *Kernel) checkAccess(t *turn, w *watched) bool {
	for thread, end := w.threads(k); thread < end; thread++ {
		t.begin(thread)
		at := t.value(w.reg)
		if at.kind != sure {
			if at.kind == vague && t.when == firstTurn {
				return k.checkAligned(t, w, thread) // what is known of it is so for all
			}
			continue
		}
		here := t.comes(w.conds)
		if here != sure && t.certain(w.conds) {
			here = sure // wherever a launch lets the block come
		}
		if here == vague {
			continue
		}
		// Of a block whose size the launch chooses nobody knows more than that there is a first thread.
		there := here == sure && (thread == 0 || k.BlockThreads() > 0)
		name, size, off, ok := t.find(w.space, at.n+w.off)
		switch {
		case !ok:
		case there && size > 0 && (off < 0 || off+w.bytes > size): // a launch may promise bounds that keep within it
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

// checkTogether reports what all threads of a warp or block do, where only some come.
func (k *Kernel) checkTogether(t *turn, w *watched) bool {
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
				continue // nobody waits for those
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

// checkReadOnly reports loads through the read-only path of what the kernel writes.
func (k *Kernel) checkReadOnly(t *turn) {
	if !slices.ContainsFunc(k.watching, func(w watched) bool { return w.nc }) {
		return
	}
	type spot struct{ at, base *ir.Reg }
	written := make(map[*ir.Reg][]spot)
	for i := range k.watching {
		if w := &k.watching[i]; w.writes && w.space == isa.Global {
			root, base := t.root(w.reg)
			written[root] = append(written[root], spot{w.reg, base})
		}
	}
	told := places{calls: &k.m.calls}
	for i := range k.watching {
		w := &k.watching[i]
		root, base := t.root(w.reg)
		if !w.nc || root == nil || len(written[root]) == 0 || told.has(w.pos) {
			continue
		}
		told.add(w.pos)
		rule := ruleMemory
		if !slices.ContainsFunc(written[root], func(p spot) bool {
			return p.base == base || p.at == base || p.base == w.reg || p.at == w.reg
		}) {
			rule.Severity = diag.Warning // parts of it, which may lie apart
		}
		k.m.faultAt(w.pos, &rule, "NC load of %s, which the kernel writes, may return stale data; leave NC out", t.pointer(root).Name)
	}
}
