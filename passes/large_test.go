// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package passes_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/lower"
	"github.com/ptxdsl/ptxdsl/passes"
)

// TestLarge runs all passes on kernels that are large in different ways. A quadratic algorithm
// would take minutes.
func TestLarge(t *testing.T) {
	n := 20000
	if testing.Short() {
		n /= 10
	}
	for _, test := range []struct {
		name, text string
		lines      int // maximum number of remaining lines
	}{
		{"blocks", blocks(n), 6*n + 20},
		{"rows", rows(n), 2*n + 20},
	} {
		t.Run(test.name, func(t *testing.T) {
			m := module(t, "large.ptx", test.text)
			start := time.Now()
			passes.Run(m, passes.List(), nil)
			if took := time.Since(start); took > 2*time.Minute {
				t.Errorf("it took %v", took)
			}
			if lines := strings.Count(lower.Text(m), "\n"); lines > test.lines {
				t.Errorf("%d lines are left, and not %d", lines, test.lines)
			}
		})
	}
}

// blocks returns a kernel of n blocks, with nested loops, many of which have several entries.
func blocks(n int) string {
	var b strings.Builder
	fmt.Fprintf(&b, `.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p, .param .u32 n)
{
	.reg .pred %%p<%d>;
	.reg .b32 %%r<%d>;
	.reg .b64 %%rd<2>;
	ld.param.u64 %%rd1, [p];
	ld.param.u32 %%r1, [n];
`, n, 2*n+4)
	for i := range n {
		fmt.Fprintf(&b,
			"L%d:\n\tsetp.lt.u32 %%p%d, %%r1, %d;\n\tadd.s32 %%r%d, %%r1, %d;\n\tmul.lo.s32 %%r%d, %%r%d, 3;\n\tst.global.u32 [%%rd1+%d], %%r%d;\n",
			i, i, i, 2*i+2, i, 2*i+3, 2*i+2, 4*i, 2*i+3)
		to := "DONE"
		switch {
		case i%7 == 3:
			to = fmt.Sprintf("L%d", max(0, i-5))
		case i%5 == 2:
			to = fmt.Sprintf("L%d", min(n-1, i+9))
		}
		fmt.Fprintf(&b, "\t@%%p%d bra %s;\n", i, to)
	}
	b.WriteString("DONE:\n\tret;\n}\n")
	return b.String()
}

// rows returns a kernel with a chain of n additions of constants, and a chain of n addresses, each
// four more than the previous one.
func rows(n int) string {
	var b strings.Builder
	fmt.Fprintf(&b, `.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p)
{
	.reg .b32 %%r<%d>;
	.reg .b64 %%rd<%d>;
	ld.param.u64 %%rd0, [p];
	mov.b32 %%r0, 1;
`, n+1, n+1)
	for i := range n {
		fmt.Fprintf(&b,
			"\tadd.s32 %%r%d, %%r%d, %d;\n\tadd.s64 %%rd%d, %%rd%d, 4;\n\tst.global.u32 [%%rd%d], %%r%d;\n",
			i+1, i, i, i+1, i, i+1, i+1)
	}
	b.WriteString("\tret;\n}\n")
	return b.String()
}

// TestMemory computes liveness in a kernel of 20,000 blocks and 60,000 registers, nearly all of
// which are local to a block. Full sets for all blocks would take 300 MB.
func TestMemory(t *testing.T) {
	f := module(t, "large.ptx", blocks(20_000)).Funcs()[0]
	g := ir.FlowOf(f)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	l := passes.LivenessOf(g)
	runtime.ReadMemStats(&after)
	if n := (after.TotalAlloc - before.TotalAlloc) >> 20; n > 20 {
		t.Errorf("it took %d MB, and not 20 at most", n)
	}
	s := make(passes.Set, len(f.Regs)/64+1)
	l.In(len(f.Blocks)/2, s)
	if n := s.Len(); n != 2 {
		t.Errorf("%d registers are live in the middle, and not the parameters", n)
	}
}
