// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package shared

import (
	"embed"

	"github.com/ptxdsl/ptxdsl/diag"
)

//go:embed rules/*.md
var pages embed.FS

var (
	ruleBounds    = diag.Rule{ID: "S1", Layer: "shared", Severity: diag.Error}
	ruleAlign     = diag.Rule{ID: "S2", Layer: "shared", Severity: diag.Error}
	ruleUnwritten = diag.Rule{ID: "S3", Layer: "shared", Severity: diag.Error}
)
