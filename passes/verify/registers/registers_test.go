// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package registers_test

import (
	"testing"

	"github.com/ptxdsl/ptxdsl/internal/hazardtest"
	"github.com/ptxdsl/ptxdsl/passes/verify/registers"
)

// A kernel that violates R1 does not pass the form checks.
func TestFiles(t *testing.T) { hazardtest.Run(t, registers.Analyzer, "R1") }
