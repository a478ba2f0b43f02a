// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package structure

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// A function has at most maxLines lines and maxBranches branches, which is its cyclomatic
// complexity.
const (
	maxLines    = 80
	maxBranches = 30
)

// longFunctions are the functions that exceed a limit, with the reason.
var longFunctions = map[string]string{
	"internal/structure/layers.go:Layers":               "a table",
	"runtime/emu/kinds.go:newEntries":                   "a table",
	"internal/oracle/gputest/failures.go:failureChecks": "a table",
	"internal/hostile/stated.go:statementTexts":         "a table",
	"internal/hostile/valid.go:validTexts":              "a table",
	"internal/fakecuda/modules.go:moduleFunctions":      "a table",

	"internal/oracle/gpuagree/program/mbarriers.go:Mbarriers": "a list of programs",
	"internal/oracle/gpuagree/program/warp.go:Warps":          "a list of programs",

	"runtime/emu/access.go:resolve": "run for each access to memory; calls in it cost time",
}

// TestFunctions checks the length and the complexity of functions outside of tests.
func TestFunctions(t *testing.T) {
	seen := make(map[string]bool)
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel("../..", path)
		name = filepath.ToSlash(name)
		if d.IsDir() {
			if name != "." &&
				(strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" ||
					d.Name() == "build") {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil,
			parser.ParseComments|parser.SkipObjectResolution)
		if err != nil || ast.IsGenerated(file) {
			return err
		}
		for _, decl := range file.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok || f.Body == nil {
				continue
			}
			lines := files.Position(f.End()).Line - files.Position(f.Pos()).Line + 1
			n := branches(f)
			if lines <= maxLines && n <= maxBranches {
				continue
			}
			id := name + ":" + f.Name.Name
			seen[id] = true
			if longFunctions[id] == "" {
				t.Errorf("%s has %d lines and %d branches, expected at most %d and %d; split it, or list it with a reason",
					id, lines, n, maxLines, maxBranches)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for id := range longFunctions {
		if !seen[id] {
			t.Errorf("%s is within the limits; remove it from longFunctions", id)
		}
	}
}

// branches returns the cyclomatic complexity of a function.
func branches(f *ast.FuncDecl) int {
	n := 1
	ast.Inspect(f.Body, func(x ast.Node) bool {
		switch x := x.(type) {
		case *ast.IfStmt, *ast.ForStmt, *ast.RangeStmt, *ast.CommClause:
			n++
		case *ast.CaseClause:
			if x.List != nil {
				n++
			}
		case *ast.BinaryExpr:
			if x.Op == token.LAND || x.Op == token.LOR {
				n++
			}
		}
		return true
	})
	return n
}
