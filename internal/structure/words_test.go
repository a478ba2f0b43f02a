// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package structure

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestWords checks that no phrase of scripts/banned.txt occurs in the comments and strings of Go
// files, in the comments of PTX test data, in the tables of instructions, in rule pages and in
// scripts. scripts/prose.sh checks the documentation.
func TestWords(t *testing.T) {
	list, err := os.ReadFile("../../scripts/banned.txt")
	if err != nil {
		t.Fatal(err)
	}
	banned := regexp.MustCompile(`(?i)\b(` + strings.Join(strings.Fields(
		strings.ReplaceAll(string(list), " ", `\s+`)), "|") + `)\b`)
	if !banned.MatchString("a copy in the\nbackground") || banned.MatchString("TEST_NOBODY") {
		t.Fatalf("the list is read wrongly: %s", banned)
	}
	files := 0
	err = filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		name := d.Name()
		switch {
		case err != nil:
			return err
		case d.IsDir():
			if strings.HasPrefix(name, ".") && name != ".." || name == "bin" || name == "build" {
				return filepath.SkipDir
			}
			return nil
		case strings.Contains(filepath.ToSlash(path), "/testdata/"):
			if strings.HasSuffix(name, ".ptx") {
				files++
				return ptxWords(t, path, banned)
			}
			return nil
		case strings.HasSuffix(name, ".go"):
			files++
			return goWords(t, path, banned)
		case strings.HasSuffix(name, ".isa"), strings.HasSuffix(name, ".sh"), name == "Makefile",
			strings.HasSuffix(name, ".md") && filepath.Base(filepath.Dir(path)) == "rules":
			text, err := os.ReadFile(path)
			if err == nil {
				files++
				report(t, path, string(text), 1, banned)
			}
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 1000 {
		t.Errorf("%d files were checked, at least 1000 are expected", files)
	}
}

// goWords checks the comments and the string literals of a Go file.
func goWords(t *testing.T, path string, banned *regexp.Regexp) error {
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, path, nil, parser.ParseComments)
	if err != nil {
		return err
	}
	for _, g := range f.Comments {
		report(t, path, g.Text(), set.Position(g.Pos()).Line, banned)
	}
	ast.Inspect(f, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			report(t, path, lit.Value, set.Position(lit.Pos()).Line, banned)
		}
		return true
	})
	return nil
}

// ptxWords checks the comments of a PTX file.
func ptxWords(t *testing.T, path string, banned *regexp.Regexp) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	line := 0
	for s := range strings.Lines(string(text)) {
		line++
		if _, comment, ok := strings.Cut(s, "//"); ok {
			report(t, path, comment, line, banned)
		}
	}
	return nil
}

// report reports the banned phrases in a text that begins at a line of a file.
func report(t *testing.T, path, text string, line int, banned *regexp.Regexp) {
	for _, at := range banned.FindAllStringIndex(text, -1) {
		t.Errorf("%s:%d: banned phrase: %s", path, line+strings.Count(text[:at[0]], "\n"),
			text[at[0]:at[1]])
	}
}
