// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package thread

// An Iteration specifies which iteration of loops is evaluated.
type Iteration uint8

// Iterations.
const (
	First    Iteration = iota
	Last               // evaluated only for loops with constant bounds
	Any                // values that change between iterations are unknown
	AnyBlock           // also, values that change between blocks are unknown
)

// SetIteration selects the iteration to evaluate.
func (e *Eval) SetIteration(when Iteration) {
	e.when, e.thread = when, noThread
	e.evaluations++
}

// Iteration returns the iteration that SetIteration selected.
func (e *Eval) Iteration() Iteration { return e.when }

// In returns a phrase for messages that names the evaluated iteration, or "" for the first.
func (e *Eval) In() string {
	if e.when == Last {
		return ", in the last iteration of its loops,"
	}
	return ""
}
