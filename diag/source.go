// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package diag

import (
	"strings"
	"unicode/utf8"
)

// A Source returns the text of a file that findings refer to; ok is false if the text is not
// available.
type Source func(file string) (text string, ok bool)

// Texts returns a Source over files that are already in memory.
func Texts(files map[string]string) Source {
	return func(file string) (string, bool) {
		text, ok := files[file]
		return text, ok
	}
}

// Line returns line n of text, counted from 1, without its line end; ok is false after the
// last line.
func Line(text string, n int) (line string, ok bool) {
	r := reader{text: text}
	return r.line(n)
}

// Offset returns the byte offset of a line and column in text. ok is false if text has no such
// position. The positions just after a line and just after the text are valid.
func Offset(text string, line, column int) (offset int, ok bool) {
	r := reader{text: text}
	return r.offset(line, column)
}

// A reader reads lines of a text. Findings are sorted by position, so it continues from the current
// line. If an earlier line is requested, it indexes all lines, since later findings may refer to
// early lines again.
type reader struct {
	text   string
	at     int   // offset of the current line
	n      int   // its number, minus one
	starts []int // offsets of all lines; nil until an earlier line is requested
}

// seek makes line n the current line. It returns false if the text has no such line.
func (r *reader) seek(n int) bool {
	if n < 1 {
		return false
	}
	if n-1 < r.n && r.starts == nil {
		r.starts = lineStarts(r.text)
	}
	if r.starts != nil {
		if n > len(r.starts) {
			return false
		}
		r.at, r.n = r.starts[n-1], n-1
		return true
	}
	for r.n < n-1 {
		i := strings.IndexByte(r.text[r.at:], '\n')
		if i < 0 {
			return false
		}
		r.at += i + 1
		r.n++
	}
	return true
}

// lineStarts returns the byte offset of each line.
func lineStarts(text string) []int {
	starts := make([]int, 1, strings.Count(text, "\n")+1)
	for at := 0; ; {
		i := strings.IndexByte(text[at:], '\n')
		if i < 0 {
			return starts
		}
		at += i + 1
		starts = append(starts, at)
	}
}

func (r *reader) line(n int) (string, bool) {
	if !r.seek(n) {
		return "", false
	}
	s := r.text[r.at:]
	if i := strings.IndexByte(s, '\n'); i >= 0 {
		s = s[:i]
	}
	return strings.TrimSuffix(s, "\r"), true
}

func (r *reader) offset(line, column int) (int, bool) {
	if column < 1 || !r.seek(line) {
		return 0, false
	}
	s := r.text[r.at:]
	if i := strings.IndexByte(s, '\n'); i >= 0 {
		s = s[:i]
	}
	if column-1 > len(s) {
		return 0, false
	}
	return r.at + column - 1, true
}

// readers holds one reader for each file of a run of findings.
type readers struct {
	source Source
	files  map[string]*reader
}

func newReaders(s Source) *readers { return &readers{s, map[string]*reader{}} }

// line returns line n of a file, if its text is available.
func (r *readers) line(file string, n int) (string, bool) {
	f, known := r.files[file]
	if !known {
		if r.source != nil {
			if text, ok := r.source(file); ok {
				f = &reader{text: text}
			}
		}
		r.files[file] = f
	}
	if f == nil {
		return "", false
	}
	return f.line(n)
}

// character converts a column in bytes to one in Unicode characters, which other tools use. Without
// the text both are assumed equal.
func (r *readers) character(file string, line, column int) int {
	s, ok := r.line(file, line)
	if !ok || column < 1 {
		return column
	}
	if column-1 > len(s) {
		return utf8.RuneCountInString(s) + column - len(s)
	}
	return utf8.RuneCountInString(s[:column-1]) + 1
}

// closed returns p with an end; a place without one ends where it starts.
func (p Place) closed() Place {
	if p.EndLine < p.Line || p.EndLine == p.Line && p.EndColumn < p.Column {
		p.EndLine, p.EndColumn = p.Line, p.Column
	}
	return p
}
