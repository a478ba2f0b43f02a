// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package ptx_test

import (
	"strings"
	"testing"

	"github.com/ptxdsl/ptxdsl/ptx"
)

// TestDepth nests text as deeply as ptxas accepts, one level deeper, and much deeper. The limits
// are those of ptxas 13.5, found by experiment.
func TestDepth(t *testing.T) {
	const kernel = ".visible .entry k(.param .u64 a)\n{\n"
	in := func(open, close string) func(int) string {
		return func(n int) string {
			return kernel + "mov.b32 %r1, " + strings.Repeat(open, n) + "1" +
				strings.Repeat(close, n) + ";\nret;\n}\n"
		}
	}
	for _, test := range []struct {
		name string
		most int
		text func(int) string
	}{
		{"scopes", 1663, func(n int) string {
			return kernel + strings.Repeat("{\n", n) + strings.Repeat("}\n", n) + "ret;\n}\n"
		}},
		{"parentheses", 9978, in("(", ")")},
		{"signs", 4989, in("- ", "")},
		{"complements", 4989, in("~", "")},
		{"casts", 2494, in("(.s64)", "")},
		{"conditions", 4988, in("1?", ":1")},
		{"alternatives", 2494, in("1?1:", "")},
		{"sums", 3326, in("1+(", ")")},
		{"values", 9988, func(n int) string {
			return ".global .b32 x = " + strings.Repeat("(", n) + "1" + strings.Repeat(")", n) +
				";\n"
		}},
		{"operators", 1_000_000, func(n int) string { return in("", "+1")(n) }},
	} {
		if _, list := ptx.Parse("m.ptx", test.text(test.most)); len(list) > 0 {
			t.Errorf("%s: %d deep: %v", test.name, test.most, list[0])
		}
		for _, n := range []int{test.most + 1, 3 * test.most} {
			_, list := ptx.Parse("m.ptx", test.text(n))
			if len(list) == 0 || list[0].Rule != "F104" || !list[0].Place.IsValid() {
				t.Errorf("%s: %d deep: %v", test.name, n, list[:min(1, len(list))])
			}
		}
	}
}
