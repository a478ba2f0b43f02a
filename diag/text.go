// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package diag

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
)

// A Printer formats findings for people: one line with the position, the source line with carets,
// related positions, and the fix.
type Printer struct {
	Source Source // source texts for excerpts; if nil, no excerpts are printed
	Color  bool   // for a terminal that supports colors
	Width  int    // maximum columns of source to show; 0 means 100
}

// Print writes the findings of l in order.
func (p Printer) Print(w io.Writer, l List) error {
	b := bufio.NewWriter(w)
	src := newReaders(p.Source)
	for i := range l {
		p.one(b, src, &l[i])
	}
	return b.Flush()
}

// A mark is a range on one line, with a message.
type mark struct {
	place Place
	label string
	main  bool // the finding's own position
}

func (p Printer) one(b *bufio.Writer, src *readers, d *Diagnostic) {
	c := p.inks(d.Severity)
	first, rest, _ := strings.Cut(d.Message, "\n")
	fmt.Fprintf(b, "%s%s:%s %s%s%s: %s%s\n", c.bold, d.Place, c.off, c.level, d.Severity,
		prefix(" ", clean(d.Rule))+c.off, c.bold, clean(first)+c.off)
	if rest != "" {
		for line := range strings.SplitSeq(rest, "\n") {
			fmt.Fprintf(b, "\t%s\n", clean(strings.TrimLeft(line, " \t")))
		}
	}
	p.excerpts(b, src, d, c)
	if d.Fix != nil {
		if say := d.Fix.description(); say != "" {
			fmt.Fprintf(b, "   %sfix:%s %s\n", c.good, c.off, clean(say))
		}
	}
	last := d.Place
	for _, at := range d.From {
		if at != last { // a function literal on the line of the call that it is passed to
			fmt.Fprintf(b, "   called from %s\n", at)
		}
		last = at
	}
}

// excerpts prints the source lines of d in its own file, sorted by line, then the lines in other
// files.
func (p Printer) excerpts(b *bufio.Writer, src *readers, d *Diagnostic, c inks) {
	var here, there []mark
	main := mark{place: d.Place.closed(), main: true}
	for _, r := range d.Related {
		m := mark{place: r.Place.closed(), label: r.Message}
		switch {
		case m.place == main.place && main.label == "":
			main.label = r.Message
		case m.place.File == d.Place.File && m.place.IsValid():
			here = append(here, m)
		default:
			there = append(there, m)
		}
	}
	if main.place.IsValid() {
		here = append(here, main)
	}
	slices.SortStableFunc(here, func(a, b mark) int {
		return cmp.Or(cmp.Compare(a.place.Line, b.place.Line),
			cmp.Compare(a.place.Column, b.place.Column))
	})
	gutter := 5
	for _, m := range slices.Concat(here, there) {
		gutter = max(gutter, len(fmt.Sprint(m.place.Line)))
	}
	for len(here) > 0 {
		n := 1
		for n < len(here) && here[n].place.Line == here[0].place.Line {
			n++
		}
		p.lines(b, src, here[:n], gutter, c)
		here = here[n:]
	}
	for i, m := range there {
		_, shown := src.line(m.place.File, m.place.Line)
		switch {
		case !shown || !m.place.IsValid():
			fmt.Fprintf(b, "   %s%s\n", m.place, prefix(": ", clean(m.label)))
			continue
		case i == 0 || m.place.File != there[i-1].place.File:
			fmt.Fprintf(b, "   %s%s:%s\n", c.bold, m.place, c.off)
		}
		p.lines(b, src, there[i:i+1], gutter, c)
	}
}

// lines prints one source line and its marks. Without the text, it only prints marks with messages.
func (p Printer) lines(b *bufio.Writer, src *readers, marks []mark, gutter int, c inks) {
	at := marks[0].place
	text, ok := src.line(at.File, at.Line)
	if !ok {
		for _, m := range marks {
			if m.label != "" {
				fmt.Fprintf(b, "   %s: %s\n", m.place, clean(m.label))
			}
		}
		return
	}
	focus := marks[0]
	for _, m := range marks {
		if m.main {
			focus = m
		}
	}
	v := look(text, focus.place.Column-1, cmp.Or(p.Width, 100))
	fmt.Fprintf(b, "%s%*d |%s%s\n", c.dim, gutter, at.Line, c.off, prefix(" ", v.text))
	for _, m := range marks {
		from := v.column(m.place.Column - 1)
		end := m.place.EndColumn - 1
		if m.place.EndLine > m.place.Line {
			end = len(strings.TrimRight(text, " \t"))
		}
		to := max(from+1, v.column(end))
		ink := c.level
		if !m.main {
			ink = c.dim
		}
		fmt.Fprintf(b, "%s%*s |%s %s%s%s%s\n", c.dim, gutter, "", c.off, strings.Repeat(" ", from),
			ink, strings.Repeat("^", to-from)+prefix(" ", clean(m.label)), c.off)
	}
}

// description returns the description of a fix. If the fix has none, it is derived from the edit.
func (f *Fix) description() string {
	if f.Message != "" || len(f.Edits) == 0 {
		return f.Message
	}
	e := f.Edits[0]
	switch at := e.Place.closed(); {
	case e.New == "":
		return fmt.Sprintf("delete %s to %d:%d", at, at.EndLine, at.EndColumn)
	case at.Line == at.EndLine && at.Column == at.EndColumn:
		return fmt.Sprintf("at %s insert %s", at, e.New)
	default:
		return fmt.Sprintf("at %s write %s", at, e.New)
	}
}

// prefix returns p and s, or "" if s is empty.
func prefix(p, s string) string {
	if s == "" {
		return ""
	}
	return p + s
}

// inks are the terminal codes for the colors of a finding; all are empty without colors.
type inks struct{ bold, level, dim, good, off string }

func (p Printer) inks(s Severity) inks {
	if !p.Color {
		return inks{}
	}
	c := inks{bold: "\x1b[1m", dim: "\x1b[34m", good: "\x1b[32m", off: "\x1b[0m"}
	switch s {
	case Error:
		c.level = "\x1b[1;31m"
	case Warning:
		c.level = "\x1b[1;35m"
	case Review:
		c.level = "\x1b[1;33m"
	default:
		c.level = "\x1b[1;36m"
	}
	return c
}
