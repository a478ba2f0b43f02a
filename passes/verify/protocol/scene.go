// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package protocol

import (
	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
	"github.com/ptxdsl/ptxdsl/passes/analysis/value"
)

// free reports whether what a trace decided is the same for the whole block: where single threads choose
// by data, others may not have chosen alike.
func free(t *trace.Trace) bool {
	for _, c := range t.Choices {
		a, _ := c.Cond.Condition()
		if a == nil || a.Tid || a.Op == "done" || c.Soft {
			continue
		}
		if c.Cond.Level() > value.Block {
			return false
		}
	}
	return true
}
