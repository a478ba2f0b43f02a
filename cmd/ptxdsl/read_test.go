// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package main

import (
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"
	"time"
)

// within fails the test if f does not return in reasonable time.
func within(t *testing.T, what string, f func()) {
	t.Helper()
	done := make(chan bool)
	go func() {
		defer close(done)
		f()
	}()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatal(what, "does not end")
	}
}

// TestSpecialFiles checks that commands skip files in a directory that are not regular, and read
// them if they are named.
func TestSpecialFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.Mkdir("d", 0o755); err != nil {
		t.Fatal(err)
	}
	writeFile(t, "d/a.ptx", small, 0o644)
	for _, name := range []string{"d/p.ptx", "named"} {
		if err := syscall.Mkfifo(name, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("../named", "d/link.ptx"); err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{"fmt -l", "fmt -w", "verify", "opt -l", "stats"} {
		var stdout, stderr strings.Builder
		within(t, command, func() {
			if code := run(append(strings.Fields(command), "d"), strings.NewReader(""), &stdout,
				&stderr); code != exitClean {
				t.Errorf("%s: exit %d", command, code)
			}
		})
		want := "d/link.ptx: skipped: a named pipe, not a regular file (name it to read it)\n" +
			"d/p.ptx: skipped: a named pipe, not a regular file (name it to read it)\n"
		if stderr.String() != want {
			t.Errorf("%s: message %q", command, &stderr)
		}
		within(t, command, func() {
			go func() {
				if f, err := os.OpenFile("named", os.O_WRONLY, 0); err == nil {
					_, _ = io.WriteString(f, small)
					f.Close()
				}
			}()
			stderr.Reset()
			code := run(append(strings.Fields(command), "named"), strings.NewReader(""), &stdout,
				&stderr)
			if code != exitClean || stderr.Len() > 0 {
				t.Errorf("%s of a pipe: exit %d, %q", command, code, &stderr)
			}
		})
		within(t, command, func() {
			stderr.Reset()
			code := run(append(strings.Fields(command), "/dev/zero"), strings.NewReader(""),
				&stdout, &stderr)
			if code != exitTrouble ||
				stderr.String() != "/dev/zero: not PTX text: byte 0 is NUL\n" {
				t.Errorf("%s of zeros: exit %d, %q", command, code, &stderr)
			}
		})
	}
}

// TestTrailingNUL checks that a NUL after PTX text, as NVRTC returns it, is explained.
func TestTrailingNUL(t *testing.T) {
	var stdout, stderr strings.Builder
	code := run([]string{"verify", "-"}, strings.NewReader(emptyKernel+"\x00"), &stdout, &stderr)
	if code != exitTrouble || !strings.Contains(stderr.String(), "the last byte is NUL (NVRTC") {
		t.Errorf("exit %d, %q", code, &stderr)
	}
}

// emptyKernel is a module that run and check can run.
const emptyKernel = small + ".visible .entry k() { ret; }\n"

// TestSpecialFilesOfRun checks that run, which takes one file, and -launch of check read special
// files as other commands do.
func TestSpecialFilesOfRun(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.Mkdir("d", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo("named", 0o644); err != nil {
		t.Fatal(err)
	}
	writeFile(t, "a.ptx", emptyKernel, 0o644)
	writeFile(t, "d/a.ptx", emptyKernel, 0o644)
	if err := syscall.Mkfifo("d/p.ptx", 0o644); err != nil {
		t.Fatal(err)
	}
	within(t, "check", func() {
		var stdout, stderr strings.Builder
		code := run([]string{"check", "-q", "d"}, strings.NewReader(""), &stdout, &stderr)
		want := "d/p.ptx: skipped: a named pipe, not a regular file (name it to read it)\n"
		if code != exitClean || stderr.String() != want {
			t.Errorf("check of a folder: exit %d, %q", code, &stderr)
		}
	})
	for _, test := range []struct{ args, want string }{
		{"check /dev/zero", "/dev/zero: not PTX text: byte 0 is NUL\n"},
		{"run -device emu -grid 1 /dev/zero", "/dev/zero: not PTX text: byte 0 is NUL\n"},
		{"run -device emu -grid 1 d", "d: is a directory, expected one file\n"},
		{"check -launch /dev/zero a.ptx", "/dev/zero: not PTX text: byte 0 is NUL\n"},
		{"check -launch d a.ptx", "d: is a directory, expected one file\n"},
	} {
		var stdout, stderr strings.Builder
		within(t, test.args, func() {
			code := run(strings.Fields(test.args), strings.NewReader(""), &stdout, &stderr)
			if code != exitTrouble || stderr.String() != test.want {
				t.Errorf("%s: exit %d, %q", test.args, code, &stderr)
			}
		})
	}
	for _, args := range []string{"run -device emu -grid 1 -block 32 named",
		"check -launch named a.ptx"} {
		var stdout, stderr strings.Builder
		within(t, args, func() {
			go func() {
				if f, err := os.OpenFile("named", os.O_WRONLY, 0); err == nil {
					text := emptyKernel
					if strings.HasPrefix(args, "check") {
						text = "-grid 1 -block 32\n"
					}
					_, _ = io.WriteString(f, text)
					f.Close()
				}
			}()
			if code := run(strings.Fields(args), strings.NewReader(""), &stdout,
				&stderr); code != exitClean {
				t.Errorf("%s: exit %d, %q", args, code, &stderr)
			}
		})
	}
}

// TestEndless checks that an endless input is read only up to a limit.
func TestEndless(t *testing.T) {
	_, err := readText(endless{}, 1<<20, 0)
	if err == nil || !strings.Contains(err.Error(), "more than 1048576 bytes") {
		t.Errorf("the error is %v", err)
	}
	text, err := readText(iotest.OneByteReader(strings.NewReader(small)), int64(len(small)), 0)
	if text != small || err != nil {
		t.Errorf("%q, %v", text, err)
	}
	_, err = readText(iotest.ErrReader(io.ErrUnexpectedEOF), 1, 0)
	if err != io.ErrUnexpectedEOF {
		t.Errorf("the error is %v", err)
	}
	t.Chdir(t.TempDir())
	f, err := os.Create("large.ptx")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Truncate(1 << 40); err != nil {
		t.Skip("no file without contents can be made: ", err)
	}
	var stdout, stderr strings.Builder
	if code := run([]string{"verify", "large.ptx"}, nil, &stdout, &stderr); code != exitTrouble ||
		!strings.Contains(stderr.String(), "large.ptx: file has 1099511627776 bytes, but at most") {
		t.Errorf("exit %d, %q", code, &stderr)
	}
}

// endless is an endless sequence of blanks.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

// TestDash checks that every command reads standard input for "-", only once, and never rewrites
// it.
func TestDash(t *testing.T) {
	for _, test := range []struct {
		args string
		code int
		want string // substring of the output
	}{
		{"fmt -", exitClean, ".version 8.0"},
		{"fmt -l -", exitClean, "<standard input>"},
		{"verify -v -", exitClean, ": no findings"},
		{"opt -", exitClean, ".version 8.0"},
		{"stats -", exitClean, ""},
		{"check -", exitTrouble, "<standard input> has no kernel"},
		{"check - -", exitTrouble, "- is given twice"},
		{"check -launch - -", exitTrouble, "- is given twice"},
		{"check -launch -", exitTrouble, "- is given twice"},
		{"run -device emu -grid 1 -", exitTrouble, "the module has no kernel"},
		{"run -device emu -grid 1 - -", exitTrouble, "expected one file"},
		{"isa -", exitTrouble, "nothing matches"},
		{"explain -", exitTrouble, "no rule"},
		{"fmt - -", exitTrouble, "- is given twice"},
		{"verify - -", exitTrouble, "- is given twice"},
		{"opt - -", exitTrouble, "- is given twice"},
		{"stats - -", exitTrouble, "- is given twice"},
		{"fmt -w -", exitTrouble, "cannot use -w with standard input"},
		{"verify -fix -", exitTrouble, "cannot use -fix with standard input"},
		{"opt -w -", exitTrouble, "cannot use -w with standard input"},
	} {
		var out strings.Builder
		code := run(strings.Fields(test.args),
			strings.NewReader(".version  8.0\n.target sm_90\n.address_size 64\n"), &out, &out)
		if code != test.code || !strings.Contains(out.String(), test.want) {
			t.Errorf("%s: exit %d, %q", test.args, code, &out)
		}
	}
}
