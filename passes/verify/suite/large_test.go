// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package suite_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ptxdsl/ptxdsl/passes/verify"
	"github.com/ptxdsl/ptxdsl/passes/verify/suite"
)

// TestLarge verifies modules of one and of ten megabytes, each large in one respect. The goal is
// one second per megabyte. The test allows ten seconds of processor time, for slow or busy
// machines. An algorithm that is quadratic in the module size would take minutes.
func TestLarge(t *testing.T) {
	const header = ".version 8.7\n.target sm_90a\n.address_size 64\n"
	for _, test := range []struct {
		name  string
		text  func(size int) string
		whole bool // every kernel is checked in full
		ten   bool // also with ten megabytes
	}{
		{"kernels", kernels, true, true},
		{"blocks", branches, false, true},
		{"waits", waits, false, true},
		{"products", products, false, true},
		{"loops", loops, false, true},
		{"tables", tables, false, true},
		{"sums", sums, false, false},
		{"rings", rings, false, false},
		{"functions", functions, false, false},
		{"lanes", lanes, false, false},
		{"flags", flags, false, false},
	} {
		for _, size := range []int{1 << 20, 10 << 20} {
			if size > 1<<20 && (testing.Short() || !test.ten) {
				continue
			}
			t.Run(fmt.Sprint(test.name, " ", size>>20, " MB"), func(t *testing.T) {
				r := timed(t, test.name, header+test.text(size), size)
				for _, k := range r.Kernels {
					if test.whole && (k.Verdict > verify.Incomplete || len(k.Missed) > 0) {
						t.Errorf("%s is %s: %v", k.Kernel, k.Verdict, k.Missed)
						break
					}
				}
			})
		}
	}
}

// timed verifies a module and checks the processor time against its size.
func timed(t *testing.T, name, text string, size int) *verify.Report {
	t.Helper()
	m := module(t, name, text)
	start := processor(t)
	r := suite.Run(m, verify.Options{})
	took, most := processor(t)-start, 10*time.Second*time.Duration(max(size, 1<<20))/(1<<20)
	t.Logf("%s of %d bytes took %v", name, len(text), took)
	if took > most {
		t.Errorf("%s of %d bytes took %v, more than %v", name, len(text), took, most)
	}
	return r
}

// repeat writes parts until the text has the given size.
func repeat(b *strings.Builder, size int, part func(i int)) {
	for i := 0; b.Len() < size; i++ {
		part(i)
	}
}

const registers = ".reg .pred %p<8>;\n.reg .b32 %r<16>;\n.reg .f32 %f<8>;\n.reg .b64 %rd<4>;\n"

// entry returns the beginning of a kernel of 256 threads with shared memory.
func entry(name string) string {
	return ".visible .entry " + name + "(.param .u64 p, .param .u32 n)\n.reqntid 256\n{\n" +
		registers +
		".shared .align 1024 .b8 tile[65536];\n.shared .align 8 .b64 bars[8];\n" +
		"ld.param.u64 %rd1, [p];\nld.param.u32 %r1, [n];\nmov.u32 %r2, %tid.x;\nmov.u32 %r3, tile;\nshl.b32 %r4, %r2, 4;\nadd.u32 %r4, %r4, %r3;\n"
}

// kernels returns many small kernels.
func kernels(size int) string {
	var b strings.Builder
	repeat(&b, size, func(i int) {
		fmt.Fprintf(&b,
			"%sst.shared.b32 [%%r4], %%r2;\nbar.sync 0;\nld.shared.b32 %%r6, [%%r4];\nmad.wide.u32 %%rd2, %%r2, 4, %%rd1;\nst.global.b32 [%%rd2], %%r6;\nret;\n}\n",
			entry(fmt.Sprint("k", i)))
	})
	return b.String()
}

// branches returns one kernel with very many blocks, barriers and nested loops. Ten megabytes are
// 130,000 blocks.
func branches(size int) string {
	var b strings.Builder
	b.WriteString(entry("k"))
	n := size / 80
	for i := range n {
		fmt.Fprintf(&b, "L%d:\nsetp.lt.u32 %%p1, %%r1, %d;\nadd.s32 %%r5, %%r1, %d;\n", i, i, i)
		if i%3 == 0 {
			fmt.Fprintf(&b, "st.shared.u32 [tile+%d], %%r5;\nbar.sync 0;\n", i%1000*4)
		}
		to := n
		switch {
		case i%7 == 3:
			to = max(0, i-5)
		case i%5 == 2:
			to = min(n, i+9)
		}
		fmt.Fprintf(&b, "@%%p1 bra L%d;\n", to)
	}
	fmt.Fprintf(&b, "L%d:\nret;\n}\n", n)
	return b.String()
}

