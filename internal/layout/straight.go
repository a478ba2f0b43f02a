// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package layout

// Who knows all lines that are aligned together, and that no comments follow them, need not have them collected: Straight, and for each
// line Head, what is appended to it, Behind, the operands, Done. What is written is the same.

// Column is the column that operands begin in, as the width of one more head has it.
func Column(column, head int) int {
	if head <= widestHead {
		return max(column, head)
	}
	return column
}

// Straight starts a run of lines, whose operands begin in a column.
func (p *Page) Straight(column int) {
	p.flush()
	p.column = column
}

// Head begins a line.
func (p *Page) Head() []byte {
	p.indentBy(p.Indent)
	p.head = len(p.out)
	p.tail = -1
	return p.out
}

// Behind puts space between what was appended to Head and the operands.
func (p *Page) Behind(line []byte) []byte {
	p.out = line
	p.spaces(int32(max(0, p.head+p.column-len(line)) + 1))
	p.tail = len(p.out)
	return p.out
}

// Done ends a line.
func (p *Page) Done(line []byte) {
	p.out = line
	indent := p.Indent * tabWidth
	if p.tail >= 0 && indent+len(line)-p.head > widestLine {
		p.Line = append(p.Line[:0], line[p.tail:]...)
		p.out = line[:p.tail]
		p.wrap(p.Line, p.Indent+1, indent+p.tail-p.head)
		p.Line = p.Line[:0]
	}
	p.out = append(p.out, '\n')
}
