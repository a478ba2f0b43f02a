// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"embed"

	"github.com/ptxdsl/ptxdsl/diag"
)

//go:embed rules/*.md
var pages embed.FS

var (
	rulePhase   = diag.Rule{ID: "C1", Layer: "cluster", Severity: diag.Error}
	ruleRelaxed = diag.Rule{ID: "C2", Layer: "cluster", Severity: diag.Error}
	ruleEntry   = diag.Rule{ID: "C3", Layer: "cluster", Severity: diag.Error}
	ruleExit    = diag.Rule{ID: "C4", Layer: "cluster", Severity: diag.Error}
)
