// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package saxpy

import (
	"errors"
	"fmt"

	"github.com/ptxdsl/ptxdsl/internal/trial"
	"github.com/ptxdsl/ptxdsl/runtime"
)

// Check runs the kernel on vectors of several lengths, with fewer threads than vectors and with more.
func Check(t *trial.T) error {
	k, err := t.Kernel("saxpy", Build)
	if err != nil {
		return err
	}
	for _, n := range trial.Within(t, trial.Count, 4, 1020, 1028, 1<<20, 3_000_004) {
		for _, blocks := range []int{1, 7, 512} {
			xs, ys := t.Floats(n), t.Floats(n)
			a := t.Floats(1)[0]
			x, e1 := runtime.Upload(t.Device, xs)
			y, e2 := runtime.Upload(t.Device, ys)
			if err := errors.Join(e1, e2); err != nil {
				return err
			}
			if err := k.Launch(runtime.Grid(blocks), x, y, a, n); err != nil {
				return err
			}
			got, err := runtime.Download(y)
			if err := errors.Join(err, x.Close(), y.Close()); err != nil {
				return err
			}
			if err := trial.Near(fmt.Sprintf("n = %d, %d blocks", n, blocks), got, Reference(a, xs, ys), 1e-7); err != nil {
				return err
			}
		}
	}
	return nil
}
