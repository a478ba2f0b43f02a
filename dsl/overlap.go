// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"slices"
	"strconv"
	"strings"

	"github.com/ptxdsl/ptxdsl/ir"
)

// Accumulator stores of different calls are compared for overlap: of different roles, or of the
// same role. The positions are compared symbolically, since each role computes its own registers.

// A linear value is a constant plus a sum of block-uniform terms with coefficients.
type linear struct {
	n     int64
	terms [2]term // the first two terms
	used  int
	lost  bool // there are more than two terms
}

// A term is a named value with its coefficient.
type term struct {
	name  string
	times int64
}

// plus adds a linear value, multiplied by times.
func (l linear) plus(o linear, times int64) linear {
	sum := linear{n: l.n + times*o.n, lost: l.lost || o.lost}
	add := func(x term, times int64) {
		for i := range sum.terms[:sum.used] {
			if sum.terms[i].name == x.name {
				sum.terms[i].times += times * x.times
				return
			}
		}
		if sum.used == len(sum.terms) {
			sum.lost = true
			return
		}
		sum.terms[sum.used] = term{x.name, times * x.times}
		sum.used++
	}
	for _, x := range l.terms[:l.used] {
		add(x, 1)
	}
	for _, x := range o.terms[:o.used] {
		add(x, times)
	}
	return sum
}

// rests reports whether two linear values have the same terms and coefficients.
func (l linear) rests(o linear) bool {
	if l.lost || o.lost {
		return false
	}
	d := l.plus(o, -1)
	return !d.lost && !slices.ContainsFunc(d.terms[:d.used], func(x term) bool { return x.times != 0 })
}

// mostTerms limits the number of instructions that linear follows, and longest the length of a
// name.
const (
	mostTerms = 64
	longest   = 512
)

// linear returns the linear form of a register; ok is false if it is unknown.
func (t *threadEval) linear(r *ir.Reg, left *int) (l linear, ok bool) {
	if name := t.k.cornerOf(r); name != "" && t.k.schedules == 1 {
		return linear{terms: [2]term{{name, 1}}, used: 1}, true
	}
	if v := t.value(r); v.kind == sure {
		return linear{n: v.n}, !isAddress(v.n)
	}
	in := t.def(r)
	if *left--; in == nil || in.Form == nil || in.Guard.Reg != nil || *left < 0 {
		return l, false
	}
	part := func(i int) (linear, bool) {
		switch o := &in.Args[i]; o.Kind {
		case ir.Register:
			return t.linear(o.Reg, left)
		case ir.Int:
			return linear{n: o.Value}, true
		}
		return linear{}, false
	}
	switch in.Op {
	case "add.u32", "add.s32", "sub.u32", "sub.s32":
		a, known := part(1)
		b, too := part(2)
		times := int64(1)
		if in.Head() == "sub" {
			times = -1
		}
		if known && too {
			return a.plus(b, times), true
		}
	case "mul.lo.u32", "mul.lo.s32", "shl.b32", "mad.lo.u32", "mad.lo.s32":
		a, known := part(1)
		b, too := part(2)
		switch {
		case !known || !too:
			return l, false
		case in.Head() == "shl" && b.used == 0 && b.n >= 0 && b.n < 32:
			l = linear{}.plus(a, 1<<b.n)
		case in.Head() == "shl":
			return l, false
		case b.used == 0:
			l = linear{}.plus(a, b.n)
		case a.used == 0:
			l = linear{}.plus(b, a.n)
		default:
			return t.atom(r)
		}
		if in.Head() == "mad" {
			c, known := part(3)
			return l.plus(c, 1), known
		}
		return l, true
	}
	return t.atom(r)
}

// atom returns a block-uniform register as a term, named by its computation.
func (t *threadEval) atom(r *ir.Reg) (linear, bool) {
	if !t.alike(r) {
		return linear{}, false
	}
	var s strings.Builder
	if !t.spelled(r, &s) {
		return linear{}, false
	}
	return linear{terms: [2]term{{s.String(), 1}}, used: 1}, true
}

