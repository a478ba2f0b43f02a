// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package layout

// A caller that has all lines to be aligned together, none with a trailing comment, can write them
// without collecting them first. Straight returns the text of the page, and Take puts it back. In
// between, for each line: call Begun, append the text before the operands, call Behind, append the
// operands, call Done. The result is the same.

// Column returns the column of the operands after one more head of the given width.
func Column(column, head int) int {
	if head <= widestHead {
		return max(column, head)
	}
	return column
}

// Straight returns the text of the page, for appending lines to it.
func (p *Page) Straight() []byte {
	p.flush()
	return p.out
}

// Take replaces the text of the page, which Straight returned, by a longer one.
func (p *Page) Take(text []byte) { p.out = text }

// Begun begins a line.
func (p *Page) Begun(text []byte) []byte { return tabs(text, p.Indent) }

// Behind appends spaces before the operands, up to the given column, or one space if text is
// longer.
func Behind(text []byte, column int) []byte { return spaces(text, max(0, column-len(text))+1) }

// Done ends a line. head is the offset in text at which the line begins, and tail the offset of its
// operands, or 0 if there are none.
func (p *Page) Done(text []byte, head, tail int) []byte {
	if tail > 0 && p.Indent*tabWidth+len(text)-head > widestLine {
		text = p.broken(text, head, tail)
	}
	return append(text, '\n')
}

// broken returns text with its last line, which is too long, broken after commas.
func (p *Page) broken(text []byte, head, tail int) []byte {
	p.Line = append(p.Line[:0], text[tail:]...)
	text = wrap(text[:tail], p.Line, p.Indent+1, p.Indent*tabWidth+tail-head)
	p.Line = p.Line[:0]
	return text
}
