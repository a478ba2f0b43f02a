// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package attention

import (
	"testing"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/golden"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// TestPTXHopperBackward compares the PTX of the backward pass with wgmma with the golden files, and
// checks and assembles it.
func TestPTXHopperBackward(t *testing.T) {
	for _, s := range []Shape{{isa.Bf16, 64, false}, {isa.Bf16, 128, true}} {
		for _, ordered := range []bool{false, true} {
			h, name := HopperBackwardFor(s), s.hopperBackward()
			if h.Ordered = ordered; ordered {
				name += "_ordered"
			}
			m := dsl.New(name+".sm_90a", "sm_90a")
			if ordered {
				BuildHopperBackwardWith(m, s, h)
			} else {
				BuildHopperPass(m, s, h)
			}
			golden.Verify(t, m)
		}
	}
}

// TestRunHopperBackward runs a kernel for each shape in the emulator, half of them ordered.
func TestRunHopperBackward(t *testing.T) {
	var list []kerneltest.Variant
	for i, v := range hopperBackwardVariants() {
		if i%2 == i/2%2 {
			list = append(list, v)
		}
	}
	kerneltest.Run(t, checkAll(list), "sm_90a").Tight(t, 4)
}
