// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package trace

import "github.com/ptxdsl/ptxdsl/passes/analysis/value"

// refineFacts replaces selections by the thread index with the selected value if all threads of s
// select the same value. It is called after the set of threads has shrunk. For example, a role
// that starts with its own constant continues with that constant.
func (w *walk) refineFacts(s *state) {
	known := make(map[*value.Value]bool)
	open := make(map[*value.Value]bool)
	for n, pages := 0, s.regs.pages; n < len(pages)*pageSize; n++ {
		if pages[n/pageSize] == nil {
			n += pageSize - 1
			continue
		}
		v := s.regs.at(n)
		for {
			a := v.Single()
			if a == nil || a.Op != value.OpSelect || !a.Args[0].Tid() || open[a.Args[0]] {
				break
			}
			holds, seen := known[a.Args[0]]
			if !seen {
				var decided bool
				if holds, decided = s.facts.Decided(a.Args[0], s.threads); !decided {
					open[a.Args[0]] = true
					break
				}
				known[a.Args[0]] = holds
			}
			if v = a.Args[2]; holds {
				v = a.Args[1]
			}
			s.regs.set(n, v)
		}
	}
}
