// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package ladder

import (
	"errors"
	"testing"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/golden"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// TestV4 compares the PTX of V4 with a golden file, and runs it with tiles of both shapes and all
// types.
func TestV4(t *testing.T) {
	m := dsl.New("v4.sm_90a", "sm_90a")
	V4(m, Deep)
	golden.Verify(t, m)
	tall, short := Deep, Deep.Swizzled(dsl.Swizzle64)
	tall.M, tall.N, tall.Across = 256, 128, 2
	kerneltest.Run(t, func(x *kerneltest.T) error {
		var errs []error
		for _, tiling := range []Tiling{Deep, tall, short} {
			for _, tiling.Type = range []isa.Type{isa.Bf16, isa.F16, isa.S8} {
				errs = append(errs, check(x, 4, tiling.Swizzled(tiling.Swizzle)))
			}
		}
		return errors.Join(errs...)
	}, "sm_90", "sm_90a").Tight(t, 4)
}
