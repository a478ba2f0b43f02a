// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package form

import (
	"embed"

	"github.com/ptxdsl/ptxdsl/diag"
)

// pages holds the page of each rule.
//
//go:embed rules/*.md
var pages embed.FS

// Rules returns the rules that this package reports. The rules of instructions (F201 to F319 and
// F401 to F403) are in package isa, the rules of syntax (F101 to F109) in package ptx.
func Rules() diag.Rules {
	list := make(diag.Rules, len(allRules))
	for i, r := range allRules {
		list[i] = *r
	}
	return list.WithPages(pages)
}

// Rules of the module and its header.
var (
	ruleNoVersion    = diag.Rule{ID: "F110", Layer: "form"} // missing .version
	ruleVersion      = diag.Rule{ID: "F111", Layer: "form"} // unknown PTX version
	ruleNoTarget     = diag.Rule{ID: "F112", Layer: "form"} // missing .target after .version
	ruleTarget       = diag.Rule{ID: "F113", Layer: "form"} // unknown target
	ruleTargetOption = diag.Rule{ID: "F114", Layer: "form"} // conflicting .target options
	ruleTargetSince  = diag.Rule{ID: "F115", Layer: "form"} // target requires a newer .version
	ruleAddressSize  = diag.Rule{ID: "F116", Layer: "form"} // wrong address size
	// .version, .target or .address_size after other declarations
	ruleLateHeader       = diag.Rule{ID: "F117", Layer: "form"}
	ruleDebug            = diag.Rule{ID: "F118", Layer: "form"} // missing debug information
	ruleDirectivePlace   = diag.Rule{ID: "F120", Layer: "form"} // directive in the wrong place
	ruleUnknownDirective = diag.Rule{ID: "F121", Layer: "form"} // unknown directive
)

// Rules of names and declarations.
var (
	ruleUndeclared = diag.Rule{ID: "F501", Layer: "form"} // undeclared name
	ruleTwice      = diag.Rule{ID: "F502", Layer: "form"} // name declared twice
	ruleType       = diag.Rule{ID: "F503", Layer: "form"} // invalid type of a variable
	rulePredicate  = diag.Rule{ID: "F504", Layer: "form"} // predicate outside .reg
	ruleSpace      = diag.Rule{ID: "F505", Layer: "form"} // state space not allowed here
	ruleAlign      = diag.Rule{ID: "F506", Layer: "form"} // alignment is not a power of two
	ruleVector     = diag.Rule{ID: "F507", Layer: "form"} // invalid vector type
	ruleArray      = diag.Rule{ID: "F508", Layer: "form"} // array not allowed here
	ruleIncomplete = diag.Rule{ID: "F509", Layer: "form"} // array without a size
	ruleRange      = diag.Rule{ID: "F510", Layer: "form"} // malformed range of names
	ruleLinkage    = diag.Rule{ID: "F511", Layer: "form"} // invalid linkage
	// .extern declaration does not match the definition
	ruleExternClash = diag.Rule{ID: "F512", Layer: "form"}
	ruleAttribute   = diag.Rule{ID: "F513", Layer: "form"} // invalid attribute
	ruleBank        = diag.Rule{ID: "F514", Layer: "form"} // invalid constant bank
	ruleConstants   = diag.Rule{ID: "F515", Layer: "form"} // too many bytes of constants
)

// Rules of operands.
var (
	ruleGuard      = diag.Rule{ID: "F320", Layer: "form"} // guard is not a predicate
	ruleComponent  = diag.Rule{ID: "F321", Layer: "form"} // component that does not exist
	ruleIndex      = diag.Rule{ID: "F322", Layer: "form"} // index into a name that is not an array
	ruleNegation   = diag.Rule{ID: "F323", Layer: "form"} // operand cannot be negated
	ruleOperand    = diag.Rule{ID: "F324", Layer: "form"} // invalid operand
	ruleExpression = diag.Rule{ID: "F325", Layer: "form"} // invalid constant expression
	ruleAddress32  = diag.Rule{ID: "F326", Layer: "form"} // 32-bit address where 64 bits are needed
)