// waits returns one kernel with very many arrivals and waits for them.
func waits(size int) string {
	var b strings.Builder
	b.WriteString(entry("k"))
	b.WriteString(
		"setp.eq.u32 %p1, %r2, 0;\n@%p1 mbarrier.init.shared.b64 [bars], 256;\nbar.sync 0;\n")
	repeat(&b, size, func(i int) {
		fmt.Fprintf(&b,
			"mbarrier.arrive.shared.b64 _, [bars];\nW%d:\nmbarrier.try_wait.parity.shared.b64 %%p2, [bars], %d;\n@!%%p2 bra W%d;\n",
			i, i%2, i)
	})
	b.WriteString("ret;\n}\n")
	return b.String()
}

// products returns a loop that was unrolled many times.
func products(size int) string {
	var b strings.Builder
	b.WriteString(entry("k"))
	b.WriteString("mov.b32 %r5, 0;\nLOOP:\n")
	repeat(&b, size, func(i int) {
		at := i % 16 * 4096
		if i%8 == 0 {
			fmt.Fprintf(&b,
				"bar.sync 0;\ncp.async.cg.shared.global [%%r4+%d], [%%rd1], 16;\ncp.async.commit_group;\ncp.async.wait_group 0;\nbar.sync 0;\n",
				at)
		}
		fmt.Fprintf(&b,
			"ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%%r6, %%r7, %%r8, %%r9}, [%%r4+%d];\n", at)
		b.WriteString(
			"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3}, {%r6, %r7, %r8, %r9}, {%r6, %r7}, {%f0, %f1, %f2, %f3};\n")
	})
	b.WriteString("add.u32 %r5, %r5, 1;\nsetp.lt.u32 %p1, %r5, %r1;\n@%p1 bra LOOP;\nret;\n}\n")
	return b.String()
}

// loops returns nests of thirty loops, with a barrier in the innermost of each.
func loops(size int) string {
	const deep = 30
	var b strings.Builder
	b.WriteString(entry("k"))
	fmt.Fprintf(&b, ".reg .b32 %%i<%d>;\n", deep)
	repeat(&b, size, func(i int) {
		for j := range deep {
			fmt.Fprintf(&b, "mov.u32 %%i%d, 0;\nL%d_%d:\n", j, i, j)
		}
		b.WriteString("bar.sync 0;\n")
		for j := deep - 1; j >= 0; j-- {
			fmt.Fprintf(&b,
				"add.u32 %%i%d, %%i%d, 1;\nsetp.lt.u32 %%p1, %%i%d, %%r1;\n@%%p1 bra L%d_%d;\n", j,
				j, j, i, j)
		}
	})
	b.WriteString("ret;\n}\n")
	return b.String()
}

// tables returns branches with a thousand targets each, some of which are followed by a barrier.
func tables(size int) string {
	const targets = 1000
	var b strings.Builder
	b.WriteString(entry("k"))
	repeat(&b, size, func(i int) {
		var names []string
		for j := range targets {
			names = append(names, fmt.Sprintf("C%d_%d", i, j))
		}
		fmt.Fprintf(&b, "T%d: .branchtargets %s;\nbrx.idx %%r1, T%d;\n", i,
			strings.Join(names, ", "), i)
		for j, name := range names {
			fmt.Fprintf(&b, "%s:\nst.shared.u32 [tile+%d], %%r2;\n", name, j*4)
			if j%3 == 0 {
				b.WriteString("bar.sync 0;\n")
			}
			fmt.Fprintf(&b, "bra E%d;\n", i)
		}
		fmt.Fprintf(&b, "E%d:\nbar.sync 0;\n", i)
	})
	b.WriteString("ret;\n}\n")
	return b.String()
}

