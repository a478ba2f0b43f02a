// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package attention

import (
	"testing"

	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// TestBackwardInfinities compares the gradients of heads with infinities in queries, keys and
// values with the reference: the same elements are finite, and close to it.
func TestBackwardInfinities(t *testing.T) {
	small, whole := size{withInfinities, 6, 9}, size{withInfinities, 64, 66}
	causal, all := Shape{isa.Bf16, 128, true}, Shape{isa.F16, 64, false}
	ordered := HopperBackwardFor(causal)
	ordered.Ordered = true
	x, y := kerneltest.Open(t, "emu:sm_80"), kerneltest.Open(t, "emu:sm_90a")
	for _, err := range []error{
		checkBackward(x, causal, small, kerneltest.BF16, 0x1p-8),
		checkBackward(x, all, small, kerneltest.F16, 0x1p-11),
		checkHopperBackward(y, causal, ordered, whole, kerneltest.BF16, 0x1p-8),
		checkHopperBackward(y, all, HopperBackwardFor(all), small, kerneltest.F16, 0x1p-11),
	} {
		if err != nil {
			t.Error(err)
		}
	}
}
