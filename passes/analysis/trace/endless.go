// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/passes/analysis/value"
)

// An attempt is a set of constants that was followed, the number of steps, and whether it was
// followed to the end.
type attempt struct {
	known map[*value.Atom]int64
	steps int
	whole bool
}

// endless returns an attempt that was not followed to the end although one with a larger constant
// ended in fewer steps. Such a loop probably runs past its end. Launches without work are ignored.
func endless(list []attempt) *attempt {
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
