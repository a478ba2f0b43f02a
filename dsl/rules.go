// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"embed"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/passes/verify/annotated"
)

// pages holds the page of each rule.
//
//go:embed rules/*.md
var pages embed.FS

// Rules returns the rules of findings that the builder reports about its own calls. Rules about
// the form of an instruction belong to package isa.
func Rules() diag.Rules {
	var list diag.Rules
	for _, r := range allRules {
		list = append(list, *r)
	}
	return append(annotated.Rules(), list.WithPages(pages)...)
}

var allRules = []*diag.Rule{
	&ruleTarget, &ruleKernel, &ruleScope, &ruleForeign, &ruleConstant, &ruleLoop, &ruleOperand,
	&ruleLabel, &ruleSize, &ruleFunction, &ruleLacks, &ruleAuthor,
}

// Rules that the analyzers of annotations report too.
var (
	ruleValue    = annotated.Value
	ruleWay      = annotated.Flow
	ruleMemory   = annotated.Memory
	ruleShape    = annotated.Shape
	ruleProtocol = annotated.Protocol
	ruleRole     = annotated.Role
)

// The other rules of this package.
var (
	ruleTarget   = diag.Rule{ID: "D101", Layer: "build"} // unknown target or PTX version
	ruleLacks    = diag.Rule{ID: "D102", Layer: "build"} // not available on the target
	ruleKernel   = diag.Rule{ID: "D103", Layer: "build"} // invalid kernel declaration
	ruleScope    = diag.Rule{ID: "D202", Layer: "build"} // value used where it may be undefined
	ruleForeign  = diag.Rule{ID: "D203", Layer: "build"} // value of another kernel
	ruleConstant = diag.Rule{ID: "D204", Layer: "build"} // constant out of range for its type
	// invalid operand, or operation that the type does not support
	ruleOperand  = diag.Rule{ID: "D205", Layer: "build"}
	ruleLoop     = diag.Rule{ID: "D206", Layer: "build"} // Go break or return out of a kernel loop
	ruleLabel    = diag.Rule{ID: "D207", Layer: "build"} // unresolved label or call
	ruleSize     = diag.Rule{ID: "D302", Layer: "build"} // memory limit of the target exceeded
	ruleFunction = diag.Rule{ID: "D303", Layer: "build"} // call that does not match its function
	ruleAuthor   = diag.Rule{ID: "D601", Layer: "build"} // error reported by the author of a kernel
)
