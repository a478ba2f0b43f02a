// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package lower_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/lower"
)

// TestMap checks the source line of each line of a lowered text.
func TestMap(t *testing.T) {
	m := lifted(t, "k.ptx", `.version 8.0
.target sm_90
.address_size 64
.global .b32 count;
.func f(.param .b32 x);
.visible .entry k(.param .u64 p,
	.param .u32 n)
{
	.reg .b32 %r<4>; .reg .b64 %rd<2>; .reg .pred %p;
	.shared .b32 tile[4];
	{ .param .b32 arg;
		st.param.b32 [arg], 1; call f, (arg); }
AGAIN:
	mov.b32 %r1, 1; mov.b32 %r2, 2;
	.pragma "nounroll";
	// comment
	setp.eq.u32 %p, %r1, %r2;
	@%p bra AGAIN;
	ret;
}
.func f(.param .b32 x) { ret; }
`)
	text := lower.Text(m)
	p := lower.MapOf(m, text)
	var got strings.Builder
	for i, line := range strings.Split(text, "\n") {
		if at, _, ok := p.Place(i + 1); ok {
			fmt.Fprintf(&got, "%d %s\n", at.Line, strings.Join(strings.Fields(line), " "))
		}
	}
	want := `4 .global .b32 count;
5 .func f(
5 .param .b32 x
6 .visible .entry k(
6 .param .u64 p,
7 .param .u32 n
10 .shared .b32 tile[4];
11 .param .b32 arg;
12 st.param.b32 [arg], 1;
12 call f, (arg);
13 AGAIN:
14 mov.b32 %r1, 1;
14 mov.b32 %r2, 2;
15 .pragma "nounroll";
17 setp.eq.u32 %p, %r1, %r2;
18 @%p bra AGAIN;
19 ret;
21 .func f(
21 .param .b32 x
21 ret;
`
	if d := cmp.Diff(strings.Split(want, "\n"), strings.Split(got.String(), "\n")); d != "" {
		t.Errorf("(-want +got)\n%s\n%s", d, text)
	}
	if p.Pos(-1) != ir.NoPos || p.Pos(1) != ir.NoPos || p.Pos(1<<20) != ir.NoPos {
		t.Error("lines that come from nowhere")
	}
}

// TestLines adds .file and .loc lines and compares them with the map.
func TestLines(t *testing.T) {
	m := lifted(t, "dir/k.ptx",
		".version 8.0\n.target sm_80\n.address_size 64\n.entry k(.param .u32 n)\n{\n.reg .b32 a, b;\nld.param.u32 a, [n];\nadd.u32 b, a, 1; add.u32 b, b, 2;\nret;\n}\n")
	text := lower.Text(m, lower.Lines())
	want := `.version 8.0
.target sm_80
.address_size 64

.entry k(
	.param .u32 n
)
{
	.reg .b32 a, b;

	.loc 1 7 1
	ld.param.u32 a, [n];
	.loc 1 8 1
	add.u32      b, a, 1;
	.loc 1 8 18
	add.u32      b, b, 2;
	.loc 1 9 1
	ret;
}

.file 1 "dir/k.ptx"
`
	if d := cmp.Diff(strings.Split(want, "\n"), strings.Split(text, "\n")); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	p := lower.MapOf(m, text)
	if at, _, ok := p.Place(16); !ok || at.Line != 8 || at.Column != 18 {
		t.Errorf("line 16 comes from %v", at)
	}
}

// TestDeterministic lowers the same module twice, and a copy of it, and compares the results.
func TestDeterministic(t *testing.T) {
	text := kernel(200)
	m := lifted(t, "k.ptx", text)
	first := lower.Text(m)
	if lower.Text(m) != first || lower.Text(lifted(t, "k.ptx", text)) != first {
		t.Error("the same module has different texts")
	}
}
