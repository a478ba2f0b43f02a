// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/passes/verify"
)

// What the machine sees is often the consequence of a mistake that was already reported. These are
// the mistakes, for each check.
var (
	hangs = verify.Subsumption{Errors: []*diag.Rule{
		&verify.RuleBarrierCount, &verify.RuleDiverged, &verify.RuleSharedBarrier,
		&verify.RuleInit, &verify.RuleLifetime, &verify.RuleInvisible, &verify.RuleArrivals,
		&verify.RuleBytes, &verify.RuleParity, &verify.RuleReuse,
	}}
	hastyArrivals = verify.Subsumption{Errors: []*diag.Rule{
		&verify.RuleInit, &verify.RuleLifetime, &verify.RuleInvisible, &verify.RuleArrivals,
		&verify.RuleBytes, &verify.RuleParity, &verify.RuleReuse,
	}}
	// rests are checks of mbarriers at the end of a run.
	rests = verify.Subsumption{Errors: []*diag.Rule{
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
	// exposures are missing fences.
	exposures = verify.Subsumption{
		Findings: []*diag.Rule{&verify.RuleProxyFence, &verify.RuleFenceSpace,
			&verify.RuleOperandFence},
		Errors: []*diag.Rule{
			&verify.RuleArrivals, &verify.RuleBytes, &verify.RuleParity, &verify.RuleReuse,
			&verify.RuleBarrierCount,
		},
	}

	// mixes are reductions and plain arrivals at one named barrier, returns are arrivals at a named
	// barrier whose threads may not have continued.
	mixes = verify.Subsumption{
		Errors: []*diag.Rule{&verify.RuleBarrierCount, &verify.RuleSharedBarrier}}
	returns = verify.Subsumption{Errors: []*diag.Rule{
		&verify.RuleBarrierCount, &verify.RuleDiverged, &verify.RuleSharedBarrier,
	}}
)
