// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package memory

import "github.com/ptxdsl/ptxdsl/passes/analysis/value"

// Foreign reports whether any thread accesses bytes in r that only other threads access in o.
// Threads are compared in groups of the given size.
func (r *Region) Foreign(o *Region, group int) bool {
	return r.owned(o, group, func(owner, t int) bool { return owner != t && owner != several })
}

// Crosses reports whether any thread accesses bytes in r that another thread accesses in o. Threads
// are compared in groups of the given size.
func (r *Region) Crosses(o *Region, group int) bool {
	return r.owned(o, group, func(owner, t int) bool { return owner != t })
}

// A ForeignCache caches results of Foreign. The result depends only on the threads and the distance
// of the regions, and the iterations of a loop repeat few combinations.
type ForeignCache map[foreignKey]bool

type foreignKey struct {
	threads, other  *value.Pattern
	distance, align int64
	bytes, others   int64
	group           int
}

// Foreign returns r.Foreign(o, group), which it takes from the cache if possible.
func (c ForeignCache) Foreign(r, o *Region, group int) bool {
	if r.Root != o.Root || !r.Sure || !o.Sure {
		return true
	}
	key := foreignKey{r.threads, o.threads, r.base - o.base, r.base & (grain - 1), r.Bytes, o.Bytes,
		group}
	answer, known := c[key]
	if !known {
		answer = r.Foreign(o, group)
		c[key] = answer
	}
	return answer
}

// owned calls bad with the group that owns a byte in o and the group that accesses the byte in r,
// and reports whether it returns true for some byte. The result is true if the regions cannot be
// compared.
func (r *Region) owned(o *Region, group int, bad func(owner, t int) bool) bool {
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
			found = owners.any(r.base+r.threads.In(t), r.Bytes, func(owner int) bool {
				return bad(owner, t/group)
			})
		}
	})
	return found
}

const (
	// grain is the size in bytes of a cell, which has one owner.
	grain = 4
	// several is the owner of a cell that more than one group accesses.
	several = -1
	// denseCells is the maximum number of cells stored in a slice, enough for all of shared memory.
	denseCells = 1 << 16
)

// owners maps the cells of an interval of offsets to the group of threads that accesses them.
type owners struct {
	first, last int64         // range of cells, inclusive
	dense       []int32       // owner+2 of cell first+i, 0 if none, or nil for a large interval
	sparse      map[int64]int // used for a large interval
}

// newOwners returns an empty map for the offsets from low up to, but excluding, high.
func newOwners(low, high int64) *owners {
	w := &owners{first: low >> 2, last: (high - 1) >> 2}
	if n := w.last - w.first + 1; n <= denseCells {
		w.dense = make([]int32, n)
	} else {
		w.sparse = make(map[int64]int)
	}
	return w
}

// cells returns the range of cells for bytes at an offset, clipped to the interval. It is empty if
// last < first.
func (w *owners) cells(at, bytes int64) (first, last int64) {
	return max(at>>2, w.first), min((at+bytes-1)>>2, w.last)
}

// claim makes a group the owner of the bytes at an offset.
func (w *owners) claim(at, bytes int64, group int) {
	first, last := w.cells(at, bytes)
	for c := first; c <= last; c++ {
		if owner, taken := w.owner(c); taken && owner != group {
			w.put(c, several)
		} else if !taken {
			w.put(c, group)
		}
	}
}

// any reports whether match returns true for the owner of any byte at an offset.
func (w *owners) any(at, bytes int64, match func(owner int) bool) bool {
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
