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
		Doc: `It reports copies and stores of builder calls in kernels without any wait for them, and bulk
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

// A copyUse records which instructions for asynchronous copies a kernel has.
type copyUse struct {
	calls         bool // calls functions, which may wait
	copies        bool // waits for cp.async copies
	commits, bulk bool // commits groups of bulk stores; waits for such groups
}

// findCopyUse returns which instructions for asynchronous copies a kernel has.
func findCopyUse(f *ir.Func) (w copyUse) {
	for _, b := range f.Blocks {
		for _, in := range b.Instrs {
			switch in.Kind() {
			case isa.KindCall:
				w.calls = true
			case isa.KindCpAsyncWaitGroup, isa.KindCpAsyncWaitAll, isa.KindCpAsyncMbarrierArrive:
				w.copies = true
			case isa.KindCpAsyncBulkCommitGroup:
				w.commits = true
			case isa.KindCpAsyncBulkWaitGroup:
				w.bulk = true
			}
		}
	}
	return w
}

func runCopies(p *annotated.Pass) {
	copied, stored := p.Notes.FirstCopy, p.Notes.FirstStore
	if !p.Func.Kernel || copied == ir.NoPos && stored == ir.NoPos {
		return
	}
	w := findCopyUse(p.Func)
	if w.calls {
		return
	}
	switch {
	case stored == ir.NoPos || len(p.Notes.Outputs) > 0:
	case !w.bulk:
		p.Report(stored, &annotated.Protocol,
			"bulk store is never waited for: the block may exit while the TMA still reads its shared memory; call CommitStores and WaitStores in the same thread")
	case !w.commits:
		p.Report(stored, &annotated.Protocol,
			"bulk store belongs to no group, so WaitStores does not wait for it; call CommitStores after it")
	}
	if copied != ir.NoPos && !w.copies {
		p.Report(copied, &annotated.Protocol,
			"asynchronous copy is never waited for; call CommitCopies, WaitCopies and Sync before the data is read")
	}
}
