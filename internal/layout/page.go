// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package layout puts lines of PTX on a page: opcodes and operands below each other, comments below each other, lines that are too
// long broken after commas. It knows nothing of what the lines say.
package layout

import (
	"bytes"
	"slices"
	"strings"
	"unsafe"
)

// A Kind says which lines are aligned together.
type Kind uint8

// Kinds of lines.
const (
	Plain Kind = iota // nothing to align
	Pass              // nothing to align, and no reason to end a run: .loc
	Instr             // opcode | operands
	Decl              // specifiers | names
)

// A line is one line of code: text [head:tail] and [tail:note] of the buffer, and the comment
// [note:end] behind it.
type line struct {
	head, tail, note, end int32
	before, behind        int32 // widths of the two texts
	indent                int16
	raw                   bool // several lines in one: not to be aligned or wrapped
}

// Widths of the style, in columns.
const (
	widestHead = 28  // of opcodes and specifiers that operands are aligned behind
	widestCode = 88  // of code that comments are aligned behind
	widestLine = 120 // of a line that is not wrapped
	tabWidth   = 8
)

// A Page is text that grows by lines. Code is collected line by line: Begin, what is appended to Line, Tail, End. A run of
// lines that are aligned together is written when it ends. The zero Page is empty and ready for use.
type Page struct {
	Line   []byte // the code of the run, the line being built last
	Indent int    // of the next line
	// Of the line being built.
	Broken  bool // it goes over several lines of text
	Foreign bool // text of more than letters of the language is in it

	out   []byte // finished text
	run   []line // their text stands in Line
	kind  Kind   // of the lines of the run
	level int    // their indent
}

// Reset makes p empty, with room for so many bytes. It keeps its memory.
func (p *Page) Reset(room int) {
	*p = Page{out: slices.Grow(p.out[:0], room), Line: p.Line[:0], run: p.run[:0]}
}

// Text returns all that is on the page.
func (p *Page) Text() string {
	p.flush()
	return string(p.out)
}

// Give returns Text without a copy: the page gives its memory away, and is empty.
func (p *Page) Give() string {
	p.flush()
	text := unsafe.String(unsafe.SliceData(p.out), len(p.out))
	*p = Page{}
	return text
}

// Blank puts exactly one blank line before what comes next, but for the head of the page.
func (p *Page) Blank() {
	p.flush()
	if len(p.out) > 0 && !bytes.HasSuffix(p.out, []byte("\n\n")) {
		p.out = append(p.out, '\n')
	}
}

// Begin starts a line of code.
func (p *Page) Begin(kind Kind) {
	if kind != Pass {
		if len(p.run) > 0 && p.kind != Pass && p.kind != kind || p.level != p.Indent {
			p.flush()
		}
		if kind == Plain && len(p.run) > 0 && !p.noted() {
			p.flush() // nothing before it is aligned with it
		}
		p.kind, p.level = kind, p.Indent
	}
	p.run = append(p.run, line{indent: int16(p.Indent), head: int32(len(p.Line)), tail: -1, note: -1})
}

// noted reports whether the last line of the run has a comment behind it.
func (p *Page) noted() bool {
	l := &p.run[len(p.run)-1]
	return l.note < l.end
}

// Put appends text to the line being built.
func (p *Page) Put(s string) { p.Line = append(p.Line, s...) }

// Tail marks the place where operands or names begin.
func (p *Page) Tail() { p.run[len(p.run)-1].tail = int32(len(p.Line)) }

// End ends the code of a line. It reports false if that has been done.
func (p *Page) End() bool {
	l := &p.run[len(p.run)-1]
	if l.note >= 0 {
		return false
	}
	l.note = int32(len(p.Line))
	l.end = l.note
	if l.tail < 0 {
		l.tail = l.note
	}
	l.before, l.behind = l.tail-l.head, l.note-l.tail
	if p.Foreign {
		l.before, l.behind = width(p.Line[l.head:l.tail]), width(p.Line[l.tail:l.note])
	}
	l.raw = p.Broken
	p.Broken, p.Foreign = false, false
	return true
}

// Note puts a comment behind the line that End has ended.
func (p *Page) Note(text string) {
	l := &p.run[len(p.run)-1]
	if int32(len(p.Line)) > l.note {
		p.Put(" ")
	}
	p.Put(strings.TrimRight(text, " \t\r"))
	l.end = int32(len(p.Line))
	if strings.Contains(text, "\n") {
		l.raw = true
	}
}

// Comment puts a comment on a line of its own.
func (p *Page) Comment(text string) {
	p.flush()
	p.out = tabs(p.out, p.Indent)
	p.out = append(p.out, strings.TrimRight(text, " \t\r")...)
	p.out = append(p.out, '\n')
}

// Verbatim puts lines on the page as they are.
func (p *Page) Verbatim(lines string) {
	p.flush()
	p.out = append(p.out, lines...)
}

// Started reports whether something stands in the line being built: in it all, and behind Tail.
func (p *Page) Started() (line, part bool) {
	l := &p.run[len(p.run)-1]
	return len(p.Line) > int(l.head), len(p.Line) > int(max(l.head, l.tail))
}

// Before lets print put comments before the line that was begun and in which nothing stands yet.
func (p *Page) Before(print func()) {
	last := len(p.run) - 1
	l := p.run[last]
	p.run = p.run[:last]
	print()
	l.head = int32(len(p.Line))
	p.run = append(p.run, l)
}
