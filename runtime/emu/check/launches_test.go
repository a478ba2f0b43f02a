// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package check_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ptxdsl/ptxdsl/runtime/emu/check"
)

// body returns a module with a kernel with a pointer and some attributes.
func body(attributes, text string) string {
	return `.version 8.6
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 a) ` + attributes + ` {
	.reg .b32 %r<20>; .reg .b64 %d<20>; .reg .pred %p<8>; .reg .f32 %f<8>;
	ld.param.u64 %d1, [a]; cvta.to.global.u64 %d1, %d1;
	mov.u32 %r1, %tid.x;
	` + text + `
	ret;
}
`
}

// TestLaunches checks which findings depend on a launch that check derived.
func TestLaunches(t *testing.T) {
	const increment = "ld.global.u32 %r2, [%d1]; add.u32 %r2, %r2, 1; st.global.u32 [%d1], %r2;"
	oneThread := func(attributes string) string {
		return strings.Replace(body(attributes, increment), "mov.u32 %r1, %tid.x;", "", 1)
	}
	// the last of the blocks resets the counter that made it the last
	const last = `mov.u32 %r3, %nctaid.x; sub.u32 %r3, %r3, 1; setp.ne.u32 %p1, %r1, 0;
	@%p1 bra e; atom.global.add.u32 %r4, [%d1], 1; setp.ne.u32 %p2, %r4, `
	const reset = "; @%p2 bra e; st.global.u32 [%d1], 0;\ne:"
	// half of the warps compute what they do not store
	const twice = `and.b32 %r2, %r1, 31; mul.wide.u32 %d3, %r2, 4; add.u64 %d3, %d3, %d1;
	ld.global.u32 %r3, [%d3]; add.u32 %r4, %r3, %r2; setp.ge.u32 %p1, %r1, 32;
	@%p1 bra e; st.global.u32 [%d3], %r4;
e:	`
	const rows = `mov.u32 %r2, %tid.y; mov.u32 %r3, %ntid.x; mad.lo.u32 %r4, %r2, %r3, %r1;
	mul.wide.u32 %d3, %r4, 4; add.u64 %d3, %d3, %d1; st.global.u32 [%d3], %r2;`
	tests := []struct{ name, text, want string }{
		{"one thread", oneThread(""), "review"},
		{"one thread, required block", oneThread(".reqntid 64"), "error"},
		{"threads", body("", increment), "error"},
		{"two dimensions", body("", rows), "clean"},
		{"two declared dimensions", body(".maxntid 8, 4", rows), "clean"},
		{"few threads for two dimensions", body(".maxntid 32", rows), "clean"},
		{"one thread for two dimensions", body(".maxntid 1", rows), "clean"},
		{"reset by the last block", body(".reqntid 64", last+"%r3"+reset), "clean"},
		{"reset by the first block", body(".reqntid 64", last+"0"+reset), "error"},
		{"loads of warps that do not store", body(".reqntid 64", twice), "clean"},
		{"loads of warps that store", body(".reqntid 64", twice+
			"mul.wide.u32 %d4, %r1, 4; add.u64 %d4, %d4, %d1; st.global.u32 [%d4+65536], %r4;"),
			"error"},
		{"wait for the host", strings.Replace(body("", `
w:	ld.volatile.global.u32 %r2, [%d1]; setp.eq.u32 %p1, %r2, 0; @%p1 bra w;
	st.global.u32 [%d1], 3;`), "mov.u32 %r1, %tid.x;", "", 1), "incomplete"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			results, err := check.File("k.ptx", test.text, check.Options{Search: -1})
			if err != nil {
				t.Fatal(err)
			}
			if got := results[0].Verdict(); got != test.want {
				t.Errorf("%s, want %s", got, test.want)
				for _, d := range results[0].Findings {
					t.Log(check.Text(d))
				}
				t.Log(fmt.Sprint(results[0].Tried, results[0].Incomplete, results[0].NotReached))
			}
		})
	}
}
