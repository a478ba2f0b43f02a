// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package golden_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/ptxdsl/ptxdsl/dsl"
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

// TestDiff checks the text of differences between modules.
func TestDiff(t *testing.T) {
	for _, test := range []struct {
		name, old, new, want string
	}{
		{"nothing", "", "", ""},
		{"a register's name", "%b", "%sum", ""},
		{"two names swapped", "%a", "%b2", ""},
		{"a label's name", "top", "again", ""},
		{"order of declarations", "\t.shared .b32 x[4];\n\t.shared .b32 y[4];\n",
			"\t.shared .b32 y[4];\n\t.shared .b32 x[4];\n", ""},
		{"comments and space", "bra top;", "// back\n bra  top ;", ""},
		{"a constant", "%a, 1;", "%a, 2;", "- \tadd.u32 %b, %a, 1;\n+ \tadd.u32 %b, %a, 2;"},
		{"an instruction lost", "\tadd.u32 %b, %a, 1;\n", "", "- \tadd.u32 %b, %a, 1;"},
		{"a register's type", ".reg .b32 %a, %b;", ".reg .b32 %a; .reg .u32 %b;", "add.u32"},
		{"registers that change places", "st.global.b32 [%rd1], %b;", "st.global.b32 [%rd1], %a;",
			"+ \tst.global.b32 [%rd1], %a;"},
		{"a parameter", ".u64 p)", ".u32 p)",
			"  .visible .entry k\n- \t.param .u64 p\n+ \t.param .u32 p\n"},
		{"a directive", "p)", "p)\n.maxntid 128, 1, 1", "+ \t.maxntid 128, 1, 1\n"},
		{"layout of the head", "k(.param .u64 p)", "k(\n\t.param  .u64 p\n)", ""},
		{
			"an instruction before all others", "\tld.param.u64",
			"\tmov.b32 %new, 1;\n\tld.param.u64",
			"@ line 4, in k\n  \t.param .u64 p\n  .shared .b32 x[4];\n  .shared .b32 y[4];\n+ \tmov.b32 %new, 1;\n" +
				"  \tld.param.u64 %rd1, [p];\n  \tld.global.b32 %a, [%rd1];\n  top:\n",
		},
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

// long is a module with instructions that have many operands.
const long = `.version 8.0
.target sm_100
.address_size 64
.entry k()
{
	.reg .pred %p;
	.reg .f32 %f<8>;
	.reg .b64 %rd<1>;
	ld.global.v8.f32 {%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7}, [%rd0];
	@%p bar.sync 0;
	st.global.v8.f32 [%rd0+32], {%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7};
	st.global.v8.f32 [%rd0+64], {%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7};
}
`

// TestNotes checks the notes about instructions with many operands, and about guards.
func TestNotes(t *testing.T) {
	for _, test := range []struct{ name, old, new, want string }{
		{"a guard's sense", "@%p bar", "@!%p bar", "- \t@%p bar.sync 0;\n+ \t@!%p bar.sync 0;\n"},
		{"a guard that went", "@%p bar", "bar", "- \t@%p bar.sync 0;\n+ \tbar.sync 0;\n"},
		{
			"registers that change places", "[%rd0+64], {%f0, %f1, %f2, %f3,",
			"[%rd0+64], {%f0, %f1, %f3, %f2,",
			"+ \tst.global.v8.f32 [%rd0+64], {%f0, %f1, %f3, %f2, %f4, %f5, %f6, %f7};  // operand 2, element 3; operand 2, element 4\n",
		},
		{
			"an offset", "[%rd0+32]", "[%rd0+36]",
			"+ \tst.global.v8.f32 [%rd0+36], {%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7};  // operand 1, element 1\n",
		},
		{"a name for a name", "%f3", "%x", ""},
	} {
		text := strings.ReplaceAll(long, test.old, test.new)
		if test.want == "" {
			text = strings.Replace(text, "%f<8>;", "%f<8>, %x;", 1)
		}
		got, list := golden.Diff(long, text)
		if len(list) > 0 {
			t.Fatal(list)
		}
		if test.want == "" && got != "" || !strings.Contains(got, test.want) {
			t.Errorf("%s: got\n%s\nwant %q", test.name, got, test.want)
		}
	}
}

// scale builds a kernel with a constant that differs from its golden file.
func scale(m *dsl.Module, by float64) {
	k := m.Kernel("scale")
	x := dsl.Global[dsl.F32](k, "x")
	i := k.TID().X
	x.Store(i, x.Load(i).MulF(by))
}

// TestGoLines checks that a difference names the Go line of the instruction.
func TestGoLines(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.Mkdir("testdata", 0o777); err != nil {
		t.Fatal(err)
	}
	old := dsl.New("scale", "sm_80")
	scale(old, 2)
	text, err := old.Text()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("testdata/scale.ptx", []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	m := dsl.New("scale", "sm_80")
	scale(m, 3)
	r := &recorder{TB: t}
	golden.Check(r, m)
	said := strings.Join(r.said, "\n")
	want := regexp.MustCompile(
		`(?m)^\+ \tmul\.f32 .*0f40400000;  // \S*golden_test\.go:\d+ called from \S*golden_test\.go:\d+$`)
	if !want.MatchString(said) {
		t.Errorf("message\n%s\nwant a line like %s", said, want)
	}
}

// A recorder is a testing.TB that records a failure without failing the enclosing test.
type recorder struct {
	testing.TB
	said []string
}

func (r *recorder) Helper() {}
func (r *recorder) Errorf(f string, args ...any) {
	r.said = append(r.said, fmt.Sprintf(f, args...))
}
func (r *recorder) Fatalf(f string, args ...any) {
	r.said = append(r.said, fmt.Sprintf(f, args...))
}
func (r *recorder) Fatal(args ...any) { r.said = append(r.said, fmt.Sprint(args...)) }

func (r *recorder) Logf(f string, args ...any) {
	r.said = append(r.said, "log: "+fmt.Sprintf(f, args...))
}

// TestClean checks that a module with a warning fails, and that one without findings passes.
func TestClean(t *testing.T) {
	for _, want := range []string{"",
		`golden_test.go:\d+:\d+: warning D501: result of add is unused`} {
		m := dsl.New("m", "sm_80")
		k := m.Kernel("k", dsl.Threads(32))
		x := dsl.Global[dsl.F32](k, "x")
		y := x.Load(k.TID().X)
		if want != "" {
			y.AddF(1)
		}
		x.Store(k.TID().X, y)
		r := &recorder{TB: t}
		golden.Clean(r, m)
		if said := strings.Join(r.said, "\n"); (said == "") != (want == "") ||
			!regexp.MustCompile(want).MatchString(said) || strings.Contains(said, "called from") {
			t.Errorf("message %q, want %q", said, want)
		}
	}
}

type fake struct {
	name, text string
	err        error
}

func (f fake) Name() string          { return f.name }
func (f fake) Text() (string, error) { return f.text, f.err }

// TestCheck checks the messages of Check for several golden files.
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
		{fake{"good", strings.Replace(module, "add", "sub", 1), nil},
			"testdata/good.ptx (-want +got; run `go test -update` to accept):\n@ line 1\n  .version 8.0\n  .target sm_80\n- .address_size 64\n+ .subress_size 64\n  .visible .entry k\n  \t.param .u64 p\n  .shared .b32 x[4];\n"},
		{fake{"good",
			strings.Replace(module, "top:\n",
				"top:\n"+strings.Repeat("\tadd.u32 %b, %b, 7;\n", 300),
				1), nil}, "testdata/good.ptx (-want +got; run `go test -update` to accept):\n@ line 10, in k\n  \tld.param.u64 %rd1, [p];\n  \tld.global.b32 %a, [%rd1];\n  top:\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n+ \tadd.u32 %b, %b, 7;\n... and 107 more lines; run `go test -update` and look at the diff in version control\n"},
		{fake{"missing", module, nil},
			"testdata/missing.ptx does not exist; run `go test -update` to create it, then review and commit it"},
		{fake{"bad", "", errors.New("k.go:3: no")}, "bad cannot be built:\nk.go:3: no"},
		{fake{"../good", module, nil}, `"../good" matches no file in testdata`},
		{fake{"", module, nil}, `"" matches no file in testdata`},
	} {
		r := &recorder{TB: t}
		golden.Check(r, test.m)
		said := strings.Join(r.said, "\n")
		if test.want == "" && said != "" || !strings.Contains(said, test.want) {
			t.Errorf("%s: message %q, want %q", test.m.name, said, test.want)
		}
	}
}

// TestScopes compares modules with names that several scopes declare.
func TestScopes(t *testing.T) {
	const head = ".version 8.0\n.target sm_80\n.entry k()\n{\n\t.reg .b32 a;\n"
	for _, test := range []struct {
		name, old, new string
		same           bool
	}{
		{"a label of each scope", "{ L: bra L; } { L: bra L; }", "{ L: bra L; } { M: bra M; }",
			true},
		{"a label of another scope", "L: { L: bra L; } bra L;", "L: { M: bra L; } bra L;", false},
		{"an inner register", "{ .reg .b64 a; mov.b64 a, 1; } mov.b32 a, 2;",
			"{ .reg .b64 c; mov.b64 c, 1; } mov.b32 a, 2;", true},
		{"an inner register that went", "{ .reg .b32 a; mov.b32 a, 1; } mov.b32 a, 2;",
			"{ mov.b32 a, 1; } mov.b32 a, 2;", false},
		{"the type of an inner register",
			"{ .reg .b32 c; mov.b32 c, 1; } { .reg .f32 c; mov.b32 c, 2; }",
			"{ .reg .f32 c; mov.b32 c, 1; } { .reg .f32 c; mov.b32 c, 2; }", false},
		{"the length of a vector", ".reg .v4 .b32 v; mov.b32 v.x, 1;",
			".reg .v2 .b32 v; mov.b32 v.x, 1;", false},
	} {
		got, list := golden.Diff(head+test.old+"\nret;\n}\n", head+test.new+"\nret;\n}\n")
		if len(list) > 0 {
			t.Fatal(list)
		}
		if test.same != (got == "") {
			t.Errorf("%s: got\n%s", test.name, got)
		}
	}
}

// TestUpdate writes golden files, several concurrently, and through a link.
func TestUpdate(t *testing.T) {
	folder := t.TempDir()
	t.Chdir(folder)
	if err := os.MkdirAll("elsewhere", 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll("testdata", 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("elsewhere/kept.ptx", nil, 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../elsewhere/kept.ptx", "testdata/linked.ptx"); err != nil {
		t.Fatal(err)
	}
	was := flag.Lookup("update").Value.String()
	if err := flag.Set("update", "true"); err != nil {
		t.Fatal(err)
	}
	if !golden.Updating() {
		t.Error("with -update, golden files are not to be rewritten")
	}
	var group sync.WaitGroup
	for i := range 16 {
		group.Go(func() { golden.CheckText(t, []string{"one", "deep/two", "linked"}[i%3], module) })
	}
	group.Wait()
	if err := flag.Set("update", was); err != nil {
		t.Fatal(err)
	}
	if golden.Updating() != (was == "true") {
		t.Error("golden files are to be rewritten still")
	}
	for _, name := range []string{"testdata/one.ptx", "testdata/deep/two.ptx",
		"elsewhere/kept.ptx"} {
		if text, err := os.ReadFile(name); err != nil || string(text) != module {
			t.Errorf("%s: %d bytes, %v", name, len(text), err)
		}
	}
	if info, err := os.Lstat("elsewhere/kept.ptx"); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("%v, %v", info, err)
	}
	if rest, _ := filepath.Glob("testdata/*.tmp"); len(rest) > 0 {
		t.Errorf("left behind: %v", rest)
	}
}
