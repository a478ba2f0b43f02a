// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package roundtrip

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/internal/ptxas"
	"github.com/ptxdsl/ptxdsl/lift"
	"github.com/ptxdsl/ptxdsl/lower"
	"github.com/ptxdsl/ptxdsl/ptx"
)

const module = `.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p) {
	.reg .b64 %rd<2>;
	.reg .b32 %r<3>;
	ld.param.u64 %rd1, [p];
	ld.global.b32 %r1, [%rd1]; // the cell
	add.s32 %r2, %r1, 1;
	st.global.b32 [%rd1], %r2;
	ret;
}
`

// TestRun runs formatters and checks that each make one kind of mistake, and compares the reports
// with the expected ones.
func TestRun(t *testing.T) {
	tool, err := ptxas.Find()
	if err != nil {
		t.Fatal(err)
	}
	refused := strings.Replace(module, "add.s32 %r2, %r1, 1;", "add.s32 %r2, %r1;", 1)
	replace := func(from, to string) func(string) string {
		return func(s string) string { return strings.ReplaceAll(s, from, to) }
	}
	same := replace("", "")
	finding := diag.List{{Place: diag.Place{Line: 1}, Rule: "F1", Message: "bad"}}
	for _, test := range []struct {
		name, text string
		format     func(string) string
		findings   diag.List
		want       string // substring of the first problem; "" for none
	}{
		{"spaces", module, replace("\t", "  "), nil, ""},
		{"lost instruction", module, replace("\tadd.s32 %r2, %r1, 1;\n", ""), nil, "other code"},
		{"changed constant", module, replace("%r1, 1;", "%r1, 2;"), nil, "other code"},
		{"broken", module, replace("ret;", "ret"), nil, "ptxas refuses the formatted text"},
		{"not idempotent", module, replace(" ", "  "), nil, "formatting twice"},
		{"false alarm", module, same, finding, "ptxas accepts it, verify reports"},
		{"refused by both", refused, same, finding, ""},
		{"missed", refused, same, nil, "ptxas refuses it and verify does not: rejected: line 9;"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := Config{
				Tool:   tool,
				Format: func(_, text string) (string, diag.List) { return test.format(text), nil },
				Check:  func(string, string) diag.List { return test.findings },
			}
			if test.name == "spaces" {
				c.Format = func(_, text string) (string, diag.List) {
					return strings.ReplaceAll(strings.ReplaceAll(text, "\t", "  "), " // the cell",
						""), nil
				}
			}
			reports, err := Run(t.Context(), c, []Source{{"m.ptx", test.text}})
			if err != nil {
				t.Fatal(err)
			}
			got := strings.Join(reports[0].Problems, "\n")
			if test.want == "" && got != "" || !strings.Contains(got, test.want) {
				t.Errorf("problems %q, want %q", got, test.want)
			}
			var b strings.Builder
			if Summary(&b, reports) != (test.want != "") ||
				!strings.Contains(b.String(), "roundtrip: 1 modules") {
				t.Errorf("summary: %s", b.String())
			}
		})
	}
}

// TestTargetPlaces lifts and lowers lists of branch targets. With debug information, the position
// of .branchtargets among the instructions changes the machine code, so the comparison shows
// whether the position was kept.
func TestTargetPlaces(t *testing.T) {
	tool, err := ptxas.Find()
	if err != nil {
		t.Fatal(err)
	}
	const head = `.version 8.0
.target sm_80, debug
.address_size 64
.func f(.param .b32 x) {
	ret;
}
.visible .entry k(.param .u64 p, .param .u32 i) {
	.reg .b32 %r<6>;
	.reg .b64 %rd<3>;
	ld.param.u64 %rd1, [p];
	ld.param.u32 %r5, [i];
`
	const tail = `	ret;
}
.section .debug_info { .b8 1
}
`
	const list, move = "ts: .branchtargets La, Lb;\n", "mov.u32 %r3, 0;\n"
	const branch = "brx.idx %r5, ts;\nLa: add.u32 %r3, %r3, 1;\nLb: st.global.u32 [%rd1], %r3;\n"
	const address = "mov.u64 %rd2, f;\n"
	const open, call = "{ .param .b32 x; st.param.b32 [x], %r3;\n",
		"call %rd2, (x), ts; }\nst.global.u32 [%rd1], %r3;\n"
	rewrite := func(name, text string) (string, diag.List) {
		file, list := ptx.Parse(name, text)
		m, more := lift.Module(file)
		return lower.Text(m), append(list, more...)
	}
	var other int
	for _, set := range [][]string{
		{list + move + branch, move + list + branch},
		{proto + address + move + open + call, address + move + open + proto + call,
			address + proto + move + open + call},
		{funcs + address + move + open + call, address + move + open + funcs + call,
			address + funcs + move + open + call},
	} {
		var sources []Source
		for i, body := range set {
			sources = append(sources, Source{fmt.Sprintf("%d.ptx", i), head + body + tail})
		}
		c := Config{
			Tool:    tool,
			Format:  func(_, text string) (string, diag.List) { return text, nil },
			Check:   func(string, string) diag.List { return nil },
			Rewrite: rewrite,
		}
		reports, err := Run(t.Context(), c, sources)
		if err != nil {
			t.Fatal(err)
		}
		for i, r := range reports {
			if len(r.Problems) > 0 || !r.Accepted || !r.Rewritten {
				t.Errorf("%v %s\n%s", r.Problems, r.Refusal, sources[i].Text)
			}
		}
		// Checks that the test can detect a moved list: the machine code of the sources differs.
		c.Rewrite = func(string, string) (string, diag.List) { return sources[1].Text, nil }
		reports, err = Run(t.Context(), c, sources[:1])
		if err != nil {
			t.Fatal(err)
		}
		other += len(reports[0].Problems)
	}
	if other == 0 {
		t.Error("the place of a list changes nothing")
	}
}

