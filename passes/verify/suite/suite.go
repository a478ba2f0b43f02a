// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package suite lists all analyzers and runs them on a module in one call.
package suite

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/passes/verify"
	"github.com/ptxdsl/ptxdsl/passes/verify/asyncgroup"
	"github.com/ptxdsl/ptxdsl/passes/verify/cluster"
	"github.com/ptxdsl/ptxdsl/passes/verify/convergence"
	"github.com/ptxdsl/ptxdsl/passes/verify/global"
	"github.com/ptxdsl/ptxdsl/passes/verify/globalsync"
	"github.com/ptxdsl/ptxdsl/passes/verify/infinite"
	"github.com/ptxdsl/ptxdsl/passes/verify/launch"
	"github.com/ptxdsl/ptxdsl/passes/verify/mbarrier"
	"github.com/ptxdsl/ptxdsl/passes/verify/proxies"
	"github.com/ptxdsl/ptxdsl/passes/verify/registers"
	"github.com/ptxdsl/ptxdsl/passes/verify/schedule"
	"github.com/ptxdsl/ptxdsl/passes/verify/shared"
	"github.com/ptxdsl/ptxdsl/passes/verify/tensor"
	"github.com/ptxdsl/ptxdsl/passes/verify/unchecked"
	"github.com/ptxdsl/ptxdsl/passes/verify/unset"
	"github.com/ptxdsl/ptxdsl/passes/verify/variables"
	"github.com/ptxdsl/ptxdsl/passes/verify/wgmma"
	"github.com/ptxdsl/ptxdsl/passes/verify/wholewarp"
)

// List returns all analyzers, in the order in which their results are reported.
func List() []*verify.Analyzer {
	return []*verify.Analyzer{
		convergence.Analyzer, asyncgroup.Analyzer, proxies.Analyzer, mbarrier.Analyzer,
		wgmma.Analyzer,
		tensor.Analyzer, cluster.Analyzer, registers.Analyzer, unset.Analyzer, launch.Analyzer,
		globalsync.Analyzer,
		schedule.Analyzer,
		shared.Analyzer, global.Analyzer, variables.Analyzer,
		wholewarp.Analyzer, infinite.Analyzer, unchecked.Analyzer,
	}
}

// Rules returns the rules of all analyzers and of package verify, sorted, with their pages.
func Rules() diag.Rules {
	list := verify.Rules()
	for _, a := range List() {
		if len(a.Rules) > 0 {
			list = append(list, a.Rules.WithPages(a.Pages)...)
		}
	}
	return slices.Clip(list).Sorted()
}

// Run checks the kernels of a module with all analyzers.
func Run(m *ir.Module, opt verify.Options) *verify.Report { return verify.Run(m, List(), opt) }
