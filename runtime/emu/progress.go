// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package emu

import (
	"sync"
	"time"
)

// Progress reports how far a launch has run.
type Progress struct {
	Kernel       string
	Done, Blocks int64 // finished blocks and all blocks
	Instructions int64 // instructions of threads
	Elapsed      time.Duration
	Ended        bool
}

// Left estimates the remaining time of the launch from the finished blocks. It returns 0 if no
// block has finished.
func (p Progress) Left() time.Duration {
	if p.Done == 0 || p.Ended {
		return 0
	}
	return time.Duration(float64(p.Elapsed) * float64(p.Blocks-p.Done) / float64(p.Done))
}

// progressInterval is the time between two progress reports.
const progressInterval = 500 * time.Millisecond

// watch reports progress until the returned function is called. That function waits for the last
// report.
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
		for reported := false; ; reported = true {
			select {
			case <-tick.C:
				tell(false)
			case <-done:
				if reported {
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
