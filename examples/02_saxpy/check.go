// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package saxpy

import (
	"fmt"

	"github.com/ptxdsl/ptxdsl/runtime"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// Targets are the PTX targets for which the kernel is built.
var Targets = []string{"sm_80", "sm_90", "sm_100", "sm_120"}

// Check runs the kernel on vectors of several lengths, with fewer threads than elements and with
// more threads than elements. Both the kernel and the reference round each result once, so the
// results must be equal.
func Check(t *kerneltest.T) error {
	k, err := t.Kernel("saxpy", Build)
	if err != nil {
		return err
	}
	for _, n := range t.Lengths(4, 1020, 1028, 3_000_004) {
		for _, blocks := range []int{1, 7, 512} {
			a, x, y := t.Float32s(1)[0], t.Float32s(n), t.Float32s(n)
			want := Reference(a, x, y)
			if err := t.Launch(k, runtime.Grid(blocks), kerneltest.In(x), kerneltest.InOut(y), a,
				n); err != nil {
				return err
			}
			if err := kerneltest.Equal(t, fmt.Sprintf("n = %d, %d blocks", n, blocks), y,
				want); err != nil {
				return err
			}
		}
	}
	return nil
}
