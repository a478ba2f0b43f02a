// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package scan

import (
	"errors"
	"fmt"

	"github.com/ptxdsl/ptxdsl/internal/trial"
	"github.com/ptxdsl/ptxdsl/runtime"
)

// Check scans vectors of one block and of many.
func Check(t *trial.T) error {
	k, err := t.Kernel("scan", Build)
	if err != nil {
		return err
	}
	for _, blocks := range []int{1, 3, 4099} {
		xs := t.Integers(blocks * threads)
		x, e1 := runtime.Upload(t.Device, xs)
		y, e2 := runtime.Alloc[uint32](t.Device, len(xs))
		if err := errors.Join(e1, e2); err != nil {
			return err
		}
		if err := k.Launch(runtime.Grid(blocks), x, y); err != nil {
			return err
		}
		ys, err := runtime.Download(y)
		if err := errors.Join(err, x.Close(), y.Close()); err != nil {
			return err
		}
		if err := trial.Same(fmt.Sprintf("%d blocks", blocks), ys, Reference(xs)); err != nil {
			return err
		}
	}
	return nil
}
