// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package layout

import (
	"bytes"
	"encoding/binary"
	"unicode/utf8"
)

// tabs appends n tabs to text.
func tabs(text []byte, n int) []byte {
	if n == 1 { // the most frequent case
		return append(text, '\t')
	}
	const some = "\t\t\t\t\t\t\t\t"
	for ; n > len(some); n -= len(some) {
		text = append(text, some...)
	}
	return append(text, some[:n]...)
}

// spaces appends n spaces to text.
func spaces(text []byte, n int) []byte {
	const some = "                " // short enough for the compiler to copy it without a call
	for ; n > 0; n -= len(some) {
		text = append(text, some...)
	}
	return text[:len(text)+n]
}

// flush writes the collected lines with their alignment.
func (p *Page) flush() {
	if len(p.run) == 0 {
		return
	}
	column := int32(0)
	for i := range p.run {
		l := &p.run[i]
		if !l.raw && l.tail < l.note && l.before <= maxHead {
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
			if w := p.run[k].code(column); w <= maxCode {
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
	p.Line = p.Line[:0]
}

// code returns the width of a line without its indentation and comment. The result exceeds
// maxCode if the comment must not be aligned.
func (l *line) code(column int32) int32 {
	if l.raw {
		return maxCode + 1
	}
	if l.tail == l.note {
		return l.before
	}
	return max(l.before, column) + 1 + l.behind
}

// write writes a line with its operands at column and its comment at notes.
func (p *Page) write(l *line, column, notes int32) {
	indent := int(l.indent)
	p.out = tabs(p.out, indent)
	p.out = append(p.out, p.Line[l.head:l.tail]...)
	at := l.before
	if tail := p.Line[l.tail:l.note]; len(tail) > 0 {
		n := int32(1)
		if !l.raw && at < column {
			n = column - at + 1
		}
		p.out = spaces(p.out, int(n))
		at += n
		if !l.raw && indent*tabWidth+int(at+l.behind) > maxLine {
			p.out = wrap(p.out, tail, indent+1, indent*tabWidth+int(at))
			at = maxCode + 1
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
		p.out = spaces(p.out, int(n))
		p.out = append(p.out, p.Line[l.note:l.end]...)
	}
	p.out = append(p.out, '\n')
}

// wrap appends text, which does not fit into a line, to to. It breaks lines after commas. The
// first line starts at column at, and further lines are indented by indent tabs.
func wrap(to, text []byte, indent, at int) []byte {
	even := bytes.IndexByte(text, '"') < 0 && bytes.IndexByte(text, '/') < 0 &&
		int(width(text)) == len(text)
	for len(text) > 0 {
		end, columns := piece(text, maxLine-at, even)
		if columns > maxLine-at {
			to = append(bytes.TrimRight(to, " "), '\n')
			to = tabs(to, indent)
			at = indent * tabWidth
			text = bytes.TrimLeft(text, " ")
			end, columns = piece(text, maxLine-at, even)
		}
		to = append(to, text[:end]...)
		text = text[end:]
		at += columns
	}
	return to
}

// piece returns the length of the part of text that fits into a line with room columns, and its
// width. If text is even, that is, ASCII without strings and comments, the part ends after the
// last comma that fits. Otherwise it ends after the next comma, even if that is too long.
func piece(text []byte, room int, even bool) (end, columns int) {
	if even && len(text) <= room {
		return len(text), len(text)
	}
	if even && room > 0 {
		if i := bytes.LastIndexByte(text[:room], ','); i >= 0 {
			return i + 1, i + 1
		}
	}
	if i := comma(text); i >= 0 {
		text = text[:i+1]
	}
	return len(text), int(width(text))
}

// comma returns the index of the next comma outside strings and comments, or -1.
func comma(text []byte) int {
	if i := bytes.IndexByte(text, ','); i < 0 || bytes.IndexByte(text[:i], '"') < 0 &&
		bytes.IndexByte(text[:i], '/') < 0 {
		return i
	}
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

// width returns the number of columns of text.
func width(text []byte) int32 {
	const high = 0x8080808080808080 // the top bits, which are set in non-ASCII bytes only
	rest := text
	for ; len(rest) >= 8; rest = rest[8:] {
		if binary.LittleEndian.Uint64(rest)&high != 0 {
			return int32(utf8.RuneCount(text))
		}
	}
	for _, c := range rest {
		if c >= utf8.RuneSelf {
			return int32(utf8.RuneCount(text))
		}
	}
	return int32(len(text))
}
