// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"github.com/ptxdsl/ptxdsl/passes/verify/accumulators"
	"github.com/ptxdsl/ptxdsl/passes/verify/annotated"
	"github.com/ptxdsl/ptxdsl/passes/verify/arrivals"
	"github.com/ptxdsl/ptxdsl/passes/verify/bounds"
	"github.com/ptxdsl/ptxdsl/passes/verify/coverage"
	"github.com/ptxdsl/ptxdsl/passes/verify/divergence"
	"github.com/ptxdsl/ptxdsl/passes/verify/endless"
	"github.com/ptxdsl/ptxdsl/passes/verify/readonly"
	"github.com/ptxdsl/ptxdsl/passes/verify/tilestore"
	"github.com/ptxdsl/ptxdsl/passes/verify/uninitialized"
	"github.com/ptxdsl/ptxdsl/passes/verify/unused"
	"github.com/ptxdsl/ptxdsl/passes/verify/unwaited"
	"github.com/ptxdsl/ptxdsl/passes/verify/warprace"
)

// Annotated returns the analyzers for kernels with annotations. If several analyzers report the
// same call, usually only the finding of the first is kept. The list therefore starts with
// analyzers whose findings are certain.
func Annotated() []*annotated.Analyzer {
	return []*annotated.Analyzer{
		arrivals.Mbarriers(), uninitialized.Accumulators(),
		divergence.Barriers(), endless.Analyzer(), accumulators.Analyzer(), unused.Accumulators(),
		uninitialized.Analyzer(),
		bounds.Analyzer(), tilestore.Analyzer(), divergence.Analyzer(), readonly.Analyzer(),
		divergence.FalseConditions(),
		warprace.Analyzer(), bounds.LastIteration(), coverage.Analyzer(), tilestore.Calls(),
		tilestore.Extents(), unused.Analyzer(),
		unwaited.Outputs(), uninitialized.Memory(), unused.Parts(), arrivals.Semaphores(),
		unwaited.Copies(),
	}
}
