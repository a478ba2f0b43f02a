// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package isa

import (
	"strings"
	"testing"
)

func TestPart(t *testing.T) {
	fields := strings.Fields(
		".b0 .b3 .b4 .h0 .h1 .h2 .h10 .h01 .h33 .h44 .b10 .b01 .b321 .b3210 .b7654 .b0000 .b8888 .x .b .bb h1 .h100")
	for _, c := range []struct {
		part Part
		want string
	}{
		{WholeOnly, ""},
		{Lane, ".b0 .b3 .h0 .h1"},
		{Halves, ".h10 .h01 .h33"},
		{HalfMask, ".h0 .h1 .h10"},
		{Bytes, ".b3210 .b7654 .b0000"},
		{ByteMask, ".b0 .b3 .b10 .b321 .b3210"},
	} {
		var have []string
		for _, f := range fields {
			if c.part.Has(f) {
				have = append(have, f)
			}
		}
		if got := strings.Join(have, " "); got != c.want {
			t.Errorf("part %d has %s, want %s", c.part, got, c.want)
		}
	}
}
