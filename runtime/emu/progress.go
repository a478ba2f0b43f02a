// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package emu

import (
	"sync"
	"time"
)

// Progress is how far a launch has come.
type Progress struct {
	Kernel       string
	Done, Blocks int64 // blocks that have ended, of all
	Instructions int64 // of threads
	Elapsed      time.Duration
	Ended        bool
}

// Left estimates how long the launch goes on, from the blocks that have ended; 0 where it is
// unknown.
func (p Progress) Left() time.Duration {
	if p.Done == 0 || p.Ended {
		return 0
	}
	return time.Duration(float64(p.Elapsed) * float64(p.Blocks-p.Done) / float64(p.Done))
}

// progressInterval is the time between two reports of progress.
const progressInterval = 500 * time.Millisecond

// watch reports progress until the returned function is called, which waits for the last report.
func (g *grid) watch(report func(Progress)) (end func()) {
	if report == nil {
		return func() {}
	}
	begin := time.Now()
	n := g.launch.Grid
	total := int64(n[0]) * int64(n[1]) * int64(n[2])
	tell := func(ended bool) {
		report(Progress{
			Kernel: g.image.entry.Name, Done: g.ended.Load(), Blocks: total,
			Instructions: g.executed.Load(), Elapsed: time.Since(begin), Ended: ended,
		})
	}
	done := make(chan struct{})
	var running sync.WaitGroup
	running.Go(func() {
		tick := time.NewTicker(progressInterval)
		defer tick.Stop()
		for told := false; ; told = true {
			select {
			case <-tick.C:
				tell(false)
			case <-done:
				if told {
					tell(true)
				}
				return
			}
		}
	})
	return func() {
		close(done)
		running.Wait()
	}
}
