// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"iter"
	"maps"
	"slices"

	"github.com/ptxdsl/ptxdsl/passes/analysis/value"
)

// Facts are what the choices on a trace say of values.
type Facts struct {
	// With says which numbers were put in for parameters; "" where none were.
	With string

	pool    *value.Pool
	turn    int  // which of several choices of numbers
	empty   bool // one of them is zero
	decided decisions
	ranges  []bounds
}

// Bounds are what is known of a sum.
type bounds struct {
	subject
	span
}

type span struct{ low, high int64 }

// A subject is a sum without its constant, compared as signed or unsigned.
type subject struct {
	of     *value.Value
	signed bool
}

func newFacts(p *value.Pool, turn int) *Facts { return &Facts{pool: p, turn: turn} }

func (f *Facts) clone() *Facts {
	g := *f
	g.decided.latest = slices.Clip(f.decided.latest)
	g.ranges = slices.Clone(f.ranges)
	return &g
}

// Decisions are predicates that hold or do not. Those made early are shared by all ways that follow from them, in parts each of
// which is larger than the next.
type decisions struct {
	early  []map[*value.Atom]bool // never changed any more
	latest []decision
}

type decision struct {
	a     *value.Atom
	holds bool
}

// of is what was decided of a predicate.
func (d *decisions) of(a *value.Atom) (holds, known bool) {
	for _, x := range slices.Backward(d.latest) {
		if x.a == a {
			return x.holds, true
		}
	}
	for _, part := range slices.Backward(d.early) {
		if holds, known = part[a]; known {
			return holds, true
		}
	}
	return false, false
}

// note decides a predicate.
func (d *decisions) note(a *value.Atom, holds bool) {
	d.latest = append(d.latest, decision{a, holds})
	if len(d.latest) <= 16 {
		return
	}
	part, rest := make(map[*value.Atom]bool), d.early
	for len(rest) > 0 && len(rest[len(rest)-1]) <= 2*len(d.latest)+2*len(part) {
		older := maps.Clone(rest[len(rest)-1])
		maps.Copy(older, part)
		part, rest = older, rest[:len(rest)-1]
	}
	for _, x := range d.latest {
		part[x.a] = x.holds
	}
	*d = decisions{early: append(slices.Clip(rest), part)}
}

// all is every predicate that was decided, some more than once.
func (d *decisions) all() iter.Seq2[*value.Atom, bool] {
	return func(yield func(*value.Atom, bool) bool) {
		for _, x := range d.latest {
			if !yield(x.a, x.holds) {
				return
			}
		}
		for _, part := range d.early {
			for a, holds := range part {
				if !yield(a, holds) {
					return
				}
			}
		}
	}
}

// known is what is noted of a sum, or nil.
func (f *Facts) known(k subject) *span {
	for i := range f.ranges {
		if f.ranges[i].subject == k {
			return &f.ranges[i].span
		}
	}
	return nil
}

// Decided is what is known of a predicate for the threads of s.
func (f *Facts) Decided(v *value.Value, s value.Set) (holds, known bool) {
	if v.Const() {
		return v.K != 0, true
	}
	a, not := v.Condition()
	if a == nil {
		return false, false
	}
	holds, known = f.atom(a, s)
	return holds != not, known
}

