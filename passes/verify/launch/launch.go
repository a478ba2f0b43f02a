// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package launch checks kernels that may start before the preceding kernel has ended. Such a
// kernel must wait before it accesses the results of the preceding kernel.
package launch

import (
	"embed"
	"slices"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
	"github.com/ptxdsl/ptxdsl/passes/verify"
)

//go:embed rules/*.md
var pages embed.FS

// Analyzer is the analyzer for programmatic dependent launches.
var Analyzer = &verify.Analyzer{
	Name:   "launch",
	Covers: "dependent launches",
	Doc: `Launch reports accesses to global memory before griddepcontrol.wait. Only the host
knows whether the preceding kernel writes that memory, so these are reviews.`,
	Rules:    diag.Rules{ruleEarly},
	Pages:    pages,
	Requires: []trace.Kind{trace.GridWait, trace.GridLaunch},
	Run:      run,
}

func run(p *verify.Pass) {
	if p.Needs(trace.GridLaunch) && !hasGridWait(p.Module) {
		p.Missed("griddepcontrol.launch_dependents (A12): no kernel of this file executes griddepcontrol.wait")
	}
	for _, t := range p.Traces {
		waits := false
		for i := range t.Events {
			waits = waits || t.Events[i].Kind == trace.GridWait
		}
		if !waits {
			continue
		}
		for i := range t.Events {
			e := &t.Events[i]
			if e.Kind == trace.GridWait {
				break
			}
			global := (e.Kind == trace.Load || e.Kind == trace.Store || e.Kind == trace.Atomic) &&
				e.In.HasMod(isa.ModGlobal)
			if global && !e.In.HasMod(isa.ModNC) || e.Kind == trace.Copy ||
				e.Kind == trace.BulkLoad || e.Kind == trace.BulkStore {
				p.Report(&ruleEarly, e.In, "global memory is accessed before "+
					"griddepcontrol.wait; this is correct only if the preceding kernel does not "+
					"write it").On(t, i)
				break
			}
		}
	}
}

// hasGridWait reports whether any function of the module waits for the preceding kernel.
func hasGridWait(m *ir.Module) bool {
	return slices.ContainsFunc(m.Funcs(), func(f *ir.Func) bool {
		return slices.ContainsFunc(f.Blocks, func(b *ir.Block) bool {
			return slices.ContainsFunc(b.Instrs, func(in *ir.Instr) bool {
				return in.Kind() == isa.KindGriddepcontrol && in.HasMod(isa.ModWait)
			})
		})
	})
}

var ruleEarly = diag.Rule{ID: "A12", Layer: "launch", Severity: diag.Review}
