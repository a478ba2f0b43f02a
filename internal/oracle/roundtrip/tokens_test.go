// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package roundtrip

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLines(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{".version 8.5\n.target sm_90a, debug", ".version 8.5|.target|sm_90a|,|debug"},
		{"@!%p ld.global.v2.f32 {%f1,%f2}, [%rd1+-8]; // c ; }",
			"@|!|%p|ld.global.v2.f32|{|%f1|,|%f2|}|,|[|%rd1|+|-|8|]|;"},
		{".reg.v2.b32 %r<4>;.reg .v2 .b32 %r<4>;",
			".reg|.v2|.b32|%r|<|4|>|;|.reg|.v2|.b32|%r|<|4|>|;"},
		{"mov.u32 a, %tid.x;", "mov.u32|a|,|%tid.x|;"},
		{"x: .shared::cta y:z", "x|:|.shared::cta|y|:|z"},
		{"tcgen05.mma.cta_group::1.kind::f16 [x]", "tcgen05.mma.cta_group::1.kind::f16|[|x|]"},
		{"fence.proxy::x.shared::cta;L:bra L;", "fence.proxy::x.shared::cta|;|L|:|bra|L|;"},
		{"1.5e-3-2 0x1e-3 0f3F800000-1 7U 1<<2 a==b",
			"1.5e-3|-|2|0x1e|-|3|0f3F800000|-|1|7U|1|<<|2|a|==|b"},
		{`.file 1 "a \" // b" /* x
y */ z`, `.file|1|"a \" // b"|z`},
		{`.ir_name: "x" .sourceFileName:1 L: .b32 1`,
			`.ir_name:|"x"|.sourceFileName:|1|L|:|.b32|1`},
		{".source_begin \n a  \"b // c\n.source_end2\n\t.source_end\n } }",
			".source_begin | a  \"b // c|.source_end2|\t.source_end||}|}"},
		{"", ""},
		{"/* open", ""},
		{`"open`, `"open`},
	} {
		got := strings.TrimSuffix(Lines(test.text), "\n")
		if diff := cmp.Diff(strings.Split(test.want, "|"), strings.Split(got, "\n")); diff != "" {
			t.Errorf("%q (-want +got):\n%s", test.text, diff)
		}
		if again := Lines(Lines(test.text)); !strings.HasSuffix(test.text, "open") &&
			again != Lines(test.text) {
			t.Errorf("%q: not a fixed point: %q", test.text, again)
		}
	}
}
