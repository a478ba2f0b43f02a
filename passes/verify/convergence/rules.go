// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package convergence

import (
	"embed"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/passes/verify"
)

//go:embed rules/*.md
var pages embed.FS

var (
	ruleCount   = verify.RuleBarrierCount
	ruleAligned = verify.RuleDiverged
	ruleShared  = verify.RuleSharedBarrier
	ruleMask    = diag.Rule{ID: "B5", Layer: "convergence", Severity: diag.Error}
	ruleElect   = diag.Rule{ID: "B6", Layer: "convergence", Severity: diag.Error}
	// The pages of these rules belong to analyzers tensor and wgmma.
	ruleAlloc = diag.Rule{ID: "T1", Layer: "tensor", Severity: diag.Error}
	ruleLanes = diag.Rule{ID: "T10", Layer: "tensor", Severity: diag.Error}
	ruleGroup = diag.Rule{ID: "W5", Layer: "wgmma", Severity: diag.Error}
)
