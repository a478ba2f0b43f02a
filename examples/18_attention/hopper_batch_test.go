// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package attention

import (
	"fmt"
	"testing"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/golden"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// TestPTXHopperBatch compares the PTX of two kernels with the golden files, and checks and
// assembles that of all.
func TestPTXHopperBatch(t *testing.T) {
	for i, v := range hopperBatchVariants() {
		m := dsl.New(fmt.Sprintf("hopper_batch%d.sm_90a", i), "sm_90a")
		v.Build(m)
		if i == 1 || i == 2 {
			golden.Verify(t, m)
			continue
		}
		text, err := m.Text()
		if err != nil {
			t.Errorf("%s, %s: %v", v.Option, v.Name, err)
			continue
		}
		golden.AssembleText(t, v.Name, text)
	}
}

// TestRunHopperBatch runs the kernels in the emulator and compares the results with the reference.
func TestRunHopperBatch(t *testing.T) {
	kerneltest.Run(t, checkAll(hopperBatchVariants()), "sm_90a").Tight(t, 4)
}