func (f *Facts) atom(a *value.Atom, s value.Set) (holds, known bool) {
	if holds, known = f.decided.of(a); known {
		return holds, true
	}
	if a.Tid {
		one := f.pool.Atom(1, a.Op, a.Name, a.Ref, a.Level, a.Args...)
		in := f.pool.Where(one, s)
		switch {
		case in == s:
			return true, true
		case in.Empty():
			return false, true
		}
		return false, false
	}
	switch a.Op {
	case "and", "or", "xor":
		l, lk := f.Decided(a.Args[0], s)
		r, rk := f.Decided(a.Args[1], s)
		switch {
		case lk && rk && a.Op == "xor":
			return l != r, true
		case lk && rk:
			return l && r || a.Op == "or" && (l || r), true
		case a.Op == "and" && (lk && !l || rk && !r):
			return false, true
		case a.Op == "or" && (lk && l || rk && r):
			return true, true
		}
	case "select":
		c, ck := f.Decided(a.Args[0], s)
		if ck && c {
			return f.Decided(a.Args[1], s)
		}
		if ck {
			return f.Decided(a.Args[2], s)
		}
	case "lt", "eq":
		key, k, less, ok := f.shape(a)
		if !ok {
			return false, false
		}
		r, ok := f.between(key)
		if !ok {
			return false, false
		}
		// The claim is base < k, base > k or base = k.
		switch {
		case a.Op == "eq":
			if k < r.low || k > r.high {
				return false, true
			}
			return true, r.low == r.high
		case less:
			if r.high < k {
				return true, true
			}
			return false, r.low >= k
		default:
			if r.low > k {
				return true, true
			}
			return false, r.high <= k
		}
	}
	return false, false
}

// shape puts a comparison as a sum without constant against a constant: base < k, base > k (less is
// false), base = k.
func (f *Facts) shape(a *value.Atom) (key subject, k int64, less, ok bool) {
	x, y := a.Args[0], a.Args[1]
	// Numbers that are not negative are the same either way.
	signed := a.Name == "s" || a.Op == "eq" || f.natural(x) && f.natural(y)
	if !signed && (x.K < 0 || y.K < 0) {
		return subject{}, 0, false, false
	}
	diff := f.pool.Sub(64, f.pool.Resize(64, x, true), f.pool.Resize(64, y, true))
	if diff.Const() {
		return subject{}, 0, false, false
	}
	base, k, sign := f.base(diff)
	return subject{base, signed}, -k * sign, sign > 0, true
}

// between is the range of a sum: what is known of it, and what follows from another that it differs from by
// something bounded, as n from n - n%4.
func (f *Facts) between(k subject) (span, bool) {
	r, found := span{-wide, wide}, false
	if noted := f.known(k); noted != nil {
		r, found = *noted, true
	}
	if len(f.ranges) > 64 {
		return r, found
	}
	for _, other := range f.ranges {
		if other.signed != k.signed || other.of == k.of || len(other.of.Terms)+len(k.of.Terms) > 6 || !near(k.of.Terms, other.of.Terms) {
			continue
		}
		diff := f.pool.Sub(64, k.of, other.of)
		low, high, ok := diff.Spread()
		if !ok {
			continue
		}
		if d := f.known(subject{diff, k.signed}); d != nil {
			low, high = max(low, d.low), min(high, d.high)
		}
		found = true
		if other.low > -wide {
			r.low = max(r.low, other.low+low)
		}
		if other.high < wide {
			r.high = min(r.high, other.high+high)
		}
	}
	return r, found
}

// near reports whether all that is without bounds is the same in two sums, so that their difference has bounds.
func near(a, b []value.Term) bool {
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case j == len(b) || i < len(a) && a[i].Atom.ID < b[j].Atom.ID:
			if !a[i].Atom.Bounded {
				return false
			}
			i++
		case i == len(a) || b[j].Atom.ID < a[i].Atom.ID:
			if !b[j].Atom.Bounded {
				return false
			}
			j++
		default:
			if a[i].Factor != b[j].Factor && !a[i].Atom.Bounded {
				return false
			}
			i++
			j++
		}
	}
	return true
}

// wide stands for no bound.
const wide = int64(1) << 40

// natural reports whether a value is not negative for certain, as a signed number.
func (f *Facts) natural(v *value.Value) bool {
	if v.Const() {
		return v.K >= 0
	}
	if l, h, ok := v.Spread(); ok && l >= 0 && h < 1<<31 {
		return true
	}
	key, k, sign := f.base(v)
	r, ok := f.between(subject{key, true})
	switch {
	case !ok:
		return false
	case sign < 0:
		return r.high < wide && k-r.high >= 0
	}
	return r.low > -wide && r.low+k >= 0
}

