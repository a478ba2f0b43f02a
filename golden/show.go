// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package golden

import (
	"fmt"
	"strings"

	"github.com/google/go-cmp/cmp"
)

// context is the number of unchanged lines shown before and after a difference.
const context = 3

// A shownLine is one line of the output.
type shownLine struct {
	mark byte
	line *line
	old  *line // the corresponding line of the old module, or nil if the line was added
	note string
}

// difference returns the rows that differ, with context, or "" if no row differs. where returns
// the origin of a line of the new module, or is nil.
func difference(rows []row, names *renaming, where func(line int) string) string {
	all := layout(rows, names)
	near := make([]bool, len(all))
	for n, s := range all {
		if s.mark != ' ' {
			for m := max(0, n-context); m <= min(len(all)-1, n+context); m++ {
				near[m] = true
			}
		}
	}
	var b strings.Builder
	for n, s := range all {
		if !near[n] {
			continue
		}
		if n == 0 || !near[n-1] {
			head(&b, all[n:])
		}
		notes := s.note
		if s.mark == '+' && where != nil {
			if at := where(s.line.at); at != "" {
				notes = strings.TrimSuffix(at+": "+notes, ": ")
			}
		}
		if notes != "" {
			notes = "  // " + notes
		}
		fmt.Fprintf(&b, "%c %s%s\n", s.mark, s.line.text, notes)
	}
	return b.String()
}

// head writes the position in the old module, which is the golden file, of the lines that follow.
func head(b *strings.Builder, all []shownLine) {
	for _, s := range all {
		switch {
		case s.old == nil:
			continue
		case s.old.in == "":
			fmt.Fprintf(b, "@ line %d\n", s.old.at)
		default:
			fmt.Fprintf(b, "@ line %d, in %s\n", s.old.at, s.old.in)
		}
		return
	}
	b.WriteString("@ line 1\n") // the lines are at the start of the file
}

// layout converts rows to lines. In each group of changed rows, the removed lines precede the
// added lines.
func layout(rows []row, names *renaming) []shownLine {
	var all, came []shownLine
	var gone []*line
	flush := func() {
		for i := range came {
			if i < len(gone) && len(came) == len(gone) {
				came[i].note = changes(gone[i], came[i].line, names)
			}
		}
		all, came, gone = append(all, came...), nil, nil
	}
	for _, r := range rows {
		if r.same {
			flush()
			all = append(all, shownLine{mark: ' ', line: r.new, old: r.old})
			continue
		}
		if r.old != nil {
			all = append(all, shownLine{mark: '-', line: r.old, old: r.old})
			gone = append(gone, r.old)
		}
		if r.new != nil {
			came = append(came, shownLine{mark: '+', line: r.new})
		}
	}
	flush()
	return all
}

// changes describes the difference between two instructions with the same opcode. It returns ""
// for instructions with few operands, whose difference is easy to see.
func changes(x, y *line, names *renaming) string {
	const few, most = 8, 3
	if x.parts.Op != y.parts.Op || x.parts.leaves() <= few {
		return ""
	}
	var r reporter
	cmp.Equal(names.apply(x), y.parts, cmp.Reporter(&r))
	if n := len(r.list); n > most {
		r.list = append(r.list[:most], fmt.Sprintf("and %d more", n-most))
	}
	return strings.Join(r.list, "; ")
}

// A reporter collects the differences that cmp finds between two statements.
type reporter struct {
	path cmp.Path
	list []string
}

func (r *reporter) PushStep(s cmp.PathStep) { r.path = append(r.path, s) }
func (r *reporter) PopStep()                { r.path = r.path[:len(r.path)-1] }

func (r *reporter) Report(result cmp.Result) {
	if result.Equal() {
		return
	}
	where, depth := "", 0
	for _, step := range r.path {
		switch step := step.(type) {
		case cmp.StructField:
			if step.Name() == "Guard" {
				where, depth = "the guard", 2
			}
		case cmp.SliceIndex:
			x, y := step.SplitKeys()
			switch depth++; depth { // deeper differences are easy to see
			case 1:
				where = fmt.Sprintf("operand %d", max(x, y)+1)
			case 2:
				where += fmt.Sprintf(", element %d", max(x, y)+1)
			}
		}
	}
	// a difference in a part and in its text is counted once
	if len(r.list) == 0 || r.list[len(r.list)-1] != where {
		r.list = append(r.list, where)
	}
}
