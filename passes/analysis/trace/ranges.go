// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"github.com/ptxdsl/ptxdsl/passes/analysis/value"
)

// bounds is the known range of a sum.
type bounds struct {
	subject
	span
}

type span struct{ low, high int64 }

// A subject is a sum without its constant, compared as a signed or unsigned number.
type subject struct {
	of     *value.Value
	signed bool
}

// recordedRange returns the recorded range of a sum, or nil.
func (f *Facts) recordedRange(k subject) *span {
	for i := range f.ranges {
		if f.ranges[i].subject == k {
			return &f.ranges[i].span
		}
	}
	return nil
}

// normalize rewrites a comparison as a comparison between a sum without its constant and a constant
// k: base < k (less is true), base > k (less is false), or base = k. ok is false if that is
// impossible.
func (f *Facts) normalize(a *value.Atom) (key subject, k int64, less, ok bool) {
	x, y := a.Args[0], a.Args[1]
	// Signed and unsigned comparisons of non-negative numbers have the same result.
	signed := a.Name == "s" || a.Op == value.OpEq || f.isNonNegative(x) && f.isNonNegative(y)
	if !signed && (x.K < 0 || y.K < 0) {
		return subject{}, 0, false, false
	}
	diff := f.pool.Sub(64, f.pool.Resize(64, x, true), f.pool.Resize(64, y, true))
	if diff.Const() {
		return subject{}, 0, false, false
	}
	base, k, sign := f.splitSum(diff)
	return subject{base, signed}, -k * sign, sign > 0, true
}

// sumRange returns the range of a sum. It intersects the sum's own bounds with those derived from
// a related sum that differs by a bounded amount, such as n and n - n%4.
func (f *Facts) sumRange(k subject) (span, bool) { return f.sumRangeWithin(k, maxExtremeDepth) }

// maxExtremeDepth limits the nesting of min and max that is examined.
const maxExtremeDepth = 4

// sumRangeWithin returns the result of sumRange. It examines at most extremes nested operations min
// and max.
func (f *Facts) sumRangeWithin(k subject, extremes int) (span, bool) {
	r, found := span{-noBound, noBound}, false
	if noted := f.recordedRange(k); noted != nil {
		r, found = *noted, true
	}
	if e, ok := f.extremeRange(k, extremes); ok {
		r, found = span{max(r.low, e.low), min(r.high, e.high)}, true
	}
	if len(f.ranges) > 64 {
		return r, found
	}
	for _, other := range f.ranges {
		if p, q := ratio(k.of.Terms, other.of.Terms); p > 0 && other.signed == k.signed && p != q {
			r, found = r.intersect(other.times(p, q)), true
		}
		if other.signed != k.signed || other.of == k.of ||
			len(other.of.Terms)+len(k.of.Terms) > 6 ||
			!boundedDifference(k.of.Terms, other.of.Terms) {
			continue
		}
		diff := f.pool.Sub(64, k.of, other.of)
		low, high, ok := diff.Spread()
		if !ok {
			continue
		}
		if d := f.recordedRange(subject{diff, k.signed}); d != nil {
			low, high = max(low, d.low), min(high, d.high)
		}
		found = true
		if other.low > -noBound {
			r.low = max(r.low, other.low+low)
		}
		if other.high < noBound {
			r.high = min(r.high, other.high+high)
		}
	}
	return r, found
}

// ratio returns p and q so that a equals p/q times b. One of p and q is 1. Both are 0 if there is
// no such ratio.
func ratio(a, b []value.Term) (p, q int64) {
	if len(a) != len(b) || len(a) == 0 {
		return 0, 0
	}
	switch x, y := a[0].Factor, b[0].Factor; {
	case x < 0 != (y < 0):
		return 0, 0
	case x%y == 0:
		p, q = x/y, 1
	case y%x == 0:
		p, q = 1, y/x
	default:
		return 0, 0
	}
	if max(p, q) > 1<<20 {
		return 0, 0 // the product could overflow
	}
	for i := range a {
		if a[i].Atom != b[i].Atom || a[i].Factor*q != b[i].Factor*p {
			return 0, 0
		}
	}
	return p, q
}

// times returns the range of p/q times a sum whose range is s. One of p and q must be 1. The
// product is assumed not to overflow, because it is an index.
func (s span) times(p, q int64) span {
	if s.low > -noBound {
		s.low = max(-noBound, -floor(-s.low*p, q))
	}
	if s.high < noBound {
		s.high = min(noBound, floor(s.high*p, q))
	}
	return s
}

// floor returns x/q rounded down. q must be positive.
func floor(x, q int64) int64 {
	if x < 0 {
		return -((-x + q - 1) / q)
	}
	return x / q
}

