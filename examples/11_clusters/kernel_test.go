// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package clusters

import (
	"testing"

	"github.com/ptxdsl/ptxdsl/internal/exampletest"
)

// Test holds the kernels for their targets.
func Test(t *testing.T) {
	exampletest.Targets(t, "clusters", Build, "sm_90", "sm_100", "sm_120")
}
