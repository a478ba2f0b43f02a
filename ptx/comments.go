// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package ptx

import (
	"math"
	"strings"

	"github.com/ptxdsl/ptxdsl/internal/layout"
)

// blank prints a blank line before the next line of output.
func (p *printer) blank() {
	p.Blank()
	p.open = true
}

// blankBefore prints a blank line before the code at pos if the source has one there.
func (p *printer) blankBefore(pos Pos) {
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
		p.Blank()
	}
}

// begin starts a line of output for code at a position of the source.
func (p *printer) begin(at Pos, kind layout.Kind) {
	p.blankBefore(at)
	p.Begin(kind)
}

// end ends a line of output whose source ends at to. Comments on the same source line are printed
// on the line.
func (p *printer) end(to Pos) {
	if !p.End() {
		return
	}
	p.prev = to
	for p.printed < len(p.comments) && to <= p.due && commentMayFollow(p.file.Text[to:p.due]) {
		c := p.comment()
		p.Note(c.Text)
		to = c.At + Pos(len(c.Text))
		p.prev = to
		if strings.HasPrefix(c.Text, "//") {
			break
		}
	}
}

// comment returns the next comment to print.
func (p *printer) comment() *Comment {
	c := &p.comments[p.printed]
	p.printed++
	p.due = p.dueAt()
	return c
}

// dueAt returns the position of the next comment to print, or a position after the end of the
// text.
func (p *printer) dueAt() Pos {
	if p.printed == len(p.comments) {
		return math.MaxInt32
	}
	return p.comments[p.printed].At
}

// commentMayFollow reports whether a comment that is separated by text from the end of a
// statement on the same line belongs on the line of the statement.
func commentMayFollow(text string) bool {
	for i := range len(text) {
		switch text[i] {
		case ' ', '\t', '\r', ';', ',', '(', ')':
		default:
			return false
		}
	}
	return true
}

// leading prints the comments before pos, each on a separate line.
func (p *printer) leading(pos Pos) {
	for p.due < pos {
		c := p.comment()
		p.blankBefore(c.At)
		p.Comment(c.Text)
		p.prev = c.At + Pos(len(c.Text))
	}
}

// interior prints the comments before pos within a line of code. A // comment ends the line.
func (p *printer) interior(pos Pos) {
	if p.due >= pos {
		return
	}
	if line, _ := p.Started(); !line {
		// The printed order differs from that of the source, as for .align before .shared: the
		// comments between them are printed before the line.
		p.Before(func() { p.leading(pos) })
	}
	for p.due < pos {
		text := strings.TrimRight(p.comment().Text, " \t\r")
		if _, part := p.Started(); part &&
			!strings.ContainsRune(" \t([{@!", rune(p.Line[len(p.Line)-1])) {
			p.Put(" ")
		}
		p.Put(text)
		p.Foreign = true
		if strings.HasPrefix(text, "//") {
			p.Put("\n")
			for range p.Indent + 1 {
				p.Put("\t")
			}
			p.Broken = true
		} else {
			p.Put(" ")
			p.Broken = p.Broken || strings.Contains(text, "\n")
		}
	}
}
