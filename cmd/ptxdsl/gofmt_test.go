// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestLikeGofmt runs gofmt on Go files and ptxdsl fmt on PTX files with the same names and flags.
// Exit codes, lists of files and headers of diffs must be equal, and messages on standard error
// must appear in the same cases. Deliberate differences are listed in docs/explanation/rationale.md
// and not tested here.
func TestLikeGofmt(t *testing.T) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal("go env GOROOT:", err)
	}
	gofmt := filepath.Join(strings.TrimSpace(string(root)), "bin", "gofmt")
	sources := map[string][2]string{ // the Go text and the PTX text
		"good":   {"package a\n", ".version 8.0\n.target sm_90\n"},
		"ugly":   {"package  a\nvar   x int\n", ".version   8.0\n.target   sm_90\n"},
		"crlf":   {"package a\r\n", ".version 8.0\r\n.target sm_90\r\n"},
		"broken": {"package a\nfunc (\n", ".version 8.0\n.target sm_90\n}\n"},
	}
	tests := []struct{ args, stdin string }{
		{"ugly.x", ""},
		{"", "good"}, {"", "ugly"}, {"", "broken"}, {"", "crlf"},
		{"-l", "ugly"}, {"-l", "good"}, {"-d", "ugly"}, {"-d", "good"}, {"-w", "ugly"},
		{"-l good.x ugly.x d", ""},
		{"-l d", ""}, {"-l d/.dot.x", ""}, {"-l d/other.txt", ""}, {"-l .", ""},
		{"-d ugly.x", ""}, {"-d good.x", ""}, {"-l -d ugly.x good.x", ""}, {"-d d", ""},
		{"broken.x", ""}, {"-l broken.x ugly.x", ""}, {"-w broken.x", ""},
		{"missing.x", ""}, {"-l missing.x ugly.x", ""},
		{"-nosuchflag ugly.x", ""},
		{"-l crlf.x", ""},
		{"-h", ""},
		{"-w -l ugly.x good.x", ""}, {"-l ugly.x", ""},
		{"-w -d d", ""}, {"-d d", ""},
		// with -w, gofmt 1.26 leaves the end of the old text in a file behind a link
		{"-l link.x", ""},
	}
	side := func(i int, ext string) (dir string) {
		dir = t.TempDir()
		put := func(name, text string) {
			if err := os.WriteFile(dir+"/"+name, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		for name, text := range sources {
			put(name+ext, text[i])
		}
		if err := os.MkdirAll(dir+"/d/sub", 0o777); err != nil {
			t.Fatal(err)
		}
		ugly := sources["ugly"][i]
		put("d/a"+ext, ugly)
		put("d/sub/b"+ext, ugly)
		put("d/.dot"+ext, ugly)
		put("d/other.txt", ugly)
		put("target"+ext, ugly)
		if err := os.Symlink("target"+ext, dir+"/link"+ext); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	goDir, ptxDir := side(0, ".go"), side(1, ".ptx")
	for _, test := range tests {
		t.Run(strings.ReplaceAll(test.args+" < "+test.stdin, " ", "_"), func(t *testing.T) {
			cmd := exec.Command(gofmt,
				strings.Fields(strings.ReplaceAll(test.args, ".x", ".go"))...)
			cmd.Dir = goDir
			cmd.Stdin = strings.NewReader(sources[test.stdin][0])
			var wantOut, wantErr, gotOut, gotErr strings.Builder
			cmd.Stdout, cmd.Stderr = &wantOut, &wantErr
			err := cmd.Run()
			if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
				t.Fatal(err)
			}
			t.Chdir(ptxDir)
			args := append([]string{"fmt"},
				strings.Fields(strings.ReplaceAll(test.args, ".x", ".ptx"))...)
			code := run(args, strings.NewReader(sources[test.stdin][1]), &gotOut, &gotErr)
			if want := cmd.ProcessState.ExitCode(); code != want {
				t.Errorf("exit %d, gofmt's is %d; %s%s", code, want, &gotErr, &wantErr)
			}
			if test.args == "-h" {
				return // gofmt prints its help on standard error
			}
			if got, want := fileNames(gotOut.String()),
				strings.ReplaceAll(fileNames(wantOut.String()), ".go", ".ptx"); got != want {
				t.Errorf("output names\n%s\ngofmt's\n%s", got, want)
			}
			if got, want := gotErr.Len() > 0, wantErr.Len() > 0; got != want {
				t.Errorf("standard error is %q, gofmt's %q", &gotErr, &wantErr)
			}
		})
	}
}

// fileNames returns the lines that name files: the output of -l, and the headers of diffs.
func fileNames(out string) string {
	var b strings.Builder
	for line := range strings.SplitAfterSeq(out, "\n") {
		head := strings.HasPrefix(line, "diff ") || strings.HasPrefix(line, "--- ") ||
			strings.HasPrefix(line, "+++ ")
		text := strings.TrimSpace(line)
		if head || strings.HasSuffix(text, ".go") || strings.HasSuffix(text, ".ptx") ||
			strings.HasSuffix(text, "input>") || strings.HasSuffix(text, ".txt") {
			b.WriteString(line)
		}
	}
	return b.String()
}
