// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/passes/analysis/value"
)

// An attempt is a set of constants with which the kernel was analyzed, and the number of steps.
// whole is set if all paths were analyzed to their end.
type attempt struct {
	known map[*value.Atom]int64
	steps int
	whole bool
}

// findEndless returns an attempt that was not analyzed to the end although an attempt with a larger
// constant ended in fewer steps, or nil. In such an attempt, a loop probably does not stop where
// it should. Launches without work are ignored.
func findEndless(list []attempt) *attempt {
	for i := range list {
		c := &list[i]
		if !c.whole && slices.ContainsFunc(list, func(o attempt) bool {
			larger := 0
			for a, n := range c.known {
				switch m := o.known[a]; {
				case n == m:
				case n > m || n == 0 || a.Op == value.OpRegister:
					return false
				default:
					larger++
				}
			}
			return o.whole && larger == 1 && o.steps < c.steps
		}) {
			return c
		}
	}
	return nil
}
