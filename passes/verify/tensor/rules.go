// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package tensor

import (
	"embed"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/passes/verify"
)

//go:embed rules/*.md
var pages embed.FS

var (
	ruleAlloc   = diag.Rule{ID: "T1", Layer: "tensor", Severity: diag.Error}
	ruleAddress = diag.Rule{ID: "T2", Layer: "tensor", Severity: diag.Error}
	ruleFree    = diag.Rule{ID: "T3", Layer: "tensor", Severity: diag.Error}
	ruleEarly   = verify.RuleTensorFree
	rulePair    = diag.Rule{ID: "T5", Layer: "tensor", Severity: diag.Error}
	ruleOrder   = verify.RuleTensorRead
	ruleCommit  = diag.Rule{ID: "T7", Layer: "tensor", Severity: diag.Error}
	ruleWait    = diag.Rule{ID: "T8", Layer: "tensor", Severity: diag.Error}
	ruleFence   = diag.Rule{ID: "T9", Layer: "tensor", Severity: diag.Review}
	ruleLanes   = diag.Rule{ID: "T10", Layer: "tensor", Severity: diag.Error}
)
