// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package lift_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ptxdsl/ptxdsl/form"
	"github.com/ptxdsl/ptxdsl/internal/oracle/roundtrip"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/lift"
	"github.com/ptxdsl/ptxdsl/lower"
	"github.com/ptxdsl/ptxdsl/ptx"
)

// lifted parses and lifts a text, and fails the test on errors.
func lifted(t *testing.T, name, text string) *ir.Module {
	t.Helper()
	f, list := ptx.Parse(name, text)
	if list.Errors() > 0 {
		t.Fatalf("%s does not parse: %v: %s\n%s", name, list[0].Place, list[0].Message, text)
	}
	m, list := lift.Module(f)
	if len(list) > 0 {
		t.Fatalf("%s does not lift: %v: %s", name, list[0].Place, list[0].Message)
	}
	return m
}

// same compares modules without their source positions.
var same = []cmp.Option{
	cmpopts.IgnoreTypes(ir.Pos(0)),
	cmpopts.IgnoreFields(ir.Module{}, "Source"),
	cmpopts.IgnoreFields(ir.Instr{}, "Form"),
	// their names are compared as text; lowering may move a list with several users ahead
	cmpopts.IgnoreFields(ir.Targets{}, "Blocks", "Funcs", "Ahead", "Before"),
	cmpopts.EquateEmpty(),
	cmp.Comparer(func(a, b ir.Ref) bool { return named(a) == named(b) }),
	// A literal is compared with its spelling.
	cmp.Transformer("constant", func(o ir.Operand) ir.Operand {
		switch o.Kind {
		case ir.Int, ir.Single, ir.Double:
			o.More = nil
		}
		return o
	}),
}

// named returns the name of a reference.
func named(r ir.Ref) string {
	switch r := r.(type) {
	case *ir.Reg:
		return "register " + r.Name + r.Type.String()
	case *ir.Var:
		return "variable " + r.Name + r.Space.String()
	case *ir.Func:
		return "function " + r.Name
	case *ir.Block:
		return "block " + r.Name()
	case *ir.Targets:
		return "list " + r.Name
	}
	return ""
}

// TestIdentity lifts a text, lowers it and lifts the result: both modules must be equal.
func TestIdentity(t *testing.T) {
	list, err := roundtrip.Sources("../internal/oracle/corpus/testdata/corpus.tar.gz")
	if err != nil {
		t.Fatal(err)
	}
	odd, err := filepath.Glob("testdata/*.ptx")
	if err != nil || len(odd) == 0 {
		t.Fatal("no modules in testdata", err)
	}
	for _, name := range odd {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, roundtrip.Source{Name: name, Text: string(text)})
	}
	for i, s := range list {
		if testing.Short() && i%10 != 0 {
			continue
		}
		m := lifted(t, s.Name, s.Text)
		text := lower.Text(m)
		again := lifted(t, s.Name, text)
		if second := lower.Text(again); second != text {
			t.Errorf("%s: lowering changes: %s", s.Name, cmp.Diff(text, second))
		}
		if len(s.Text) < 20_000 {
			if diff := cmp.Diff(m, again, same...); diff != "" {
				t.Errorf("%s: (-lifted +lifted again)\n%.2000s", s.Name, diff)
			}
		}
		if strings.HasPrefix(s.Name, "testdata") {
			f, _ := ptx.Parse(s.Name, text)
			for _, d := range form.Check(f, form.Options{}) {
				t.Errorf("%s: lowered: %v: %s\n%s", s.Name, d.Place, d.Message, text)
			}
		}
		if before, after := strings.Count(s.Text, "//"), strings.Count(text, "//"); before > after {
			t.Errorf("%s: %d comments, then %d", s.Name, before, after)
		}
	}
}

