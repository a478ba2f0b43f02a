// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package zoo

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/internal/filetest"
)

type u32 = dsl.Reg[dsl.U32]

// A twin is an entry of the zoo as a Go kernel. Its function is built twice, with the bug and
// without it.
type twin struct {
	number  int
	name    string // name of the PTX files
	build   func(k *dsl.Kernel, good bool)
	options []dsl.KernelOption
	ins     string // why the bug needs Ins, because builder calls prevent it; or ""
}

// block declares the number of threads per block, and pair a kernel of clusters of two blocks.
func block(threads int) []dsl.KernelOption { return []dsl.KernelOption{dsl.Threads(threads)} }
func pair() []dsl.KernelOption {
	return []dsl.KernelOption{dsl.Threads(128), dsl.Cluster(2)}
}

// twins returns the zoo in Go.
func twins() []twin {
	return slices.Concat(copyTwins(), objectTwins(), blockTwins(), tensorTwins())
}

// function returns the name of the function that builds the twin.
func (w twin) function() string {
	name := runtime.FuncForPC(reflect.ValueOf(w.build).Pointer()).Name()
	return name[strings.LastIndexByte(name, '.')+1:]
}

// findings builds the twin for a target.
func (w twin) findings(target string, good bool) diag.List {
	m := dsl.New("zoo", target)
	w.build(m.Kernel("k", w.options...), good)
	_, list := m.Build()
	return list
}

// text returns the PTX of the twin.
func (w twin) text(t *testing.T, target string, good bool) string {
	t.Helper()
	m := dsl.New("zoo", target, dsl.SkipHazards()) // one of the two has a bug
	w.build(m.Kernel("k", w.options...), good)
	text, err := m.Text()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// sources returns for each function the text of its file with everything else blanked out, so that
// line numbers stay the same.
func sources(t *testing.T) (text map[string]string, file map[string]string) {
	t.Helper()
	names, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	text, file = make(map[string]string), make(map[string]string)
	for _, name := range names {
		bytes, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		positions := token.NewFileSet()
		tree, err := parser.ParseFile(positions, name, bytes, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(string(bytes), "\n")
		for _, d := range tree.Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				first, last := positions.Position(f.Pos()).Line, positions.Position(f.End()).Line
				text[f.Name.Name] = strings.Repeat("\n", first-1) +
					strings.Join(lines[first-1:last], "\n")
				file[f.Name.Name] = name
			}
		}
	}
	return text, file
}

// TestTwins checks that the bug of each twin is found at the Go line that the comment marks, by the
// same rule as in PTX and for the same targets. The corrected twin must have no findings.
func TestTwins(t *testing.T) {
	text, _ := sources(t)
	list := entries(t)
	met := make(map[*entry]bool)
	for _, w := range twins() {
		found := false
		for _, e := range list {
			if e.number != w.number || e.name != w.name {
				continue
			}
			found, met[e] = true, true
			name := fmt.Sprintf("%02d_%s.%s.good=%v in Go", e.number, e.name, e.target, e.good)
			var reported diag.List
			for _, d := range w.findings(e.target, e.good) {
				switch {
				case d.Rule == "V101" || d.Severity == diag.Note && e.severity != "execution" &&
					!e.good:
				case d.Severity != diag.Note && d.Severity.String() != e.severity:
					t.Errorf("%s: %s is called %s, expected %s", name, d.Rule, d.Severity,
						e.severity)
				default:
					reported = append(reported, d)
				}
			}
			expected := text[w.function()]
			if e.good {
				expected = ""
			} else if wants, err := filetest.Wants(expected); err != nil || len(wants) == 0 {
				t.Errorf("%s: %s expects nothing: %v", name, w.function(), err)
			}
			filetest.Check(t, name, expected, reported)
		}
		if !found {
			t.Errorf("%02d_%s exists in Go, but not in PTX", w.number, w.name)
		}
	}
	for _, e := range list {
		if !met[e] {
			t.Errorf("%02d_%s exists in PTX, but not in Go", e.number, e.name)
		}
	}
}
