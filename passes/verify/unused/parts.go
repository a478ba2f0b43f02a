// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package unused

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/passes/verify/annotated"
)

// Parts returns the analyzer for parts of buffers that no instruction reads.
func Parts() *annotated.Analyzer {
	return &annotated.Analyzer{
		Name: "unused-parts",
		Doc: `It reports tiles of pipelines and columns of accumulators in tensor memory that are loaded or
computed and never read, if other parts are read. Usually the wrong part is read.`,
		Rules: []*diag.Rule{&annotated.Protocol},
		Run:   runParts,
	}
}

func runParts(p *annotated.Pass) {
	for _, b := range p.Notes.Buffers {
		if b.First == ir.NoPos {
			continue
		}
		if b.Kind == ir.TensorColumns {
			reportColumns(p, b)
			continue
		}
		for i, part := range b.Parts {
			switch {
			case part.Read:
			case b.Kind == ir.TensorStage:
				p.Warn(b.First, &annotated.Protocol,
					"pipeline %s loads tiles of %s, but no consumer uses them; either a consumer reads the wrong tile, or the load is unnecessary",
					b.Name, part.Name)
			default:
				p.Warn(b.First, &annotated.Protocol,
					"pipeline %s loads tile %d, %s, but no consumer uses it; either a consumer reads the wrong tile, or the load is unnecessary",
					b.Name, i, part.Name)
			}
		}
	}
}

// reportColumns reports each range of adjacent columns that are never read.
func reportColumns(p *annotated.Pass, b *ir.Buffer) {
	for from := 0; from < len(b.Parts); from++ {
		if b.Parts[from].Read {
			continue
		}
		to := len(b.Parts) - 1
		if n := slices.IndexFunc(b.Parts[from:], func(c ir.BufferPart) bool {
			return c.Read
		}); n >= 0 {
			to = from + n - 1
		}
		p.Warn(b.First, &annotated.Protocol, "columns %d to %d of %s are computed but never read",
			from, to, b.Name)
		from = to
	}
}
