// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package hopper

import (
	"testing"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/golden"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// TestOptions compares the PTX of kernels with options with the golden files, and checks and
// assembles it.
func TestOptions(t *testing.T) {
	few := Tiling{M: 128, N: 16, K: 64, Stages: 8, Cluster: 1, Group: 12}
	for _, c := range []struct {
		name string
		o    Options
	}{
		{"matmul_fp8_tensor", Options{Tiling: Default.Deep(isa.E4m3), Type: isa.E4m3, Scale: true}},
		{"matmul_tf32", Options{Tiling: Default.Deep(isa.Tf32), Type: isa.Tf32}},
		{"matmul_s8", Options{Tiling: Default.Deep(isa.S8), Type: isa.S8}},
		{"matmul_nn", Options{Tiling: Default, TransposeB: true}},
		{"matmul_few", Options{Tiling: few, TransposeD: true, StreamK: true}},
	} {
		m := dsl.New(c.name+".sm_90a", "sm_90a")
		BuildWith(m, c.o)
		golden.Verify(t, m)
	}
}

// TestVariants runs all variants in the emulator.
func TestVariants(t *testing.T) {
	for _, v := range Variants() {
		t.Run(v.Option+"/"+v.Name, func(t *testing.T) {
			kerneltest.Run(t, v.Check, v.Targets...).Tight(t, 4)
		})
	}
}
