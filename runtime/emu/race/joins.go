// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package race

// A joinCache holds the last joins of two clocks, because the lanes of a warp usually join the same
// clocks one after another, and one lane may join several of them.
type joinCache struct {
	entries [8]struct{ a, b, joined clock }
	next    int // the entry to replace
}

// find returns a join that the cache holds.
func (j *joinCache) find(a, b clock) (joined clock, found bool) {
	for i := range j.entries {
		if x := &j.entries[i]; same(b, x.b) && same(a, x.a) {
			return x.joined, true
		}
	}
	return nil, false
}

// add replaces the oldest entry of the cache.
func (j *joinCache) add(a, b, joined clock) {
	x := &j.entries[j.next]
	x.a, x.b, x.joined = a, b, joined
	j.next = (j.next + 1) % len(j.entries)
}

func same(a, b clock) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// join returns a clock with the larger epoch of a and b for each agent. Results are cached.
func (d *Detector) join(a, b clock) clock {
	switch {
	case len(b) == 0 || same(a, b):
		return a
	case len(a) == 0:
		return b
	}
	c, found := d.cache.find(a, b)
	if found {
		return c
	}
	if a.covers(b) {
		c = a
	} else {
		c = a.clone()
		c.join(b)
	}
	d.cache.add(a, b, c)
	return c
}

// learn joins a clock into the view of a thread.
func (d *Detector) learn(t *thread, c clock) {
	t.base = d.join(t.base, c)
	// If other threads are ordered after operations of the thread, the thread itself is too.
	first := t.thread * slots
	for i := uint32(1); i < slots; i++ {
		if x := c.at(first + i); x > t.own[i] {
			t.own[i] = x
		}
	}
}
