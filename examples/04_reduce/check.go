// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package reduce

import (
	"errors"
	"fmt"
	"math"

	"github.com/ptxdsl/ptxdsl/internal/trial"
	"github.com/ptxdsl/ptxdsl/runtime"
)

// Check sums vectors of several lengths with several grids.
func Check(t *trial.T) error {
	k, err := t.Kernel("reduce", Build)
	if err != nil {
		return err
	}
	for _, n := range trial.Within(t, trial.Count, 1, 33, 1000, 65_537, 1<<22) {
		for _, blocks := range []int{1, 5, 264} {
			xs := t.Floats(n)
			x, e1 := runtime.Upload(t.Device, xs)
			sum, e2 := runtime.Upload(t.Device, []float32{0})
			if err := errors.Join(e1, e2); err != nil {
				return err
			}
			if err := k.Launch(runtime.Grid(blocks), x, sum, n); err != nil {
				return err
			}
			got, err := runtime.Download(sum)
			if err := errors.Join(err, x.Close(), sum.Close()); err != nil {
				return err
			}
			// Sums of n such numbers are about as large as the root of n, and so are their errors.
			if err := trial.Near(fmt.Sprintf("n = %d, %d blocks", n, blocks), got, []float32{Reference(xs)}, 1e-6*math.Sqrt(float64(n))); err != nil {
				return err
			}
		}
	}
	return nil
}
