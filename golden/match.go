// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package golden

import (
	"cmp"
	"slices"

	"github.com/ptxdsl/ptxdsl/internal/diff"
)

// A row pairs a line of the old outline with a line of the new one. One of them is nil if the
// line has no counterpart.
type row struct {
	old, new *line
	same     bool // the lines are equal except for names of registers and labels
}

// match aligns two outlines: first by the shapes of lines, and then by corresponding names.
func match(x, y []line) ([]row, *renaming) {
	var rows []row
	i, j := 0, 0
	both := func(to int) {
		for ; i < to; i, j = i+1, j+1 {
			rows = append(rows, row{old: &x[i], new: &y[j]})
		}
	}
	for _, r := range diff.Changes(shapes(x), shapes(y)) {
		both(r.A0)
		for ; i < r.A1; i++ {
			rows = append(rows, row{old: &x[i]})
		}
		for ; j < r.B1; j++ {
			rows = append(rows, row{new: &y[j]})
		}
	}
	both(len(x))
	names := rename(rows)
	for n := range rows {
		if r := &rows[n]; r.old != nil && r.new != nil {
			r.same = names.equal(r.old, r.new)
		}
	}
	return rows, names
}

// A name is a register or label and the function that contains it.
type name struct{ in, text string }

// A renaming maps names of the old module to names of the new module, one to one.
type renaming struct{ to map[name]string }

// rename maps each name to the name with which it is paired most often. Lines that were inserted,
// deleted or changed therefore do not affect the names in the lines after them.
func rename(rows []row) *renaming {
	type vote struct {
		from, to name
		count    int
		first    int
	}
	votes := map[[2]name]*vote{}
	var order []*vote
	for n, r := range rows {
		if r.old == nil || r.new == nil {
			continue
		}
		for i := range r.old.names {
			key := [2]name{{r.old.in, r.old.names[i]}, {r.new.in, r.new.names[i]}}
			v := votes[key]
			if v == nil {
				v = &vote{from: key[0], to: key[1], first: n}
				votes[key] = v
				order = append(order, v)
			}
			v.count++
		}
	}
	slices.SortStableFunc(order,
		func(a, b *vote) int { return cmp.Or(b.count-a.count, a.first-b.first) })
	names := &renaming{make(map[name]string)}
	taken := map[name]bool{}
	for _, v := range order {
		if _, ok := names.to[v.from]; !ok && !taken[v.to] {
			names.to[v.from] = v.to.text
			taken[v.to] = true
		}
	}
	return names
}

// equal reports whether two lines of the same shape have corresponding names.
func (r *renaming) equal(x, y *line) bool {
	for i, n := range x.names {
		if to, ok := r.to[name{x.in, n}]; !ok || to != y.names[i] {
			return false
		}
	}
	return true
}

// apply returns the statement of a line of the old module with the names of the new module.
func (r *renaming) apply(l *line) statement {
	var parts func(list []part) []part
	parts = func(list []part) []part {
		var out []part
		for _, p := range list {
			if to, ok := r.to[name{l.in, p.Text}]; ok && p.Name {
				p.Text = to
			}
			p.Parts = parts(p.Parts)
			out = append(out, p)
		}
		return out
	}
	return statement{parts(l.parts.Guard), l.parts.Op, parts(l.parts.Args)}
}
