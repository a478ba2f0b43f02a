// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package ptx_test

import (
	"fmt"

	"github.com/ptxdsl/ptxdsl/ptx"
)

func ExampleFormat() {
	out, _ := ptx.Format("k.ptx", `.version 8.5 .target sm_90 .address_size 64
.entry k(.param .u64 p) { .reg .b64 %rd<2>; .reg .b32 %r<2>;
ld.param.u64 %rd1,[p]; ld.b32.global %r1,[%rd1 + 4]; // modifiers in any order
st.global.b32 [%rd1],%r1; ret; }`)
	fmt.Print(out)
	// Output:
	// .version 8.5
	// .target sm_90
	// .address_size 64
	//
	// .entry k(
	// 	.param .u64 p
	// )
	// {
	// 	.reg .b64 %rd<2>;
	// 	.reg .b32 %r<2>;
	//
	// 	ld.param.u64  %rd1, [p];
	// 	ld.global.b32 %r1, [%rd1+4];  // modifiers in any order
	// 	st.global.b32 [%rd1], %r1;
	// 	ret;
	// }
}

func ExampleParse() {
	_, errs := ptx.Parse("k.ptx",
		".version 8.5\n.target sm_90\n.entry k() {\n\tadd.u32 %r1 %r2;\n\tmov.u32 %r1, ;\n}\n")
	for _, e := range errs {
		fmt.Printf("%s: %s: %s\n", e.Place, e.Rule, e.Message)
	}
	// Output:
	// k.ptx:4:14: F101: unexpected "%r2", expected "," or ";"
	// k.ptx:5:15: F101: unexpected ";", expected an operand
}
