// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package histogram

import (
	"fmt"

	"github.com/ptxdsl/ptxdsl/runtime"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// Targets are the PTX targets for which the kernel is built.
var Targets = []string{"sm_80", "sm_90", "sm_100", "sm_120"}

// Check counts byte arrays that contain one value, three values and all 256 values.
func Check(t *kerneltest.T) error {
	k, err := t.Kernel("histogram", Build)
	if err != nil {
		return err
	}
	for _, n := range t.Lengths(1, 255, 10_001, 1<<24) {
		for _, values := range []int{1, 3, bins} {
			data, counts := make([]byte, n), make([]uint32, bins)
			for i := range data {
				data[i] = byte(bins - 1 - t.Rand.IntN(values))
			}
			if err := t.Launch(k, runtime.Grid(97), kerneltest.In(data), kerneltest.InOut(counts),
				n); err != nil {
				return err
			}
			want := Reference(data)
			what := fmt.Sprintf("%d bytes of %d values", n, values)
			if err := kerneltest.Equal(t, what, counts, want[:]); err != nil {
				return err
			}
		}
	}
	return nil
}
