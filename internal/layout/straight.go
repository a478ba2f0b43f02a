// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package layout

// The functions in this file format lines that are all aligned together and have no trailing
// comments. Such lines need not be collected before they are written. Straight returns the text
// of the page, and Take sets it. Between these calls, for each line call Begun, append the text
// before the operands, call Behind, append the operands, and call Done. The result is the same as
// that of Begin, Tail and End.

// Column returns the column of the operands after a further line, whose opcode has width head.
func Column(column, head int) int {
	if head <= maxHead {
		return max(column, head)
	}
	return column
}

// Straight returns the text of the page, for appending lines to it.
func (p *Page) Straight() []byte {
	p.flush()
	return p.out
}

// Take replaces the text of the page by text, which must start with the text that Straight
// returned.
func (p *Page) Take(text []byte) { p.out = text }

// Begun appends the indentation of a line to text.
func (p *Page) Begun(text []byte) []byte { return tabs(text, p.Indent) }

// Behind appends spaces to text up to the column of the operands, at least one.
func Behind(text []byte, column int) []byte { return spaces(text, max(0, column-len(text))+1) }

// Done ends a line. head is the offset in text at which the line begins, and tail the offset of
// the operands, or 0 if the line has none.
func (p *Page) Done(text []byte, head, tail int) []byte {
	if tail > 0 && p.Indent*tabWidth+len(text)-head > maxLine {
		text = p.breakLine(text, head, tail)
	}
	return append(text, '\n')
}

// breakLine returns text with its last line, which is too long, broken after commas.
func (p *Page) breakLine(text []byte, head, tail int) []byte {
	p.Line = append(p.Line[:0], text[tail:]...)
	text = wrap(text[:tail], p.Line, p.Indent+1, p.Indent*tabWidth+tail-head)
	p.Line = p.Line[:0]
	return text
}
