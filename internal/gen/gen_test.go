// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ptxdsl/ptxdsl/isa"
)

// TestFresh regenerates the tables and checks that the z-files of packages isa and op are up to
// date, with no file left over.
func TestFresh(t *testing.T) {
	if err := Generate("../../isa/spec", Folders{Table: "../../isa", Op: "../../dsl/op"},
		true); err != nil {
		t.Error(err)
	}
}

// TestPacked checks that package isa reads what pack wrote.
func TestPacked(t *testing.T) {
	s, err := Load("../../isa/spec")
	if err != nil {
		t.Fatal(err)
	}
	var have []isa.Instruction
	for ins := range isa.Standard().All() {
		have = append(have, *ins)
	}
	if diff := cmp.Diff(s.Instructions, have, cmpopts.IgnoreUnexported(isa.Form{})); diff != "" {
		t.Errorf("packed (-) and read (+):\n%s", diff)
	}
}

// small is a spec with one statement of each kind.
const small = `family small "a few made-up instructions"
ins foo "foo two values"
  section 9.7.1.1
  set .type = .u32 .s32 .f16[7.0 on 80]
  set .space = .global .shared
  form foo{.sat}.type >d:.type, a:.type, b:.type(0..7)
    require .sat -> .s32 because "only signed values saturate"
  form foo.vec{.space}.v.type >d:.type*.v, [a:mem(.space)]{, p:b64 if .global}
    set .v = .v2 .v4
  form foo.space.hint.type >d:.type|_, [a:mem(.space)], p:b64

    since 8.6 on 100a; 8.8 on 100f
`

func load(t *testing.T, text string) (*isa.Set, error) {
	t.Helper()
	s, err := read(t, text)
	if err != nil {
		return nil, err
	}
	return s.Set(), nil
}

// spec parses a spec, which must be valid.
func spec(t *testing.T, text string) *Spec {
	t.Helper()
	s, err := read(t, text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func read(t *testing.T, text string) (*Spec, error) {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"types.isa", "targets.isa"} {
		b, err := os.ReadFile(filepath.Join("../../isa/spec", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "small.isa"), []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return Load(dir)
}

func TestLoad(t *testing.T) {
	set, err := load(t, small)
	if err != nil {
		t.Fatal(err)
	}
	sm100a, _ := isa.ParseTarget("sm_100a")
	sm90, _ := isa.ParseTarget("sm_90")
	r := func(ty isa.Type) isa.Arg { return isa.Arg{Kind: isa.ArgReg, Type: ty} }
	n := func(v int64) isa.Arg { return isa.Arg{Kind: isa.ArgInt, Value: v} }
	at := func(a isa.Arg) isa.Arg { return isa.Arg{Kind: isa.ArgAddress, Elems: []isa.Arg{a}} }
	vec := func(a ...isa.Arg) isa.Arg { return isa.Arg{Kind: isa.ArgVector, Elems: a} }
	for _, test := range []struct {
		op     string
		args   []isa.Arg
		target isa.Target
		rule   string // rule of the expected finding; "" if the spec is valid
		says   string
	}{
		{"foo.u32", []isa.Arg{r(isa.U32), r(isa.B32), r(isa.S32)}, sm90, "", ""},
		{"foo.u32", []isa.Arg{r(isa.U32), n(-3), n(7)}, sm90, "", ""},
		{"foo.s32.sat", []isa.Arg{r(isa.U32), n(-3), n(7)}, sm90, "", ""},
		{"foo.u32", []isa.Arg{r(isa.U32), n(-3), n(8)}, sm90, "F304",
			"the constant 8, expected a .u32 register or an integer: 0 to 7"},
		{"foo.u32", []isa.Arg{r(isa.F32), n(-3), n(1)}, sm90, "F303",
			"operand 1 of foo.u32 is a .f32 register, expected a .u32 register"},
		{"foo.u32", []isa.Arg{r(isa.U32), n(-3)}, sm90, "F301",
			"foo.u32 takes 3 operands, found 2"},
		{"foo.sat.u32", []isa.Arg{r(isa.U32), n(-3), n(7)}, sm90, "F205",
			"only signed values saturate"},
		{"foo.sta.u32", nil, sm90, "F202", "did you mean .sat"},
		{"fooo.u32", nil, sm90, "F201", "did you mean foo"},
		{"foo", nil, sm90, "F204", "foo is missing one of .u32 .s32 .f16"},
		{"foo.vec.v2.u32", []isa.Arg{vec(r(isa.U32), r(isa.B32)), at(r(isa.U64))}, sm90, "", ""},
		{"foo.vec.v4.u32", []isa.Arg{vec(r(isa.U32), r(isa.B32)), at(r(isa.U64))}, sm90, "F306",
			"a 4-element vector"},
		{"foo.global.hint.u32", []isa.Arg{{Kind: isa.ArgSink}, at(r(isa.U64)), n(0)}, sm100a, "",
			""},
		{"foo.global.hint.u32", []isa.Arg{{Kind: isa.ArgSink}, at(r(isa.U64)), n(0)}, sm90, "F402",
			"requires PTX 8.6 on sm_100a, or PTX 8.8 on the family of sm_100f, but the module is for PTX 9.0 and sm_90"},
	} {
		got := set.Matcher(900, test.target).Check(test.op, test.args)
		switch {
		case test.rule == "" && got != nil:
			t.Errorf("%s: %+v", test.op, got)
		case test.rule != "" && got == nil:
			t.Errorf("%s: accepted, want %s", test.op, test.rule)
		case test.rule != "" &&
			(got[0].Rule != test.rule || !strings.Contains(got[0].Message, test.says)):
			t.Errorf("%s: %s %s\nwant %s with %q", test.op, got[0].Rule, got[0].Message, test.rule,
				test.says)
		}
	}
	if got, ok := set.Canonical("foo.s32.sat"); !ok || got != "foo.sat.s32" {
		t.Errorf("Canonical = %s, %v", got, ok)
	}
}

func TestLoadErrors(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"family x \"x\"\nins a \"a\"\n form b.u32 >d:u32\n", "small.isa:3:"},
		{"family x \"x\"\nins a \"a\"\n form a.u32 >d:.tpye\n", ".tpye is no kind of operand"},
		{"family x \"x\"\nins a \"a\"\n form a.u32 >d:u32\n  since NOWHERE\n",
			"no gate is called NOWHERE"},
		{"family x \"x\"\nins a \"a\"\n form a.u32 >d:u32\n  since 8.6 on 99z\n", "small.isa:4:"},
		{"family x \"x\"\nins a \"a\"\n form a.u32 >d:u32*n\n", "n is no length"},
		{"family x \"x\"\nins a \"a\"\n form a.t >d:u32\n  set .t = .u32 .s32\n  table .t : n\n  row .f32 : 1\n",
			".f32 is no value of .t"},
		{"family x \"x\"\nins a \"a\"\n", "ins a has no form"},
	} {
		if _, err := load(t, test.text); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s\ngives %v\nwant %q", test.text, err, test.want)
		}
	}
}
