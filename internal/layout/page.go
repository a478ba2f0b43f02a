// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package layout formats lines of PTX: it aligns opcodes, operands and comments in columns, and
// breaks long lines after commas. It does not interpret the text.
package layout

import (
	"bytes"
	"slices"
	"strings"
	"unsafe"
)

// A Kind specifies which lines are aligned together.
type Kind uint8

// Kinds of lines.
const (
	Plain Kind = iota // lines that are not aligned
	Pass              // not aligned, and does not end a run of aligned lines: .loc
	Instr             // opcode | operands
	Decl              // specifiers | names
)

// A line is one line of code: the parts [head:tail] and [tail:note] of the buffer, and the trailing
// comment [note:end].
type line struct {
	head, tail, note, end int32
	before, behind        int32 // widths of the two parts
	indent                int16
	raw                   bool // contains several lines: neither aligned nor wrapped
}

// Widths of the style, in columns.
const (
	widestHead = 28  // maximum width of opcodes and specifiers for aligning operands
	widestCode = 88  // maximum width of code for aligning comments
	widestLine = 120 // maximum width of a line before it is wrapped
	tabWidth   = 8
)

// A Page is formatted text that grows by lines. For each line of code, call Begin, append to Line,
// call Tail before the operands, and call End. A run of lines that are aligned together is written
// when it ends. The zero Page is empty and ready for use.
type Page struct {
	Line   []byte // the code of the current run; the line being built is at the end
	Indent int    // indentation of the next line
	// Flags of the line being built.
	Broken  bool // it spans several lines of text
	Foreign bool // it contains text other than ASCII

	out   []byte // finished text
	run   []line // lines of the current run, whose text is in Line
	kind  Kind   // kind of the lines in the run
	level int    // their indentation
}

// Reset empties p and reserves space for the given number of bytes. It keeps its memory.
func (p *Page) Reset(room int) {
	*p = Page{out: slices.Grow(p.out[:0], room), Line: p.Line[:0], run: p.run[:0]}
}

// Text returns the whole text of the page.
func (p *Page) Text() string {
	p.flush()
	return string(p.out)
}

// Give returns Text without a copy: the page releases its memory to the caller, and is empty.
func (p *Page) Give() string {
	p.flush()
	text := unsafe.String(unsafe.SliceData(p.out), len(p.out))
	*p = Page{}
	return text
}

// Blank inserts exactly one blank line before the next line, except at the start of the page.
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
			p.flush() // it is not aligned with the lines before it
		}
		p.kind, p.level = kind, p.Indent
	}
	p.run = append(p.run,
		line{indent: int16(p.Indent), head: int32(len(p.Line)), tail: -1, note: -1})
}

// noted reports whether the last line of the run has a trailing comment.
func (p *Page) noted() bool {
	l := &p.run[len(p.run)-1]
	return l.note < l.end
}

// Put appends text to the line being built.
func (p *Page) Put(s string) { p.Line = append(p.Line, s...) }

// Tail marks the position where operands or names begin.
func (p *Page) Tail() { p.run[len(p.run)-1].tail = int32(len(p.Line)) }

// End ends the code of a line. It returns false if the line has already ended.
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

// Note adds a trailing comment to the line that End has ended.
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

// Comment adds a comment on a line of its own.
func (p *Page) Comment(text string) {
	p.flush()
	p.out = tabs(p.out, p.Indent)
	p.out = append(p.out, strings.TrimRight(text, " \t\r")...)
	p.out = append(p.out, '\n')
}

// Verbatim adds lines unchanged.
func (p *Page) Verbatim(lines string) {
	p.flush()
	p.out = append(p.out, lines...)
}

// Started reports whether the line being built has any text, and whether it has text after Tail.
func (p *Page) Started() (line, part bool) {
	l := &p.run[len(p.run)-1]
	return len(p.Line) > int(l.head), len(p.Line) > int(max(l.head, l.tail))
}

// Before calls print to add comments before the line that was begun and is still empty.
func (p *Page) Before(print func()) {
	last := len(p.run) - 1
	l := p.run[last]
	p.run = p.run[:last]
	print()
	l.head = int32(len(p.Line))
	p.run = append(p.run, l)
}
