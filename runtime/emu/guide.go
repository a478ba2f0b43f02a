// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package emu

import "github.com/ptxdsl/ptxdsl/isa"

// A Guide is an Observer that determines the order of synchronizations: which threads synchronize
// next, and which asynchronous operations complete. Other instructions run in the order that the
// seed determines.
type Guide interface {
	Observer
	// May reports whether lanes of a warp may run the synchronization instruction that they have
	// reached.
	May(block, warp, mask uint32) bool
	// Completes returns the lanes in which an operation may complete.
	Completes(block, warp uint32, operation uint64, lanes uint32) uint32
	// Done reports whether the guide has reached its end. The seed determines the rest of the
	// launch.
	Done() bool
}

// guideOf returns the guide among observers, or nil.
func guideOf(o Observer) Guide {
	if list, ok := o.(observerList); ok {
		for _, x := range list {
			if g, ok := x.(Guide); ok {
				return g
			}
		}
		return nil
	}
	g, _ := o.(Guide)
	return g
}

// synchronizing holds the kinds of instructions whose order a guide determines.
var synchronizing = map[isa.Kind]bool{
	isa.KindMbarrierInit: true, isa.KindMbarrierInval: true, isa.KindMbarrierArrive: true,
	isa.KindMbarrierArriveExpectTx: true,
	isa.KindMbarrierArriveDrop:     true, isa.KindMbarrierArriveDropExpectTx: true,
	isa.KindMbarrierExpectTx:   true,
	isa.KindMbarrierCompleteTx: true, isa.KindMbarrierTestWait: true,
	isa.KindMbarrierTestWaitParity: true,
	isa.KindMbarrierTryWait:        true, isa.KindMbarrierTryWaitParity: true,
	isa.KindBarrierSync:   true,
	isa.KindBarrierArrive: true,
	isa.KindBarrierRed:    true, isa.KindBarrierClusterArrive: true,
}

// allowed reports whether the guide lets the lanes in mask run a command.
func (w *warp) allowed(g Guide, in *command, mask uint32) bool {
	if in.at == nil || in.at.Form == nil || g.Done() ||
		!synchronizing[in.at.Kind()] {
		return true
	}
	return g.May(uint32(w.block.number()), uint32(w.index), mask)
}

// guided completes the operations that the guide allows. It reports whether there was one.
func (q *asyncQueue) guided(g Guide) (any bool) {
	for _, o := range q.list {
		lanes := o.lanes & g.Completes(uint32(o.warp.block.number()), uint32(o.warp.index),
			o.serial, o.lanes)
		if lanes == 0 {
			continue
		}
		any = true
		if f := o.run(lanes); f != nil && q.fault == nil {
			q.fault = f
		}
	}
	return any
}
