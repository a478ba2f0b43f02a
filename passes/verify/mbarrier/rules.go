// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package mbarrier

import (
	"embed"

	"github.com/ptxdsl/ptxdsl/diag"
)

//go:embed rules/*.md
var pages embed.FS

var (
	ruleMade     = diag.Rule{ID: "M1", Layer: "mbarrier", Severity: diag.Error}
	ruleLife     = diag.Rule{ID: "M2", Layer: "mbarrier", Severity: diag.Error}
	ruleSeen     = diag.Rule{ID: "M3", Layer: "mbarrier", Severity: diag.Error}
	ruleArrivals = diag.Rule{ID: "M4", Layer: "mbarrier", Severity: diag.Error}
	ruleBytes    = diag.Rule{ID: "M5", Layer: "mbarrier", Severity: diag.Error}
	ruleParity   = diag.Rule{ID: "M6", Layer: "mbarrier", Severity: diag.Error}
	ruleRemote   = diag.Rule{ID: "M8", Layer: "mbarrier", Severity: diag.Error}
	ruleScope    = diag.Rule{ID: "M9", Layer: "mbarrier", Severity: diag.Error}
	ruleTry      = diag.Rule{ID: "M10", Layer: "mbarrier", Severity: diag.Error}
)
