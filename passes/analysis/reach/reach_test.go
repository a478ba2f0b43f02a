// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package reach_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ptxdsl/ptxdsl"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/passes/analysis/reach"
)

// function returns the first function of a text.
func function(text string) (*ir.Func, error) {
	m, list := ptxdsl.Load("k.ptx", text)
	if m == nil {
		return nil, list.Err()
	}
	return m.Funcs()[0], nil
}

// body returns a kernel with the given body.
func body(t *testing.T, lines string) *ir.Func {
	t.Helper()
	f, err := function(
		".version 8.0\n.target sm_90\n.address_size 64\n.entry k(.param .u64 p, .param .u32 n)\n{\n.reg .pred %p<4>;\n.reg .b16 %h<4>;\n.reg .b32 %r<8>;\n.reg .b64 %rd<4>;\n" + lines + "\nret;\n}\n")
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestAt checks which writes reach each store. The writes are identified by the constants that they
// write.
func TestAt(t *testing.T) {
	for _, test := range []struct{ name, body, want string }{
		{"one", "mov.b32 %r1, 1;\nst.global.b32 [%rd1], %r1;", "1"},
		{"the last",
			"mov.b32 %r1, 1;\nmov.b32 %r1, 2;\nst.global.b32 [%rd1], %r1;\nmov.b32 %r1, 3;", "2"},
		{"none", "st.global.b32 [%rd1], %r1;\nmov.b32 %r1, 1;", "unset"},
		{"under a guard", "mov.b32 %r1, 1;\n@%p1 mov.b32 %r1, 2;\nst.global.b32 [%rd1], %r1;",
			"1 2"},
		{"under a guard alone", "@%p1 mov.b32 %r1, 2;\nst.global.b32 [%rd1], %r1;", "2 unset"},
		{"both ways",
			"@%p1 bra A;\nmov.b32 %r1, 1;\nbra B;\nA: mov.b32 %r1, 2;\nB: st.global.b32 [%rd1], %r1;",
			"1 2"},
		{"one way", "@%p1 bra B;\nmov.b32 %r1, 1;\nB: st.global.b32 [%rd1], %r1;", "1 unset"},
		{"in a loop",
			"mov.b32 %r1, 1;\nL: st.global.b32 [%rd1], %r1;\nmov.b32 %r1, 2;\n@%p1 bra L;", "1 2"},
		{"behind a loop",
			"mov.b32 %r1, 1;\nL: mov.b32 %r1, 2;\n@%p1 bra L;\nst.global.b32 [%rd1], %r1;", "2"},
		{"later in the block, round a loop",
			"mov.b32 %r1, 1;\nL: st.global.b32 [%rd1], %r1;\n@%p1 mov.b32 %r1, 2;\n@%p2 bra L;",
			"1 2"},
		{"two ways into a cycle",
			"mov.b32 %r1, 1;\n@%p1 bra B;\nA: mov.b32 %r1, 2;\nB: st.global.b32 [%rd1], %r1;\n@%p2 bra A;",
			"1 2"},
		{"by a list of targets",
			"mov.b32 %r1, 1;\nts: .branchtargets A, B;\nbrx.idx %r2, ts;\nA: mov.b32 %r1, 2;\nbra C;\nB: mov.b32 %r1, 3;\nC: st.global.b32 [%rd1], %r1;",
			"2 3"},
		{"behind a way out",
			"mov.b32 %r1, 1;\n@%p1 exit;\nmov.b32 %r1, 2;\nst.global.b32 [%rd1], %r1;", "2"},
		{"where nothing leads",
			"mov.b32 %r1, 1;\nbra B;\nA: st.global.b32 [%rd1], %r1;\nbra A;\nB:", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := body(t, test.body)
			w := reach.Of(ir.FlowOf(f))
			for _, b := range f.Blocks {
				for _, in := range b.Instrs {
					if in.Head() == "st" {
						if d := cmp.Diff(test.want, describe(w.At(in, in.Args[1].Reg))); d != "" {
							t.Errorf("(-want +got):\n%s", d)
						}
					}
				}
			}
		})
	}
}