// Rules of versions and targets.
var (
	// declaration or directive requires a later PTX version or target
	ruleFeature = diag.Rule{ID: "F410", Layer: "form"}
	ruleGone    = diag.Rule{ID: "F411", Layer: "form"} // removed feature
)

// Rules of initial values and opaque variables.
var (
	ruleInitialized = diag.Rule{ID: "F520", Layer: "form"} // initial value not allowed
	ruleValue       = diag.Rule{ID: "F521", Layer: "form"} // initial value of the wrong kind
	ruleValueCount  = diag.Rule{ID: "F522", Layer: "form"} // wrong number of initial values
	// initial value is the address of a variable without a fixed address
	ruleValueSpace = diag.Rule{ID: "F523", Layer: "form"}
	ruleMask       = diag.Rule{ID: "F524", Layer: "form"} // invalid byte mask in an initial value
	// texture, sampler or surface declared in the wrong place
	ruleOpaque = diag.Rule{ID: "F530", Layer: "form"}
	// sampler does not match the texture mode
	ruleTextureMode = diag.Rule{ID: "F531", Layer: "form"}
	// unknown field of a texture, sampler or surface
	ruleField = diag.Rule{ID: "F532", Layer: "form"}
)

// Rules of functions.
var (
	// conflicting declarations of a function
	ruleRedefined      = diag.Rule{ID: "F601", Layer: "form"}
	ruleMismatch       = diag.Rule{ID: "F602", Layer: "form"} // declaration and definition differ
	ruleReturns        = diag.Rule{ID: "F603", Layer: "form"} // invalid return values
	ruleParameterSpace = diag.Rule{ID: "F604", Layer: "form"} // parameter in the wrong space
	ruleParameterType  = diag.Rule{ID: "F605", Layer: "form"} // invalid type of a parameter
	ruleParameterName  = diag.Rule{ID: "F606", Layer: "form"} // parameter without a name
	ruleParameterBytes = diag.Rule{ID: "F607", Layer: "form"} // too many bytes of parameters
	ruleUnsized        = diag.Rule{ID: "F608", Layer: "form"} // parameter without a size
	// .ptr or .hidden on a parameter of a .func
	rulePointer    = diag.Rule{ID: "F609", Layer: "form"}
	ruleAlias      = diag.Rule{ID: "F610", Layer: "form"} // invalid alias
	ruleNoReturn   = diag.Rule{ID: "F611", Layer: "form"} // .noreturn that returns a value
	ruleUnresolved = diag.Rule{ID: "F612", Layer: "form"} // function without a body
	// constant pointer parameter together with cvta.const
	ruleConstantPointer = diag.Rule{ID: "F613", Layer: "form"}
)

// Rules of calls and parameters.
var (
	ruleCall = diag.Rule{ID: "F620", Layer: "form"} // malformed call
	// call of something that cannot be called
	ruleCallTarget = diag.Rule{ID: "F621", Layer: "form"}
	rulePrototype  = diag.Rule{ID: "F622", Layer: "form"} // indirect call without a prototype
	ruleCallCount  = diag.Rule{ID: "F623", Layer: "form"} // wrong number of arguments
	// argument does not match the parameter
	ruleCallType = diag.Rule{ID: "F624", Layer: "form"}
	// wrong kind of name in .branchtargets or .calltargets
	ruleTargets        = diag.Rule{ID: "F625", Layer: "form"}
	ruleParameterWrite = diag.Rule{ID: "F630", Layer: "form"} // store to an input parameter
	ruleParameterRead  = diag.Rule{ID: "F631", Layer: "form"} // load of a return value
	// .param::entry and .param::func swapped
	ruleParameterSide    = diag.Rule{ID: "F632", Layer: "form"}
	ruleParameterAddress = diag.Rule{ID: "F633", Layer: "form"} // address of a call argument
	ruleParameterGuard   = diag.Rule{ID: "F634", Layer: "form"} // guard in a call sequence
	ruleNoCall           = diag.Rule{ID: "F635", Layer: "form"} // result read without a call
)

