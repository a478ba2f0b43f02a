// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package uniform_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ptxdsl/ptxdsl"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/lift"
	"github.com/ptxdsl/ptxdsl/passes/analysis/uniform"
	"github.com/ptxdsl/ptxdsl/ptx"
)

// kernel returns a kernel with a head and a body.
func kernel(head, body string) (*ir.Func, error) {
	m, list := ptxdsl.Load("k.ptx", `.version 8.6
.target sm_90a
.address_size 64
.const .align 4 .b32 table[64];
.shared .align 8 .b8 room[1024];
.visible .entry k(.param .u64 p, .param .u32 n)
`+head+"\n{\n.reg .pred %p<8>;\n.reg .b32 %r<16>;\n.reg .b64 %rd<8>;\n"+body+"\nDONE: ret;\n}\n")
	if m == nil {
		return nil, list.Err()
	}
	return m.Funcs()[0], nil
}

// TestValue checks the level of the last register written.
func TestValue(t *testing.T) {
	const row = ".reqntid 256"
	for _, test := range []struct{ name, head, body, want string }{
		{"a constant", row, "mov.b32 %r1, 7;", "grid"},
		{"a parameter", row, "ld.param.u32 %r1, [n];", "grid"},
		{"the number of the block", row,
			"ld.param.u32 %r1, [n];\nmov.u32 %r2, %ctaid.x;\nmad.lo.u32 %r3, %r2, 64, %r1;",
			"block"},
		{"the number of the cluster", row, "mov.u32 %r1, %clusterid.x;", "cluster"},
		{"the rank in the cluster", row, "mov.u32 %r1, %cluster_ctarank;", "block"},
		{"thread index", row, "mov.u32 %r1, %tid.x;", "thread"},
		{"the lane", row, "mov.u32 %r1, %laneid;", "thread"},
		{"the clock", row, "mov.u32 %r1, %clock;", "thread"},
		{"warp index", row, "mov.u32 %r1, %tid.x;\nshr.u32 %r2, %r1, 5;", "warp"},
		{"the same by division", row, "mov.u32 %r1, %tid.x;\ndiv.u32 %r2, %r1, 32;", "warp"},
		{"the first thread of the warp", row, "mov.u32 %r1, %tid.x;\nand.b32 %r2, %r1, -32;",
			"warp"},
		{"warpgroup index", row, "mov.u32 %r1, %tid.x;\nshr.u32 %r2, %r1, 7;", "warpgroup"},
		{"whole warps", row, "mov.u32 %r1, %tid.x;\nsetp.lt.u32 %p1, %r1, 96;", "warp"},
		{"whole warpgroups", row, "mov.u32 %r1, %tid.x;\nsetp.ge.u32 %p1, %r1, 128;", "warpgroup"},
		{"half a warp", row, "mov.u32 %r1, %tid.x;\nsetp.lt.u32 %p1, %r1, 16;", "thread"},
		{"one thread", row, "mov.u32 %r1, %tid.x;\nsetp.eq.u32 %p1, %r1, 32;", "thread"},
		{"the number of half a warp", row, "mov.u32 %r1, %tid.x;\nshr.u32 %r2, %r1, 4;", "thread"},
		{"blocks of unknown shape", "", "mov.u32 %r1, %tid.x;\nshr.u32 %r2, %r1, 5;", "thread"},
		{"blocks that are bounded alone", ".maxntid 256",
			"mov.u32 %r1, %tid.x;\nshr.u32 %r2, %r1, 5;", "thread"},
		{"blocks of two dimensions", ".reqntid 16, 16",
			"mov.u32 %r1, %tid.x;\nshr.u32 %r2, %r1, 5;", "thread"},
		{"rows of whole warps", ".reqntid 64, 4", "mov.u32 %r1, %tid.y;", "warp"},
		{"rows of half warps", ".reqntid 16, 4", "mov.u32 %r1, %tid.y;", "thread"},
		{"planes of whole warpgroups", ".reqntid 16, 8, 2", "mov.u32 %r1, %tid.z;", "warpgroup"},
		{"one row", row, "mov.u32 %r1, %tid.y;", "grid"},
		{"the warp's number from its first lane", "",
			"mov.u32 %r1, %tid.x;\nshr.u32 %r2, %r1, 5;\nshfl.sync.idx.b32 %r3, %r2, 0, 31, -1;",
			"warp"},
		{"from some lane of a part of the warp", "",
			"mov.u32 %r1, %tid.x;\nshfl.sync.idx.b32 %r3, %r1, 0, 0x181f, -1;", "thread"},
		{"from some lanes alone", "",
			"mov.u32 %r1, %tid.x;\nshfl.sync.idx.b32 %r3, %r1, 0, 31, 0xff;", "thread"},
		{"from another lane for each", "",
			"mov.u32 %r1, %tid.x;\nshfl.sync.bfly.b32 %r3, %r1, 1, 31, -1;", "thread"},
		{"a vote", "",
			"mov.u32 %r1, %laneid;\nsetp.eq.u32 %p1, %r1, 3;\nvote.sync.ballot.b32 %r2, %p1, -1;",
			"warp"},
		{"a vote of the block's value", "",
			"mov.u32 %r1, %ctaid.x;\nsetp.eq.u32 %p1, %r1, 3;\nvote.sync.any.pred %p2, %p1, -1;",
			"block"},
		{"one lane", "", "elect.sync _|%p1, -1;", "thread"},
		{"the lanes that are here", "", "activemask.b32 %r1;", "warp"},
		{"the lanes that are here, on a way of some", "",
			"mov.u32 %r2, %laneid;\nsetp.eq.u32 %p1, %r2, 3;\n@%p1 bra DONE;\nactivemask.b32 %r1;",
			"thread"},
		{"a sum of a warp", "", "mov.u32 %r1, %laneid;\nredux.sync.add.u32 %r2, %r1, -1;", "warp"},
		{"a barrier that counts", "",
			"mov.u32 %r1, %laneid;\nsetp.eq.u32 %p1, %r1, 3;\nbarrier.cta.red.popc.u32 %r2, 0, %p1;",
			"block"},
		{"a barrier of some warps that counts", "",
			"mov.u32 %r1, %laneid;\nsetp.eq.u32 %p1, %r1, 3;\nbarrier.cta.red.popc.u32 %r2, 0, 64, %p1;",
			"thread"},
		{"constant memory", "", "ld.const.b32 %r1, [table+4];", "grid"},
		{"memory that may change", "", "ld.shared.b32 %r1, [room];", "thread"},
		{"memory for reading only", "", "ld.param.u64 %rd1, [p];\nld.global.nc.b32 %r1, [%rd1];",
			"grid"},
		{"an atomic", "", "atom.shared.add.u32 %r1, [room], 1;", "thread"},
		{"a selection", row,
			"mov.u32 %r1, %tid.x;\nsetp.lt.u32 %p1, %r1, 128;\nselp.b32 %r2, 1, 2, %p1;",
			"warpgroup"},
		{"a write under a guard", row,
			"mov.u32 %r1, %tid.x;\nsetp.lt.u32 %p1, %r1, 32;\nmov.b32 %r2, 1;\n@%p1 mov.b32 %r2, 2;",
			"warp"},
		{"writes on ways of warps", row,
			"mov.u32 %r1, %tid.x;\nsetp.lt.u32 %p1, %r1, 32;\nmov.b32 %r2, 1;\n@%p1 bra ON;\nmov.b32 %r2, 2;\nON:",
			"warp"},
		{"behind where the ways meet", row,
			"mov.u32 %r1, %tid.x;\nsetp.lt.u32 %p1, %r1, 33;\n@%p1 bra ON;\nadd.u32 %r3, %r1, 1;\nON: ld.param.u32 %r2, [n];",
			"grid"},
		{"counted in a loop of all", "",
			"ld.param.u32 %r1, [n];\nmov.b32 %r2, 0;\nL: add.u32 %r2, %r2, 1;\nsetp.lt.u32 %p1, %r2, %r1;\n@%p1 bra L;",
			"grid"},
		{"counted in a loop that lanes leave", "",
			"mov.u32 %r1, %laneid;\nmov.b32 %r2, 0;\nL: add.u32 %r2, %r2, 1;\nsetp.lt.u32 %p1, %r2, %r1;\n@%p1 bra L;",
			"thread"},
		{"a turn's value behind a loop that lanes leave", "",
			"mov.u32 %r1, %laneid;\nL: ld.param.u32 %r2, [n];\nld.shared.u32 %r3, [room];\nsetp.lt.u32 %p1, %r3, %r1;\n@%p1 bra L;\nadd.u32 %r4, %r2, 1;",
			"thread"},
		{"a cycle with two ways in", "",
			"mov.u32 %r3, %ctaid.x;\nsetp.lt.u32 %p1, %r3, 3;\nmov.b32 %r1, 0;\n@%p1 bra B;\nA: add.u32 %r1, %r1, 1;\nB: setp.lt.u32 %p2, %r1, 9;\n@%p2 bra A;\nadd.u32 %r2, %r1, 1;",
			"block"},
		{"a cycle without a way out", "", "mov.b32 %r1, 0;\nL: add.u32 %r1, %r1, 1;\nbra L;",
			"thread"},
	} {
		t.Run(test.name, func(t *testing.T) {
			f, err := kernel(test.head, test.body)
			if err != nil {
				t.Fatal(err)
			}
			l := uniform.Of(ir.FlowOf(f))
			got := ""
			for _, b := range f.Blocks {
				for _, in := range b.Instrs {
					if in.Ends() || in.Head() == "st" {
						continue
					}
					in.Args[0].Walk(func(o *ir.Operand) {
						if r := o.Reg; r != nil {
							got = l.Value(r).String()
						}
					})
				}
			}
			if d := cmp.Diff(test.want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// TestTogether checks which threads reach each block together. Blocks are identified by the
// constants that they store.
func TestTogether(t *testing.T) {
	f, err := kernel(".reqntid 256", `
ld.param.u64 %rd1, [p];
ld.param.u32 %r1, [n];
mov.u32 %r2, %tid.x;
setp.lt.u32 %p1, %r2, 128;
setp.eq.u32 %p2, %r2, 0;
setp.eq.u32 %p3, %r1, 0;
st.global.b32 [%rd1], 0;
@%p1 bra GROUP;
st.global.b32 [%rd1], 1;
@%p2 bra ONE;
st.global.b32 [%rd1], 2;
ONE:
st.global.b32 [%rd1], 3;
bra MEET;
GROUP:
st.global.b32 [%rd1], 4;
@%p2 st.global.b32 [%rd1], 5;
MEET:
st.global.b32 [%rd1], 6;
@%p3 exit;
st.global.b32 [%rd1], 7;
@%p2 exit;
st.global.b32 [%rd1], 8;
`)
	if err != nil {
		t.Fatal(err)
	}
	l := uniform.Of(ir.FlowOf(f))
	var got []string
	for _, b := range f.Blocks {
		for _, in := range b.Instrs {
			if in.Head() == "st" {
				got = append(got, fmt.Sprintf("%d %v", in.Args[1].Value, l.At(in)))
			}
		}
	}
	want := []string{"0 grid", "1 warpgroup", "2 thread", "3 warpgroup", "4 warpgroup", "5 thread",
		"6 grid", "7 grid", "8 thread"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// TestFunctions checks that nothing is known about parameters of device functions.
func TestFunctions(t *testing.T) {
	file, _ := ptx.Parse("f.ptx",
		".version 8.0\n.target sm_90\n.address_size 64\n.func (.reg .b32 %out) f(.reg .b32 %in, .param .b32 x)\n{\n.reg .b32 %r<3>;\nld.param.b32 %r1, [x];\nmov.b32 %out, %in;\nmov.b32 %r2, 1;\nret;\n}\n")
	m, list := lift.Module(file)
	for _, d := range list {
		t.Fatalf("%v: %s", d.Place, d.Message)
	}
	f := m.Funcs()[0]
	l := uniform.Of(ir.FlowOf(f))
	got := make(map[string]string)
	for _, in := range f.Blocks[0].Instrs[:3] {
		r := in.Args[0].Reg
		got[r.Name] = l.Value(r).String()
	}
	if d := cmp.Diff(map[string]string{"%out": "thread", "%r1": "thread", "%r2": "grid"},
		got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// TestLarge analyzes a kernel of 20,000 blocks.
func TestLarge(t *testing.T) {
	const n = 20000
	var b strings.Builder
	b.WriteString("mov.u32 %r2, %ctaid.x;\nmov.b32 %r3, 0;\n")
	for i := range n {
		fmt.Fprintf(&b,
			"L%d: add.u32 %%r3, %%r3, %%r2;\nsetp.lt.u32 %%p1, %%r3, %d;\n@%%p1 bra L%d;\n", i, i,
			min(n-1, max(0, i-3+i%7)))
	}
	f, err := kernel("", b.String())
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	l := uniform.Of(ir.FlowOf(f))
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("it took %v", took)
	}
	if got := l.Together(len(f.Blocks) - 2); got != uniform.Block {
		t.Errorf("the last block is for a %v", got)
	}
}

// Example finds whether all lanes of a warp reach a shuffle together.
func Example() {
	f, err := kernel(".reqntid 128", `
mov.u32 %r1, %tid.x;
setp.lt.u32 %p1, %r1, 48;
@!%p1 bra DONE;
shfl.sync.bfly.b32 %r2, %r1, 1, 31, -1;
`)
	if err != nil {
		fmt.Println(err)
		return
	}
	l := uniform.Of(ir.FlowOf(f))
	for _, b := range f.Blocks {
		for _, in := range b.Instrs {
			if in.Head() == "shfl" && l.At(in) < uniform.Warp {
				fmt.Println(in.Op, "may be for some lanes alone")
			}
		}
	}
	// Output: shfl.sync.bfly.b32 may be for some lanes alone
}
