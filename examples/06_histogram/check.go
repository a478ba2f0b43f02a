// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package histogram

import (
	"errors"
	"fmt"

	"github.com/ptxdsl/ptxdsl/internal/trial"
	"github.com/ptxdsl/ptxdsl/runtime"
)

// Check counts bytes of several distributions.
func Check(t *trial.T) error {
	k, err := t.Kernel("histogram", Build)
	if err != nil {
		return err
	}
	for _, n := range trial.Within(t, trial.Count, 1, 255, 100_001, 1<<24) {
		for _, kinds := range []int{1, 3, bins} {
			bytes := make([]byte, n)
			for i := range bytes {
				bytes[i] = byte(bins - 1 - t.Rand.IntN(kinds))
			}
			data, e1 := runtime.Upload(t.Device, bytes)
			counts, e2 := runtime.Upload(t.Device, make([]uint32, bins))
			if err := errors.Join(e1, e2); err != nil {
				return err
			}
			if err := k.Launch(runtime.Grid(97), data, counts, n); err != nil {
				return err
			}
			got, err := runtime.Download(counts)
			if err := errors.Join(err, data.Close(), counts.Close()); err != nil {
				return err
			}
			want := Reference(bytes)
			if err := trial.Same(fmt.Sprintf("%d bytes of %d kinds", n, kinds), got, want[:]); err != nil {
				return err
			}
		}
	}
	return nil
}
