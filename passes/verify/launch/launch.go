// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package launch holds kernels that start before the one before them has ended against their wait for it.
package launch

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
	"github.com/ptxdsl/ptxdsl/passes/verify"
)

// Analyzer is the analyzer.
func Analyzer() *verify.Analyzer {
	return &verify.Analyzer{
		Name: "launch",
		Doc: `Launch looks for reads and writes of global memory before griddepcontrol.wait. Whether what is
read comes from the kernel before is known to the host alone, so it is a review.`,
		Rules:    diag.Rules{ruleEarly},
		Requires: []trace.Kind{trace.GridWait, trace.GridLaunch},
		Run:      run,
	}
}

func run(p *verify.Pass) {
	if p.Needs(trace.GridLaunch) && !waits(p.Module) {
		p.Missed("the kernels that griddepcontrol.launch_dependents lets start (A12): none in this file waits")
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
			global := (e.Kind == trace.Load || e.Kind == trace.Store || e.Kind == trace.Atomic) && e.In.Mod("global")
			if global && !e.In.Mod("nc") || e.Kind == trace.Copy || e.Kind == trace.BulkLoad || e.Kind == trace.BulkStore {
				p.Report(&ruleEarly, e.In, "global memory is used before griddepcontrol.wait: right only if the kernel before does not write it").On(t, i)
				break
			}
		}
	}
}

// waits reports whether any function of the module waits for the kernel before.
func waits(m *ir.Module) bool {
	return slices.ContainsFunc(m.Funcs(), func(f *ir.Func) bool {
		return slices.ContainsFunc(f.Blocks, func(b *ir.Block) bool {
			return slices.ContainsFunc(b.Instrs, func(in *ir.Instr) bool { return in.Head() == "griddepcontrol" && in.Mod("wait") })
		})
	})
}

var ruleEarly = diag.Rule{
	ID: "A12", Layer: "launch", Severity: diag.Review, Title: "global memory used before griddepcontrol.wait",
	What: "A load, store or copy of global memory on a way to griddepcontrol.wait.",
	Why:  "Until then the kernel before may still be writing what is read here.",
	Wrong: `
ld.global.b32 %r1, [%rd1];
griddepcontrol.wait;
`,
	Right: `
griddepcontrol.wait;
ld.global.b32 %r1, [%rd1];
`,
	Fix:     "Move the wait before the first use, or say in a suppression why the memory does not depend on the kernel before.",
	Gaps:    "The launch attribute that makes kernels overlap is set by the host, and is not seen.",
	Section: "9.7.13.14 griddepcontrol",
}
