// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/ir"
)

// A turnOf is which turn of loops is looked at.
type turnOf uint8

const (
	firstTurn turnOf = iota
	finalTurn        // of loops between constants; of others nothing is known
	anyTurn          // nothing is known that changes from turn to turn
	anyBlock         // nor what changes from block to block
)

// turnTo goes on to other turns of loops.
func (t *turn) turnTo(when turnOf) {
	t.when, t.thread = when, nobody
	t.begun++
	for i := range t.k.lasts {
		if w := t.of(t.k.lasts[i].counts); w != nil {
			w.loop = &t.k.lasts[i]
		}
	}
}

// A lastTurn is what counts the turns of a loop, and where it is in the last of them, which is known of loops between constants that nothing leaves before.
type lastTurn struct {
	counts *ir.Reg
	at     int64
	known  bool
}

// late is which turn is looked at, in words behind a thread.
func (t *turn) late() string {
	if t.when == finalTurn {
		return ", in the last iteration of its loops,"
	}
	return ""
}

// checkLast looks at the last turn of loops between constants, where the first had nothing wrong.
func (k *Kernel) checkLast(t *turn, told *places) {
	if !slices.ContainsFunc(k.lasts, func(l lastTurn) bool { return l.known }) {
		return
	}
	t.turnTo(finalTurn)
	for i := range k.watching {
		w := &k.watching[i]
		if w.stored != nil || w.what != "" || t.work > mostWork || told.has(w.pos) {
			continue
		}
		if w.tile != nil && k.checkPlace(t, w) || w.tile == nil && k.checkAccess(t, w) {
			told.add(w.pos)
		}
	}
	t.turnTo(firstTurn)
}
