// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package asyncgroup

import (
	"embed"

	"github.com/ptxdsl/ptxdsl/diag"
)

//go:embed rules/*.md
var pages embed.FS

var (
	ruleWait   = diag.Rule{ID: "A5", Layer: "asyncgroup", Severity: diag.Error}
	ruleDepth  = diag.Rule{ID: "A7", Layer: "asyncgroup", Severity: diag.Error}
	ruleRead   = diag.Rule{ID: "A6", Layer: "asyncgroup", Severity: diag.Error}
	ruleSource = diag.Rule{ID: "A8", Layer: "asyncgroup", Severity: diag.Error}
	ruleBytes  = diag.Rule{ID: "A9", Layer: "asyncgroup", Severity: diag.Error}
	ruleBox    = diag.Rule{ID: "A13", Layer: "asyncgroup", Severity: diag.Error}
	ruleBefore = diag.Rule{ID: "A14", Layer: "asyncgroup", Severity: diag.Error}
)
