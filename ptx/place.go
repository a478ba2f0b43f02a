// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package ptx

import (
	"slices"
	"strings"
	"sync"

	"github.com/ptxdsl/ptxdsl/diag"
)

// A lineTable has the offset of the first byte of each line. It is built when it is first needed,
// because most files never need it.
type lineTable struct {
	once   sync.Once
	starts []Pos
}

// Place converts the range from at to before to to lines and columns.
func (f *File) Place(at, to Pos) diag.Place {
	if at < 0 || int(at) > len(f.Text) {
		return diag.Place{File: f.Name}
	}
	to = min(max(at, to), Pos(len(f.Text)))
	p := diag.Place{File: f.Name}
	p.Line, p.Column = f.position(at)
	p.EndLine, p.EndColumn = f.position(to)
	return p
}

// PlaceOf returns the range of n as lines and columns.
func (f *File) PlaceOf(n Node) diag.Place { return f.Place(n.Pos(), n.End()) }

// position returns the line and column of an offset, both starting at 1. Columns are in bytes.
func (f *File) position(at Pos) (line, column int) {
	f.lines.once.Do(func() {
		starts := make([]Pos, 1, strings.Count(f.Text, "\n")+1)
		for i := 0; ; {
			n := strings.IndexByte(f.Text[i:], '\n')
			if n < 0 {
				break
			}
			i += n + 1
			starts = append(starts, Pos(i))
		}
		f.lines.starts = starts
	})
	i, found := slices.BinarySearch(f.lines.starts, at)
	if !found {
		i--
	}
	return i + 1, int(at-f.lines.starts[i]) + 1
}
