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

// A Kind determines the lines with which a line is aligned.
type Kind uint8

// Kinds of lines.
const (
	Plain Kind = iota // not aligned
	Pass              // not aligned, without effect on the lines around it: .loc
	Instr             // opcode | operands
	Decl              // specifiers | names
)

// A line is one line of code. It consists of the parts [head:tail] and [tail:note] of the buffer
// Page.Line, and the trailing comment [note:end].
type line struct {
	head, tail, note, end int32
	before, behind        int32 // widths of the two parts
	indent                int16
	raw                   bool // contains line breaks; neither aligned nor wrapped
}

// Limits of widths, in columns.
const (
	maxHead  = 28  // maximum width of opcodes and specifiers that determine the column of operands
	maxCode  = 88  // maximum width of code that determines the column of comments
	maxLine  = 120 // maximum width of a line that is not wrapped
	tabWidth = 8
)

// A Page is a text that is formatted line by line. For each line of code, call Begin, append text
// to Line, call Tail before the operands, and call End. Lines that are aligned together are
// written as soon as the last of them is known. The zero Page is empty and ready for use.
type Page struct {
	Line   []byte // text of the lines in run, with the line being built at the end
	Indent int    // indentation of the next line
	// Properties of the line being built.
	Broken  bool // the line contains line breaks
	Foreign bool // the line contains other characters than ASCII

	out   []byte // finished text
	run   []line // consecutive lines that are aligned together
	kind  Kind   // kind of the lines in run
	level int    // indentation of the lines in run
}

// Reset makes p empty and reserves space for the given number of bytes. It reuses the memory of
// p.
func (p *Page) Reset(room int) {
	*p = Page{out: slices.Grow(p.out[:0], room), Line: p.Line[:0], run: p.run[:0]}
}

// Text returns the text of the page as a copy.
func (p *Page) Text() string {
	p.flush()
	return string(p.out)
}

// Give returns the text of the page without a copy. The page gives up its memory and becomes
// empty.
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
		if kind == Plain && len(p.run) > 0 && !p.hasNote() {
			p.flush() // the line is not aligned with the lines before it
		}
		p.kind, p.level = kind, p.Indent
	}
	p.run = append(p.run,
		line{indent: int16(p.Indent), head: int32(len(p.Line)), tail: -1, note: -1})
}

// hasNote reports whether the last line has a trailing comment.
func (p *Page) hasNote() bool {
	l := &p.run[len(p.run)-1]
	return l.note < l.end
}

// Put appends text to the line being built.
func (p *Page) Put(s string) { p.Line = append(p.Line, s...) }

// Tail marks the position in the current line where the operands or names begin.
func (p *Page) Tail() { p.run[len(p.run)-1].tail = int32(len(p.Line)) }

// End ends the code of the current line. It returns false if the code has already ended.
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

// Verbatim adds text that consists of whole lines, without formatting it.
func (p *Page) Verbatim(lines string) {
	p.flush()
	p.out = append(p.out, lines...)
}

// Started reports whether the line being built has text, and whether it has text after the
// position of Tail.
func (p *Page) Started() (line, part bool) {
	l := &p.run[len(p.run)-1]
	return len(p.Line) > int(l.head), len(p.Line) > int(max(l.head, l.tail))
}

// Before calls print, which adds comments before the current line. The current line must still be
// empty.
func (p *Page) Before(print func()) {
	last := len(p.run) - 1
	l := p.run[last]
	p.run = p.run[:last]
	print()
	l.head = int32(len(p.Line))
	p.run = append(p.run, l)
}