// spelled writes the computation of a register as text. It returns false if the computation is
// unknown or too long.
func (t *threadEval) spelled(r *ir.Reg, s *strings.Builder) bool {
	w := t.of(r)
	if w == nil || w.def == nil || w.def.Form == nil || s.Len() > longest {
		return false
	}
	in := w.def
	if v := variableOf(in); v != nil {
		s.WriteString(v.Name)
		return in.Form != nil
	}
	s.WriteString(in.Op)
	for i := 1; i < len(in.Args); i++ {
		s.WriteByte('(')
		switch o := &in.Args[i]; o.Kind {
		case ir.Register:
			if !t.spelled(o.Reg, s) {
				return false
			}
		case ir.Int:
			s.WriteString(strconv.FormatInt(o.Value, 10))
		case ir.Special:
			s.WriteString(o.Text())
		default:
			return false
		}
		s.WriteByte(')')
	}
	return true
}

// A storedSpot is the position of an accumulator store of one warp or warpgroup.
type storedSpot struct {
	w        *deferredCheck
	row, col linear
	who      int
}

// mostStores is the maximum number of stores that are compared.
const mostStores = 16

// checkStores reports two calls that store accumulators to overlapping parts of a matrix.
func (k *Kernel) checkStores(t *threadEval, told *places) {
	var calls []*deferredCheck
	for i := range k.deferred {
		if w := &k.deferred[i]; w.stored != nil && !told.has(w.pos) && len(calls) < mostStores {
			calls = append(calls, w)
		}
	}
	if len(calls) < 2 || k.BlockThreads() == 0 {
		return
	}
	var spots []storedSpot
	for _, w := range calls {
		for _, here := range k.spots(t, w) {
			for _, there := range spots {
				if !told.has(w.pos) && k.share(there, here) {
					told.add(w.pos)
				}
			}
			spots = append(spots, here)
		}
	}
}

// spots returns the positions at which a call stores, for the warps that certainly execute it,
// under no conditions except loop conditions.
func (k *Kernel) spots(t *threadEval, w *deferredCheck) (list []storedSpot) {
	if slices.ContainsFunc(w.conds, func(c condition) bool { return !c.loop }) {
		return nil
	}
	s := w.stored
	place := func(x Reg[U32]) (linear, bool) {
		if x.IsConstant() {
			return linear{n: x.bits}, true
		}
		left := mostTerms
		return t.linear(x.r, &left)
	}
	first, end := w.threads(k)
	list = make([]storedSpot, 0, (end-first+s.threads-1)/s.threads)
	for thread := first; thread < end; thread += s.threads {
		t.begin(thread)
		row, ok := place(s.row)
		col, too := place(s.col)
		if !ok || !too {
			return nil
		}
		list = append(list, storedSpot{w, row, col, thread / s.threads})
	}
	return list
}

// share reports whether two stores overlap in a matrix.
func (k *Kernel) share(a, b storedSpot) bool {
	s, o := a.w.stored, b.w.stored
	apart := func(x, y linear, n, m int) bool { return x.n >= y.n+int64(m) || y.n >= x.n+int64(n) }
	if a.w == b.w || s.matrix != o.matrix || !a.row.rests(b.row) || !a.col.rests(b.col) ||
		apart(a.row, b.row, s.rows, o.rows) || apart(a.col, b.col, s.cols, o.cols) {
		return false
	}
	who := func(w storedSpot) string {
		name := "warp "
		if w.w.stored.threads == 128 {
			name = "warpgroup "
		}
		name += strconv.Itoa(w.who)
		if w.w.role != nil {
			name += " in role " + w.w.role.name
		}
		return name
	}
	at, _ := k.m.calls.Place(a.w.pos)
	k.doubt(b.w.pos, "overlapping stores: %s stores a %dx%d accumulator to elements that %s stored at line %d; the tiles start %d rows and %d columns apart",
		who(b), o.rows, o.cols, who(a), at.Line, b.row.n-a.row.n, b.col.n-a.col.n)
	return true
}

// checkSums reports accumulators that are never read, in kernels that read others.
func (k *Kernel) checkSums() {
	var left []ir.Pos
	read := false
	for _, s := range k.holding {
		if s.takes == nil || *s.takes == 0 {
			continue
		}
		own := false
		s.each(func(r *ir.Reg) { own = own || int(r.Uses) > *s.takes+s.first })
		if read = read || own; !own {
			left = append(left, s.pos)
		}
	}
	for _, pos := range left {
		if read {
			k.doubt(pos, "accumulator is never read; another may be read in its place, or the MMA is not needed")
		}
	}
}
