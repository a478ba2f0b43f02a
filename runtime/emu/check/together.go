// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/ptxdsl/ptxdsl/runtime/emu"
)

// A task runs launches on its own copy of a kernel.
type task func(own *kernel) []*run

// together runs tasks on all processors, each with a copy of the kernel, and returns their runs in
// the order of the tasks. The result does not depend on the number of processors.
func (k *kernel) together(tasks []task) [][]*run {
	copies, runs := make([]kernel, len(tasks)), make([][]*run, len(tasks))
	var next atomic.Int64
	var all sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(tasks)) {
		all.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(tasks)); i = next.Add(1) - 1 {
				copies[i] = *k
				runs[i] = tasks[i](&copies[i])
			}
		})
	}
	all.Wait()
	for i := range copies {
		k.shape.Shared = max(k.shape.Shared, copies[i].shape.Shared)
	}
	return runs
}

// limited reports whether a run reached its limit of instructions.
func (x *run) limited() bool { return x.fault != nil && x.fault.Message == emu.LimitReached }

// A sequence is a list of launches in order. Launches after the first one that reaches its limit of
// instructions are dropped.
type sequence struct {
	tasks []task
	end   atomic.Int64 // number of tasks up to that one
}

// add appends a launch.
func (s *sequence) add(launch func(own *kernel) *run) {
	i := int64(len(s.tasks))
	s.end.Store(i + 1)
	s.tasks = append(s.tasks, func(own *kernel) []*run {
		if i >= s.end.Load() {
			return nil
		}
		x := launch(own)
		for old := s.end.Load(); x.limited() && old > i+1; old = s.end.Load() {
			s.end.CompareAndSwap(old, i+1)
		}
		return []*run{x}
	})
}
