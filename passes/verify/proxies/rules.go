// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package proxies

import (
	"embed"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/passes/verify"
)

//go:embed rules/*.md
var pages embed.FS

var (
	ruleWrite = verify.RuleProxyFence
	ruleRead  = diag.Rule{ID: "A2", Layer: "proxies", Severity: diag.Review}
	ruleSpace = verify.RuleFenceSpace
	ruleGroup = verify.RuleOperandFence
	ruleMap   = diag.Rule{ID: "A11", Layer: "proxies", Severity: diag.Error}
)
