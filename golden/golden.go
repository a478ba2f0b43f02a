// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package golden compares the PTX of a kernel with a file that was looked at once. It belongs into the tests of those who write
// kernels: a change that changes PTX shows as a difference of instructions, and `go test -update` accepts it.
//
//	func TestSaxpy(t *testing.T) {
//		m := dsl.New("saxpy", "sm_90")
//		Saxpy(m)
//		golden.Check(t, m)
//	}
package golden

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/ptx"
)

// A Module is something that has a name and becomes PTX, such as a *dsl.Module.
type Module interface {
	Name() string
	Text() (string, error)
}

// updateFlag is the flag of the test binary that rewrites golden files.
const updateFlag = "update"

func init() {
	// Tests have a flag of this name often, which serves as well.
	if flag.Lookup(updateFlag) == nil {
		flag.Bool(updateFlag, false, "rewrite golden files")
	}
}

// updating reports whether golden files are to be rewritten.
func updating() bool {
	f := flag.Lookup(updateFlag)
	return f != nil && f.Value.String() == "true"
}

// Check compares the PTX of m with testdata/NAME.ptx, NAME being the module's name. What differs is told as instructions that were
// lost, came or changed. Registers and labels may have other names, and declarations another order: that alone is no
// difference.
func Check(t testing.TB, m Module) {
	t.Helper()
	text, err := m.Text()
	if err != nil {
		t.Fatalf("%s cannot be built:\n%v", m.Name(), err)
		return
	}
	CheckText(t, m.Name(), text)
}

// CheckText is Check for PTX from elsewhere.
func CheckText(t testing.TB, name, text string) {
	t.Helper()
	path := filepath.Join("testdata", name+".ptx")
	if updating() {
		if err := write(path, text); err != nil {
			t.Fatal(err)
		}
		return
	}
	old, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		t.Fatalf("%s is not there; `go test -update` makes it, to be looked at and kept", path)
		return
	}
	if err != nil {
		t.Fatal(err)
		return
	}
	diff, list := Diff(string(old), text)
	if len(list) > 0 {
		t.Fatalf("%s: %s: %s", path, list[0].Place, list[0].Message)
		return
	}
	if diff != "" {
		t.Errorf("%s (-want +got; `go test -update` accepts):\n%s", path, diff)
	}
}

// write makes a file and its folder.
func write(path, text string) error {
	if old, err := os.ReadFile(path); err == nil && string(old) == text {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o666)
}

// Diff is what differs between two modules: "" where they differ at most in the names of registers and labels, the order of
// declarations, comments and layout. The list is what keeps one of them from being read.
func Diff(want, got string) (string, diag.List) {
	a, list := ptx.Parse("want", want)
	if list.Errors() > 0 {
		return "", list
	}
	b, list := ptx.Parse("got", got)
	if list.Errors() > 0 {
		return "", list
	}
	x, y := outline(a), outline(b)
	if strings.Join(keys(x), "\n") == strings.Join(keys(y), "\n") {
		return "", nil
	}
	return difference(x, y), nil
}
