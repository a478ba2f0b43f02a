// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package tilestore reports accumulator stores that overlap, and block tiles that the accumulator
// stores do not cover.
package tilestore

import (
	"slices"
	"strconv"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/passes/analysis/thread"
	"github.com/ptxdsl/ptxdsl/passes/verify/annotated"
)

// Analyzer returns the analyzer for overlaps between the warps that execute the same call.
func Analyzer() *annotated.Analyzer {
	return &annotated.Analyzer{
		Name: "tilestore",
		Doc: `Tilestore reports two warps, or two warpgroups, that store accumulators to overlapping parts of
a matrix with one call. Positions that depend on data are not checked.`,
		Rules: []*diag.Rule{&annotated.Protocol},
		Run:   run,
	}
}

// Calls returns the analyzer for overlaps between calls.
func Calls() *annotated.Analyzer {
	return &annotated.Analyzer{
		Name: "tilestore-calls",
		Doc: `It reports two calls, of one role or of different roles, that store accumulators to
overlapping parts of a matrix. Calls under conditions are not checked.`,
		Rules: []*diag.Rule{&annotated.Protocol},
		Run:   runCalls,
	}
}

// A rectangle is the part of a matrix that a warp or warpgroup stores. who is the index of the
// warp or warpgroup.
type rectangle struct {
	who          int
	to, row, col thread.Value
}

func run(p *annotated.Pass) {
	for i := range p.Notes.Uses {
		u := &p.Notes.Uses[i]
		if s, ok := u.What.(*ir.TileStore); ok && p.Notes.Threads() > 0 && !p.Reported(u.Pos) &&
			!p.Eval().Exhausted() {
			check(p, u, s)
		}
	}
}

// check reports two warps that store to the same position of a matrix with one call. The row or
// the column of one of them is wrong.
func check(p *annotated.Pass, u *ir.Use, s *ir.TileStore) {
	var list []rectangle
	e := p.Eval()
	overlap := func(a, b thread.Value, n int) bool {
		return a.N < b.N+int64(n) && b.N < a.N+int64(n)
	}
	first, end := e.Range(u.Role)
	for t := first; t < end; t += s.Threads {
		e.Begin(t)
		own := rectangle{t / s.Threads, thread.Value{Kind: thread.Constant}, e.Relative(&s.Row),
			e.Relative(&s.Col)}
		if s.To != nil && e.Value(s.To).Kind == thread.Constant {
			own.to = e.Value(s.To)
		} else if s.To != nil && !e.Uniform(s.To) {
			return
		}
		if own.row.Kind != thread.Constant || own.col.Kind != thread.Constant {
			return
		}
		if !e.Certain(u.Conds) {
			continue
		}
		for _, r := range list {
			if own.to == r.to && overlap(own.row, r.row, s.Rows) &&
				overlap(own.col, r.col, s.Cols) {
				p.Warn(u.Pos, &annotated.Protocol,
					"%ss %d and %d store overlapping accumulators of %dx%d: their tiles start %d rows and %d columns apart",
					groupName(s), r.who, own.who, s.Rows, s.Cols, own.row.N-r.row.N,
					own.col.N-r.col.N)
				return
			}
		}
		list = append(list, own)
	}
}

// groupName returns "warp" or "warpgroup": the threads that together hold an accumulator.
func groupName(s *ir.TileStore) string {
	if s.Threads == 128 {
		return "warpgroup"
	}
	return "warp"
}

// A storePosition is the position at which one warp or warpgroup stores an accumulator. who is
// its index.
type storePosition struct {
	use      *ir.Use
	store    *ir.TileStore
	row, col thread.Linear
	who      int
}

// maxStores is the largest number of calls that are compared.
const maxStores = 16

// runCalls reports two calls that store accumulators to overlapping parts of a matrix.
func runCalls(p *annotated.Pass) {
	var calls []*ir.Use
	for i := range p.Notes.Uses {
		if u := &p.Notes.Uses[i]; len(calls) < maxStores && isStore(u) && !p.Reported(u.Pos) {
			calls = append(calls, u)
		}
	}
	if len(calls) < 2 || p.Notes.Threads() == 0 {
		return
	}
	var spots []storePosition
	for _, u := range calls {
		for _, here := range positionsOf(p, u) {
			for _, there := range spots {
				if !p.Reported(u.Pos) && there.overlaps(here) {
					report(p, there, here)
				}
			}
			spots = append(spots, here)
		}
	}
}

func isStore(u *ir.Use) bool {
	_, ok := u.What.(*ir.TileStore)
	return ok
}

// positionsOf returns the positions at which a call stores, for the warps that certainly execute
// the call. It returns nil if the call is under a condition other than a loop condition, or a
// position is unknown.
func positionsOf(p *annotated.Pass, u *ir.Use) (list []storePosition) {
	if slices.ContainsFunc(u.Conds, func(c ir.Condition) bool { return !c.Loop }) {
		return nil
	}
	e, s := p.Eval(), u.What.(*ir.TileStore)
	first, end := e.Range(u.Role)
	list = make([]storePosition, 0, (end-first+s.Threads-1)/s.Threads)
	for t := first; t < end; t += s.Threads {
		e.Begin(t)
		row, ok := e.Linear(&s.Row)
		col, too := e.Linear(&s.Col)
		if !ok || !too {
			return nil
		}
		list = append(list, storePosition{u, s, row, col, t / s.Threads})
	}
	return list
}

// overlaps reports whether two stores of different calls overlap in a matrix.
func (a storePosition) overlaps(b storePosition) bool {
	apart := func(x, y thread.Linear, n, m int) bool {
		return x.N >= y.N+int64(m) || y.N >= x.N+int64(n)
	}
	return a.use != b.use && a.store.Matrix == b.store.Matrix && a.row.Comparable(b.row) &&
		a.col.Comparable(b.col) &&
		!apart(a.row, b.row, a.store.Rows, b.store.Rows) &&
		!apart(a.col, b.col, a.store.Cols, b.store.Cols)
}

// String returns the warp, with its role, for messages.
func (a storePosition) String() string {
	name := groupName(a.store) + " " + strconv.Itoa(a.who)
	if a.use.Role != nil {
		name += " in role " + a.use.Role.Name
	}
	return name
}

// report reports that two calls overlap.
func report(p *annotated.Pass, a, b storePosition) {
	at, _ := p.Module.At(a.use.Pos)
	p.Warn(b.use.Pos, &annotated.Protocol,
		"overlapping stores: %s stores a %dx%d accumulator to elements that %s stored at line %d; the tiles start %d rows and %d columns apart",
		b, b.store.Rows, b.store.Cols, a, at.Line, b.row.N-a.row.N, b.col.N-a.col.N)
}
