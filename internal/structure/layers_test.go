// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package structure

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/ptxdsl/ptxdsl/golden"
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

// apart are layers of which the first must not need the second, not even through other packages.
var apart = [][2]string{
	{"isa", "ptx"},                 // the table of instructions does not know the text
	{"ptx", "form"}, {"ptx", "ir"}, // the formatter accepts text that the checks refuse
	{"ir", "ptx"},
	{"passes", "ptx"}, {"passes", "lower"}, // passes and analyzers see the representation only
	{"lift", "form"}, {"lift", "passes"},
	{"dsl", "lift"}, {"dsl", "form"}, {"dsl", "runtime"}, // the builder needs no parser
	{"runtime", "dsl"}, // programs that only launch kernels
	{"runtime/device", "isa"}, {"runtime/driver", "ptx"},
	{".", "dsl"}, {".", "runtime"},
}

// TestApart checks the imports of packages and of what they import.
func TestApart(t *testing.T) {
	command := exec.CommandContext(t.Context(), "go", "list", "-deps", "-json=ImportPath,Deps",
		"./...")
	command.Dir = "../.."
	out, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	layers := Layers()
	seen := make(map[string]bool)
	for in := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			ImportPath string
			Deps       []string
		}
		if err := in.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		path, ours := inside(p.ImportPath)
		l, ok := Of(layers, path)
		if !ours || !ok {
			continue
		}
		seen[l.Path] = true
		for _, name := range p.Deps {
			path, ours := inside(name)
			if to, ok := Of(layers, path); ours && ok &&
				slices.Contains(apart, [2]string{l.Path, to.Path}) {
				t.Errorf("%s needs %s", p.ImportPath, name)
			}
		}
	}
	for _, pair := range apart {
		if !seen[pair[0]] || !seen[pair[1]] {
			t.Errorf("%v: a layer has no package", pair)
		}
	}
}

// page is the documentation page with the table.
const page = "../../docs/explanation/architecture.md"

// TestPage compares the table with the documentation. With -update it writes it there.
func TestPage(t *testing.T) {
	old, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	const from, to = "<!-- packages -->\n", "<!-- end -->\n"
	before, rest, ok := strings.Cut(string(old), from)
	_, after, ended := strings.Cut(rest, to)
	if !ok || !ended {
		t.Fatalf("%s has no place for the table", page)
	}
	var table strings.Builder
	table.WriteString("| package | contains | may import |\n|---|---|---|\n")
	for _, l := range Layers() {
		if l.Holds == "" {
			continue
		}
		name := "`" + l.Path + "`"
		if l.Path == "." {
			name = "the root, `ptxdsl`"
		}
		imports := strings.Fields(l.Imports)
		for i, path := range imports {
			imports[i] = strings.Replace(path, ".", "the root", 1)
		}
		fmt.Fprintf(&table, "| %s | %s | %s |\n", name, l.Holds, strings.Join(imports, ", "))
	}
	text := before + from + table.String() + to + after
	if text == string(old) {
		return
	}
	if !golden.Updating() {
		t.Fatalf("the table in %s is old: go test ./internal/structure -run TestPage -update", page)
	}
	if err := os.WriteFile(page, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestImports compares the imports of every package of the module with the table.
func TestImports(t *testing.T) {
	command := exec.CommandContext(t.Context(), "go", "list", "-json=ImportPath,Imports", "./...")
	command.Dir = "../.."
	out, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	layers := Layers()
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
		r, ok := Of(layers, path)
		if !ok {
			t.Errorf("%s is in no layer of the table", path)
			continue
		}
		for _, name := range p.Imports {
			if ours, ok := inside(name); ok {
				if !r.May(layers, ours) {
					t.Errorf("%s imports %s; %s may import: %s", path, ours, r.Path, r.Imports)
				}
				continue
			}
			first, _, _ := strings.Cut(name, "/")
			if strings.Contains(first, ".") && !r.MayUse(name) {
				t.Errorf("%s imports %s; %s may use: %s", path, name, r.Path, r.Modules)
			}
		}
	}
	if seen < 15 {
		t.Errorf("only %d packages were found", seen)
	}
}

// TestPublic checks that the examples and the listings of the documentation, with their tests,
// import only packages that other modules can import.
func TestPublic(t *testing.T) {
	command := exec.CommandContext(t.Context(), "go", "list",
		"-json=ImportPath,Imports,TestImports,XTestImports",
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

// TestLayers checks the table itself: it names only layers that it contains, in an order without
// cycles.
func TestLayers(t *testing.T) {
	layers := Layers()
	known := make(map[string]Layer)
	for _, r := range layers {
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
		for name := range strings.FieldsSeq(known[path].Imports) {
			if _, ok := known[name]; !ok && name != Anything {
				t.Errorf("%s may import %s, which is no layer", path, name)
			}
			visit(name)
		}
		state[path] = done
	}
	for _, r := range layers {
		visit(r.Path)
	}
}

func TestMay(t *testing.T) {
	layers := Layers()
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
		{"lift", "form", false},
		{"cmd/ptxdsl", "passes/verify/fence", true},
		{"ptx", "passesextra", false},
	} {
		r, ok := Of(layers, test.from)
		if !ok {
			t.Fatalf("%s is in no layer", test.from)
		}
		if got := r.May(layers, test.to); got != test.want {
			t.Errorf("%s may import %s: %v", test.from, test.to, got)
		}
	}
	if r, ok := Of(layers, "passesextra"); ok {
		t.Errorf("passesextra is in %s", r.Path)
	}
	ptx, _ := Of(layers, "ptx")
	if !ptx.MayUse("github.com/alecthomas/participle/v2/lexer") ||
		ptx.MayUse("github.com/dave/jennifer/jen") {
		t.Error("ptx and its modules")
	}
}

// TestGenericMethods bounds the number of functions that the compiler generates for a package that
// builds one kernel. In each such package it compiles all methods of the generic types that the
// package can see, and authors wait for that after each change of a kernel.
func TestGenericMethods(t *testing.T) {
	const limit = 1900 // 1,788 with Go 1.26
	command := exec.CommandContext(t.Context(), "go", "build", "-gcflags=-S",
		"./examples/01_vecadd")
	command.Dir = "../.."
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if n := bytes.Count(out, []byte(" STEXT ")); n < 10 || n > limit {
		t.Errorf("a package with one kernel is compiled to %d functions, want at most %d", n, limit)
	}
}
