// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package global

import (
	"embed"

	"github.com/ptxdsl/ptxdsl/diag"
)

//go:embed rules/*.md
var pages embed.FS

var (
	ruleRace = diag.Rule{ID: "G1", Layer: "global", Severity: diag.Error}
)
