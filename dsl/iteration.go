// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/ir"
)

// An iteration says which iteration of loops is evaluated.
type iteration uint8

const (
	firstTurn iteration = iota
	// the last iteration of loops with constant bounds; values of other loops are unknown
	finalIteration
	anyIteration // values that change between iterations are unknown
	anyBlock     // values that change between blocks are unknown too
)

// setIteration selects the iteration to evaluate.
func (t *threadEval) setIteration(when iteration) {
	t.when, t.thread = when, noThread
	t.begun++
	for i := range t.k.lasts {
		if w := t.of(t.k.lasts[i].counts); w != nil {
			w.loop = &t.k.lasts[i]
		}
	}
}

// A lastIteration is the counter of a loop with constant bounds and no other exit, and its value in the
// last iteration.
type lastIteration struct {
	counts *ir.Reg
	at     int64
	known  bool
}

// late names the evaluated iteration for messages.
func (t *threadEval) late() string {
	if t.when == finalIteration {
		return ", in the last iteration of its loops,"
	}
	return ""
}

// checkLast checks the last iteration of loops with constant bounds, for calls without a finding in
// the first.
func (k *Kernel) checkLast(t *threadEval, told *places) {
	if !slices.ContainsFunc(k.lasts, func(l lastIteration) bool { return l.known }) {
		return
	}
	t.setIteration(finalIteration)
	for i := range k.deferred {
		w := &k.deferred[i]
		if w.stored != nil || w.what != "" || t.work > mostWork || told.has(w.pos) {
			continue
		}
		if w.tile != nil && k.checkPlace(t, w) || w.tile == nil && k.checkAccess(t, w) {
			told.add(w.pos)
		}
	}
	t.setIteration(firstTurn)
}
