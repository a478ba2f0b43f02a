// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package house

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/ptxdsl/ptxdsl"

// inside returns the path of a package from the root of the module, which is ".", and whether the
// module has it.
func inside(path string) (string, bool) {
	if path == module {
		return ".", true
	}
	return strings.CutPrefix(path, module+"/")
}

// TestImports compares the imports of every package of the module with the table.
func TestImports(t *testing.T) {
	command := exec.CommandContext(t.Context(), "go", "list", "-json=ImportPath,Imports", "./...")
	command.Dir = "../.."
	out, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	rooms := Rooms()
	seen := 0
	for in := json.NewDecoder(bytes.NewReader(out)); ; seen++ {
		var p struct {
			ImportPath string
			Imports    []string
		}
		if err := in.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		path, _ := inside(p.ImportPath)
		if within(path, "build") { // build holds build output, not sources
			continue
		}
		r, ok := Of(rooms, path)
		if !ok {
			t.Errorf("%s is in no room of the table", path)
			continue
		}
		for _, name := range p.Imports {
			if ours, ok := inside(name); ok {
				if !r.May(rooms, ours) {
					t.Errorf("%s imports %s; %s may import: %s", path, ours, r.Path, r.Ours)
				}
				continue
			}
			first, _, _ := strings.Cut(name, "/")
			if strings.Contains(first, ".") && !r.MayUse(name) {
				t.Errorf("%s imports %s; %s may use: %s", path, name, r.Path, r.Others)
			}
		}
	}
	if seen < 15 {
		t.Errorf("only %d packages were found", seen)
	}
}

// TestPublic checks that the examples and the listings of the documentation, with their tests, import
// only packages that other modules can import.
func TestPublic(t *testing.T) {
	command := exec.CommandContext(t.Context(), "go", "list", "-json=ImportPath,Imports,TestImports,XTestImports",
		"./examples/...", "./docs/...")
	command.Dir = "../.."
	out, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for in := json.NewDecoder(bytes.NewReader(out)); ; seen++ {
		var p struct {
			ImportPath                         string
			Imports, TestImports, XTestImports []string
		}
		if err := in.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		for _, name := range slices.Concat(p.Imports, p.TestImports, p.XTestImports) {
			if strings.HasPrefix(name, module+"/internal/") {
				t.Errorf("%s imports %s", p.ImportPath, name)
			}
		}
	}
	if seen < 44 {
		t.Errorf("only %d packages were found", seen)
	}
}

// TestRooms checks the table itself: it names only rooms that it contains, in an order without
// cycles.
func TestRooms(t *testing.T) {
	rooms := Rooms()
	known := make(map[string]Room)
	for _, r := range rooms {
		if _, twice := known[r.Path]; twice {
			t.Errorf("%s is in the table twice", r.Path)
		}
		known[r.Path] = r
	}
	const open, done = 1, 2
	state := make(map[string]int)
	var visit func(path string)
	visit = func(path string) {
		if state[path] == open {
			t.Errorf("%s may import itself by way of others", path)
		}
		if state[path] != 0 {
			return
		}
		state[path] = open
		for name := range strings.FieldsSeq(known[path].Ours) {
			if _, ok := known[name]; !ok && name != Anything {
				t.Errorf("%s may import %s, which is no room", path, name)
			}
			visit(name)
		}
		state[path] = done
	}
	for _, r := range rooms {
		visit(r.Path)
	}
}

func TestMay(t *testing.T) {
	rooms := Rooms()
	for _, test := range []struct {
		from, to string
		want     bool
	}{
		{"dsl", "ptx", false},
		{"dsl", "lower", true},
		{"passes", "ptx", false},
		{"passes/verify/fence", "passes", true},
		{"passes", "passes/verify/fence", false},
		{"runtime/driver", "dsl", false},
		{"runtime/emu/race", "runtime/emu", true},
		{"runtime/driver", "runtime", false},
		{"dsl", "dsl/internal/pack", true},
		{"cmd/ptxdsl", "passes/verify/fence", true},
		{"ptx", "passesextra", false},
	} {
		r, ok := Of(rooms, test.from)
		if !ok {
			t.Fatalf("%s is in no room", test.from)
		}
		if got := r.May(rooms, test.to); got != test.want {
			t.Errorf("%s may import %s: %v", test.from, test.to, got)
		}
	}
	if r, ok := Of(rooms, "passesextra"); ok {
		t.Errorf("passesextra is in %s", r.Path)
	}
	ptx, _ := Of(rooms, "ptx")
	if !ptx.MayUse("github.com/alecthomas/participle/v2/lexer") || ptx.MayUse("github.com/dave/jennifer/jen") {
		t.Error("ptx and its modules")
	}
}

// TestAnew bounds the number of functions that the compiler generates for a package that builds one
// kernel. In each such package it compiles all methods of the generic types that the package can
// see, and authors wait for that after each change of a kernel.
func TestAnew(t *testing.T) {
	const most = 1900 // 1,788 with Go 1.26
	command := exec.CommandContext(t.Context(), "go", "build", "-gcflags=-S", "./examples/01_vecadd")
	command.Dir = "../.."
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if n := bytes.Count(out, []byte(" STEXT ")); n < 10 || n > most {
		t.Errorf("a package with one kernel has %d functions when it is compiled; at most %d are expected", n, most)
	}
}
