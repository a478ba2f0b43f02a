// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package registers

import (
	"embed"

	"github.com/ptxdsl/ptxdsl/diag"
)

//go:embed rules/*.md
var pages embed.FS

var (
	ruleNumber    = diag.Rule{ID: "R1", Layer: "registers", Severity: diag.Error}
	ruleWhole     = diag.Rule{ID: "R2", Layer: "registers", Severity: diag.Error}
	ruleDirection = diag.Rule{ID: "R3", Layer: "registers", Severity: diag.Error}
	rulePool      = diag.Rule{ID: "R4", Layer: "registers", Severity: diag.Error}
	rulePinned    = diag.Rule{ID: "R5", Layer: "registers", Severity: diag.Warning}
)
