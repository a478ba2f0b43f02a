// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package emu

import (
	"sync/atomic"
	"time"
)

// A timer holds the time that the clock of a grid has skipped. If all threads spin and one of them
// reads a clock, the kernel probably waits for a time limit. The clock then skips ahead in
// increasing steps.
type timer struct {
	skipped atomic.Uint64
	read    atomic.Bool // a clock was read since the last skip
	step    uint64      // the last skip; 0 after progress
	counted uint64      // part of skipped that count has returned
	began   time.Time
}

// start records the time at which the grid began to run.
func (t *timer) start(now time.Time) {
	if t.began.IsZero() {
		t.began = now
	}
}

// follow advances the clock to the real time that has passed. Without this, threads that wait for
// the host or for other devices would exceed their time limits because of skip.
func (t *timer) follow() {
	if passed := uint64(time.Since(t.began)); passed > t.skipped.Load() {
		t.skipped.Store(passed)
	}
}

// count returns the time that was skipped since the last call.
func (t *timer) count() uint64 {
	n := t.skipped.Load() - t.counted
	t.counted += n
	return n
}

// Skips of the clock, in units of the clock. After the longest one, a grid that spins hangs.
const (
	firstSkip = 1 << 10
	lastSkip  = 1 << 40
)

// skip advances the clock of a grid in which no thread makes progress. It returns false if no
// thread reads the clock.
func (t *timer) skip() bool {
	if !t.read.Swap(false) || t.step >= lastSkip {
		return false
	}
	t.step = max(firstSkip, 2*t.step)
	t.skipped.Add(t.step)
	return true
}

// time returns the clock of the block. It counts the instructions of its warps, and the time that
// the grid skipped.
func (b *block) time() uint64 {
	t := &b.grid.timer
	if !t.read.Load() {
		t.read.Store(true)
	}
	return uint64(b.executed) + b.grid.began + t.skipped.Load()
}
