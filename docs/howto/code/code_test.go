// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package code_test builds the listings of the how-to guides.
package code_test

import (
	"testing"

	"github.com/ptxdsl/ptxdsl/docs/howto/code/datatypes"
	"github.com/ptxdsl/ptxdsl/docs/howto/code/epilogue"
	"github.com/ptxdsl/ptxdsl/docs/howto/code/suppress"
	"github.com/ptxdsl/ptxdsl/docs/howto/code/targets"
	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/golden"
	"github.com/ptxdsl/ptxdsl/isa"
)

func TestBuild(t *testing.T) {
	gemm := func(in, out isa.Type) func(*dsl.Module) {
		return func(m *dsl.Module) { datatypes.Build(m, in, out) }
	}
	for _, test := range []struct {
		name, target string
		build        func(*dsl.Module)
	}{
		{"epilogue_mma", "sm_80", epilogue.MMA},
		{"epilogue_wgmma", "sm_90a", epilogue.WGMMA},
		{"epilogue_tcgen05", "sm_100a", epilogue.TCGEN05},
		{"types_f16", "sm_90a", gemm(isa.F16, isa.F16)},
		{"types_tf32", "sm_90a", gemm(isa.Tf32, isa.F32)},
		{"types_e4m3", "sm_90a", gemm(isa.E4m3, isa.Bf16)},
		{"types_e5m2", "sm_90a", gemm(isa.E5m2, isa.F32)},
		{"targets", "sm_80", targets.Build},
		{"targets", "sm_90", targets.Build},
		{"suppress", "sm_90", suppress.Build},
	} {
		t.Run(test.name+"."+test.target, func(t *testing.T) {
			m := dsl.New(test.name, test.target)
			test.build(m)
			golden.Clean(t, m)
		})
	}
}
