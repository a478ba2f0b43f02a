// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package ptx

import (
	"bytes"
	"math"
	"strings"
	"unicode/utf8"
)

// A lineKind says which lines are aligned together.
type lineKind uint8

const (
	plainLine lineKind = iota // nothing to align
	passLine                  // nothing to align, and no reason to end a run: .loc
	instrLine                 // opcode | operands
	declLine                  // specifiers | names
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

// blank puts a blank line before what comes next, its comments included.
func (p *printer) blank() {
	p.flush()
	p.separate()
	p.open = true
}

// separate ends the text with exactly one blank line.
func (p *printer) separate() {
	if len(p.out) > 0 && !bytes.HasSuffix(p.out, []byte("\n\n")) {
		p.out = append(p.out, '\n')
	}
}

// gap keeps an author's blank line before what begins at pos.
func (p *printer) gap(pos Pos) {
	if p.open {
		p.open = false
		return
	}
	if p.prev >= pos {
		return
	}
	lines := 0
	for _, c := range []byte(p.file.Text[p.prev:pos]) {
		if c == '\n' {
			lines++
		}
	}
	if lines > 1 {
		p.flush()
		p.separate()
	}
}

// begin starts a line of code.
func (p *printer) begin(at Pos, kind lineKind) {
	p.gap(at)
	if kind != passLine {
		if len(p.run) > 0 && p.kind != passLine && p.kind != kind || p.level != p.indent {
			p.flush()
		}
		if kind == plainLine && len(p.run) > 0 && !p.noted() {
			p.flush() // nothing before it is aligned with it
		}
		p.kind, p.level = kind, p.indent
	}
	p.run = append(p.run, line{indent: int16(p.indent), head: int32(len(p.buf)), tail: -1, note: -1})
}

// noted reports whether the last line of the run has a comment behind it.
func (p *printer) noted() bool {
	l := &p.run[len(p.run)-1]
	return l.note < l.end
}

// tail marks the place where operands or names begin.
func (p *printer) tail() { p.run[len(p.run)-1].tail = int32(len(p.buf)) }

func (p *printer) put(s string) { p.buf = append(p.buf, s...) }

// end ends a line of code; to is where it ends in the source. Comments that follow on the same
// source line go with it.
func (p *printer) end(to Pos) {
	l := &p.run[len(p.run)-1]
	if l.note >= 0 {
		return
	}
	l.note = int32(len(p.buf))
	l.end = l.note
	if l.tail < 0 {
		l.tail = l.note
	}
	l.before, l.behind = l.tail-l.head, l.note-l.tail
	if p.foreign {
		l.before, l.behind = width(p.buf[l.head:l.tail]), width(p.buf[l.tail:l.note])
	}
	l.raw = p.inside
	p.inside, p.foreign = false, false
	p.prev = to
	for p.printed < len(p.comments) && to <= p.due && between(p.file.Text[to:p.due]) {
		if int32(len(p.buf)) > l.note {
			p.put(" ")
		}
		c := p.comment()
		p.put(strings.TrimRight(c.Text, " \t\r"))
		l.end = int32(len(p.buf))
		to = c.At + Pos(len(c.Text))
		p.prev = to
		if strings.Contains(c.Text, "\n") {
			l.raw = true
		}
		if strings.HasPrefix(c.Text, "//") {
			break
		}
	}
}

// comment is the next comment, which its caller prints.
func (p *printer) comment() *Comment {
	c := &p.comments[p.printed]
	p.printed++
	p.due = p.dueAt()
	return c
}

// dueAt is where the next comment is, behind everything if there is none.
func (p *printer) dueAt() Pos {
	if p.printed == len(p.comments) {
		return math.MaxInt32
	}
	return p.comments[p.printed].At
}

// between reports whether text is what may stand between the end of a statement and a comment behind it.
func between(text string) bool {
	for i := range len(text) {
		switch text[i] {
		case ' ', '\t', '\r', ';', ',', '(', ')':
		default:
			return false
		}
	}
	return true
}

// leading prints the comments before pos, each on a line of its own.
func (p *printer) leading(pos Pos) {
	for p.due < pos {
		c := p.comment()
		p.gap(c.At)
		p.flush()
		p.indentBy(p.indent)
		p.out = append(p.out, strings.TrimRight(c.Text, " \t\r")...)
		p.out = append(p.out, '\n')
		p.prev = c.At + Pos(len(c.Text))
	}
}

// interior prints the comments before pos inside a line of code. What follows a line comment goes
// to a line of its own.
func (p *printer) interior(pos Pos) {
	if last := len(p.run) - 1; p.due < pos && int(p.run[last].head) == len(p.buf) {
		// What is printed first is not first in the source, as .align before .shared: they go before the line.
		l := p.run[last]
		p.run = p.run[:last]
		p.leading(pos)
		l.head = int32(len(p.buf))
		p.run = append(p.run, l)
	}
	for p.due < pos {
		text := strings.TrimRight(p.comment().Text, " \t\r")
		l := &p.run[len(p.run)-1]
		if n := len(p.buf); n > int(max(l.head, l.tail)) && !strings.ContainsRune(" \t([{@!", rune(p.buf[n-1])) {
			p.put(" ")
		}
		p.put(text)
		p.foreign = true
		if strings.HasPrefix(text, "//") {
			p.put("\n")
			for range p.indent + 1 {
				p.put("\t")
			}
			p.inside = true
		} else {
			p.put(" ")
			p.inside = p.inside || strings.Contains(text, "\n")
		}
	}
}

func (p *printer) indentBy(n int) {
	const tabs = "\t\t\t\t\t\t\t\t"
	for ; n > len(tabs); n -= len(tabs) {
		p.out = append(p.out, tabs...)
	}
	p.out = append(p.out, tabs[:n]...)
}

// flush writes the run of lines, aligned.
func (p *printer) flush() {
	if len(p.run) == 0 {
		return
	}
	column := int32(0)
	for i := range p.run {
		l := &p.run[i]
		if !l.raw && l.tail < l.note && l.before <= widestHead {
			column = max(column, l.before)
		}
	}
	for i := 0; i < len(p.run); {
		j := i
		for j < len(p.run) && p.run[j].note < p.run[j].end {
			j++
		}
		notes := int32(0)
		for k := i; k < j; k++ {
			if w := p.codeWidth(&p.run[k], column); w <= widestCode {
				notes = max(notes, w)
			}
		}
		for k := i; k < j; k++ {
			p.write(&p.run[k], column, notes)
		}
		if j == i {
			p.write(&p.run[j], column, 0)
			j++
		}
		i = j
	}
	p.run = p.run[:0]
	p.buf = p.buf[:0]
}

// codeWidth is the width of a line without its indent and comment, or more than widestCode for a
// line whose comment is not aligned.
func (p *printer) codeWidth(l *line, column int32) int32 {
	if l.raw {
		return widestCode + 1
	}
	if l.tail == l.note {
		return l.before
	}
	return max(l.before, column) + 1 + l.behind
}

// write writes a line: head, operands at column, comment at notes.
func (p *printer) write(l *line, column, notes int32) {
	indent := int(l.indent)
	p.indentBy(indent)
	p.out = append(p.out, p.buf[l.head:l.tail]...)
	at := l.before
	if tail := p.buf[l.tail:l.note]; len(tail) > 0 {
		n := int32(1)
		if !l.raw && at < column {
			n = column - at + 1
		}
		p.spaces(n)
		at += n
		if !l.raw && indent*tabWidth+int(at+l.behind) > widestLine {
			p.wrap(tail, indent+1, indent*tabWidth+int(at))
			at = widestCode + 1
		} else {
			p.out = append(p.out, tail...)
			at += l.behind
		}
	}
	if l.note < l.end {
		n := int32(2)
		if at < notes {
			n += notes - at
		}
		p.spaces(n)
		p.out = append(p.out, p.buf[l.note:l.end]...)
	}
	p.out = append(p.out, '\n')
}

// wrap writes text that is too long for a line, broken after commas.
func (p *printer) wrap(text []byte, indent, at int) {
	for len(text) > 0 {
		piece := text
		if i := comma(text); i >= 0 {
			piece = text[:i+1]
		}
		text = text[len(piece):]
		columns := int(width(piece))
		if at+columns > widestLine {
			p.out = bytes.TrimRight(p.out, " ")
			p.out = append(p.out, '\n')
			p.indentBy(indent)
			at = indent * tabWidth
			piece = bytes.TrimLeft(piece, " ")
			columns = int(width(piece))
		}
		p.out = append(p.out, piece...)
		at += columns
	}
}

// comma finds the next comma outside a string and a comment; -1 if there is none.
func comma(text []byte) int {
	quoted := false
	for i, c := range text {
		switch {
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '/' && i+1 < len(text) && text[i+1] == '*':
			end := bytes.Index(text[i:], []byte("*/"))
			if end < 0 {
				return -1
			}
			if next := comma(text[i+end+2:]); next >= 0 {
				return i + end + 2 + next
			}
			return -1
		case c == ',':
			return i
		}
	}
	return -1
}

func (p *printer) spaces(n int32) {
	const blanks = "                                "
	for ; int(n) > len(blanks); n -= int32(len(blanks)) {
		p.out = append(p.out, blanks...)
	}
	p.out = append(p.out, blanks[:n]...)
}

// width is the number of columns of text.
func width(text []byte) int32 {
	for _, c := range text {
		if c >= utf8.RuneSelf {
			return int32(utf8.RuneCount(text))
		}
	}
	return int32(len(text))
}
