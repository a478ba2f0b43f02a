// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package thread

// An Iteration specifies which iteration of loops is evaluated.
type Iteration uint8

// Iterations.
const (
	First    Iteration = iota
	Last               // known only for loops with constant bounds
	Any                // values that change between iterations are unknown
	AnyBlock           // values that change between blocks are unknown too
)

// SetIteration selects the iteration to evaluate.
func (e *Eval) SetIteration(when Iteration) {
	e.when, e.thread = when, noThread
	e.begun++
}

// Iteration returns the iteration that is evaluated.
func (e *Eval) Iteration() Iteration { return e.when }

// In describes the evaluated iteration, for messages.
func (e *Eval) In() string {
	if e.when == Last {
		return ", in the last iteration of its loops,"
	}
	return ""
}
