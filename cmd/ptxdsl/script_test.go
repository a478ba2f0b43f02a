// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the transcripts and pages")

// TestScripts runs the transcripts in testdata. A transcript has comments (#) and commands ($) with
// their output: standard output after a tab, standard error after "!" and a tab, and a nonzero exit
// code. After the first line of the form "-- name --" come the input files. Besides ptxdsl, which
// runs in this process, the commands cat, ls, chmod, ln and rm are available.
func TestScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no transcripts", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			abs, err := filepath.Abs(file)
			if err != nil {
				t.Fatal(err)
			}
			script, archive := string(data), ""
			if i := strings.Index("\n"+script, "\n-- "); i >= 0 {
				script, archive = script[:i], script[i:]
			}
			t.Chdir(t.TempDir())
			// The transcripts do not depend on an installed ptxas.
			for _, name := range []string{"PTXAS", "PATH", "CUDA_HOME"} {
				t.Setenv(name, "")
			}
			unpack(t, archive)
			got := play(t, script)
			if *update {
				if err := os.WriteFile(abs, []byte(got+archive), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if d := cmp.Diff(script, got); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
		})
	}
}

// unpack writes the files of an archive. In "-- a.ptx escaped --" the text is one line with Go
// string escapes.
func unpack(t *testing.T, archive string) {
	t.Helper()
	name, escaped := "", false
	var body strings.Builder
	flush := func() {
		if name == "" {
			return
		}
		text := body.String()
		if escaped {
			var err error
			if text, err = strconv.Unquote(`"` + strings.TrimSuffix(text, "\n") + `"`); err != nil {
				t.Fatal(name, err)
			}
		}
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(name, 0o644); err != nil { // independent of the umask
			t.Fatal(err)
		}
		body.Reset()
	}
	for line := range strings.SplitAfterSeq(archive, "\n") {
		if head, ok := strings.CutPrefix(strings.TrimSuffix(line, " --\n"), "-- "); ok &&
			strings.HasSuffix(line, " --\n") {
			flush()
			name, escaped = strings.CutSuffix(head, " escaped")
			continue
		}
		body.WriteString(line)
	}
	flush()
}

// play runs the commands of a script and returns the script with their output.
func play(t *testing.T, script string) string {
	t.Helper()
	var out strings.Builder
	for line := range strings.SplitAfterSeq(script, "\n") {
		switch {
		case strings.HasPrefix(line, "$ "):
			out.WriteString(line)
			var stdout, stderr bytes.Buffer
			code := shell(t, strings.Fields(line[2:]), &stdout, &stderr)
			indent(&out, "\t", stdout.String())
			indent(&out, "!\t", stderr.String())
			if code != 0 {
				fmt.Fprintf(&out, "exit %d\n", code)
			}
		case strings.HasPrefix(line, "#"), line == "\n":
			out.WriteString(line)
		}
	}
	return out.String()
}

func indent(out *strings.Builder, prefix, text string) {
	for line := range strings.SplitAfterSeq(text, "\n") {
		switch {
		case line == "":
		case strings.HasSuffix(line, "\n"):
			// A blank line of output keeps its tab, which distinguishes it from a blank line of the
			// script.
			out.WriteString(prefix + strings.ReplaceAll(line[:len(line)-1], "\r", "␍") + "\n")
		default:
			out.WriteString(prefix + line + "␄\n") // missing line end
		}
	}
}

// shell runs one command, with < and >, in this process.
func shell(t *testing.T, words []string, stdout, stderr io.Writer) int {
	t.Helper()
	var args []string
	var stdin io.Reader = strings.NewReader("")
	for i := 0; i < len(words); i++ {
		switch words[i] {
		case "<":
			i++
			data, err := os.ReadFile(words[i])
			if err != nil {
				t.Fatal(err)
			}
			stdin = bytes.NewReader(data)
		case ">":
			i++
			f, err := os.Create(words[i])
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			stdout = f
		default:
			args = append(args, words[i])
		}
	}
	check := func(err error) int {
		if err != nil {
			fmt.Fprintln(stderr, err)
			return 1
		}
		return 0
	}
	switch args[0] {
	case "ptxdsl":
		return run(args[1:], stdin, stdout, stderr)
	case "cat":
		data, err := os.ReadFile(args[1])
		_, _ = stdout.Write(data)
		return check(err)
	case "ls":
		entries, err := os.ReadDir(args[1])
		for _, e := range entries {
			info, err := e.Info()
			if err != nil {
				t.Fatal(err)
			}
			what := fmt.Sprintf("%04o", info.Mode().Perm())
			if !info.Mode().IsRegular() {
				what = map[bool]string{true: "dir ", false: "link"}[e.IsDir()]
			}
			fmt.Fprintln(stdout, what, e.Name())
		}
		return check(err)
	case "chmod":
		var mode uint32
		fmt.Sscanf(args[1], "%o", &mode)
		return check(os.Chmod(args[2], os.FileMode(mode)))
	case "ln":
		return check(os.Symlink(args[1], args[2]))
	case "mkdir":
		return check(os.MkdirAll(args[1], 0o777))
	case "rm":
		return check(os.RemoveAll(args[1]))
	}
	t.Fatalf("no command %q", args[0])
	return 0
}

// small is an empty module.
const small = ".version 8.0\n.target sm_90\n.address_size 64\n"
