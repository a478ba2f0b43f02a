// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package race

// A joinCache remembers the last join: lanes of a warp join the same clocks one after another.
type joinCache struct{ a, b, joined clock }

func same(a, b clock) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// join returns a clock that holds a and b.
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

// learn adds what a clock holds to the knowledge of a thread.
func (d *Detector) learn(t *thread, c clock) {
	t.base = d.join(t.base, c)
	// What others know of its operations the thread knows too.
	first := t.thread * slots
	for i := uint32(1); i < slots; i++ {
		if x := c.at(first + i); x > t.own[i] {
			t.own[i] = x
		}
	}
}
