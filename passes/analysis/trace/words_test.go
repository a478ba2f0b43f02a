// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package trace_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestWords checks the description of constants: inputs with a name are listed, and those without
// one are counted.
func TestWords(t *testing.T) {
	for _, test := range []struct {
		places []string // memory locations
		want   string
	}{
		{[]string{"%rd1"}, "[p] is 9"},
		{[]string{"%rd1+8"}, "[p+8] is 9"},
		{[]string{"%rd2"}, "a value in memory is 9"},
		{[]string{"%rd2", "%rd1+-4", "%rd2+8"}, "[p+-4] is 0, 2 values in memory are 9 and 1"},
		{[]string{"%rd2", "%rd2+4", "%rd2+8", "%rd2+12", "%rd2+16"},
			"5 values in memory are 9, 0, 1 and others"},
		{[]string{"%rd1", "%rd1+4", "%rd1+8", "%rd1+12", "%rd1+16", "%rd1+20", "%rd1+24", "%rd1+28",
			"%rd1+32", "%rd1+36", "%rd1+40", "%rd1+44"}, ", 2 more inputs have fixed values"},
	} {
		body := "ld.param.u64 %rd1, [p];\nmov.u32 %r1, %ctaid.x;\nmul.wide.u32 %rd2, %r1, 64;\nadd.u64 %rd2, %rd2, %rd1;\n"
		for i, at := range test.places {
			body += fmt.Sprintf(
				"ld.global.u32 %%r2, [%s];\nand.b32 %%r3, %%r2, 3;\nsetp.eq.u32 %%p1, %%r3, 0;\n@%%p1 bra A%[2]d;\nbar.sync 1;\nA%[2]d:\nsetp.lt.u32 %%p1, %%r2, 1;\n@%%p1 bra B%[2]d;\nbar.sync 2;\nB%[2]d:\n",
				at, i)
		}
		k := follow(t, ".reqntid 32", body)
		if k.Cases != len(test.places) || len(k.Traces) == 0 {
			t.Fatalf("%v: numbers for %d, missed %v", test.places, k.Cases, k.Missed)
		}
		if got := k.Traces[0].Facts.With; !strings.HasSuffix(got, test.want) ||
			strings.Contains(got, "p+40") {
			t.Errorf("%v: where %s, want %s", test.places, got, test.want)
		}
	}
}
