// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"embed"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/passes/verify"
)

//go:embed rules/*.md
var pages embed.FS

var (
	rulePhase   = diag.Rule{ID: "C1", Layer: "cluster", Severity: diag.Error}
	ruleRelaxed = diag.Rule{ID: "C2", Layer: "cluster", Severity: diag.Error}
	ruleEntry   = diag.Rule{ID: "C3", Layer: "cluster", Severity: diag.Error}
	ruleExit    = verify.RulePeerExit
)

// earlyExits suppresses findings about blocks that exit while others may access their memory, if
// a finding about a relaxed arrival has the same cause.
var earlyExits = verify.Subsumption{Findings: []*diag.Rule{&ruleRelaxed}}