// Rules of directives.
var (
	// wrong argument of a directive
	ruleTuningValue = diag.Rule{ID: "F701", Layer: "form"}
	// conflicting directives
	ruleTuningConflict = diag.Rule{ID: "F702", Layer: "form"}
	// directive without the directives it requires
	ruleTuningNeeds = diag.Rule{ID: "F703", Layer: "form"}
	// directive on the wrong kind of function
	ruleTuningPlace = diag.Rule{ID: "F704", Layer: "form"}
	// directive given twice
	ruleTuningTwice = diag.Rule{ID: "F705", Layer: "form"}
	// directive without effect
	ruleTuningIdle = diag.Rule{ID: "F706", Layer: "form", Severity: diag.Warning}
	// unknown language
	ruleLanguage = diag.Rule{ID: "F707", Layer: "form"}
	// malformed pragma
	rulePragma = diag.Rule{ID: "F710", Layer: "form"}
	// pragma in the wrong place
	rulePragmaPlace = diag.Rule{ID: "F711", Layer: "form"}
	// unknown pragma
	rulePragmaUnknown = diag.Rule{ID: "F712", Layer: "form", Severity: diag.Warning}
	// malformed .file
	ruleFile = diag.Rule{ID: "F720", Layer: "form"}
	// file index given twice
	ruleFileTwice = diag.Rule{ID: "F721", Layer: "form"}
	// malformed .loc
	ruleLocation = diag.Rule{ID: "F722", Layer: "form"}
	// inlined_at names a location without a preceding .loc
	ruleInlined = diag.Rule{ID: "F723", Layer: "form"}
	// invalid debug data
	ruleSectionData = diag.Rule{ID: "F724", Layer: "form"}
	// function_name is not a label
	ruleFunctionName = diag.Rule{ID: "F725", Layer: "form"}
)

// Rules of the total resources of a kernel, and of constants with a range.
var (
	ruleFraction = diag.Rule{ID: "F327", Layer: "form"} // fraction out of range
	ruleShared   = diag.Rule{ID: "F516", Layer: "form"} // too much static shared memory
	ruleGroups   = diag.Rule{ID: "F640", Layer: "form"} // both CTA groups in one kernel
)

// allRules lists the rules above.
var allRules = []*diag.Rule{
	&ruleNoVersion, &ruleVersion, &ruleNoTarget, &ruleTarget, &ruleTargetOption,
	&ruleTargetSince, &ruleAddressSize, &ruleLateHeader, &ruleDebug, &ruleDirectivePlace,
	&ruleUnknownDirective, &ruleUndeclared, &ruleTwice, &ruleType, &rulePredicate, &ruleSpace,
	&ruleAlign, &ruleVector, &ruleArray, &ruleIncomplete, &ruleRange, &ruleLinkage,
	&ruleExternClash, &ruleAttribute, &ruleBank, &ruleConstants, &ruleGuard, &ruleComponent,
	&ruleIndex, &ruleNegation, &ruleOperand, &ruleExpression, &ruleAddress32, &ruleFeature,
	&ruleGone, &ruleInitialized, &ruleValue, &ruleValueCount, &ruleValueSpace, &ruleMask,
	&ruleOpaque, &ruleTextureMode, &ruleField, &ruleRedefined, &ruleMismatch, &ruleReturns,
	&ruleParameterSpace, &ruleParameterType, &ruleParameterName, &ruleParameterBytes,
	&ruleUnsized, &rulePointer, &ruleAlias, &ruleNoReturn, &ruleUnresolved, &ruleConstantPointer,
	&ruleCall, &ruleCallTarget, &rulePrototype, &ruleCallCount, &ruleCallType, &ruleTargets,
	&ruleParameterWrite, &ruleParameterRead, &ruleParameterSide, &ruleParameterAddress,
	&ruleParameterGuard, &ruleNoCall, &ruleTuningValue, &ruleTuningConflict, &ruleTuningNeeds,
	&ruleTuningPlace, &ruleTuningTwice, &ruleTuningIdle, &ruleLanguage, &rulePragma,
	&rulePragmaPlace, &rulePragmaUnknown, &ruleFile, &ruleFileTwice, &ruleLocation, &ruleInlined,
	&ruleSectionData, &ruleFunctionName, &ruleFraction, &ruleShared, &ruleGroups,
}
