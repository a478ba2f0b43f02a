// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"fmt"
	"runtime"
	"sync"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/passes/analysis/memory"
	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
)

// checkKernels runs the analyzers on all kernels. Kernels are independent and run in parallel, but
// share the step limit of the module.
func checkKernels(m *ir.Module, kernels []*ir.Func, list []*Analyzer, opt Options) []*kernelState {
	states := make([]*kernelState, len(kernels))
	done := make([]chan struct{}, len(kernels))
	gate := make(chan struct{}, runtime.GOMAXPROCS(0))
	work := newBudget(kernels, opt.Effort)
	for i, f := range kernels {
		if i >= maxParallel {
			<-done[i-maxParallel]
			work.returnUnused(i-maxParallel, states[i-maxParallel].spent)
		}
		own := opt
		if own.Limits.Work == 0 {
			own.Limits.Work = work.share(i)
		}
		done[i] = make(chan struct{})
		go func() {
			gate <- struct{}{}
			states[i] = checkKernel(m, f, list, own)
			<-gate
			close(done[i])
		}()
	}
	for _, c := range done {
		<-c
	}
	if opt.Limits.Work == 0 {
		retryKernels(m, kernels, list, opt, work, states)
	}
	return states
}

// retryKernels checks the kernels that ran out of steps again, if other kernels have left enough
// steps.
func retryKernels(m *ir.Module, kernels []*ir.Func, list []*Analyzer, opt Options, work *budget,
	states []*kernelState) {
	short, spent := make([]bool, len(states)), make([]int, len(states))
	for i, s := range states {
		spent[i] = s.spent
		short[i] = len(s.missed) > 0 && 2*s.spent >= work.given[i]
	}
	var wait sync.WaitGroup
	gate := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i, steps := range work.secondShares(short, spent) {
		if steps == 0 {
			continue
		}
		own := opt
		own.Limits.Work = steps
		wait.Go(func() {
			gate <- struct{}{}
			states[i] = checkKernel(m, kernels[i], list, own)
			<-gate
		})
	}
	wait.Wait()
}

// checkKernel traces one kernel and runs the analyzers on the traces.
func checkKernel(m *ir.Module, f *ir.Func, list []*Analyzer, opt Options) *kernelState {
	k := trace.Analyze(m, f, opt.Limits)
	s := &kernelState{module: m, effort: opt.Effort, missed: k.Missed,
		foreign: make(memory.ForeignCache), sizes: make(map[*ir.Instr]int64)}
	for _, a := range list {
		s.replacements = append(s.replacements, a.Replaces...)
		if (a.Flow || len(k.Traces) > 0) && (len(a.Requires) == 0 || k.Needs(a.Requires...)) {
			before := len(s.missed)
			a.Run(&Pass{Kernel: k, Analyzer: a, kernelState: s})
			if a.Covers != "" && len(k.Traces) > 0 && len(s.missed) == before {
				s.checked = append(s.checked, a.Covers)
			}
		}
	}
	if k.Unreached != nil {
		at, _ := m.At(k.Unreached.Pos)
		s.missed = append(s.missed,
			fmt.Sprintf("%s in line %d, because no analyzed path reaches it", k.Unreached.Head(),
				at.Line))
	}
	if k.Untaken != nil {
		at, _ := m.At(k.Untaken.Pos)
		s.missed = append(s.missed,
			fmt.Sprintf(
				"iterations in which the branch in line %d has the other outcome (no analyzed iteration has it)",
				at.Line))
	}
	if k.Loops {
		s.iterations = k.Iterations
	}
	if k.Most && (len(k.Traces) > 0 || s.sized) {
		s.threads, s.guessed = k.Pool.Threads, k.Guessed
	}
	s.cases, s.tried, s.spent = k.Cases, k.Tried, k.Spent
	// Traces are large, and are no longer needed.
	s.places, s.objects, s.descriptors = nil, nil, nil
	return s
}
