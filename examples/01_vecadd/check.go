// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package vecadd

import (
	"errors"
	"fmt"

	"github.com/ptxdsl/ptxdsl/internal/trial"
	"github.com/ptxdsl/ptxdsl/runtime"
)

// Check runs the kernel on vectors of odd and even lengths.
func Check(t *trial.T) error {
	k, err := t.Kernel("vecadd", Build)
	if err != nil {
		return err
	}
	for _, n := range trial.Within(t, trial.Count, 1, 255, 256, 257, 100_003, 1<<22) {
		as, bs := t.Floats(n), t.Floats(n)
		a, e1 := runtime.Upload(t.Device, as)
		b, e2 := runtime.Upload(t.Device, bs)
		c, e3 := runtime.Alloc[float32](t.Device, n)
		if err := errors.Join(e1, e2, e3); err != nil {
			return err
		}
		if err := k.Launch(runtime.Threads(n), a, b, c, n); err != nil {
			return err
		}
		cs, err := runtime.Download(c)
		if err := errors.Join(err, a.Close(), b.Close(), c.Close()); err != nil {
			return err
		}
		if err := trial.Same(fmt.Sprintf("n = %d", n), cs, Reference(as, bs)); err != nil {
			return err
		}
	}
	return nil
}
