// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/passes/analysis/value"
)

// An attempt is a choice of numbers that was followed, how many steps that took, and whether it came to its end.
type attempt struct {
	known map[*value.Atom]int64
	steps int
	whole bool
}

// endless returns a choice that did not come to its end where one that differs from it by a larger
// number did, in fewer steps: a loop of it runs past its end, it seems. Nothing to do may not be
// launched.
func endless(list []attempt) *attempt {
	for i := range list {
		c := &list[i]
		if !c.whole && slices.ContainsFunc(list, func(o attempt) bool {
			larger := 0
			for a, n := range c.known {
				switch m := o.known[a]; {
				case n == m:
				case n > m || n == 0 || a.Op == "register":
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
