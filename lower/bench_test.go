// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package lower_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/lower"
)

// kernel returns a module with the given number of instructions, with the instruction mix of a
// GEMM, with comments and labels.
func kernel(instructions int) string {
	var b strings.Builder
	b.WriteString(".version 8.0\n.target sm_90a\n.address_size 64\n\n" +
		".visible .entry product(.param .align 64 .b8 a[128], .param .align 64 .b8 b[128], .param .u64 c, .param .u32 k)\n" +
		".maxntid 384, 1, 1\n{\n\t.reg .pred %p<40>;\n\t.reg .b32 %r<400>;\n\t.reg .b64 %rd<100>;\n\t.reg .f32 %f<600>;\n" +
		"\t.shared .align 128 .b8 tiles[65536];\n\t.shared .align 8 .b64 full[4];\n")
	n := 0
	put := func(format string, args ...any) {
		fmt.Fprintf(&b, "\t"+format+"\n", args...)
		n++
	}
	for i := 0; n < instructions; i++ {
		fmt.Fprintf(&b, "\t// stage %d\nLOOP%d:\n", i, i)
		put("mov.b32 %%r%d, %%tid.x;", i%400)
		for j := range 8 {
			put("mad.lo.s32 %%r%d, %%r%d, 128, %%r%d;", (i+j)%400, (i+2*j)%400, (i+3*j)%400)
			put("ld.shared.v4.f32 {%%f%d, %%f%d, %%f%d, %%f%d}, [%%rd%d+%d];", j, j+1, j+2, j+3,
				(i+j)%100, 16*j)
			put("fma.rn.f32 %%f%d, %%f%d, %%f%d, 0f3F800000;", (9*i+j)%600, j, j+1)
			put("add.s64 %%rd%d, %%rd%d, 4096;", (i+j)%100, (i+j)%100)
		}
		put("mbarrier.try_wait.parity.shared::cta.b64 %%p%d, [full+%d], %%r%d; // wait for the tile",
			i%40, 8*(i%4), i%400)
		put("setp.lt.u32 %%p%d, %%r%d, %%r%d;", (i+1)%40, i%400, (i+1)%400)
		put("@%%p%d bra LOOP%d;", (i+1)%40, i)
		put("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%%f0, %%f1, %%f2, %%f3}, {%%r0, %%r1, %%r2, %%r3}, {%%r4, %%r5}, {%%f0, %%f1, %%f2, %%f3};")
	}
	b.WriteString("\tret;\n}\n")
	return b.String()
}

// count returns the number of instructions of a module.
func count(m *ir.Module) int {
	n := 0
	for _, f := range m.Funcs() {
		for _, b := range f.Blocks {
			n += len(b.Instrs)
		}
	}
	return n
}

// BenchmarkText measures lowering and printing.
func BenchmarkText(b *testing.B) {
	m := lifted(b, "kernel.ptx", kernel(1500))
	n := count(m)
	b.ReportAllocs()
	for b.Loop() {
		lower.Text(m)
	}
	perSecond(b, n)
}

func BenchmarkVersion(b *testing.B) {
	m := lifted(b, "kernel.ptx", kernel(1500))
	n := count(m)
	b.ReportAllocs()
	for b.Loop() {
		lower.Version(m)
	}
	perSecond(b, n)
}

func perSecond(b *testing.B, instructions int) {
	b.ReportMetric(float64(b.N)*float64(instructions)/b.Elapsed().Seconds()/1e6, "Minstr/s")
}
