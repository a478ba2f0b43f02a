// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package mbarrier

import (
	"embed"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/passes/verify"
)

//go:embed rules/*.md
var pages embed.FS

var (
	ruleInit      = verify.RuleInit
	ruleLife      = verify.RuleLifetime
	ruleInvisible = verify.RuleInvisible
	ruleArrivals  = verify.RuleArrivals
	ruleBytes     = verify.RuleBytes
	ruleParity    = verify.RuleParity
	ruleRemote    = diag.Rule{ID: "M8", Layer: "mbarrier", Severity: diag.Error}
	ruleScope     = diag.Rule{ID: "M9", Layer: "mbarrier", Severity: diag.Error}
	ruleTry       = verify.RuleTryWait
)
