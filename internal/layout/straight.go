// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package layout

// Who knows all lines that are aligned together, and that no comments follow them, need not have them collected. Straight lends the text of the
// page, and Take takes it back; for each line between these it is Begun, what comes before the operands is appended, Behind, the operands,
// Done. What is written is the same.

// Column returns the column that operands begin in, as the width of one more head has it.
func Column(column, head int) int {
	if head <= widestHead {
		return max(column, head)
	}
	return column
}

// Straight returns the text of the page, to be longer by lines.
func (p *Page) Straight() []byte {
	p.flush()
	return p.out
}

// Take makes text that Straight lent the text of the page.
func (p *Page) Take(text []byte) { p.out = text }

// Begun begins a line.
func (p *Page) Begun(text []byte) []byte { return tabs(text, p.Indent) }

// Behind puts space before operands, which begin behind so much of text, or later.
func Behind(text []byte, column int) []byte { return spaces(text, max(0, column-len(text))+1) }

// Done ends a line, which begins behind so much of text, as its operands do; tail is 0 if there are
// none.
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
