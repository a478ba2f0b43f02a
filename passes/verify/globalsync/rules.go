// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package globalsync

import (
	"embed"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/passes/verify"
)

//go:embed rules/*.md
var pages embed.FS

// ruleProxy is a rule whose page belongs to package proxies.
var ruleProxy = verify.RuleProxyFence.As(diag.Review)

var ruleOrder = diag.Rule{ID: "B11", Layer: "globalsync", Severity: diag.Review}

var ruleAtomic = diag.Rule{ID: "G2", Layer: "globalsync", Severity: diag.Error}

var ruleGrid = diag.Rule{ID: "B13", Layer: "globalsync", Severity: diag.Error}

var ruleFlag = diag.Rule{ID: "B10", Layer: "globalsync", Severity: diag.Review}