// intersect returns the intersection of two ranges.
func (s span) intersect(o span) span { return span{max(s.low, o.low), min(s.high, o.high)} }

// extremeRange returns the range of a signed min or max. An example is the iteration count of a
// loop over the first stages of a pipeline: at most the number of stages, and at least one if there
// is work.
func (f *Facts) extremeRange(k subject, extremes int) (span, bool) {
	a := k.of.Single()
	if extremes == 0 || a == nil || a.Op != value.OpSMin && a.Op != value.OpSMax || !k.signed {
		return span{}, false
	}
	var of [2]span
	for i := range of {
		of[i] = span{-noBound, noBound}
		if v := a.Args[i]; v.Const() {
			of[i] = span{v.K, v.K}
		} else if base, c, sign := f.splitSum(v); sign > 0 {
			if r, ok := f.sumRangeWithin(subject{base, true}, extremes-1); ok {
				of[i] = r.plus(c)
			}
		}
	}
	r := span{min(of[0].low, of[1].low), min(of[0].high, of[1].high)}
	if a.Op == value.OpSMax {
		r = span{max(of[0].low, of[1].low), max(of[0].high, of[1].high)}
	}
	return r, r.low > -noBound || r.high < noBound
}

// restrictRange restricts s to the possible values of a sum whose terms are all multiples of a
// power of two. For example, the first block of each cluster of two has an even index.
func (s span) restrictRange(v *value.Value) span {
	all := int64(0)
	for _, t := range v.Terms {
		all |= t.Factor
	}
	step := all & -all
	if step < 2 {
		return s
	}
	if s.low > -noBound {
		s.low += ((-s.low)%step + step) % step
	}
	if s.high < noBound {
		s.high -= (s.high%step + step) % step
	}
	return s
}

// plus returns the range of a sum plus the constant c, where the sum has range s.
func (s span) plus(c int64) span {
	if s.low > -noBound {
		s.low += c
	}
	if s.high < noBound {
		s.high += c
	}
	return s
}

// boundedDifference reports whether the unbounded terms of two sums are equal, so that the
// difference of the sums is bounded.
func boundedDifference(a, b []value.Term) bool {
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

// noBound stands for an unknown bound.
const noBound = int64(1) << 40

// isNonNegative reports whether a value is certainly not negative as a signed number.
func (f *Facts) isNonNegative(v *value.Value) bool {
	if v.Const() {
		return v.K >= 0
	}
	if l, h, ok := v.Spread(); ok && l >= 0 && h < 1<<31 {
		return true
	}
	key, k, sign := f.splitSum(v)
	r, ok := f.sumRange(subject{key, true})
	switch {
	case !ok:
		return false
	case sign < 0:
		return r.high < noBound && k-r.high >= 0
	}
	return r.low > -noBound && r.low+k >= 0
}

// splitSum splits a sum into sign*of + k, where ranges are recorded for of.
func (f *Facts) splitSum(v *value.Value) (of *value.Value, k, sign int64) {
	v, sign = f.pool.Resize(64, v, true), 1
	k = v.K
	if v.Terms[0].Factor < 0 {
		v, sign = f.pool.Scale(64, v, -1), -1
	}
	return f.pool.Sub(64, v, f.pool.Const(64, v.K)), k, sign
}

// updateRange updates the range of a sum with the outcome of a comparison.
func (f *Facts) updateRange(a *value.Atom, holds bool) {
	key, k, less, ok := f.normalize(a)
	if !ok {
		return
	}
	keys := []subject{key}
	if a.Op == value.OpEq {
		keys = append(keys, subject{key.of, false})
	}
	for _, key := range keys {
		r, ok := f.sumRange(key)
		if !ok {
			if l, h, bounded := key.of.Bounds(); bounded {
				r = span{l, h}
			} else if !key.signed && len(key.of.Terms) == 1 && key.of.Terms[0].Factor > 0 {
				r.low = 0
			}
		}
		switch {
		case a.Op == value.OpEq && holds:
			r = span{k, k}
		case a.Op == value.OpEq:
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
		r = r.restrictRange(key.of)
		if noted := f.recordedRange(key); noted != nil {
			*noted = r
		} else {
			f.ranges = append(f.ranges, bounds{key, r})
		}
	}
}

// hasCompatibleRanges reports whether f and g can hold together: no value that is the same in all
// threads of a block has a range in f that is disjoint from its range in g.
func (f *Facts) hasCompatibleRanges(g *Facts) bool {
	for _, r := range f.ranges {
		if s, ok := g.sumRange(r.subject); ok && r.of.Level() <= value.Block &&
			(r.high < s.low || s.high < r.low) {
			return false
		}
	}
	return true
}