// TestBlocks checks the blocks and edges of a function with every kind of exit from a block.
func TestBlocks(t *testing.T) {
	m := lifted(t, "m", `.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u32 n) {
	.reg .b32 %r<3>;
	.reg .pred %p;
	ld.param.u32 %r1, [n];
	setp.eq.u32 %p, %r1, 0;
	@%p bra end;
ts: .branchtargets a, b;
	brx.idx %r1, ts;
a:
b:
	@!%p exit;
	bra.uni a;
end:
	ret;
}
`)
	f := m.Funcs()[0]
	g := ir.FlowOf(f)
	want := [][]int{{4, 1}, {2}, {3}, {2}, nil}
	if diff := cmp.Diff(want, g.Succs, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("successors (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff([]bool{false, false, true, false, true}, g.Leaves); diff != "" {
		t.Errorf("leaves (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff([]int{0, 1, 2, 3, 4}, g.Order()); diff != "" {
		t.Errorf("order (-want +got)\n%s", diff)
	}
	if f.Blocks[2].Name() != "a" || len(f.Blocks[2].Labels) != 2 {
		t.Errorf("labels a and b share no block: %+v", f.Blocks[2].Labels)
	}
}

// TestBind checks the forms of instructions by their effects.
func TestBind(t *testing.T) {
	m := lifted(t, "m", `.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 n) {
	.reg .b64 %rd<3>;
	ld.param.u64 %rd1, [n];
	st.global.u64 [%rd1+8], %rd1;
	ret;
}
`)
	b := m.Funcs()[0].Blocks[0]
	for i, effect := range []isa.Effect{"load", "store", isa.EffectTerminator} {
		if in := b.Instrs[i]; !in.Has(effect) {
			t.Errorf("%s has no effect %s: %+v", in.Op, effect, in.Form)
		}
	}
	if o := b.Instrs[1].Args[0].Args()[0]; o.Reg.Type != isa.B64 || o.Value != 8 {
		t.Errorf("address %+v", o)
	}
	if at, _ := m.At(b.Instrs[1].Pos); at.Line != 7 || at.Column != 2 {
		t.Errorf("the store is at %v", at)
	}
}

// TestFaults checks the message for each input that cannot be lifted.
func TestFaults(t *testing.T) {
	for _, test := range []struct{ body, want string }{
		{"add.u32 %r1, %r2, 1;", "%r1 is not declared"},
		{".reg .b32 %r;\nbra nowhere;", "nowhere is not declared"},
		{".reg .quux %x;", ".reg .quux is not a supported declaration"},
		{"@%p ret;", "guard %p is not declared"},
		{"x: .branchtargets a;", "a is not declared"},
	} {
		f, list := ptx.Parse("m",
			".version 8.0\n.target sm_80\n.entry k {\n"+test.body+"\nret;\n}\n")
		if list.Errors() > 0 {
			t.Fatal(list)
		}
		_, list = lift.Module(f)
		if len(list) == 0 || !strings.Contains(list[0].Message, test.want) ||
			list[0].Place.Line < 4 {
			t.Errorf("%s: %v, want %q", test.body, list, test.want)
		}
	}
}

// TestTargetPlaces checks that lists of targets and prototypes keep their position among the
// instructions, which affects code that ptxas generates for debugging.
func TestTargetPlaces(t *testing.T) {
	const head = ".version 8.0\n.target sm_80\n.address_size 64\n.func f()\n{\n\tret;\n}\n.entry k()\n{\n\t.reg .b64 p;\n\t.reg .b32 r;\n"
	const proto, list, funcs = "q: .callprototype _ (.param .b32 _);\n",
		"q: .branchtargets L, M;\n", "q: .calltargets f;\n"
	const move, scope = "mov.b64 p, 0;\n", "{\n.param .b32 x;\nst.param.b32 [x], 0;\n"
	const call, index, listed = "call p, (x), q;\n", "brx.idx r, q;\nL:\nM:\n", "call p, q;\n"
	for _, test := range []struct{ name, body, want string }{
		{"prototype ahead", proto + move + scope + call + "}\n", "q mov st call"},
		{"prototype behind a pragma",
			".pragma \"nounroll\";\n" + proto + move + scope + call + "}\n", "q mov st call"},
		{"prototype between", move + proto + move + scope + call + "}\n", "mov q mov st call"},
		{"prototype at the call", move + scope + proto + call + "}\n", "mov st q call"},
		{"prototype in the scope",
			move + "{\n" + proto + ".param .b32 x;\nst.param.b32 [x], 0;\n" + call + "}\n",
			"mov q st call"},
		{"prototype of two calls",
			proto + move + scope + call + "}\n" + move + scope + call + "}\n",
			"q mov st call mov st call"},
		{"prototype in a scope that we make",
			".param .b32 x;\n.param .b32 y;\nst.param.b32 [x], 0;\n" + proto + call +
				"st.param.b32 [y], 0;\ncall p, (y), q;\n", "q st call st call"},
		{"branches between", move + list + move + index, "mov q mov brx"},
		{"branches behind a label", move + "K:\n" + list + move + index, "mov K q mov brx"},
		{"branches of two", move + list + move + "@p0 brx.idx r, q;\n" + index,
			"mov q mov brx brx"},
		{"calls between", move + funcs + move + listed, "mov q mov call"},
		{"calls of two", move + funcs + move + listed + move + listed, "mov q mov call mov call"},
	} {
		text := head + ".reg .pred p0;\n" + test.body + "ret;\n}\n"
		lowered := lower.Text(lifted(t, test.name, text))
		_, body, _ := strings.Cut(lowered, ".entry")
		var got []string
		for line := range strings.SplitSeq(body, "\n") {
			word := strings.TrimPrefix(strings.TrimSpace(line), "@p0 ")
			for _, w := range []string{"q:", "mov", "st", "call", "brx", "K:"} {
				if strings.HasPrefix(word, w) {
					got = append(got, strings.TrimSuffix(w, ":"))
				}
			}
		}
		if strings.Join(got, " ") != test.want {
			t.Errorf("%s: %v, want %s:\n%s", test.name, got, test.want, lowered)
		}
		if again := lower.Text(lifted(t, test.name, lowered)); again != lowered {
			t.Errorf("%s: lowering twice gives another text:\n%s", test.name, again)
		}
	}
}

// FuzzLift lifts arbitrary text. Nothing may panic. Text without form errors must lift; the lowered
// text must pass the form checks and lower to itself.
func FuzzLift(f *testing.F) {
	for _, pattern := range []string{"testdata/*.ptx", "../form/testdata/*/*.ptx",
		"../ptx/testdata/*/*.ptx", "../ptx/testdata/*.ptx"} {
		names, err := filepath.Glob(pattern)
		if err != nil {
			f.Fatal(err)
		}
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(string(text))
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		file, syntax := ptx.Parse("fuzz.ptx", text)
		faults := form.Check(file, form.Options{})
		m, list := lift.Module(file)
		if syntax.Errors()+faults.Errors()+list.Errors() > 0 {
			if syntax.Errors()+faults.Errors() == 0 && list[0].Rule != "L103" {
				t.Errorf("the form check accepts it, but lifting fails: %v: %s", list[0].Place,
					list[0].Message)
			}
			return
		}
		lowered := lower.Text(m)
		file, syntax = ptx.Parse("lowered.ptx", lowered)
		if syntax.Errors() > 0 {
			t.Fatalf("what was lowered does not parse: %v: %s\n%s", syntax[0].Place,
				syntax[0].Message, lowered)
		}
		for _, d := range form.Check(file, form.Options{}) {
			if len(faults) == 0 {
				t.Fatalf("what was lowered has faults: %v: %s %s\n%s", d.Place, d.Rule, d.Message,
					lowered)
			}
		}
		m, list = lift.Module(file)
		if list.Errors() > 0 {
			t.Fatalf("what was lowered does not lift: %v: %s\n%s", list[0].Place, list[0].Message,
				lowered)
		}
		if again := lower.Text(m); again != lowered {
			t.Fatalf("lowering twice is not lowering once:\n%s\n%s", lowered, again)
		}
	})
}
