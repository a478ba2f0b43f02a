// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package passes_test

import (
	"flag"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ptxdsl/ptxdsl"
	"github.com/ptxdsl/ptxdsl/form"
	"github.com/ptxdsl/ptxdsl/internal/filetest"
	"github.com/ptxdsl/ptxdsl/internal/oracle/roundtrip"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/lift"
	"github.com/ptxdsl/ptxdsl/lower"
	"github.com/ptxdsl/ptxdsl/passes"
	"github.com/ptxdsl/ptxdsl/ptx"
)

var update = flag.Bool("update", false, "rewrite what passes make of the test files")

// module parses and lifts a text, and fails the test on errors.
func module(t testing.TB, name, text string) *ir.Module {
	t.Helper()
	m, list := ptxdsl.Load(name, text)
	for _, d := range list {
		t.Fatalf("%v: %s %s", d.Place, d.Rule, d.Message)
	}
	return m
}

// TestPasses runs each pass on the files in the folder with its name. The result must be a valid
// module that the pass does not change again.
func TestPasses(t *testing.T) {
	filetest.Rewrite(t, "testdata/*/*.txt", *update,
		func(t *testing.T, folder, before string) string {
			list, err := passes.Named(folder)
			if err != nil {
				t.Fatal(err)
			}
			m := module(t, "before.ptx", before)
			was := lower.Text(m)
			steps := passes.Run(m, list, nil)
			text := lower.Text(m)
			if !list[0].Edits && text != was {
				t.Errorf("%s edits and does not say so", list[0].Name)
			}
			if changed := text != was; changed != (steps[0].Changes > 0) {
				t.Errorf("%s counts %d changes", list[0].Name, steps[0].Changes)
			}
			again := module(t, "after.ptx", text)
			if steps := passes.Run(again, list, nil); steps[0].Changes != 0 {
				t.Errorf("a second run makes %d changes", steps[0].Changes)
			}
			return text
		})
}

// TestCorpus runs all passes on real modules: the results pass the form checks, and a second run
// changes nothing.
func TestCorpus(t *testing.T) {
	list, err := roundtrip.Sources("../internal/oracle/corpus/testdata/corpus.tar.gz")
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range list {
		if testing.Short() && i%8 != 0 {
			continue
		}
		m, _ := ptxdsl.Load(s.Name, s.Text)
		passes.Run(m, passes.List(), nil)
		text := lower.Text(m)
		file, faults := ptx.Parse(s.Name, text)
		faults = append(faults, form.Check(file, form.Options{})...)
		if faults.Errors() > 0 {
			t.Errorf("%s: %v: %s %s", s.Name, faults[0].Place, faults[0].Rule, faults[0].Message)
			continue
		}
		if before, after := declarations(s.Text), declarations(text); after > before {
			t.Errorf("%s: declares %d registers, and %d before the passes", s.Name, after, before)
		}
		again, _ := lift.Module(file)
		for _, step := range passes.Run(again, passes.List(), nil) {
			if step.Changes > 0 {
				t.Errorf("%s: a second %s makes %d changes", s.Name, step.Pass.Name, step.Changes)
			}
		}
	}
}

var (
	registerLine  = regexp.MustCompile(`(?m)\.reg\s+(?:\.\w+\s+)+([^;]*);`)
	registerRange = regexp.MustCompile(`<(\d+)>`)
)

// declarations returns the number of registers that a text declares.
func declarations(text string) int {
	n := 0
	for _, line := range registerLine.FindAllStringSubmatch(text, -1) {
		for _, name := range strings.Split(line[1], ",") {
			if many := registerRange.FindStringSubmatch(name); many != nil {
				k, _ := strconv.Atoi(many[1])
				n += k
			} else {
				n++
			}
		}
	}
	return n
}

// TestList checks the list of passes against the constraints.
func TestList(t *testing.T) {
	verbs := []string{"drop-", "fold-", "merge-", "name-"}
	names := make(map[string]bool)
	for _, p := range passes.List() {
		names[p.Name] = true
		if p.Doc == "" || p.Run == nil {
			t.Errorf("%s has no documentation, or does nothing", p.Name)
		}
		verb := false
		for _, v := range verbs {
			verb = verb || strings.HasPrefix(p.Name, v)
		}
		if verb != p.Edits {
			t.Errorf("%s: only the names of passes that edit begin with %v", p.Name, verbs)
		}
	}
	if err := passes.Check(passes.List()); err != nil {
		t.Error(err)
	}
	for _, o := range passes.Ordering() {
		if !names[o.First] || !names[o.Then] || o.Why == "" {
			t.Errorf("%v: a pass that is none, or no reason", o)
		}
		if _, err := passes.Named(o.Then, o.First); err == nil {
			t.Errorf("%s may run before %s", o.Then, o.First)
		}
	}
}

func TestNamed(t *testing.T) {
	for _, test := range []struct{ names, want string }{
		{"drop-dead", ""},
		{"drop-unreachable drop-dead", ""},
		{"drop-ded", `unknown pass "drop-ded"; did you mean drop-dead?`},
		{"quux",
			`unknown pass "quux"; the passes are drop-unreachable, fold-constants, merge-common, drop-dead, fold-addresses, merge-registers`},
		{"drop-dead drop-dead", "pass drop-dead is named twice"},
		{"drop-dead drop-unreachable",
			"drop-unreachable comes before drop-dead: unreachable code reads registers, which keeps the instructions that compute them alive"},
	} {
		_, err := passes.Named(strings.Fields(test.names)...)
		got := ""
		if err != nil {
			got = err.Error()
		}
		if d := cmp.Diff(test.want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", test.names, d)
		}
	}
}

// TestLiveness checks the live registers at the borders of blocks in a loop.
func TestLiveness(t *testing.T) {
	m := module(t, "loop.ptx", `.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u32 n, .param .u64 p)
{
	.reg .pred %p;
	.reg .b32 %n, %i, %sum, %dead;
	.reg .b64 %a;
	ld.param.u32 %n, [n];
	ld.param.u64 %a, [p];
	mov.b32 %i, 0;
	mov.b32 %sum, 0;
LOOP:
	add.s32 %sum, %sum, %i;
	mov.b32 %dead, %sum;
	add.s32 %i, %i, 1;
	setp.lt.u32 %p, %i, %n;
	@%p bra LOOP;
	@%p mov.b32 %sum, 1;
	st.global.b32 [%a], %sum;
	ret;
}
`)
	f := m.Funcs()[0]
	l := passes.LivenessOf(ir.FlowOf(f))
	var got []string
	for i := range f.Blocks {
		in, out := make(passes.Set, 1), make(passes.Set, 1)
		l.In(i, in)
		l.Out(i, out)
		got = append(got, named(f, in)+" -> "+named(f, out))
	}
	want := []string{" -> %n %i %sum %a", "%n %i %sum %a -> %p %n %i %sum %a", "%p %sum %a -> "}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func named(f *ir.Func, s passes.Set) string {
	var list []string
	for i, r := range f.Regs {
		if s.Has(i) {
			list = append(list, r.Name)
		}
	}
	if len(list) != s.Len() {
		return "wrong length"
	}
	return strings.Join(list, " ")
}
