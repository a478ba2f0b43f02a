// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package readonly reports loads through the read-only data cache from memory that the kernel
// writes.
package readonly

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/passes/verify/annotated"
)

// Analyzer returns the analyzer for loads through the read-only cache.
func Analyzer() *annotated.Analyzer {
	return &annotated.Analyzer{
		Name: "readonly",
		Doc: `Readonly reports ld.global.nc of memory that the kernel writes through the same pointer
parameter. Pointers that are loaded or computed are not followed.`,
		Rules: []*diag.Rule{&annotated.Memory},
		Run:   run,
	}
}

// A storeAddress is the address register of a store, and the register that holds the base pointer
// from which the address was computed.
type storeAddress struct{ at, base *ir.Reg }

func run(p *annotated.Pass) {
	some := false
	for i := range p.Notes.Uses {
		a, ok := p.Notes.Uses[i].What.(*ir.Access)
		some = some || ok && a.NoCache
	}
	if !some {
		return
	}
	written := make(map[*ir.Reg][]storeAddress)
	for i := range p.Notes.Uses {
		if a, ok := p.Notes.Uses[i].What.(*ir.Access); ok && a.Writes && a.Space == isa.Global {
			root, base := p.Eval().Root(a.Reg)
			written[root] = append(written[root], storeAddress{a.Reg, base})
		}
	}
	var reported []ir.Pos
	for i := range p.Notes.Uses {
		u := &p.Notes.Uses[i]
		a, ok := u.What.(*ir.Access)
		if !ok || !a.NoCache {
			continue
		}
		root, base := p.Eval().Root(a.Reg)
		if root == nil || len(written[root]) == 0 ||
			slices.ContainsFunc(reported,
				func(at ir.Pos) bool { return p.Module.Same(at, u.Pos) }) {
			continue
		}
		reported = append(reported, u.Pos)
		report := p.Report
		if !slices.ContainsFunc(written[root], func(s storeAddress) bool {
			return s.base == base || s.at == base || s.base == a.Reg || s.at == a.Reg
		}) {
			// The load and the stores access different parts of the memory to which the parameter
			// points. The parts may be disjoint.
			report = p.Warn
		}
		report(u.Pos, &annotated.Memory,
			"NC load of %s, which the kernel writes, may return stale data; leave NC out",
			p.Eval().Pointer(root).Name).Repair = annotated.Repair{Kind: annotated.DropArgument,
			Name: "NC"}
	}
}
