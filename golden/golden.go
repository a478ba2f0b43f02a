// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package golden compares the PTX of a kernel with a reviewed file. Use it in tests of kernels: a
// change of the PTX appears as a difference of instructions, and `go test -update` accepts the
// change.
//
//	func TestSaxpy(t *testing.T) {
//		m := dsl.New("saxpy", "sm_90")
//		Saxpy(m)
//		golden.Check(t, m)
//	}
//
// The package defines the flag -update. Tests with other kinds of golden files call Updating
// instead of defining a flag of that name, because a program cannot define a flag twice.
package golden

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/ptx"
)

// A Module has a name and a PTX text, as a *dsl.Module does.
type Module interface {
	Name() string
	Text() (string, error)
}

// A Located module maps each line of its text to the Go line that emitted it and the callers of
// that line, as a *dsl.Module does. Check then shows the Go lines of each difference.
type Located interface {
	Places(text string) func(line int) (at diag.Place, from []diag.Place, ok bool)
}

// updateFlag is the flag of the test binary that rewrites golden files.
const updateFlag = "update"

func init() {
	// Another package of the test binary may have defined the flag; then that flag is used.
	if flag.Lookup(updateFlag) == nil {
		flag.Bool(updateFlag, false, "rewrite golden files")
	}
}

// Updating reports whether the test runs with -update, so that Check rewrites golden files. Tests
// with other golden files can call it too. The result is false until the flags are parsed.
func Updating() bool {
	f := flag.Lookup(updateFlag)
	return f != nil && f.Value.String() == "true"
}

// Check compares the PTX of m with testdata/NAME.ptx, where NAME is the module's name. It reports
// each difference as removed, added or changed instructions, with the Go lines that generate
// them. Names of registers and labels and the order of declarations are not compared. A long
// difference is truncated.
func Check(t testing.TB, m Module) {
	t.Helper()
	text, err := m.Text()
	if err != nil {
		t.Fatalf("%s cannot be built:\n%v", m.Name(), err)
		return
	}
	check(t, m.Name(), text, origins(m, text))
}

// A Judged module returns its findings, as a *dsl.Module does.
type Judged interface {
	Findings() diag.List
}

// Clean requires that m has no findings: no errors, and none of the warnings and reviews that
// Text and Check do not report. Notes, for example about what the hazard analyzers could not check,
// are logged.
//
//	m := dsl.New("saxpy", "sm_90")
//	Saxpy(m)
//	golden.Clean(t, m)
//	golden.Check(t, m)
func Clean(t testing.TB, m Judged) {
	t.Helper()
	for _, d := range m.Findings() {
		if d.Severity == diag.Note {
			t.Logf("%v", diag.List{d})
			continue
		}
		t.Errorf("%v", diag.List{d})
	}
}

// CheckText compares text with testdata/NAME.ptx as Check does, for PTX from another source than
// a Module.
func CheckText(t testing.TB, name, text string) {
	t.Helper()
	check(t, name, text, nil)
}

// origins returns a function that returns a description of the Go lines that emitted a line of
// m's text, or nil if m is not Located.
func origins(m Module, text string) func(line int) string {
	l, ok := m.(Located)
	if !ok {
		return nil
	}
	// computed on first use, because most tests have no differences
	var places func(int) (diag.Place, []diag.Place, bool)
	return func(line int) string {
		if places == nil {
			places = l.Places(text)
		}
		at, from, ok := places(line)
		if !ok {
			return ""
		}
		s := fmt.Sprintf("%s:%d", at.File, at.Line)
		if len(from) > 0 {
			s += fmt.Sprintf(" called from %s:%d", from[0].File, from[0].Line)
		}
		return s
	}
}

func check(t testing.TB, name, text string, where func(line int) string) {
	t.Helper()
	if name == "" || !filepath.IsLocal(name) {
		t.Fatalf("%q matches no file in testdata", name)
		return
	}
	path := filepath.Join("testdata", name+".ptx")
	if Updating() {
		if err := write(path, text); err != nil {
			t.Fatal(err)
		}
		return
	}
	old, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		t.Fatalf("%s does not exist; run `go test -update` to create it, then review and commit it",
			path)
		return
	}
	if err != nil {
		t.Fatal(err)
		return
	}
	diff, list := compare(string(old), text, where)
	if len(list) > 0 {
		t.Fatalf("%s: %s: %s", path, list[0].Place, list[0].Message)
		return
	}
	if diff != "" {
		t.Errorf("%s (-want +got; run `go test -update` to accept):\n%s", path,
			firstLines(diff, maxLines))
	}
}

// maxLines is the maximum number of lines of a difference that a failing test shows.
const maxLines = 200

// firstLines returns the first n lines of a text, followed by the number of lines that it leaves
// out.
func firstLines(text string, n int) string {
	lines := strings.SplitAfter(text, "\n")
	if len(lines) <= n+1 {
		return text
	}
	return strings.Join(lines[:n], "") + fmt.Sprintf("... and %d more lines; run `go test "+
		"-update` and look at the diff in version control\n", len(lines)-1-n)
}

// write creates a file and its directory. It replaces the file atomically, because tests of other
// packages may read the file.
func write(path, text string) (err error) {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	old, err := os.ReadFile(path)
	if err == nil && string(old) == text {
		return nil
	}
	mode := os.FileMode(0o666)
	if err == nil {
		f, err := os.OpenFile(path, os.O_WRONLY, 0) // renaming would replace a read-only file
		if err != nil {
			return err
		}
		info, err := f.Stat()
		f.Close()
		if err != nil {
			return err
		}
		mode = info.Mode().Perm()
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	name := fmt.Sprintf("%s.%x.tmp", path, rand.Uint64())
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(name, path)
	}
	if err != nil {
		os.Remove(name)
	}
	return err
}

// Diff returns the differences between two modules, or "" if they differ only in names of
// registers and labels, the order of declarations, comments and layout. The list holds the syntax
// errors if one of the texts cannot be parsed.
func Diff(want, got string) (string, diag.List) { return compare(want, got, nil) }

func compare(want, got string, where func(line int) string) (string, diag.List) {
	if want == got {
		return "", nil
	}
	a, list := ptx.Parse("want", want)
	if list.Errors() > 0 {
		return "", list
	}
	b, list := ptx.Parse("got", got)
	if list.Errors() > 0 {
		return "", list
	}
	rows, names := match(outline(a), outline(b))
	return difference(rows, names, where), nil
}
