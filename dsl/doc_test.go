// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// TestKernelDoc checks that the documentation of Kernel lists each of its methods once.
func TestKernelDoc(t *testing.T) {
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var methods []string
	doc := ""
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil,
			parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv != nil && d.Name.IsExported() && isKernel(d.Recv.List[0].Type) {
					methods = append(methods, d.Name.Name)
				}
			case *ast.GenDecl:
				if s, ok := d.Specs[0].(*ast.TypeSpec); ok && s.Name.Name == "Kernel" {
					doc = d.Doc.Text()
				}
			}
		}
	}
	if len(methods) < 50 {
		t.Errorf("found %d methods of Kernel; at least 50 are expected", len(methods))
	}
	for _, m := range methods {
		if n := strings.Count(doc, "[Kernel."+m+"]"); n != 1 {
			t.Errorf("the documentation of Kernel lists %s %d times, want once", m, n)
		}
	}
	if n := strings.Count(doc, "[Kernel."); n != len(methods) {
		t.Errorf("the documentation of Kernel lists %d methods, want %d", n, len(methods))
	}
}

// isKernel reports whether a receiver has the type *Kernel.
func isKernel(e ast.Expr) bool {
	s, ok := e.(*ast.StarExpr)
	if !ok {
		return false
	}
	id, ok := s.X.(*ast.Ident)
	return ok && id.Name == "Kernel"
}
