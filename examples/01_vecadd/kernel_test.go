// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package vecadd

import (
	"testing"

	"github.com/ptxdsl/ptxdsl/internal/exampletest"
)

// Test holds the kernel for its targets.
func Test(t *testing.T) {
	exampletest.Targets(t, "vecadd", Build, "sm_80", "sm_90", "sm_100", "sm_120")
}
