// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package transpose

import (
	"errors"
	"fmt"

	"github.com/ptxdsl/ptxdsl/internal/trial"
	"github.com/ptxdsl/ptxdsl/runtime"
)

// Check runs both kernels on matrices of several shapes.
func Check(t *trial.T) error {
	for _, name := range []string{"transpose_padded", "transpose_swizzled"} {
		k, err := t.Kernel(name, Build)
		if err != nil {
			return err
		}
		for _, size := range trial.Within(t, trial.Area, [][2]int{{32, 32}, {32, 96}, {160, 32}, {1056, 2016}}...) {
			height, width := size[0], size[1]
			xs := t.Floats(height * width)
			x, e1 := runtime.Upload(t.Device, xs)
			y, e2 := runtime.Alloc[float32](t.Device, len(xs))
			if err := errors.Join(e1, e2); err != nil {
				return err
			}
			if err := k.Launch(runtime.Grid(width/side, height/side), x, y, height, width); err != nil {
				return err
			}
			ys, err := runtime.Download(y)
			if err := errors.Join(err, x.Close(), y.Close()); err != nil {
				return err
			}
			if err := trial.Same(fmt.Sprintf("%s of %dx%d", name, height, width), ys, Reference(xs, height, width)); err != nil {
				return err
			}
		}
	}
	return nil
}
