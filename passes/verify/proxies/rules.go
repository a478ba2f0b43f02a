// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package proxies

import (
	"embed"

	"github.com/ptxdsl/ptxdsl/diag"
)

//go:embed rules/*.md
var pages embed.FS

var (
	ruleWrite = diag.Rule{ID: "A1", Layer: "proxies", Severity: diag.Error}
	ruleRead  = diag.Rule{ID: "A2", Layer: "proxies", Severity: diag.Review}
	ruleSpace = diag.Rule{ID: "A4", Layer: "proxies", Severity: diag.Error}
	ruleGroup = diag.Rule{ID: "W3", Layer: "proxies", Severity: diag.Error}
	ruleMap   = diag.Rule{ID: "A11", Layer: "proxies", Severity: diag.Error}
)
