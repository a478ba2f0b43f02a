// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package wgmma

import (
	"embed"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/passes/verify"
)

//go:embed rules/*.md
var pages embed.FS

var (
	ruleFence   = diag.Rule{ID: "W1", Layer: "wgmma", Severity: diag.Error}
	ruleWait    = verify.RuleAccumulators
	ruleRelease = diag.Rule{ID: "W4", Layer: "wgmma", Severity: diag.Review}
	ruleWhole   = diag.Rule{ID: "W5", Layer: "wgmma", Severity: diag.Error}
)
