// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package diag

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// tab is the distance between tab stops in an excerpt.
const tab = 4

// A view is a source line as displayed in a terminal: tabs are expanded, unprintable characters are
// replaced, and of a very long line only the part around one position is shown.
type view struct {
	text  string
	from  int   // first byte of the line that is shown
	start int   // column of that byte
	ends  []int // column after each byte of the view
}

// look returns the view of a line around the byte at focus, with about width columns.
func look(line string, focus, width int) view {
	var b strings.Builder
	v := view{}
	focus = min(max(focus, 0), len(line))
	if focus > width*3/4 && len(line) > width {
		v.from = focus - width/2
		for v.from < focus && !utf8.RuneStart(line[v.from]) {
			v.from++
		}
		b.WriteString("...")
		v.start = 3
	}
	col := v.start
	for i := v.from; i < len(line); {
		// Combining marks take no columns; the second condition limits a line of them.
		if col >= width && i > focus || i-v.from > 8*width {
			b.WriteString("...")
			break
		}
		r, n := utf8.DecodeRuneInString(line[i:])
		switch {
		case r == '\t':
			w := tab - (col-v.start)%tab
			b.WriteString("    "[:w])
			col += w
		case r == utf8.RuneError && n <= 1, !unicode.IsPrint(r) && !unicode.Is(unicode.Mn, r):
			b.WriteRune(utf8.RuneError)
			col++
		default:
			b.WriteRune(r)
			col += columns(r)
		}
		for range n {
			v.ends = append(v.ends, col)
		}
		i += n
	}
	v.text = strings.TrimRight(b.String(), " ")
	return v
}

// column returns the column of the byte at offset. For a byte outside the view, it returns the
// column of the ellipsis, or the column just after the end.
func (v view) column(offset int) int {
	i := offset - v.from
	switch {
	case i < 0:
		return 0
	case i == 0 || len(v.ends) == 0:
		return v.start
	case i > len(v.ends):
		return v.ends[len(v.ends)-1]
	}
	return v.ends[i-1]
}

// columns returns the number of terminal columns of a character: zero for combining marks, two
// for wide scripts and pictographs, or else one.
func columns(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	case r >= 0x1100 && r <= 0x115f,
		r >= 0x2e80 && r <= 0xa4cf && r != 0x303f,
		r >= 0xac00 && r <= 0xd7a3,
		r >= 0xf900 && r <= 0xfaff,
		r >= 0xfe30 && r <= 0xfe6f,
		r >= 0xff00 && r <= 0xff60,
		r >= 0xffe0 && r <= 0xffe6,
		r >= 0x1f300 && r <= 0x1f64f,
		r >= 0x1f680 && r <= 0x1f6ff,
		r >= 0x1f900 && r <= 0x1f9ff,
		r >= 0x20000 && r <= 0x3fffd:
		return 2
	}
	return 1
}

// clean removes control sequences from text that came from a file.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\t' {
			return ' '
		}
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			return utf8.RuneError
		}
		return r
	}, s)
}
