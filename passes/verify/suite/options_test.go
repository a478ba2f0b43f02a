// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package suite_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ptxdsl/ptxdsl/passes/verify"
	"github.com/ptxdsl/ptxdsl/passes/verify/suite"
)

// TestLaunch checks that a kernel without a declared block size gets the one of the options.
func TestLaunch(t *testing.T) {
	const text = `.version 8.7
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 a)
{
	.reg .b32 %r<8>;
	.reg .b64 %rd<8>;
	.shared .align 4 .b8 s[512];
	ld.param.u64 %rd1, [a];
	mov.u32 %r1, %tid.x;
	mov.u32 %r2, %ctaid.x;
	shl.b32 %r3, %r1, 2;
	mov.u32 %r4, s;
	add.u32 %r4, %r4, %r3;
	st.shared.u32 [%r4], %r1;
	bar.sync 0;
	ld.shared.u32 %r5, [%r4];
	mul.wide.u32 %rd2, %r1, 4;
	add.u64 %rd3, %rd1, %rd2;
	st.global.u32 [%rd3], %r2;
	ret;
}
`
	for _, c := range []struct {
		block, grid [3]int
		want        string
	}{
		{want: ""},
		{block: [3]int{128, 1, 1}, want: "G1"},
		{block: [3]int{256}, want: "S1 S1 G1"},
		{block: [3]int{128, 1, 1}, grid: [3]int{1, 1, 1}, want: ""},
		{block: [3]int{128, 1, 1}, grid: [3]int{2, 1, 1}, want: "G1"},
	} {
		r := suite.Run(module(t, "k.ptx", text), verify.Options{Block: c.block, Grid: c.grid})
		var got []string
		for _, d := range r.Findings {
			if d.Rule != "V101" {
				got = append(got, d.Rule)
			}
		}
		if diff := cmp.Diff(strings.Fields(c.want), slices.Clip(got)); strings.Join(got,
			" ") != c.want {
			t.Errorf("block %v, grid %v: %s", c.block, c.grid, diff)
		}
	}
}
