// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package globalsync_test

import (
	"os"
	"testing"

	"github.com/ptxdsl/ptxdsl"
	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/internal/hazardtest"
	"github.com/ptxdsl/ptxdsl/passes/verify"
	"github.com/ptxdsl/ptxdsl/passes/verify/globalsync"
)

func TestFiles(t *testing.T) { hazardtest.Run(t, globalsync.Analyzer) }

// TestSeverity checks that a wait of one thread is an error where other threads certainly read the
// data of another block, and a review where they may.
func TestSeverity(t *testing.T) {
	const name = "testdata/lookback_wrong.ptx"
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	m, _ := ptxdsl.Load(name, string(text))
	list := verify.Run(m, []*verify.Analyzer{globalsync.Analyzer}, verify.Options{}).Findings
	if len(list) != 2 || list[0].Severity != diag.Review || list[1].Severity != diag.Error {
		t.Errorf("findings %v, want a review and an error", list)
	}
}