const (
	proto = "ts: .callprototype _ (.param .b32 _);\n"
	funcs = "ts: .calltargets f;\n"
)

// TestUnsteady compares texts with an assembler whose output varies.
func TestUnsteady(t *testing.T) {
	tool, err := ptxas.Find()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("there is no shell to write an assembler in: ", err)
	}
	changed := strings.Replace(module, "%r1, 1;", "%r1, 7;", 1)
	for _, test := range []struct {
		name string
		// shell condition on the number of the assembly: whether its code differs
		odd    string
		text   string // the formatted text
		steady bool
		want   string // the first problem
	}{
		{"steady and the same", "false", module, true, ""},
		{"steady and other code", "false", changed, true, "the formatted text has other code"},
		{"every other", "[ $((n % 2)) = 1 ]", module, false, ""},
		{"every other of other code", "[ $((n % 2)) = 1 ]", changed, false, ""},
		{"once, the text", "[ $n = 1 ]", module, false, ""},
		{"once, the formatted text", "[ $n = 2 ]", module, false, ""},
	} {
		folder := t.TempDir()
		script := "#!/bin/sh\nif [ -f m.ptx ] && grep -q the_cell m.ptx; then\nn=$(($(cat " +
			folder + "/n) + 1)); echo $n > " + folder + "/n\n" +
			"if " + test.odd + "; then sed -i 's/^1$/2/' m.ptx; fi\nfi\nexec " + tool.Path +
			" \"$@\"\n"
		path := filepath.Join(folder, "ptxas")
		if err := errors.Join(os.WriteFile(path, []byte(script), 0o700),
			os.WriteFile(filepath.Join(folder, "n"), []byte("0"), 0o600)); err != nil {
			t.Fatal(err)
		}
		named := strings.NewReplacer("p)", "the_cell)", "[p]", "[the_cell]")
		c := Config{
			Tool: ptxas.New(path),
			Format: func(string, string) (string, diag.List) {
				return named.Replace(test.text), nil
			},
			Check: func(string, string) diag.List { return nil },
		}
		reports, err := Run(t.Context(), c, []Source{{"m.ptx", named.Replace(module)}})
		if err != nil {
			t.Fatal(err)
		}
		r := reports[0]
		problems := strings.Join(r.Problems, "\n")
		if (len(r.Unsteady) == 0) != test.steady || (problems == "") != (test.want == "") ||
			!strings.Contains(problems, test.want) {
			t.Errorf("%s: %q, %q", test.name, r.Unsteady, problems)
		}
		var b strings.Builder
		Summary(&b, reports)
		if got := strings.Contains(b.String(),
			"1 not compared because ptxas is not deterministic"); got == test.steady {
			t.Errorf("%s: %s", test.name, &b)
		}
	}
}

func TestSources(t *testing.T) {
	folder := t.TempDir()
	if _, err := Sources(folder); err == nil {
		t.Error("no error for a folder without modules")
	}
	if _, err := Sources(filepath.Join(folder, "missing")); err == nil {
		t.Error("no error for a missing folder")
	}
	for _, name := range []string{"b.ptx", "a.ptx", "c.txt"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	list, err := Sources(folder)
	if err != nil || len(list) != 2 || list[0].Text != "a.ptx" {
		t.Errorf("%v, %v", list, err)
	}
	list, err = Sources("../corpus/testdata/corpus.tar.gz")
	if err != nil || len(list) < 60 {
		t.Errorf("%d modules in the slice, %v", len(list), err)
	}
}
