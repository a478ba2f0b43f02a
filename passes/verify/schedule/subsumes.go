// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/passes/verify"
)

// A finding of the simulation is often the consequence of a mistake that another analyzer has
// already reported. These subsumptions list, for each check, the rules whose findings suppress
// it.
var (
	hangs = verify.Subsumption{Errors: []*diag.Rule{
		&verify.RuleBarrierCount, &verify.RuleDiverged, &verify.RuleSharedBarrier,
		&verify.RuleInit, &verify.RuleLifetime, &verify.RuleInvisible, &verify.RuleArrivals,
		&verify.RuleBytes, &verify.RuleParity, &verify.RuleReuse,
	}}
	earlyArrivals = verify.Subsumption{Errors: []*diag.Rule{
		&verify.RuleInit, &verify.RuleLifetime, &verify.RuleInvisible, &verify.RuleArrivals,
		&verify.RuleBytes, &verify.RuleParity, &verify.RuleReuse,
	}}
	// endChecks are checks of mbarriers at the end of a simulation.
	endChecks = verify.Subsumption{Errors: []*diag.Rule{
		&verify.RuleInit, &verify.RuleLifetime, &verify.RuleArrivals, &verify.RuleBytes,
		&verify.RuleParity, &verify.RuleReuse,
	}}
	lateArrivals = verify.Subsumption{Errors: []*diag.Rule{
		&verify.RuleArrivals, &verify.RuleBytes, &verify.RuleParity, &verify.RuleReuse,
		&verify.RuleDeadlock,
	}}
	surpluses = verify.Subsumption{
		Findings: []*diag.Rule{&verify.RuleArrivals, &verify.RuleReuse}}
	clusterBytes = verify.Subsumption{Errors: []*diag.Rule{&verify.RuleArrivals, &verify.RuleBytes}}

	// slotRaces are races of threads on memory that is reused through mbarriers.
	slotRaces = verify.Subsumption{
		Errors: []*diag.Rule{&verify.RuleArrivals, &verify.RuleParity, &verify.RuleReuse}}
	copyRaces = verify.Subsumption{
		Errors: []*diag.Rule{&verify.RuleCopyWait, &verify.RuleCopyDepth}}
	// engineRaces are races with the async proxy or a tensor core.
	engineRaces = verify.Subsumption{Errors: []*diag.Rule{
		&verify.RuleProxyFence, &verify.RuleFenceSpace, &verify.RuleOperandFence,
		&verify.RuleCopySource, &verify.RuleAccumulators,
		&verify.RuleArrivals, &verify.RuleParity, &verify.RuleReuse, &verify.RuleTryWait,
	}}
	// missingFences are missing proxy fences.
	missingFences = verify.Subsumption{
		Findings: []*diag.Rule{&verify.RuleProxyFence, &verify.RuleFenceSpace,
			&verify.RuleOperandFence},
		Errors: []*diag.Rule{
			&verify.RuleArrivals, &verify.RuleBytes, &verify.RuleParity, &verify.RuleReuse,
			&verify.RuleBarrierCount,
		},
	}

	// mixedArrivals are reductions and plain arrivals at the same named barrier. repeatedArrivals
	// are arrivals at a named barrier whose previous phase may not be complete.
	mixedArrivals = verify.Subsumption{
		Errors: []*diag.Rule{&verify.RuleBarrierCount, &verify.RuleSharedBarrier}}
	repeatedArrivals = verify.Subsumption{Errors: []*diag.Rule{
		&verify.RuleBarrierCount, &verify.RuleDiverged, &verify.RuleSharedBarrier,
	}}
)
