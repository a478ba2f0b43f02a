// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package doctest tests the documentation: that listings are taken from code that compiles, that
// commands print what the pages show, and that links resolve. It contains only tests; page.go
// parses Markdown.
//
// A comment before a code block specifies the source of the block:
//
//	<!-- file: saxpy/saxpy.go from docs/tutorial/code/saxpy/saxpy.go -->  a whole Go file
//	<!-- file: stage.ptx -->                       a file that the reader writes
//	<!-- source: examples/02_saxpy/kernel.go#Build -->  one declaration of a Go file
//	<!-- excerpt: docs/tutorial/code/tma/tma.go -->     neighboring lines of a file
//	<!-- run -->                                   commands, and what they print
//	<!-- shown: it needs a GPU -->                 not tested, and why
//
// The comment <!-- table: FILE --> before a table says that the table is generated from the
// //cuda: comments of a Go file. `go test ./internal/doctest -update` rewrites listings, tables
// and output.
package doctest

import "strings"

// A page is a Markdown file that is divided into pieces. The texts of the pieces make up the
// file.
type page struct {
	name   string // path from the root of the repository
	pieces []piece
}

// A piece is text, or a code block or table with the comment before it.
type piece struct {
	line   int    // line number of the piece's first line
	marker string // "file", "source", "run" and so on; "" if no comment precedes the piece
	args   string
	lang   string // language of a code block, such as "go"
	code   bool   // the piece is a code block
	text   string // content of a code block without its fences
}

// parse divides a Markdown text into pieces.
func parse(name, text string) page {
	p := page{name: name}
	var last piece // the piece being read
	marker, args := "", ""
	flush := func() {
		if last.text != "" || last.code {
			p.pieces = append(p.pieces, last)
		}
		last = piece{}
	}
	number := 0
	for line := range strings.SplitAfterSeq(text, "\n") {
		number++
		trimmed := strings.TrimSpace(line)
		switch {
		case last.code && trimmed == "```":
			flush()
			last.line = number
		case last.code:
			last.text += line
		case strings.HasPrefix(trimmed, "```"):
			flush()
			last = piece{line: number, marker: marker, args: args, lang: trimmed[3:], code: true}
			marker, args = "", ""
		case marker == "table" && strings.HasPrefix(trimmed, "|"):
			if last.marker != "table" {
				flush()
				last = piece{line: number, marker: marker, args: args}
			}
			last.text += line
		default:
			if last.marker == "table" {
				flush()
				marker, args = "", ""
			}
			if last.text == "" {
				last.line = number
			}
			last.text += line
			if m, a, ok := comment(trimmed); ok {
				marker, args = m, a
			} else if trimmed != "" {
				marker, args = "", ""
			}
		}
	}
	flush()
	return p
}

// comment parses a line of the form <!-- marker: args -->. ok is false for other lines.
func comment(line string) (marker, args string, ok bool) {
	inner, ok := strings.CutPrefix(line, "<!-- ")
	if !ok {
		return "", "", false
	}
	inner, ok = strings.CutSuffix(inner, " -->")
	marker, args, _ = strings.Cut(inner, ": ")
	return marker, args, ok
}

// String returns the page as Markdown.
func (p page) String() string {
	var b strings.Builder
	for _, x := range p.pieces {
		if x.code {
			b.WriteString("```" + x.lang + "\n" + x.text + "```\n")
			continue
		}
		b.WriteString(x.text)
	}
	return b.String()
}
