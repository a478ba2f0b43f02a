// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package runtime

import "testing"

// TestAlignment checks that .align before the type applies to the parameter, and after it to the
// memory it points to.
func TestAlignment(t *testing.T) {
	const text = `.version 8.0
.target sm_80
.address_size 64
.entry k(
	.param .u32 a,
	.param .u64 .align 64 b,
	.param .align 64 .u64 .ptr .global .align 16 c,
	.param .u32 .align 2 d
)
{
	ret;
}
`
	entries, _ := signatures("k.ptx", text)
	for i, want := range []int{0, 8, 64, 72} {
		if got := entries["k"].params[i].Offset; got != want {
			t.Errorf("parameter %d stands at %d, expected %d", i, got, want)
		}
	}
}
