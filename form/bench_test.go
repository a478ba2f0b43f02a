// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package form

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ptxdsl/ptxdsl/ptx"
)

// large returns a module of at least size bytes, of the kinds of statement that compilers write.
func large(size int) string {
	var b strings.Builder
	b.WriteString(
		".version 9.0\n.target sm_90a\n.address_size 64\n\n.extern .func (.param .b32 r) helper(.param .b32 a);\n" +
			".visible .global .align 16 .b8 table[4096];\n.extern .shared .align 16 .b8 dynamic[];\n\n")
	for k := 0; b.Len() < size; k++ {
		fmt.Fprintf(&b,
			".visible .entry kernel%d(\n\t.param .u64 kernel%d_param_0,\n\t.param .u32 kernel%d_param_1\n)\n.maxntid 256\n{\n",
			k, k, k)
		b.WriteString(
			"\t.reg .pred %p<40>;\n\t.reg .b16 %rs<20>;\n\t.reg .b32 %r<2000>;\n\t.reg .f32 %f<2000>;\n\t.reg .b64 %rd<400>;\n\n")
		fmt.Fprintf(&b,
			"\tld.param.u64 %%rd1, [kernel%d_param_0];\n\tld.param.u32 %%r1, [kernel%d_param_1];\n\tcvta.to.global.u64 %%rd2, %%rd1;\n",
			k, k)
		for i := range 200 {
			fmt.Fprintf(&b, "$L__BB%d_%d:\n", k, i)
			fmt.Fprintf(&b, "\tmad.lo.s32 %%r%d, %%r%d, %%r%d, 0x1F;\n", i+2, i+1, i+2)
			fmt.Fprintf(&b, "\tmul.wide.s32 \t%%rd%d, %%r%d, 4;\n", i+3, i+1)
			fmt.Fprintf(&b, "\tadd.s64 \t%%rd%d, %%rd2, %%rd%d;\n", i+4, i+3)
			fmt.Fprintf(&b, "\tld.global.v4.f32 \t{%%f%d, %%f%d, %%f%d, %%f%d}, [%%rd%d+%d];\n",
				i+1, i+2, i+3, i+4, i+4, 16*i)
			fmt.Fprintf(&b, "\tfma.rn.f32 \t%%f%d, %%f%d, %%f%d, 0f3F800000;\n", i+9, i+1, i+2)
			fmt.Fprintf(&b, "\tst.shared.f32 \t[dynamic+%d], %%f%d; // spilled\n", 4*i, i+9)
			fmt.Fprintf(&b, "\tsetp.lt.s32 \t%%p%d, %%r%d, 100;\n", i%39+1, i+2)
			fmt.Fprintf(&b, "\t@%%p%d bra \t$L__BB%d_%d;\n", i%39+1, k, max(0, i-1))
			if i%50 == 49 {
				b.WriteString(
					"\t{\n\t.param .b32 param0;\n\t.param .b32 retval0;\n\tst.param.b32 \t[param0], %r1;\n" +
						"\tcall.uni (retval0), helper, (param0);\n\tld.param.b32 \t%r9, [retval0];\n\t}\n")
			}
		}
		b.WriteString("\tret;\n}\n\n")
	}
	return b.String()
}

// TestLarge checks that the module of the benchmark is correct.
func TestLarge(t *testing.T) {
	if list := findings("large.ptx", large(1)); len(list) > 0 {
		t.Errorf("findings: %s", said(list[:min(5, len(list))]))
	}
}

func BenchmarkCheck(b *testing.B) {
	text := large(5 << 20)
	f, list := ptx.Parse("large.ptx", text)
	if len(list) > 0 {
		b.Fatal(said(list[:1]))
	}
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		Check(f, Options{})
	}
}
