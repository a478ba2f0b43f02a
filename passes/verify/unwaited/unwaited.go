// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package unwaited reports asynchronous copies and stores that a kernel never waits for.
package unwaited

import (
	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/passes/verify/annotated"
)

// Outputs returns the analyzer for stores through outputs.
func Outputs() *annotated.Analyzer {
	return &annotated.Analyzer{
		Name: "unwaited-outputs",
		Doc: `It reports outputs whose stores the kernel never waits for, and warns about outputs that are
never used.`,
		Rules: []*diag.Rule{&annotated.Protocol},
		Run:   runOutputs,
	}
}

// Copies returns the analyzer for cp.async copies and bulk stores.
func Copies() *annotated.Analyzer {
	return &annotated.Analyzer{
		Name: "unwaited-copies",
		Doc: `It reports cp.async copies and bulk stores in kernels without any wait for them, and bulk
stores in kernels that commit none. Kernels that call functions are not checked.`,
		Rules: []*diag.Rule{&annotated.Protocol},
		Run:   runCopies,
	}
}

func runOutputs(p *annotated.Pass) {
	for _, o := range p.Notes.Outputs {
		switch {
		case o.Stored == ir.NoPos:
			p.Warn(o.Pos, &annotated.Protocol,
				"output %s is never used, but occupies shared memory; use Store, StoreRows or StoreTMEM",
				o.Map)
		case !o.Waited:
			p.Report(o.Stored, &annotated.Protocol,
				"nothing waits for the stores through output %s: the block may exit while the TMA still reads the tile; call Wait at the end of the role",
				o.Map)
		}
	}
}

// An asynchronous describes the copies of one kind.
type asynchronous struct {
	first             *ir.Instr // the first copy
	committed, waited bool
}

// copies returns the cp.async copies and the bulk stores of a kernel. It returns false if the
// kernel calls functions, which may wait.
func copies(f *ir.Func) (loads, stores asynchronous, known bool) {
	for _, b := range f.Blocks {
		for _, in := range b.Instrs {
			switch in.Kind() {
			case isa.KindCall:
				return loads, stores, false
			case isa.KindCpAsync:
				if loads.first == nil {
					loads.first = in
				}
			case isa.KindCpAsyncWaitGroup, isa.KindCpAsyncWaitAll:
				loads.waited = true
			case isa.KindCpAsyncMbarrierArrive:
				loads.waited = true
			case isa.KindCpAsyncBulk, isa.KindCpReduceAsyncBulk, isa.KindCpAsyncBulkTensor,
				isa.KindCpReduceAsyncBulkTensor:
				if in.HasMod(isa.ModBulkGroup) && stores.first == nil {
					stores.first = in
				}
			case isa.KindCpAsyncBulkCommitGroup:
				stores.committed = true
			case isa.KindCpAsyncBulkWaitGroup:
				stores.waited = true
			}
		}
	}
	return loads, stores, true
}

func runCopies(p *annotated.Pass) {
	if !p.Func.Kernel {
		return
	}
	loads, stores, known := copies(p.Func)
	if !known {
		return
	}
	switch {
	case stores.first == nil || len(p.Notes.Outputs) > 0:
	case !stores.waited:
		p.Report(stores.first.Pos, &annotated.Protocol,
			"bulk store is never waited for: the block may exit while the TMA still reads its shared memory; call CommitStores and WaitStores in the same thread")
	case !stores.committed:
		p.Report(stores.first.Pos, &annotated.Protocol,
			"bulk store belongs to no group, so WaitStores does not wait for it; call CommitStores after it")
	}
	if loads.first != nil && !loads.waited {
		p.Report(loads.first.Pos, &annotated.Protocol,
			"asynchronous copy is never waited for; call CommitCopies, WaitCopies and Sync before the data is read")
	}
}
