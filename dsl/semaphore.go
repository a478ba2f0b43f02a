// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// A Semaphore is a counter in global memory by which blocks of one launch wait for one another. It is zero when the launch begins.
type Semaphore struct {
	at Array[U32]
	of *ir.Reg // the array's address
}

// Semaphore is the i-th of an array of counters in global memory.
func (k *Kernel) Semaphore(counters Array[U32], i Reg[U32]) Semaphore {
	k = k.sound()
	switch {
	case counters.at.k == nil:
		k.fault(&ruleValue, "a semaphore in an array that no builder call made")
		return Semaphore{}
	case counters.at.space != isa.Global && counters.at.space != isa.Generic:
		k.fault(&ruleMemory, "a semaphore in %s memory, which other blocks do not see; Barrier is for the threads of a block", counters.at.space)
	}
	return Semaphore{counters.At(i), counters.at.reg}
}

// A waiting is a wait at a semaphore.
type waiting struct {
	of  *ir.Reg
	pos ir.Pos
}

// checkSemaphores reports waits at semaphores where nothing of the kernel arrives, if nothing in it is such that it might.
func (k *Kernel) checkSemaphores() {
	alone := slices.DeleteFunc(slices.Clone(k.waits), func(w waiting) bool { return slices.Contains(k.counted, w.of) })
	if len(alone) == 0 || k.counts() {
		return
	}
	for _, w := range alone {
		k.doubt(w.pos, "nothing in this kernel arrives at the semaphore: blocks of one launch wait for one another, and unless another launch counts it up meanwhile, this waits for ever")
	}
}

// counts reports whether the kernel may count something in global memory up by itself.
func (k *Kernel) counts() bool {
	if len(k.callees) > 0 {
		return true
	}
	stores := 0
	for _, b := range k.f.Blocks {
		for _, in := range b.Instrs {
			switch head := in.Head(); {
			case head == "atom", head == "red", head == "call", head == "multimem":
				return true
			case head == "st" && (in.Mod("release") || in.Mod("relaxed") || in.Mod("volatile")):
				stores++
			}
		}
	}
	return stores > k.resets
}

// Arrive counts one more for each thread that comes to it, so that one thread of a block calls it for all, behind a Sync. Whoever waits for that can read
// what the thread wrote, and behind a barrier what the threads wrote that met it there.
func (s Semaphore) Arrive() {
	if k := s.at.at.k; k != nil {
		k.counted = append(k.counted, s.of)
		s.at.Reduce("add", k.U32(0), k.U32(1), Release, InGPU)
	}
}

// Wait waits until the count is n or more. One thread does this for others that it meets at a barrier behind it: they then read what was written
// before the arrivals too. The blocks that arrive must be running, or have run: those with lower numbers, or a grid that fits the machine.
func (s Semaphore) Wait(n Reg[U32]) {
	k := s.at.at.k
	if !made(k, "Wait of a semaphore", n.k) {
		return
	}
	if k.guard.Reg != nil {
		k.fault(&ruleOperand, "a wait inside When, which guards single instructions; use If")
	}
	if !n.Constant() || n.bits > 0 {
		k.waits = append(k.waits, waiting{s.of, k.m.calls.here()})
	}
	again := k.newBlock("wait")
	k.place(again)
	k.branchIf(s.at.Get(Acquire, InGPU).Lt(n), false, again)
}

// Reset makes the count zero, for the next launch: what the last thread that waits for it does.
func (s Semaphore) Reset() {
	if k := s.at.at.k; k != nil {
		k.resets++
		s.at.Put(k.U32(0), Relaxed, InGPU)
	}
}

// Fence orders what the thread reads and writes before it against what it reads and writes behind it, as threads of a scope see it: InCTA,
// InCluster (sm_90), InGPU, InSystem. It is __threadfence of CUDA for InGPU. Other threads see that order by a flag that they read, and have a
// fence behind; a Semaphore does both.
func (k *Kernel) Fence(scope Mod) {
	k = k.sound()
	old, ok := map[Mod]string{InCTA: "cta", InCluster: "", InGPU: "gl", InSystem: "sys"}[scope]
	switch {
	case !ok || old == "" && !k.m.Has(70):
		k.fault(&ruleOperand, "a fence for %q; InCTA, InGPU, InSystem, and from sm_90 on InCluster are expected", string(scope))
	case k.m.Has(70):
		k.ins("fence.acq_rel." + string(scope))
	default:
		k.ins("membar." + old)
	}
}
