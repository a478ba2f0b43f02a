// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package lower_test

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ptxdsl/ptxdsl/form"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/lower"
	"github.com/ptxdsl/ptxdsl/ptx"
)

// TestText compares lowered text with the output of the formatter, which must be equal.
func TestText(t *testing.T) {
	list := sources(t)
	odd, err := os.ReadFile("../lift/testdata/odd.ptx")
	if err != nil {
		t.Fatal(err)
	}
	list[0].Name, list[0].Text = "odd.ptx", string(odd)
	for _, s := range list {
		m := lifted(t, s.Name, s.Text)
		text := lower.Text(m)
		if formatted, _ := ptx.Format(s.Name, text); formatted != text {
			t.Errorf("%s: formatting changes it:\n%s", s.Name,
				cmp.Diff(strings.Split(text, "\n"), strings.Split(formatted, "\n")))
		}
	}
}

// reg returns a register operand.
func reg(r *ir.Reg) ir.Operand { return ir.Operand{Kind: ir.Register, Reg: r} }

func integer(v int64) ir.Operand { return ir.Operand{Kind: ir.Int, Value: v} }

// TestNames lowers a hand-made module with unnamed registers and blocks, and names that ranges must
// not include.
func TestNames(t *testing.T) {
	target, _ := isa.ParseTarget("sm_80")
	named := func(name string, t isa.Type) *ir.Reg { return &ir.Reg{Name: name, Type: t} }
	n := &ir.Var{Name: "n", Space: isa.Param, Type: isa.U32}
	p := &ir.Var{Name: "p2", Space: isa.Param, Type: isa.U64}
	p1, p3 := named("p1", isa.B64), named("p3", isa.B64)   // p2 is a parameter
	g0, g2 := named("g0", isa.B32), named("g2", isa.B32)   // g1 is a global
	r1, r9 := named("%r1", isa.B32), named("%r9", isa.U32) // registers of different types
	i, limit, again, half := &ir.Reg{Type: isa.B32}, &ir.Reg{Type: isa.B32},
		&ir.Reg{Type: isa.Predicate}, &ir.Reg{Type: isa.F16}
	loop, end := &ir.Block{}, &ir.Block{Labels: []ir.Label{{Name: "$L1"}}}
	global := &ir.Var{Name: "g1", Space: isa.Global, Type: isa.B32, Linkage: ".visible"}
	mov := func(r *ir.Reg, o ir.Operand) *ir.Instr {
		return &ir.Instr{Op: "mov.b" + map[int]string{16: "16", 32: "32", 64: "64"}[r.Type.Bits()],
			Args: []ir.Operand{reg(r), o}}
	}
	address := func(o ir.Operand) ir.Operand {
		return ir.Operand{Kind: ir.Address, More: &ir.More{Args: []ir.Operand{o}}}
	}
	f := &ir.Func{
		Name: "k", Kernel: true, Linkage: ".visible", HasParams: true, Defined: true,
		Params: []*ir.Var{n, p},
		Regs:   []*ir.Reg{p1, p3, g0, g2, r1, r9, half, i, limit, again},
		Doc:    []string{"// Counts."},
	}
	loop.Instrs = []*ir.Instr{
		{Op: "add.s32", Args: []ir.Operand{reg(i), reg(i), integer(-1)},
			Said: &ir.Comments{Doc: []string{"// one lap"}}},
		{Op: "and.b32", Args: []ir.Operand{reg(r1), reg(i), integer(0xff)},
			Said: &ir.Comments{Note: "// a mask"}},
		{Op: "setp.lt.s32", Args: []ir.Operand{reg(again), reg(i), reg(limit)}},
		{Op: "bra", Guard: ir.Guard{Reg: again}, Args: []ir.Operand{ir.Named(ir.Jump, loop, 0)}},
	}
	end.Instrs = []*ir.Instr{{Op: "ret"}}
	f.Blocks = []*ir.Block{{Instrs: []*ir.Instr{
		{Op: "ld.param.u32", Args: []ir.Operand{reg(limit), address(ir.Named(ir.Variable, n, 0))}},
		{Op: "ld.param.u64", Args: []ir.Operand{reg(p1), address(ir.Named(ir.Variable, p, 0))}},
		mov(p3, reg(p1)),
		{Op: "or.b64", Args: []ir.Operand{reg(p3), reg(p3), integer(-1<<63 + 1<<14)}},
		mov(g0, integer(3)), mov(g2, integer(1<<20)), mov(r9, integer(100)), mov(i, integer(0)),
		{Op: "mov.b16", Args: []ir.Operand{reg(half), integer(0x3c00)}},
		{Op: "st.global.b32",
			Args: []ir.Operand{address(ir.Named(ir.Variable, global, 0)), reg(g2)}},
		{Op: "st.global.b64",
			Args: []ir.Operand{address(ir.Operand{Kind: ir.Register, Reg: p1, Value: -8}),
				reg(p3)}},
	}}, loop, end}
	m := &ir.Module{Name: "m.ptx", Version: 700, Target: target, Bits: 64,
		Decls: []ir.Decl{global, f}}
	text := lower.Text(m)
	want := `.version 7.0
.target sm_80
.address_size 64

.visible .global .b32 g1;

// Counts.
.visible .entry k(
	.param .u32 n,
	.param .u64 p2
)
{
	.reg .pred %p<1>;
	.reg .f16  %h<1>;
	.reg .b32  %r_<2>;
	.reg .b64  p1, p3;
	.reg .b32  g0, g2, %r1;
	.reg .u32  %r9;

	ld.param.u32  %r_1, [n];
	ld.param.u64  p1, [p2];
	mov.b64       p3, p1;
	or.b64        p3, p3, 0x8000000000004000;
	mov.b32       g0, 3;
	mov.b32       g2, 0x100000;
	mov.b32       %r9, 100;
	mov.b32       %r_0, 0;
	mov.b16       %h0, 15360;
	st.global.b32 [g1], g2;
	st.global.b64 [p1+-8], p3;
$L_1:
	// one lap
	add.s32     %r_0, %r_0, -1;
	and.b32     %r1, %r_0, 0xff;  // a mask
	setp.lt.s32 %p0, %r_0, %r_1;
	@%p0 bra    $L_1;
$L1:
	ret;
}
`
	if d := cmp.Diff(strings.Split(want, "\n"), strings.Split(text, "\n")); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	file, list := ptx.Parse("m.ptx", text)
	for _, d := range append(list, form.Check(file, form.Options{})...) {
		t.Errorf("%v: %s %s", d.Place, d.Rule, d.Message)
	}
	if again := lower.Text(m); again != text {
		t.Errorf("a second time it is\n%s", again)
	}
}

// TestTwice lowers a function that lists registers twice, which is invalid but must terminate.
func TestTwice(t *testing.T) {
	target, _ := isa.ParseTarget("sm_80")
	a, b, c := &ir.Reg{Type: isa.B32}, &ir.Reg{Type: isa.B64}, &ir.Reg{Name: "c", Type: isa.B32}
	f := &ir.Func{Name: "k", Kernel: true, Defined: true, Regs: []*ir.Reg{b, a, c, a, b, c, b, a},
		Blocks: []*ir.Block{{Instrs: []*ir.Instr{{Op: "ret"}}}}}
	if text := lower.Text(&ir.Module{Name: "m.ptx", Version: 700, Target: target, Bits: 64,
		Decls: []ir.Decl{f}}); !strings.Contains(text, "ret;") {
		t.Error(text)
	}
}
