// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package golden_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/ptxdsl/ptxdsl/golden"
)

const module = `.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p)
{
	.reg .b64 %rd<2>;
	.reg .b32 %a, %b;
	.shared .b32 x[4];
	.shared .b32 y[4];
	ld.param.u64 %rd1, [p];
	ld.global.b32 %a, [%rd1];
top:
	add.u32 %b, %a, 1;
	st.global.b32 [%rd1], %b;
	bra top;
}
`

// TestDiff holds changes of a module against what is said of them.
func TestDiff(t *testing.T) {
	for _, test := range []struct {
		name, old, new, want string
	}{
		{"nothing", "", "", ""},
		{"a register's name", "%b", "%sum", ""},
		{"two names swapped", "%a", "%b2", ""},
		{"a label's name", "top", "again", ""},
		{"order of declarations", "\t.shared .b32 x[4];\n\t.shared .b32 y[4];\n", "\t.shared .b32 y[4];\n\t.shared .b32 x[4];\n", ""},
		{"comments and space", "bra top;", "// back\n bra  top ;", ""},
		{"a constant", "%a, 1;", "%a, 2;", "- \tadd.u32 %b, %a, 1;\n+ \tadd.u32 %b, %a, 2;"},
		{"an instruction lost", "\tadd.u32 %b, %a, 1;\n", "", "- \tadd.u32 %b, %a, 1;"},
		{"a register's type", ".reg .b32 %a, %b;", ".reg .b32 %a; .reg .u32 %b;", "add.u32"},
		{"registers that change places", "st.global.b32 [%rd1], %b;", "st.global.b32 [%rd1], %a;", "+ \tst.global.b32 [%rd1], %a;"},
		{"a parameter", ".u64 p)", ".u32 p)", "- .visible .entry k(.param .u64 p)"},
		{"the version", ".version 8.0", ".version 8.1", "+ .version 8.1"},
		{"shared memory", "x[4]", "x[8]", "+ .shared .b32 x[8];"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, list := golden.Diff(module, strings.ReplaceAll(module, test.old, test.new))
			if test.old == "" {
				got, list = golden.Diff(module, module)
			}
			if len(list) > 0 {
				t.Fatal(list)
			}
			if test.want == "" && got != "" || !strings.Contains(got, test.want) {
				t.Errorf("got\n%s\nwant %q", got, test.want)
			}
		})
	}
	if _, list := golden.Diff(module, "add.u32 %r1"); len(list) == 0 {
		t.Error("a module that cannot be read is no error")
	}
}

// A recorder is a test that fails without failing this one.
type recorder struct {
	testing.TB
	said []string
}

func (r *recorder) Helper()                      {}
func (r *recorder) Errorf(f string, args ...any) { r.said = append(r.said, fmt.Sprintf(f, args...)) }
func (r *recorder) Fatalf(f string, args ...any) { r.said = append(r.said, fmt.Sprintf(f, args...)) }
func (r *recorder) Fatal(args ...any)            { r.said = append(r.said, fmt.Sprint(args...)) }

type fake struct {
	name, text string
	err        error
}

func (f fake) Name() string          { return f.name }
func (f fake) Text() (string, error) { return f.text, f.err }

// TestCheck holds what a test says against its golden file.
func TestCheck(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.Mkdir("testdata", 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("testdata/good.ptx", []byte(module), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		m    fake
		want string
	}{
		{fake{"good", module, nil}, ""},
		{fake{"good", strings.Replace(module, "add", "sub", 1), nil}, "testdata/good.ptx (-want +got; `go test -update` accepts):\n"},
		{fake{"missing", module, nil}, "testdata/missing.ptx is not there; `go test -update` makes it"},
		{fake{"bad", "", errors.New("k.go:3: no")}, "bad cannot be built:\nk.go:3: no"},
	} {
		r := &recorder{TB: t}
		golden.Check(r, test.m)
		said := strings.Join(r.said, "\n")
		if test.want == "" && said != "" || !strings.Contains(said, test.want) {
			t.Errorf("%s: said %q, want %q", test.m.name, said, test.want)
		}
	}
}
