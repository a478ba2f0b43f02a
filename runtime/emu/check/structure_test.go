// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package check_test

import (
	"strings"
	"testing"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/runtime/emu/check"
)

// strideInStructure stores to elements whose distance is in a structure parameter.
const strideInStructure = `.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out, .param .align 4 .b8 shape[8])
{
	.reg .b32 %r<8>;
	.reg .b64 %rd<4>;
	ld.param.u64 %rd1, [out];
	cvta.to.global.u64 %rd1, %rd1;
	ld.param.u32 %r1, [shape+4];
	mov.u32 %r2, %tid.x;
	mov.u32 %r3, %ctaid.x;
	mov.u32 %r4, %ntid.x;
	mad.lo.s32 %r5, %r3, %r4, %r2;
	mul.lo.u32 %r6, %r5, %r1;
	mul.wide.u32 %rd2, %r6, 4;
	add.u64 %rd3, %rd1, %rd2;
	st.global.u32 [%rd3], %r5;
	ret;
}
`

// TestStructure checks that races in global memory are reviews if a structure parameter, which
// derived launches assume to be zero, may cause them.
func TestStructure(t *testing.T) {
	results, err := check.File("k.ptx", strideInStructure, check.Options{})
	if err != nil {
		t.Fatal(err)
	}
	findings := results[0].Findings
	if len(findings) == 0 {
		t.Fatal("no finding, expected races because the distance is zero")
	}
	for _, d := range findings {
		if d.Severity != diag.Review || d.Rule == "E3" &&
			!strings.Contains(d.Message, "assumed the structure shape to be zero") {
			t.Errorf("%s %s: %s", d.Severity, d.Rule, d.Message)
		}
	}
}
