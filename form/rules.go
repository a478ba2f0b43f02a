// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package form

import "github.com/ptxdsl/ptxdsl/diag"

// Rules returns the rules that this package reports. The rules of instructions (F201 to F319 and
// F401 to F403) are in package isa, the rules of syntax (F101 to F109) in package ptx.
func Rules() diag.Rules {
	return diag.Rules{
		ruleNoVersion, ruleVersion, ruleNoTarget, ruleTarget, ruleTargetOption, ruleTargetSince,
		ruleAddressSize,
		ruleLateHeader, ruleDebug, ruleDirectivePlace, ruleUnknownDirective, ruleGuard,
		ruleComponent, ruleIndex,
		ruleNegation, ruleOperand, ruleExpression, ruleAddress32, ruleFeature, ruleGone,
		ruleUndeclared, ruleTwice,
		ruleType, rulePredicate, ruleSpace, ruleAlign, ruleVector, ruleArray, ruleIncomplete,
		ruleRange,
		ruleLinkage, ruleExternClash, ruleAttribute, ruleBank, ruleConstants, ruleInitialized,
		ruleValue,
		ruleValueCount, ruleValueSpace, ruleMask, ruleOpaque, ruleTextureMode, ruleField,
		ruleRedefined,
		ruleMismatch, ruleReturns, ruleParameterSpace, ruleParameterType, ruleParameterName,
		ruleParameterBytes,
		ruleUnsized, rulePointer, ruleConstantPointer, ruleAlias, ruleNoReturn, ruleUnresolved,
		ruleCall, ruleCallTarget, rulePrototype,
		ruleCallCount, ruleCallType, ruleTargets, ruleParameterWrite, ruleParameterRead,
		ruleParameterSide,
		ruleParameterAddress, ruleParameterGuard, ruleNoCall, ruleTuningValue, ruleTuningConflict,
		ruleTuningNeeds,
		ruleTuningPlace, ruleTuningTwice, ruleTuningIdle, ruleLanguage, rulePragma, rulePragmaPlace,
		rulePragmaUnknown, ruleFile, ruleFileTwice, ruleLocation, ruleGroups, ruleShared,
		ruleFraction, ruleInlined, ruleSectionData, ruleFunctionName,
	}
}
