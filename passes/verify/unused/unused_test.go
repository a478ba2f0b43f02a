// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package unused_test

import (
	"testing"

	"github.com/ptxdsl/ptxdsl/internal/annotatedtest"
	"github.com/ptxdsl/ptxdsl/passes/verify/unused"
)

func TestFiles(t *testing.T) {
	annotatedtest.Run(t, unused.Analyzer(), unused.Accumulators(), unused.Parts())
}
