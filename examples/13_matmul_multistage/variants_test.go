// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package multistage

import (
	"testing"

	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// TestVariants runs the first variant of each option on its first target. The test of package
// internal/systems runs all of them on all targets, with -update.
func TestVariants(t *testing.T) {
	last := ""
	for _, v := range Variants() {
		if v.Option == last {
			continue
		}
		last = v.Option
		t.Run(v.Option+"/"+v.Name, func(t *testing.T) {
			kerneltest.Run(t, v.Check, v.Targets[0]).Tight(t, 4)
		})
	}
}
