// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package attention

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// TestBackwardInfinities compares the gradients of heads with infinities in queries, keys and
// values with the reference: the same elements are finite, and close to it. No tile is whole, so
// that the infinities are also multiplied by the zeros past the last query and key.
func TestBackwardInfinities(t *testing.T) { checkUnusual(t, size{withInfinities, 6, 9}) }

// TestBackwardNeighbors sets all operands of a head to NaN. The gradients of the heads before and
// after it, which follow each other in memory, are those of the reference.
func TestBackwardNeighbors(t *testing.T) { checkUnusual(t, size{withNeighbors, 5, 7}) }

// TestBackwardUnseen compares the gradients of causal heads with fewer keys than queries. The
// queries that see no key, which are whole tiles and parts of one, have gradients of zero.
func TestBackwardUnseen(t *testing.T) { checkUnusual(t, size{2, 9, 5}, size{1, 200, 70}) }

// checkUnusual runs the kernels of the backward pass with mma.sync and with wgmma.
func checkUnusual(t *testing.T, sizes ...size) {
	causal, all := Shape{isa.Bf16, 128, true}, Shape{isa.F16, 64, false}
	ordered := HopperBackwardFor(causal)
	ordered.Ordered = true
	x, y := kerneltest.Open(t, "emu:sm_80"), kerneltest.Open(t, "emu:sm_90a")
	for _, z := range sizes {
		err := errors.Join(
			checkBackward(x, causal, z, kerneltest.BF16, 0x1p-8),
			checkHopperBackward(y, causal, ordered, z, kerneltest.BF16, 0x1p-8))
		if z.keys >= z.queries {
			err = errors.Join(err,
				checkBackward(x, all, z, kerneltest.F16, 0x1p-11),
				checkHopperBackward(y, all, HopperBackwardFor(all), z, kerneltest.F16, 0x1p-11))
		}
		if err != nil {
			t.Error(err)
		}
	}
}

// TestBackwardOfUnseen checks the reference: a query that sees no key has a gradient of zero, and
// changes no other gradient.
func TestBackwardOfUnseen(t *testing.T) {
	nan := math.NaN()
	dq, dk, dv := Backward([]float64{nan, nan, 1, 2}, []float64{3, 4}, []float64{5, 6},
		[]float64{nan, nan, 7, 8}, 2, true)
	got, want := slices.Concat(dq[:2], dk, dv), []float64{0, 0, 0, 0, 7, 8}
	if !slices.Equal(got, want) {
		t.Errorf("the gradients of the first query, the key and the value are %v, want %v", got, want)
	}
}
