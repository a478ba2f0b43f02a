// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package source finds the call expression in a Go file to which a finding refers: its columns,
// and an edit that fixes the finding.
package source

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"

	"github.com/ptxdsl/ptxdsl/diag"
)

// Files holds the parsed Go files that contain findings, by name. A file is parsed when its first
// finding is recorded. A program counter identifies a line but no column, so the column is taken
// from the source.
type Files map[string]*file

// A file holds the call expressions of a Go file, by the line of their function name. It is empty
// if the file cannot be read.
type file struct {
	fset       *token.FileSet
	calls      map[int][]*ast.CallExpr
	statements map[*ast.CallExpr]bool // calls whose result is discarded
}

// A Call is a position and the call expression at that position. call is nil if the expression is
// not known.
type Call struct {
	At   diag.Place
	call *ast.CallExpr
	in   *file
}

// fileOf returns the file with a name. It parses the file at the first request.
func (s Files) fileOf(name string) *file {
	if f := s[name]; f != nil {
		return f
	}
	f := &file{
		fset:       token.NewFileSet(),
		calls:      make(map[int][]*ast.CallExpr),
		statements: make(map[*ast.CallExpr]bool),
	}
	s[name] = f
	tree, err := parser.ParseFile(f.fset, name, nil, parser.SkipObjectResolution)
	if err != nil {
		return f
	}
	ast.Inspect(tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ExprStmt:
			if call, ok := n.X.(*ast.CallExpr); ok {
				f.statements[call] = true
			}
		case *ast.CallExpr:
			line := f.fset.Position(calleeName(n).Pos()).Line
			f.calls[line] = append(f.calls[line], n)
		}
		return true
	})
	return f
}

// calleeName returns the part of a call that names the function.
func calleeName(call *ast.CallExpr) ast.Expr {
	fun := call.Fun
	for {
		switch x := fun.(type) {
		case *ast.ParenExpr:
			fun = x.X
		case *ast.IndexExpr:
			fun = x.X
		case *ast.IndexListExpr:
			fun = x.X
		case *ast.SelectorExpr:
			return x.Sel
		default:
			return fun
		}
	}
}

// find returns the call on a line whose function has one of the names, or else the only call of
// the line. It returns nil if several calls are possible.
func (f *file) find(line int, names []string) *ast.CallExpr {
	for _, name := range names {
		var found *ast.CallExpr
		n := 0
		for _, call := range f.calls[line] {
			if id, ok := calleeName(call).(*ast.Ident); ok && id.Name == name {
				found = call
				n++
			}
		}
		if n == 1 {
			return found
		}
		if n > 1 {
			return nil
		}
	}
	if list := f.calls[line]; len(list) == 1 {
		return list[0]
	}
	return nil
}

// place returns the source range of a call, from its function name to its end.
func (f *file) place(file string, call *ast.CallExpr) diag.Place {
	start, end := f.fset.Position(calleeName(call).Pos()), f.fset.Position(call.End())
	return diag.Place{
		File: Short(file), Line: start.Line, Column: start.Column,
		EndLine: end.Line, EndColumn: end.Column,
	}
}

// calledNames returns the identifiers by which source code may call a function, given its linker
// symbol, innermost first. For dsl.(*Kernel).Range.func1 they include Range.
func calledNames(symbol string) []string {
	for from := strings.Index(symbol, "["); from >= 0; from = strings.Index(symbol, "[") {
		to := strings.LastIndex(symbol, "]")
		if to < from {
			break
		}
		symbol = symbol[:from] + symbol[to+1:]
	}
	symbol = symbol[strings.LastIndex(symbol, "/")+1:]
	parts := strings.Split(symbol, ".")
	var names []string
	for i := len(parts) - 1; i > 0; i-- {
		name, _, _ := strings.Cut(parts[i], "-range")
		if token.IsIdentifier(name) && !strings.HasPrefix(name, "func") {
			names = append(names, name)
		}
	}
	return names
}

// Call returns the call at a line of a file. callee is the linker symbol of the called function.
// If the call is not found, the column is 1.
func (s Files) Call(name string, line int, callee string) Call {
	f := s.fileOf(name)
	call := f.find(line, calledNames(callee))
	if call == nil {
		return Call{At: diag.Place{File: Short(name), Line: line, Column: 1}, in: f}
	}
	return Call{At: f.place(name, call), call: call, in: f}
}

// Complete returns at with the columns of the first call on its line, or unchanged if the line
// has no call.
func (s Files) Complete(at diag.Place) diag.Place {
	f := s.fileOf(at.File)
	if calls := f.calls[at.Line]; len(calls) > 0 {
		return f.place(at.File, calls[0])
	}
	return at
}

// Short returns a file name relative to the working directory, if the file is below it.
func Short(file string) string {
	dir, err := os.Getwd()
	if err != nil {
		return file
	}
	if rel, err := filepath.Rel(dir, file); err == nil && !strings.HasPrefix(rel, "..") {
		return rel
	}
	return file
}
