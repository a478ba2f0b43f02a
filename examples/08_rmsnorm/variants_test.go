// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package rmsnorm

import (
	"strings"
	"testing"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// TestVariants runs each variant on its first target, and checks the tolerances of each option. The
// test of package internal/systems runs all of them on all targets, with -update.
func TestVariants(t *testing.T) {
	runs := make(map[string]kerneltest.Runs)
	for _, v := range Variants() {
		t.Run(v.Option+"/"+v.Name, func(t *testing.T) {
			runs[v.Option] = append(runs[v.Option], kerneltest.Run(t, v.Check, v.Targets[0])...)
		})
	}
	for option, list := range runs {
		t.Run("tolerances of "+option, func(t *testing.T) { list.Tight(t, 4) })
	}
}

// TestOddOutputs checks that rows of which elements cannot share a scale are rejected.
func TestOddOutputs(t *testing.T) {
	m := dsl.New("m", "sm_120a")
	BuildRow(m, RowKernel{Kind: Normalize, Type: isa.F16, Cols: 1001, Output: isa.E2m1})
	if _, err := m.Text(); err == nil || !strings.Contains(err.Error(), "expected a multiple of the 16") {
		t.Error(err)
	}
}
