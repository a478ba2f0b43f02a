// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package race

// A joinCache holds the last join of two clocks, because all lanes of a warp usually join the same
// clocks one after another.
type joinCache struct{ a, b, joined clock }

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
	case same(a, d.cache.a) && same(b, d.cache.b):
		return d.cache.joined
	}
	var c clock
	if a.covers(b) {
		c = a
	} else {
		c = a.clone()
		c.join(b)
	}
	d.cache = joinCache{a, b, c}
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
