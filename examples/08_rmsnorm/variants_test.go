// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package rmsnorm

import (
	"testing"

	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// TestVariants runs each variant on its first target. The test of package internal/systems runs all of
// them on all targets, with -update, and says why a tolerance may be five times the largest error.
func TestVariants(t *testing.T) {
	for _, v := range Variants() {
		t.Run(v.Option+"/"+v.Name, func(t *testing.T) { kerneltest.Run(t, v.Check, v.Targets[0]).Tight(t, 5) })
	}
}
