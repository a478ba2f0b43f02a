// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package scan

import (
	"fmt"

	"github.com/ptxdsl/ptxdsl/runtime"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// Targets are the PTX targets for which the kernel is built.
var Targets = []string{"sm_80", "sm_90", "sm_100", "sm_120"}

// Check computes the prefix sums of vectors of one block and of many blocks.
func Check(t *kerneltest.T) error {
	k, err := t.Kernel("scan", Build)
	if err != nil {
		return err
	}
	length := func(blocks int) int { return blocks * threads }
	for _, blocks := range kerneltest.Sizes(t, length, 1, 3, 37, 4099) {
		x := t.Uint32s(blocks * threads)
		y := make([]uint32, len(x))
		if err := t.Launch(k, runtime.Grid(blocks), kerneltest.In(x),
			kerneltest.Out(y)); err != nil {
			return err
		}
		if err := kerneltest.Equal(t, fmt.Sprintf("%d blocks", blocks), y,
			Reference(x)); err != nil {
			return err
		}
	}
	return nil
}