// describe returns a text for a list of writes.
func describe(list []*ir.Instr, unset bool) string {
	var words []string
	for _, in := range list {
		words = append(words, fmt.Sprint(in.Args[1].Value))
	}
	if unset {
		words = append(words, "unset")
	}
	return strings.Join(words, " ")
}

// TestAll counts writes, including those of vectors, pairs and call results.
func TestAll(t *testing.T) {
	f := body(t,
		"mov.b64 {%r1, %r2}, %rd1;\nsetp.lt.u32 %p1|%p2, %r1, %r2;\nld.global.v2.b32 {%r2, %r3}, [%rd2];\nadd.u32 %r1, %r1, 1;\n")
	w := reach.Of(ir.FlowOf(f))
	got := make(map[string]int)
	for _, r := range f.Regs {
		if n := len(w.All(r)); n > 0 {
			got[r.Name] = n
		}
	}
	if d := cmp.Diff(map[string]int{"%r1": 2, "%r2": 2, "%r3": 1, "%p1": 1, "%p2": 1},
		got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// TestParameters checks that a parameter in a register is defined from the start.
func TestParameters(t *testing.T) {
	f, err := function(
		".version 8.0\n.target sm_90\n.address_size 64\n.func (.reg .b32 %out) f(.reg .b32 %in)\n{\nmov.b32 %out, %in;\nret;\n}\n")
	if err != nil {
		t.Fatal(err)
	}
	w := reach.Of(ir.FlowOf(f))
	in := f.Blocks[0].Instrs[0]
	if list, unset := w.At(in, f.Params[0].Reg); len(list) > 0 || unset {
		t.Errorf("%d writes, unset %v", len(list), unset)
	}
	if _, unset := w.At(&ir.Instr{}, f.Params[0].Reg); !unset {
		t.Error("an instruction of another function has reaching writes")
	}
}

// TestLarge queries every read in a kernel of 20,000 blocks.
func TestLarge(t *testing.T) {
	const n = 20000
	var b strings.Builder
	b.WriteString("mov.b32 %r2, 0;\n")
	for i := range n {
		fmt.Fprintf(&b,
			"L%d: mov.b32 %%r1, %d;\n@%%p1 add.u32 %%r1, %%r1, 1;\nst.global.b32 [%%rd1], %%r1;\n@%%p1 bra L%d;\n",
			i, i, max(0, i-3))
	}
	f := body(t, b.String())
	w := reach.Of(ir.FlowOf(f))
	start := time.Now()
	for _, block := range f.Blocks {
		for _, in := range block.Instrs {
			if in.Head() == "st" {
				if list, unset := w.At(in, in.Args[1].Reg); len(list) != 2 || unset {
					t.Fatalf("%d writes, unset %v", len(list), unset)
				}
			}
		}
	}
	last := f.Blocks[len(f.Blocks)-1]
	if list, unset := w.At(last.Last(), f.Blocks[0].Instrs[0].Args[0].Reg); len(list) != 1 ||
		unset {
		t.Errorf("from one end to the other: %d writes, unset %v", len(list), unset)
	}
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("it took %v", took)
	}
}

// Example finds the values that a store may write.
func Example() {
	f, err := function(`.version 8.0
.target sm_90
.address_size 64
.entry k(.param .u64 p, .param .u32 n)
{
	.reg .pred %p;
	.reg .b32 %n, %v;
	.reg .b64 %a;
	ld.param.u64 %a, [p];
	ld.param.u32 %n, [n];
	setp.gt.u32 %p, %n, 9;
	mov.b32 %v, 1;
	@%p mov.b32 %v, 2;
	st.global.b32 [%a], %v;
	ret;
}
`)
	if err != nil {
		fmt.Println(err)
		return
	}
	store := f.Blocks[0].Instrs[5]
	list, unset := reach.Of(ir.FlowOf(f)).At(store, store.Args[1].Reg)
	for _, in := range list {
		fmt.Println(in.Op, in.Args[1].Value, "guarded:", in.Guard.Reg != nil)
	}
	fmt.Println("unset:", unset)
	// Output:
	// mov.b32 1 guarded: false
	// mov.b32 2 guarded: true
	// unset: false
}
