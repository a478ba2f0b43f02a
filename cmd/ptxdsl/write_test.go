// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package main

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func writeFile(t *testing.T, name, text string, mode fs.FileMode) fs.FileInfo {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(name, mode); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	return info
}

func wantFile(t *testing.T, name, text string, mode fs.FileMode) {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(name)
	if err != nil {
		t.Fatal(err)
	}
	if string(data) != text || info.Mode() != mode {
		t.Errorf("%s is %v %q, want %v %q", name, info.Mode(), data, mode, text)
	}
	// No temporary file is left.
	left, err := filepath.Glob(filepath.Join(filepath.Dir(name), ".*"))
	if err != nil || len(left) > 0 {
		t.Error("left behind:", left, err)
	}
}

func TestReplace(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "a.ptx"), filepath.Join(dir, "link.ptx")
	for _, mode := range []fs.FileMode{0o644, 0o600, 0o755, 0o664} {
		info := writeFile(t, file, "old", mode)
		if err := replaceFile(file, info, "new and longer"); err != nil {
			t.Fatal(err)
		}
		wantFile(t, file, "new and longer", mode)
	}

	info := writeFile(t, file, "old", 0o640)
	if err := os.Symlink("a.ptx", link); err != nil {
		t.Fatal(err)
	}
	if err := replaceFile(link, info, "new"); err != nil {
		t.Fatal(err)
	}
	wantFile(t, file, "new", 0o640)
	if to, err := os.Readlink(link); to != "a.ptx" {
		t.Errorf("the link is gone: %q, %v", to, err)
	}
}

func TestReplaceChangedMeanwhile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.ptx")
	info := writeFile(t, file, "old", 0o644)
	writeFile(t, file, "theirs", 0o644)
	if err := replaceFile(file, info, "ours"); err == nil ||
		!strings.Contains(err.Error(), "changed by another program") {
		t.Errorf("error is %v", err)
	}
	wantFile(t, file, "theirs", 0o644)

	info = writeFile(t, file, "12345", 0o644)
	if err := os.Chtimes(file, time.Time{}, info.ModTime().Add(time.Second)); err != nil {
		t.Fatal(err)
	}
	if err := replaceFile(file, info, "ours"); err == nil {
		t.Error("a file of the same size with another time was overwritten")
	}
}

// TestReplaceLinks checks that hard links still refer to one file after several of them are
// rewritten concurrently.
func TestReplaceLinks(t *testing.T) {
	t.Chdir(t.TempDir())
	const before, after = ".version   8.0\n.target sm_90\n", ".version 8.0\n.target sm_90\n"
	for _, link := range []func(old, new string) error{os.Link, os.Symlink} {
		for _, name := range []string{"a.ptx", "b.ptx", "c.ptx"} {
			_ = os.Remove(name)
		}
		writeFile(t, "a.ptx", before, 0o640)
		for _, name := range []string{"b.ptx", "c.ptx"} {
			if err := link("a.ptx", name); err != nil {
				t.Fatal(err)
			}
		}
		var out strings.Builder
		if code := run([]string{"fmt", "-w", "."}, nil, &out, &out); code != exitClean ||
			out.Len() > 0 {
			t.Errorf("exit %d: %s", code, &out)
		}
		first, err := os.Stat("a.ptx")
		if err != nil {
			t.Fatal(err)
		}
		wantFile(t, "a.ptx", after, 0o640)
		for _, name := range []string{"b.ptx", "c.ptx"} {
			if info, err := os.Stat(name); err != nil || !os.SameFile(info, first) {
				t.Errorf("%s is another file: %v", name, err)
			}
		}
	}
	writeFile(t, "a.ptx", "old", 0o640)
	if err := os.Link("a.ptx", "d.ptx"); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat("a.ptx")
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, "a.ptx", "theirs", 0o640)
	if err := replaceFile("a.ptx", info, "ours"); err == nil ||
		!strings.Contains(err.Error(), "changed by another program") {
		t.Errorf("error is %v", err)
	}
	wantFile(t, "d.ptx", "theirs", 0o640)
}

// TestReplaceForbidden runs TestAsNobody as a user who is subject to file permissions.
func TestReplaceForbidden(t *testing.T) {
	dir, err := os.MkdirTemp("", "ptxdsl")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(exe)
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "test")
	if err := os.WriteFile(program, data, 0o755); err != nil {
		t.Fatal(err)
	}
	work := filepath.Join(dir, "work")
	if err := os.Mkdir(work, 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "-test.run=^TestAsNobody$", "-test.v")
	cmd.Dir = work
	cmd.Env = append(os.Environ(), "PTXDSL_TEST_NOBODY=1", "TMPDIR="+work)
	if os.Geteuid() == 0 {
		const nobody = 65534
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Chown(work, nobody, nobody); err != nil {
			t.Fatal(err)
		}
		cmd.SysProcAttr = &syscall.SysProcAttr{
			Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: TestAsNobody") {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestAsNobody runs in a child process of TestReplaceForbidden, and does nothing elsewhere.
func TestAsNobody(t *testing.T) {
	if os.Getenv("PTXDSL_TEST_NOBODY") == "" {
		return
	}
	tests := []struct {
		name          string
		file, folder  fs.FileMode
		args          string
		code          int
		stdout, error string
	}{
		{"read-only file", 0o444, 0o755, "fmt -w", exitTrouble, "", "a.ptx: permission denied"},
		{"read-only folder", 0o644, 0o555, "fmt -w", exitTrouble, "",
			"cannot create a file in the same directory"},
		{"unreadable file", 0o200, 0o755, "fmt -l", exitTrouble, "", "a.ptx: permission denied"},
		{"unreadable folder", 0o644, 0o000, "verify", exitTrouble, "", "permission denied"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			const text = ".version   8.0\n.target sm_90\n"
			if err := os.Mkdir("d", 0o755); err != nil {
				t.Fatal(err)
			}
			writeFile(t, "d/a.ptx", text, test.file)
			if err := os.Chmod("d", test.folder); err != nil {
				t.Fatal(err)
			}
			var stdout, stderr strings.Builder
			code := run(append(strings.Fields(test.args), "d"), strings.NewReader(""), &stdout,
				&stderr)
			if err := os.Chmod("d", 0o755); err != nil {
				t.Fatal(err)
			}
			if code != test.code || stdout.String() != test.stdout ||
				!strings.Contains(stderr.String(), test.error) {
				t.Errorf("exit %d, want %d; out %q, want %q; error %q, want %q",
					code, test.code, &stdout, test.stdout, &stderr, test.error)
			}
			if err := os.Chmod("d/a.ptx", 0o644); err != nil {
				t.Fatal(err)
			}
			wantFile(t, "d/a.ptx", text, 0o644)
		})
	}
}
