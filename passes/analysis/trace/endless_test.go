// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package trace_test

import (
	"slices"
	"testing"
)

// TestEndless checks that a loop that runs past its end for some value is reported, although it
// ends for larger ones.
func TestEndless(t *testing.T) {
	const loop = "ld.param.u32 %r1, [n];\nmov.u32 %r2, 0;\nmov.u32 %r3, %tid.x;\n" +
		"FOURS:\nsetp.eq.u32 %p1, %r2, %r1;\n@%p1 bra REST;\nbar.sync 1;\nadd.u32 %r2, %r2, 1;\nbra FOURS;\nREST:\n"
	for _, c := range []struct{ what, rest, missed string }{
		{"a loop that ends",
			"and.b32 %r5, %r1, 3;\nTURN:\nsetp.eq.u32 %p2, %r5, 0;\n@%p2 bra DONE;\nbar.sync 2;\nsub.u32 %r5, %r5, 1;\nbra TURN;",
			""},
		{"one of which 4, 8 and so on are past the end",
			"and.b32 %r5, %r1, 3;\nTURN:\nbar.sync 2;\nsub.u32 %r5, %r5, 1;\nsetp.eq.u32 %p2, %r5, 0;\n@%p2 bra DONE;\nbra TURN;",
			"a loop with too many iterations, where n is 4"},
		{"one that zero is past the end of",
			"TURN:\nbar.sync 2;\nsub.u32 %r1, %r1, 1;\nsetp.eq.u32 %p2, %r1, 0;\n@%p2 bra DONE;\nbra TURN;",
			""},
	} {
		k := follow(t, ".reqntid 64", loop+c.rest)
		if c.missed == "" && len(k.Missed) > 0 || c.missed != "" &&
			!slices.Contains(k.Missed, c.missed) {
			t.Errorf("%s: missed %q, expected %q", c.what, k.Missed, c.missed)
		}
	}
}