// base is a sum as something that ranges are kept of, with its sign, and a constant.
func (f *Facts) base(v *value.Value) (of *value.Value, k, sign int64) {
	v, sign = f.pool.Resize(64, v, true), 1
	k = v.K
	if v.Terms[0].Factor < 0 {
		v, sign = f.pool.Scale(64, v, -1), -1
	}
	return f.pool.Sub(64, v, f.pool.Const(64, v.K)), k, sign
}

// assume takes note that a predicate holds, or does not, for the threads of s.
func (f *Facts) assume(v *value.Value, holds bool, s value.Set) {
	a, not := v.Condition()
	if a == nil {
		return
	}
	holds = holds != not
	f.decided.note(a, holds)
	switch {
	case a.Op == "and" && holds, a.Op == "or" && !holds:
		f.assume(a.Args[0], holds, s)
		f.assume(a.Args[1], holds, s)
	case a.Op == "and" || a.Op == "or":
		// One of two: where the other is known not to be it, this one is.
		for i := range 2 {
			if other, known := f.Decided(a.Args[1-i], s); known && other != holds {
				f.assume(a.Args[i], holds, s)
			}
		}
	case (a.Op == "lt" || a.Op == "eq") && !a.Tid:
		f.narrow(a, holds)
	}
}

func (f *Facts) narrow(a *value.Atom, holds bool) {
	key, k, less, ok := f.shape(a)
	if !ok {
		return
	}
	keys := []subject{key}
	if a.Op == "eq" {
		keys = append(keys, subject{key.of, false})
	}
	for _, key := range keys {
		r, ok := f.between(key)
		if !ok {
			if l, h, bounded := key.of.Bounds(); bounded {
				r = span{l, h}
			} else if !key.signed && len(key.of.Terms) == 1 && key.of.Terms[0].Factor > 0 {
				r.low = 0
			}
		}
		switch {
		case a.Op == "eq" && holds:
			r = span{k, k}
		case a.Op == "eq":
			if r.low == k {
				r.low++
			}
			if r.high == k {
				r.high--
			}
		case less && holds:
			r.high = min(r.high, k-1)
		case less:
			r.low = max(r.low, k)
		case holds:
			r.low = max(r.low, k+1)
		default:
			r.high = min(r.high, k)
		}
		if noted := f.known(key); noted != nil {
			*noted = r
		} else {
			f.ranges = append(f.ranges, bounds{key, r})
		}
	}
}

// Empty reports whether a parameter, or a number that is read, is zero or less: a kernel that has nothing to do
// may not be meant to be launched.
func (f *Facts) Empty() bool {
	if f.empty {
		return true
	}
	for _, r := range f.ranges {
		if a := r.of.Single(); a != nil && (a.Op == "parameter" || a.Op == "load") && r.high <= 0 {
			return true
		}
	}
	for a, holds := range f.decided.all() {
		if one := a.Op == "eq" && holds && a.Args[1].Is(0); one && a.Args[0].Single() != nil && a.Args[0].Single().Op == "parameter" {
			return true
		}
	}
	return false
}

// Agree reports whether two ways can be taken at the same time by threads of one block: nothing that is
// the same for all threads is decided one way here and the other way there.
func (f *Facts) Agree(g *Facts) bool {
	if f.turn != g.turn {
		return false
	}
	for a, b := range f.decided.all() {
		if c, ok := g.decided.of(a); ok && c != b && a.Level <= value.Block && !a.Tid {
			return false
		}
	}
	return f.meets(g) && g.meets(f)
}

// meets reports whether the ranges in f can hold where those in g do.
func (f *Facts) meets(g *Facts) bool {
	for _, r := range f.ranges {
		if s, ok := g.between(r.subject); ok && r.of.Level() <= value.Block && (r.high < s.low || s.high < r.low) {
			return false
		}
	}
	return true
}
