// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import "github.com/ptxdsl/ptxdsl/isa"

// A Semaphore is a counter in global memory with which blocks of one launch synchronize. It must
// be zero when the launch starts.
type Semaphore struct {
	at Array[U32]
}

// Semaphore returns element i of an array of counters in global memory as a semaphore.
func (k *Kernel) Semaphore(counters Array[U32], i Reg[U32]) Semaphore {
	k = k.sound()
	switch {
	case counters.at.k == nil:
		k.fault(&ruleValue, "array of the semaphore is a zero value, not created by a builder call")
		return Semaphore{}
	case counters.at.space != isa.Global && counters.at.space != isa.Generic:
		k.fault(&ruleMemory,
			"semaphore is in %s memory, which other blocks cannot access; to synchronize the threads of one block use Barrier",
			counters.at.space)
	}
	return Semaphore{counters.At(i)}
}

// Arrive adds one to the counter for each thread that executes it, with release order. To arrive
// once for a block, call Sync and then Arrive in one thread. A thread whose Wait has observed the
// arrival can read what the arriving thread wrote before.
func (s Semaphore) Arrive() {
	if k := s.at.at.k; k != nil {
		s.at.Reduce("add", k.U32(0), k.U32(1), Release, ScopeGPU)
	}
}

// Wait waits until the counter is at least n, with acquire order. To wait for a block, call Wait in
// one thread and then Sync. The arriving blocks must be running or finished: blocks with lower
// indices, or any block of a grid that fits on the device at once.
func (s Semaphore) Wait(n Reg[U32]) {
	k := s.at.at.k
	if !checkCreated(k, "semaphore in Wait", n.k) {
		return
	}
	if k.guard.Reg != nil {
		k.fault(&ruleOperand,
			"wait is called inside When, which predicates single instructions; use If")
	}
	if !n.IsConstant() || n.bits > 0 {
		k.notes.SemaphoreWaits = append(k.notes.SemaphoreWaits, k.m.calls.Here())
	}
	again := k.newBlock("wait")
	k.place(again)
	k.branchIf(s.at.LoadFirst(Acquire, ScopeGPU).LT(n), false, again)
}

// Reset sets the counter to zero for the next launch. Only the thread that waits last may call
// it.
func (s Semaphore) Reset() {
	if k := s.at.at.k; k != nil {
		k.notes.Resets++
		s.at.StoreFirst(k.U32(0), Relaxed, ScopeGPU)
	}
}

// Fence orders the memory accesses of the thread before it with those after it, as observed by
// the threads of a scope: ScopeCTA, ScopeCluster (sm_90), ScopeGPU, ScopeSys. ScopeGPU
// corresponds to __threadfence in CUDA. Another thread observes that order only if it reads a
// flag written after the fence and then executes a fence itself; [Semaphore] does both.
func (k *Kernel) Fence(scope Mod) {
	k = k.sound()
	old, ok := map[Mod]string{ScopeCTA: "cta", ScopeCluster: "", ScopeGPU: "gl",
		ScopeSys: "sys"}[scope]
	switch {
	case !ok || old == "" && !k.m.Has(70):
		k.fault(&ruleOperand,
			"scope of the fence is %q, expected ScopeCTA, ScopeGPU, ScopeSys, or from sm_90 on ScopeCluster",
			string(scope))
	case k.m.Has(70):
		k.ins("fence.acq_rel." + string(scope))
	default:
		k.ins("membar." + old)
	}
}