// sums returns values that are each the sum of the previous two, with branches on them and
// barriers. Without caching, examining the operands of such a value would take exponential time.
func sums(size int) string {
	var b strings.Builder
	b.WriteString(entry("k"))
	b.WriteString("mov.u32 %r5, %r1;\nadd.u32 %r6, %r1, 3;\n")
	repeat(&b, size, func(i int) {
		b.WriteString(
			"mul.lo.u32 %r7, %r5, %r6;\nxor.b32 %r5, %r6, %r7;\nmul.lo.u32 %r8, %r5, %r7;\nxor.b32 %r6, %r7, %r8;\n")
		if i%8 == 7 {
			fmt.Fprintf(&b,
				"setp.lt.u32 %%p1, %%r5, %%r6;\nand.pred %%p3, %%p1, %%p2;\nxor.pred %%p2, %%p3, %%p1;\n@%%p2 bra S%d;\nst.shared.u32 [tile], %%r5;\nbar.sync 0;\nS%d:\n",
				i, i)
		}
	})
	b.WriteString("ret;\n}\n")
	return b.String()
}

// rings returns many kernels in which warps pass a ring of tiles to each other. Each has more paths
// than can be followed in time.
func rings(size int) string {
	var b strings.Builder
	repeat(&b, size, func(i int) {
		b.WriteString(entry(fmt.Sprint("k", i)))
		b.WriteString("setp.eq.u32 %p1, %r2, 0;\n")
		for o := range 8 {
			fmt.Fprintf(&b, "@%%p1 mbarrier.init.shared.b64 [bars+%d], %d;\n", o*8, 1+o/4*127)
		}
		b.WriteString(
			"bar.sync 0;\nmov.u32 %r8, bars;\nmov.u32 %r5, 0;\nmov.u32 %r6, 0;\nsetp.ge.u32 %p2, %r2, 128;\n@%p2 bra LOAD;\n")
		for _, role := range []struct {
			name, wait, arrive string
		}{{"MATH", "0", "32"}, {"LOAD", "32", "0"}} {
			fmt.Fprintf(&b,
				"%s:\nand.b32 %%r7, %%r5, 3;\nshl.b32 %%r7, %%r7, 3;\nadd.u32 %%r9, %%r8, %%r7;\nsetp.lt.u32 %%p3, %%r5, %%r1;\n@!%%p3 bra DONE;\n",
				role.name)
			fmt.Fprintf(&b,
				"%sW:\nmbarrier.try_wait.parity.shared.b64 %%p4, [%%r9+%s], %%r6;\n@!%%p4 bra %sW;\n",
				role.name, role.wait, role.name)
			fmt.Fprintf(&b,
				"mbarrier.arrive.shared.b64 _, [%%r9+%s];\nadd.u32 %%r5, %%r5, 1;\nshr.u32 %%r6, %%r5, 2;\nand.b32 %%r6, %%r6, 1;\nbra %s;\n",
				role.arrive, role.name)
		}
		b.WriteString("DONE:\nret;\n}\n")
	})
	return b.String()
}

// functions returns kernels that call functions which each call others twice, with a barrier in the
// last. Not all can be inlined.
func functions(size int) string {
	const deep = 30
	var b strings.Builder
	for i := range deep {
		fmt.Fprintf(&b, ".func f%d()\n{\nbar.sync 0;\n", i)
		if i > 0 {
			fmt.Fprintf(&b, "call.uni f%d;\ncall.uni f%d;\n", i-1, i-1)
		}
		b.WriteString("ret;\n}\n")
	}
	repeat(&b, size, func(i int) {
		fmt.Fprintf(&b, "%scall.uni f%d;\nret;\n}\n", entry(fmt.Sprint("k", i)), deep-1)
	})
	return b.String()
}

// lanes returns a kernel in which very many predicates depend on the thread index.
func lanes(size int) string {
	var b strings.Builder
	b.WriteString(entry("k"))
	repeat(&b, size, func(i int) {
		fmt.Fprintf(&b,
			"mul.lo.u32 %%r5, %%r2, %d;\nand.b32 %%r5, %%r5, 255;\nsetp.lt.u32 %%p1, %%r5, %d;\n@%%p1 st.shared.u32 [%%r4], %%r5;\nbar.sync 0;\n",
			2*i+1, i%256)
	})
	b.WriteString("ret;\n}\n")
	return b.String()
}

// flags returns one kernel in which very many threads set a flag, each at a different address.
func flags(size int) string {
	var b strings.Builder
	b.WriteString(entry("k"))
	repeat(&b, size, func(i int) {
		fmt.Fprintf(&b,
			"setp.eq.u32 %%p1, %%r2, %d;\n@%%p1 bra DONE;\nst.global.b32 [%%rd1+%d], %%r2;\nred.release.gpu.global.add.u32 [%%rd1], 1;\n",
			i%256, 4*i)
	})
	b.WriteString("DONE:\nret;\n}\n")
	return b.String()
}
