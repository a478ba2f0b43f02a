// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package filetest compares findings about a file with the expectations in its comments:
//
//	add.s32 %r1, %r2; // want "F301 .* needs 3 operands"
//	add.f32 %r1, %q2, %r1 // want 14:"unknown" 19:"type" `one more on this line`
//	// want+1 "the finding is one line further on"
//
// A pattern is matched against a text that consists of the rule, a space and the message. A
// number before it is the column where the finding must begin. An unexpected finding fails the
// test, and so does an expectation without a finding.
package filetest

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/ptxdsl/ptxdsl/diag"
)

// A Want is one expectation: a finding that a comment requires.
type Want struct {
	Line   int
	Column int // 0 if the column does not matter
	Rx     *regexp.Regexp
}

// String returns the expectation in the notation of the comments.
func (w Want) String() string {
	if w.Column == 0 {
		return fmt.Sprintf("line %d: want %q", w.Line, w.Rx)
	}
	return fmt.Sprintf("line %d: want %d:%q", w.Line, w.Column, w.Rx)
}

var (
	comment = regexp.MustCompile("(?://|/\\*)\\s*want([+-]\\d+)? +((?:\\d+:)?[\"`].*)$")
	item    = regexp.MustCompile("^\\s*(?:(\\d+):)?(\"(?:[^\"\\\\]|\\\\.)*\"|`[^`]*`)")
	closing = regexp.MustCompile(`^\s*(\*/.*)?$`)
)

// Wants returns the expectations in the comments of a text.
func Wants(text string) ([]Want, error) {
	var list []Want
	for i, line := range strings.Split(text, "\n") {
		m := comment.FindStringSubmatch(strings.TrimSuffix(line, "\r"))
		if m == nil {
			continue
		}
		at := i + 1
		if m[1] != "" {
			offset, err := strconv.Atoi(m[1])
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", i+1, err)
			}
			at += offset
		}
		for rest := m[2]; !closing.MatchString(rest); {
			part := item.FindStringSubmatch(rest)
			if part == nil {
				return nil, fmt.Errorf("line %d: not an expectation: %s", i+1, rest)
			}
			rest = rest[len(part[0]):]
			w := Want{Line: at}
			if part[1] != "" {
				column, err := strconv.Atoi(part[1])
				if err != nil {
					return nil, fmt.Errorf("line %d: %w", i+1, err)
				}
				w.Column = column
			}
			pattern, err := strconv.Unquote(part[2])
			if err == nil {
				w.Rx, err = regexp.Compile(pattern)
			}
			if err != nil {
				return nil, fmt.Errorf("line %d: %s: %w", i+1, part[2], err)
			}
			list = append(list, w)
		}
	}
	return list, nil
}

// Compare returns the differences between the findings about a text and the expectations in its
// comments, one line each, in the order of the file.
func Compare(text string, findings diag.List) ([]string, error) {
	wants, err := Wants(text)
	if err != nil {
		return nil, err
	}
	var list []string
	met := make([]bool, len(wants))
	for _, d := range findings {
		found := false
		for i, w := range wants {
			if !met[i] && w.meets(d) {
				met[i], found = true, true
				break
			}
		}
		if !found {
			list = append(list,
				fmt.Sprintf("line %d, column %d: unexpected: %s %s", d.Place.Line, d.Place.Column,
					d.Rule, d.Message))
		}
	}
	for i, w := range wants {
		if !met[i] {
			list = append(list, w.String()+": there is no such finding")
		}
	}
	return list, nil
}

func (w Want) meets(d diag.Diagnostic) bool {
	return w.Line == d.Place.Line && (w.Column == 0 || w.Column == d.Place.Column) &&
		w.Rx.MatchString(d.Rule+" "+d.Message)
}

// Check fails the test unless the findings match the expectations in the comments of the text.
func Check(t testing.TB, name, text string, findings diag.List) {
	t.Helper()
	list, err := Compare(text, findings)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	for _, line := range list {
		t.Errorf("%s: %s", name, line)
	}
}

// Run runs a subtest for every file that matches a pattern. The findings that find returns must
// match the expectations in the file's comments. Run fails if no file matches.
func Run(t *testing.T, pattern string, find func(name, text string) diag.List) {
	t.Helper()
	names, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	if len(names) == 0 {
		t.Fatalf("no files match %s", pattern)
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".ptx"), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			Check(t, name, string(text), find(name, string(text)))
		})
	}
}
