// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package uninitialized

import (
	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/passes/verify/annotated"
)

// Accumulators returns the analyzer for accumulators that no MMA writes.
func Accumulators() *annotated.Analyzer {
	return &annotated.Analyzer{
		Name:  "uninitialized-accumulators",
		Doc:   `It reports reads of accumulators that no MMA writes and that are not cleared.`,
		Rules: []*diag.Rule{&annotated.Value},
		Final: true,
		Run: func(p *annotated.Pass) {
			for _, pos := range p.Notes.EmptyReads {
				p.Report(pos, &annotated.Value,
					"accumulator is uninitialized: no MMA writes it, and Clear is not called")
			}
		},
	}
}

// Memory returns the analyzer for shared memory that no instruction writes.
func Memory() *annotated.Analyzer {
	return &annotated.Analyzer{
		Name: "uninitialized-memory",
		Doc: `It reports reads of shared variables that nothing writes, and tiles of pipelines that the code
which fills the stages leaves out. A variable whose address is used in another way than by a load or
a store counts as written.`,
		Rules: []*diag.Rule{&annotated.Memory, &annotated.Protocol},
		Run:   runMemory,
	}
}

func runMemory(p *annotated.Pass) {
	for _, m := range p.Notes.Missing {
		if m.Kind == ir.CopiedStage {
			p.Report(m.Pos, &annotated.Protocol,
				"load function of pipeline %s does not write tile %d of the stage (%s): the MMA would read stale data",
				m.Pipeline, m.Index, m.Name)
		} else {
			p.Report(m.Pos, &annotated.Protocol,
				"body of Produce does not write tile %s of pipeline %s: consumers would read stale data",
				m.Name, m.Pipeline)
		}
	}
	for _, v := range p.Notes.Variables {
		if v.Read != ir.NoPos && !v.Written {
			p.Report(v.Read, &annotated.Memory,
				"%s is uninitialized shared memory: the kernel reads it but never writes it",
				v.Var.Name)
		}
	}
}
