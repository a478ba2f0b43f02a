// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package warprace_test

import (
	"testing"

	"github.com/ptxdsl/ptxdsl/internal/annotatedtest"
	"github.com/ptxdsl/ptxdsl/passes/verify/warprace"
)

func TestFiles(t *testing.T) {
	annotatedtest.Run(t, warprace.Analyzer())
}
