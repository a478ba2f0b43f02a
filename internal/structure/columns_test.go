// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package structure

import (
	"go/scanner"
	"go/token"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

// A line has at most maxColumns columns, where a tab counts as tabColumns. A string literal of at
// least longText characters may exceed the limit, since a text that is split cannot be searched
// for. So may a line with a comment that states which finding a test expects in it.
const (
	maxColumns = 100
	tabColumns = 4
	longText   = 20
)

// TestColumns checks the width of the lines of all Go code that is written by hand.
func TestColumns(t *testing.T) {
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			hidden := strings.HasPrefix(d.Name(), ".") && strings.Trim(d.Name(), "./") != ""
			if hidden || d.Name() == "testdata" || d.Name() == "build" {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil || strings.Contains(string(text[:min(len(text), 400)]), "// Code generated") {
			return err
		}
		for _, line := range wideLines(text) {
			t.Errorf("%s:%d: more than %d columns", filepath.ToSlash(path), line, maxColumns)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// wideLines returns the numbers of the lines of a Go file that are too wide.
func wideLines(text []byte) []int {
	var wide []int
	free := freeColumns(text)
	for i, line := range strings.Split(string(text), "\n") {
		columns := utf8.RuneCountInString(line) + (tabColumns-1)*strings.Count(line, "\t")
		if n := free[i+1]; n > 0 {
			columns -= n
		}
		if columns > maxColumns {
			wide = append(wide, i+1)
		}
	}
	return wide
}

// freeColumns returns the number of columns in a line that do not count.
func freeColumns(text []byte) map[int]int {
	free := make(map[int]int)
	files := token.NewFileSet()
	file := files.AddFile("", -1, len(text))
	var s scanner.Scanner
	s.Init(file, text, nil, scanner.ScanComments)
	for {
		pos, tok, literal := s.Scan()
		if tok == token.EOF {
			return free
		}
		line := file.Line(pos)
		if tok == token.COMMENT && strings.HasPrefix(literal, "// want") {
			free[line] = math.MaxInt32
		}
		if tok == token.STRING && len(literal) >= longText {
			for i, part := range strings.Split(literal, "\n") {
				free[line+i] += utf8.RuneCountInString(part) + tabColumns*strings.Count(part, "\t")
			}
		}
	}
}

// TestWideLines checks which lines are too wide.
func TestWideLines(t *testing.T) {
	long := strings.Repeat("x", maxColumns)
	for _, test := range []struct {
		text string
		wide bool
	}{
		{"package p // " + long, true},
		{"package p // want " + long, false},
		{"package p\n\nvar x = \"" + long + "\"", false},
		{"package p\n\nvar x = `\n" + long + "\t`", false},
		{"package p\n\nvar x, " + long + " = 1, 2", true},
		{"package p\n\nvar " + long[8:] + " = 1", false},
		{"package p\n\nfunc f() {\n\t" + long[4:] + "()\n}", true},
		{"package p\n\nvar x = []string{" + strings.Repeat(`"short", `, 10) + "}", true},
	} {
		if got := len(wideLines([]byte(test.text))) > 0; got != test.wide {
			t.Errorf("%q is too wide: %t, expected %t", test.text, got, test.wide)
		}
	}
}
