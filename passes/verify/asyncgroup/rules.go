// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package asyncgroup

import (
	"embed"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/passes/verify"
)

//go:embed rules/*.md
var pages embed.FS

var (
	ruleWait   = verify.RuleCopyWait
	ruleDepth  = verify.RuleCopyDepth
	ruleRead   = diag.Rule{ID: "A6", Layer: "asyncgroup", Severity: diag.Error}
	ruleSource = verify.RuleCopySource
	ruleBytes  = diag.Rule{ID: "A9", Layer: "asyncgroup", Severity: diag.Error}
	ruleBox    = diag.Rule{ID: "A13", Layer: "asyncgroup", Severity: diag.Error}
	ruleBefore = diag.Rule{ID: "A14", Layer: "asyncgroup", Severity: diag.Error}
)
