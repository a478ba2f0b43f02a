// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package ladder

import (
	"errors"
	"testing"

	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// TestV4 runs V4 with tall tiles and all types.
func TestV4(t *testing.T) {
	tall := Deep
	tall.M, tall.N, tall.Across = 256, 128, 2
	kerneltest.Run(t, func(x *kerneltest.T) error {
		var errs []error
		for _, tall.Type = range Types {
			errs = append(errs, check(x, 4, tall.Swizzled(tall.Swizzle)))
		}
		return errors.Join(errs...)
	}, "sm_90", "sm_90a").Tight(t, 4)
}
