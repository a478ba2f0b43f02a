// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package reduce

import (
	"fmt"

	"github.com/ptxdsl/ptxdsl/runtime"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// Targets are the PTX targets for which the kernel is built.
var Targets = []string{"sm_80", "sm_90", "sm_100", "sm_120"}

// tolerance returns the tolerance for the sum of n elements in [-1, 1]. Such a sum is about as
// large as the square root of n. Each F32 addition has a relative error of 2^-24. One thread adds
// n/(threads*blocks) elements, and then the sums of the blocks are added.
func tolerance(n, blocks int) kerneltest.Tolerance {
	additions := n/(threads*blocks) + min(blocks, n/threads+1)
	return kerneltest.Abs(0x1p-23).RoundedEvery(max(1, n/additions)).Sum(n)
}

// Check sums vectors of several lengths with grids of several sizes.
func Check(t *kerneltest.T) error {
	k, err := t.Kernel("reduce", Build)
	if err != nil {
		return err
	}
	for _, n := range t.Lengths(1, 33, 1000, 65_537, 1<<22) {
		for _, blocks := range []int{1, 5, 264} {
			x, sum := t.Float32s(n), []float32{0}
			if err := t.Launch(k, runtime.Grid(blocks), kerneltest.In(x), kerneltest.InOut(sum),
				n); err != nil {
				return err
			}
			what, want := fmt.Sprintf("n = %d, %d blocks", n, blocks), []float64{Reference(x)}
			if err := kerneltest.Compare(t, what, sum, want, tolerance(n, blocks)); err != nil {
				return err
			}
		}
	}
	return nil
}
