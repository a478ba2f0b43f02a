// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package verify

import "github.com/ptxdsl/ptxdsl/diag"

// These rules are reported by several analyzers, or named in the Subsumptions of other analyzers.
// Their Layer is the analyzer that owns their page.
var (
	RuleProxyFence   = diag.Rule{ID: "A1", Layer: "proxies", Severity: diag.Error}
	RuleFenceSpace   = diag.Rule{ID: "A4", Layer: "proxies", Severity: diag.Error}
	RuleOperandFence = diag.Rule{ID: "W3", Layer: "proxies", Severity: diag.Error}

	RuleCopyWait   = diag.Rule{ID: "A5", Layer: "asyncgroup", Severity: diag.Error}
	RuleCopyDepth  = diag.Rule{ID: "A7", Layer: "asyncgroup", Severity: diag.Error}
	RuleCopySource = diag.Rule{ID: "A8", Layer: "asyncgroup", Severity: diag.Error}

	RuleBarrierCount  = diag.Rule{ID: "B1", Layer: "convergence", Severity: diag.Error}
	RuleDiverged      = diag.Rule{ID: "B2", Layer: "convergence", Severity: diag.Error}
	RuleSharedBarrier = diag.Rule{ID: "B3", Layer: "convergence", Severity: diag.Review}
	RuleLaneRace      = diag.Rule{ID: "B9", Layer: "convergence", Severity: diag.Error}
	RuleWarpRace      = diag.Rule{ID: "B8", Layer: "schedule", Severity: diag.Error}

	RuleInit      = diag.Rule{ID: "M1", Layer: "mbarrier", Severity: diag.Error}
	RuleLifetime  = diag.Rule{ID: "M2", Layer: "mbarrier", Severity: diag.Error}
	RuleInvisible = diag.Rule{ID: "M3", Layer: "mbarrier", Severity: diag.Error}
	RuleArrivals  = diag.Rule{ID: "M4", Layer: "mbarrier", Severity: diag.Error}
	RuleBytes     = diag.Rule{ID: "M5", Layer: "mbarrier", Severity: diag.Error}
	RuleParity    = diag.Rule{ID: "M6", Layer: "mbarrier", Severity: diag.Error}
	RuleTryWait   = diag.Rule{ID: "M10", Layer: "mbarrier", Severity: diag.Error}
	RuleReuse     = diag.Rule{ID: "M7", Layer: "schedule", Severity: diag.Error}
	RuleDeadlock  = diag.Rule{ID: "M11", Layer: "schedule", Severity: diag.Error}

	RuleAccumulators = diag.Rule{ID: "W2", Layer: "wgmma", Severity: diag.Error}
	RuleTensorFree   = diag.Rule{ID: "T4", Layer: "tensor", Severity: diag.Error}
	RuleTensorRead   = diag.Rule{ID: "T6", Layer: "tensor", Severity: diag.Error}
	RulePeerExit     = diag.Rule{ID: "C4", Layer: "cluster", Severity: diag.Error}
)
