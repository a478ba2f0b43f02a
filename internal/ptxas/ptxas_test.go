// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package ptxas

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ptxdsl/ptxdsl/diag"
)

const vote = ".version 8.0\n.target sm_80\n.address_size 64\n"

func TestAssemble(t *testing.T) {
	image, v, err := tool(t).Assemble(t.Context(), vote+".entry k { ret; }\n",
		Options{Flags: []string{"-v"}})
	if err != nil || !v.OK() || !strings.HasPrefix(string(image), "\x7fELF") {
		t.Fatalf("%d bytes, %v, %v", len(image), v, err)
	}
	said := ""
	for _, m := range v.Messages {
		said += m.Text + "\n"
	}
	if !strings.Contains(said, "registers") {
		t.Errorf("the output of -v lacks the registers: %q", said)
	}
}

func TestRefused(t *testing.T) {
	text := vote + ".entry k {\n\t.reg .b32 %r<3>;\n\tadd.s32 %r1;\n\tmov.f32 %r1, %q;\n}\n"
	image, v, err := tool(t).Assemble(t.Context(), text, Options{})
	if err != nil || image != nil || v.Status != Rejected {
		t.Fatalf("%d bytes, %v, %v", len(image), v, err)
	}
	var lines []int
	for _, d := range v.Diagnostics("x.ptx") {
		if d.Severity != diag.Error || d.Place.File != "x.ptx" {
			t.Errorf("finding %+v", d)
		}
		lines = append(lines, d.Place.Line)
	}
	if diff := cmp.Diff([]int{6, 7}, lines); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
	v, err = tool(t).Parse(t.Context(), vote+".entry k {\n\tadd.s32 ^;\n}", Options{})
	if err != nil || v.Status != Malformed || v.Messages[0].Line != 5 {
		t.Errorf("%v, %v", v, err)
	}
	if _, err := tool(t).Parse(t.Context(), vote, Options{Target: "sm_91"}); err == nil {
		t.Error("no error for an unknown target")
	}
}

func TestExterns(t *testing.T) {
	text := vote + ".extern .func away;\n.entry k { call away; ret; }\n"
	for relocatable, want := range map[bool]Status{false: Rejected, true: Accepted} {
		_, v, err := tool(t).Assemble(t.Context(), text, Options{Relocatable: relocatable})
		if err != nil || v.Status != want {
			t.Errorf("relocatable %v: %v, %v", relocatable, v, err)
		}
	}
}

