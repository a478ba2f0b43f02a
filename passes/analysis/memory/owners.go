// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package memory

import "github.com/ptxdsl/ptxdsl/passes/analysis/value"

// Foreign reports whether some thread accesses bytes in r that only other threads access in o.
// The threads of a group, whose size is given, count as one thread.
func (r *Region) Foreign(o *Region, group int) bool {
	return r.anyOwner(o, group, func(owner, t int) bool {
		return owner != t && owner != severalOwners
	})
}

// Crosses reports whether some thread accesses bytes in r that another thread accesses in o. The
// threads of a group, whose size is given, count as one thread.
func (r *Region) Crosses(o *Region, group int) bool {
	return r.anyOwner(o, group, func(owner, t int) bool { return owner != t })
}

// A ForeignCache caches results of Region.Foreign. The result depends only on the threads and on
// the distance of the regions, and the iterations of a loop repeat few combinations.
type ForeignCache map[foreignKey]bool

type foreignKey struct {
	threads, other  *value.Pattern
	distance, align int64
	bytes, others   int64
	group           int
}

// Foreign returns r.Foreign(o, group), from the cache if possible.
func (c ForeignCache) Foreign(r, o *Region, group int) bool {
	if r.Root != o.Root || !r.Sure || !o.Sure {
		return true
	}
	key := foreignKey{r.threads, o.threads, r.base - o.base, r.base & (cellBytes - 1), r.Bytes,
		o.Bytes,
		group}
	answer, known := c[key]
	if !known {
		answer = r.Foreign(o, group)
		c[key] = answer
	}
	return answer
}

// anyOwner reports whether bad returns true for some byte that r and o have in common. The
// arguments of bad are the group that accesses the byte in o, and the group that accesses it in r.
// The result is true if the regions cannot be compared.
func (r *Region) anyOwner(o *Region, group int, bad func(owner, t int) bool) bool {
	if r.Root != o.Root || !r.Sure || !o.Sure {
		return true
	}
	low, high := max(r.Low, o.Low), min(r.High, o.High)
	if low >= high {
		return false
	}
	owners := newOwners(low, high)
	o.threads.Threads.Each(func(t int) {
		owners.claim(o.base+o.threads.In(t), o.Bytes, t/group)
	})
	found := false
	r.threads.Threads.Each(func(t int) {
		if !found {
			found = owners.anyMatch(r.base+r.threads.In(t), r.Bytes, func(owner int) bool {
				return bad(owner, t/group)
			})
		}
	})
	return found
}

const (
	// cellBytes is the size in bytes of a cell. Each cell has one owner.
	cellBytes = 4
	// severalOwners is the owner of a cell that more than one group accesses.
	severalOwners = -1
	// maxDenseCells is the largest number of cells that are stored in a slice. It covers all of
	// shared memory.
	maxDenseCells = 1 << 16
)

// owners maps the cells of an interval of offsets to the group of threads that accesses them.
type owners struct {
	first, last int64 // range of cells, inclusive
	// owner+2 of cell first+i, or 0 if the cell has no owner; nil for a large interval
	dense  []int32
	sparse map[int64]int // used for a large interval
}

// newOwners returns a map without owners for the offsets in [low, high).
func newOwners(low, high int64) *owners {
	w := &owners{first: low >> 2, last: (high - 1) >> 2}
	if n := w.last - w.first + 1; n <= maxDenseCells {
		w.dense = make([]int32, n)
	} else {
		w.sparse = make(map[int64]int)
	}
	return w
}

// cells returns the range of cells for the bytes at offset at, clipped to the interval. The range
// is empty if last < first.
func (w *owners) cells(at, bytes int64) (first, last int64) {
	return max(at>>2, w.first), min((at+bytes-1)>>2, w.last)
}

// claim makes a group the owner of the bytes at offset at.
func (w *owners) claim(at, bytes int64, group int) {
	first, last := w.cells(at, bytes)
	for c := first; c <= last; c++ {
		if owner, taken := w.owner(c); taken && owner != group {
			w.put(c, severalOwners)
		} else if !taken {
			w.put(c, group)
		}
	}
}

// anyMatch reports whether match returns true for the owner of any of the bytes at offset at.
func (w *owners) anyMatch(at, bytes int64, match func(owner int) bool) bool {
	first, last := w.cells(at, bytes)
	for c := first; c <= last; c++ {
		if owner, taken := w.owner(c); taken && match(owner) {
			return true
		}
	}
	return false
}

func (w *owners) owner(cell int64) (group int, taken bool) {
	if w.dense != nil {
		v := w.dense[cell-w.first]
		return int(v) - 2, v != 0
	}
	group, taken = w.sparse[cell]
	return group, taken
}

func (w *owners) put(cell int64, group int) {
	if w.dense != nil {
		w.dense[cell-w.first] = int32(group + 2)
		return
	}
	w.sparse[cell] = group
}
