// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"slices"
	"strings"

	"github.com/ptxdsl/ptxdsl/passes/analysis/value"
)

// analyzeOtherBlocks analyzes blocks other than the first block of the grid, with small constants,
// if no path of the first block reaches some relevant instruction. Such an instruction may be
// executed, for example, only if there are preceding blocks.
func (p *program) analyzeOtherBlocks(l Limits, order []*value.Atom, scales map[*value.Atom]int64) {
	const (
		tries  = 16
		enough = 3 // number of constant sets to analyze once all instructions are reached
	)
	if !slices.ContainsFunc(order, isBlockIndex) || p.unreachedEvent() == nil {
		return
	}
	left := p.k.Within(l.Steps / 2)
	for i, seen := 0, 0; i < tries && left > 0 && seen < enough; i++ {
		known := make(map[*value.Atom]int64)
		for j, a := range order {
			switch {
			case isBlockIndex(a):
				known[a] = int64(1 + i%3) // the last of as many blocks
			case a.Op == value.OpRegister:
				known[a] = int64(2 + i%3)
			default:
				known[a] = int64(1+(i*(2*j+1)+j)%5) * scales[a]
			}
		}
		steps, _, _ := p.analyzeSet(l, len(sampleSizes)+i+1, left, order, known)
		left -= steps
		if p.unreachedEvent() == nil {
			seen++
		}
	}
}

// isBlockIndex reports whether an atom is a block index or a cluster index.
func isBlockIndex(a *value.Atom) bool {
	return a.Op == value.OpRegister &&
		(strings.HasPrefix(a.Name, "%ctaid") || strings.HasPrefix(a.Name, "%clusterid"))
}