func TestJudgeModules(t *testing.T) {
	texts := []string{vote, ".version 9.6\n.target sm_80\n", "", vote + ".entry k { frob; }",
		".version 9.5 .target sm_777", vote + ".entry k { ret; }"}
	got, err := tool(t).JudgeModules(t.Context(), texts, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var status []string
	for _, v := range got {
		status = append(status, v.Status.String())
	}
	if diff := cmp.Diff("accepted malformed malformed rejected malformed accepted",
		strings.Join(status, " ")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestTargetOf(t *testing.T) {
	for text, want := range map[string]string{
		".version 8.0\n.target sm_90a, debug\n": "sm_90a", ".target debug,sm_80": "sm_80",
		"// .target sm_1\n/* .target sm_2 */ .target\tsm_3": "sm_3",
		"": "", ".target": "", ".target texmode_unified\n.address_size 64": "",
	} {
		if got := targetOf(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestMessages(t *testing.T) {
	got := parseMessages(
		"ptxas a, b.ptx, line 7; error   : Arguments mismatch for instruction 'add'\n" +
			"ptxas b.ptx, line 9; fatal   : Parsing error near '%r1': syntax error\n" +
			"ptxas info    : (C7515) Potential loss\n" +
			"ptxas info    : Function properties for k\n    0 bytes stack frame\n" +
			"ptxas warning : odd\r\nnoise\n" +
			"ptxas fatal   : Ptx assembly aborted due to errors\n")
	want := []Message{
		{File: "a, b.ptx", Line: 7, Level: Error, Text: "Arguments mismatch for instruction 'add'"},
		{File: "b.ptx", Line: 9, Level: Fatal, Text: "Parsing error near '%r1': syntax error"},
		{Level: Info, Code: "C7515", Text: "Potential loss"},
		{Level: Info, Text: "Function properties for k\n0 bytes stack frame"},
		{Level: Warning, Text: "odd"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	list := Diagnostics(got, "x.ptx")
	if list[0].Severity != diag.Note && list[0].Severity != diag.Warning {
		t.Errorf("messages without a line come first: %+v", list[0])
	}
}

// fake installs a script in place of ptxas. It answers the queries that a Tool makes before
// checking; the given script handles the rest.
func fake(t *testing.T, script string) *Tool {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ptxas")
	text := `#!/bin/sh
case "$1" in
--version) echo "Cuda compilation tools, release 1.2, V1.2.3"; exit ;;
--list-version) echo 8.0; exit ;;
--help) echo "'compute_80'"; exit ;;
esac
for f in "$@"; do
	case "$f" in
	80) for g in "$@"; do case "$g" in [0-9]*) [ "$g" = 80 ] || echo "ptxas $g, line 2; fatal   : Unsupported"; esac; done; exit 255 ;;
	t) exit 0 ;;
	esac
done
` + script
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	return New(path)
}

func TestFake(t *testing.T) {
	body := func(lines ...string) Probe { return Probe{Body: lines} }
	probes := []Probe{body("good"), body("bad"), body("good"), body("good"), body("good")}
	for _, test := range []struct {
		name, script, want string
	}{
		{"fine", "exit 0", "accepted accepted accepted accepted accepted"},
		{"crash", "if grep -q bad 0; then kill -SEGV $$; fi",
			"accepted crashed accepted accepted accepted"},
		{"internal error",
			"if grep -q bad 0; then echo 'ptxas fatal   : Internal error: oops'; exit 1; fi",
			"accepted crashed accepted accepted accepted"},
		{"no line", "if grep -q bad 0; then echo 'ptxas error   : somewhere'; exit 255; fi",
			"accepted rejected accepted accepted accepted"},
		{"not a word", "if grep -q bad 0; then exit 3; fi",
			"accepted crashed accepted accepted accepted"},
		{"hang", "if grep -q bad 0; then sleep 60; fi",
			"accepted crashed accepted accepted accepted"},
	} {
		t.Run(test.name, func(t *testing.T) {
			tool := fake(t, test.script)
			tool.Timeout = 2 * time.Second
			got, err := tool.Judge(t.Context(), "8.0", "sm_80", probes)
			if err != nil {
				t.Fatal(err)
			}
			var words []string
			for _, v := range got {
				words = append(words, v.Status.String())
			}
			if diff := cmp.Diff(test.want, strings.Join(words, " ")); diff != "" {
				t.Errorf("(-want +got):\n%s\n%v", diff, got)
			}
		})
	}
}

func TestNotPtxas(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ptxas")
	if err := os.WriteFile(path, []byte("#!/bin/sh\necho hello\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := New(path).Targets(t.Context()); err == nil ||
		!strings.Contains(err.Error(), "does not answer as ptxas does") {
		t.Errorf("error is %v", err)
	}
	if _, err := New(path+"x").Parse(t.Context(), "", Options{}); err == nil {
		t.Error("no error for a missing program")
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := tool(t).Judge(ctx, "8.0", "sm_80", make([]Probe, 3)); !errors.Is(err,
		context.Canceled) {
		t.Errorf("error is %v", err)
	}
}

func TestFind(t *testing.T) {
	folder := t.TempDir()
	program := func(parts ...string) string {
		path := filepath.Join(append([]string{folder}, parts...)...)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		return path
	}
	project := filepath.Join(folder, "project")
	if err := os.MkdirAll(filepath.Join(project, "deep", "er"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Chdir(filepath.Join(project, "deep", "er"))
	for _, name := range []string{"PTXAS", "CUDA_HOME", "PATH"} {
		t.Setenv(name, "")
	}
	if _, err := Find(); !errors.Is(err, ErrMissing) ||
		!strings.Contains(err.Error(), "make tools") {
		t.Errorf("error is %v", err)
	}
	// From the last place searched to the first: each new one takes precedence.
	home := program("cuda", "bin", "ptxas")
	t.Setenv("CUDA_HOME", filepath.Join(folder, "cuda"))
	expect(t, home)
	onPath := program("path", "ptxas")
	t.Setenv("PATH", filepath.Dir(onPath))
	expect(t, onPath)
	if err := os.WriteFile(filepath.Join(project, "go.mod"), []byte("module m\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	expect(t, onPath)
	expect(t, program("project", ".tools", "judge", "nvidia", "cu13", "bin", "ptxas"))
	named := program("named", "other")
	t.Setenv("PTXAS", named)
	expect(t, named)
	t.Setenv("PTXAS", named+"x")
	if _, err := Find(); !errors.Is(err, ErrMissing) {
		t.Errorf("a wrong $PTXAS: error is %v", err)
	}
}

func expect(t *testing.T, path string) {
	t.Helper()
	found, err := Find()
	if err != nil || found.Path != path {
		t.Errorf("found %v, %v, want %s", found, err, path)
	}
}
