// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package kerneltest

import (
	"fmt"
	"math"
	"strings"

	"github.com/ptxdsl/ptxdsl/runtime"
)

// A Tolerance is the error that an element may have: the sum of its parts, as in numpy.allclose.
// The zero Tolerance allows no error.
type Tolerance struct {
	Abs float64 // absolute error; see Sum
	Rel float64 // error relative to the expected number

	ulps              float64
	digits, exponents int
	every, power      float64 // parameters of RoundedEvery and TruncatedEvery
	sum               float64 // factor of Sum for Abs; 0 without Sum
}

// Abs returns a tolerance for an absolute error.
func Abs(x float64) Tolerance { return Tolerance{Abs: x} }

// Rel returns a tolerance for an error relative to the expected number.
func Rel(x float64) Tolerance { return Tolerance{Rel: x} }

// Plus returns the sum of two tolerances. Only one of them may be from Format.ULPs.
func (t Tolerance) Plus(u Tolerance) Tolerance {
	t.Abs += u.Abs
	t.Rel += u.Rel
	t.ulps += u.ulps
	t.digits, t.exponents = max(t.digits, u.digits), min(t.exponents, u.exponents)
	t.every, t.power, t.sum = max(t.every, u.every), max(t.power, u.power), max(t.sum, u.sum)
	return t
}

// Sum returns t for elements that are sums of k products of random inputs. Abs is multiplied by
// the square root of k, to which the size of such a sum is proportional; see also RoundedEvery
// and TruncatedEvery.
func (t Tolerance) Sum(k int) Tolerance {
	t.sum = math.Sqrt(float64(max(1, k)))
	if t.every > 0 {
		t.sum *= math.Pow(max(1, float64(k)/t.every), t.power)
	}
	return t
}

// RoundedEvery returns t for sums that are rounded to nearest after every n products, as in a
// loop with fma.rn, where n is 1. Such errors partly cancel, so Sum(k) multiplies Abs by the square
// root of k/n in addition to the square root of k.
func (t Tolerance) RoundedEvery(n int) Tolerance {
	t.every, t.power = float64(n), 0.5
	return t
}

// TruncatedEvery returns t for sums that are rounded towards zero after every n products, as
// tensor cores do with F32 accumulators. Such errors do not cancel, so Sum(k) multiplies Abs by k/n
// in addition to the square root of k.
func (t Tolerance) TruncatedEvery(n int) Tolerance {
	t.every, t.power = float64(n), 1
	return t
}

// Allows returns the error that an element may have if want is the expected number.
func (t Tolerance) Allows(want float64) float64 {
	allowed := t.Abs*max(1, t.sum) + t.Rel*math.Abs(want)
	if t.ulps > 0 {
		exponent := t.exponents
		if want != 0 {
			exponent = max(exponent, math.Ilogb(want))
		}
		allowed += t.ulps * math.Ldexp(1, exponent-t.digits+1)
	}
	return allowed
}

// base returns t with the effect of Sum removed, so that the result is the same for all sizes.
func (t Tolerance) base() Tolerance {
	t.sum, t.every = min(t.sum, 1), min(t.every, 1)
	if t.Abs == 0 {
		t.sum, t.every, t.power = 0, 0, 0
	}
	return t
}

// String returns the tolerance as a formula, such as "1e-06·√K + 0.5 ulp".
func (t Tolerance) String() string {
	var parts []string
	if t.Abs > 0 {
		part := fmt.Sprintf("%.2g", t.Abs)
		if t.sum > 0 {
			part += "·√K"
		}
		switch {
		case t.power == 0.5:
			part += fmt.Sprintf("·√(K/%v)", t.every)
		case t.power == 1:
			part += fmt.Sprintf("·K/%v", t.every)
		}
		parts = append(parts, part)
	}
	if t.Rel > 0 {
		parts = append(parts, fmt.Sprintf("%.2g·|want|", t.Rel))
	}
	if t.ulps > 0 {
		parts = append(parts, fmt.Sprintf("%.3g ulp", t.ulps))
	}
	if len(parts) == 0 {
		return "exact"
	}
	return strings.Join(parts, " + ")
}

// A Result is the result of one comparison.
type Result struct {
	What      string // description of the comparison, with its size
	Elements  int
	Wrong     int // number of elements that differ by more than the tolerance
	Tolerance Tolerance
	// The worst element is the one with the largest error relative to its tolerance.
	Index     int
	Position  string // Index, or row and column
	Got, Want float64
	Error     float64
	Allowed   float64
	First     []float64 // the first elements that the kernel computed
	All       []float64 // all elements, if T.Keep is set
}

// Share returns the largest error as a fraction of its tolerance, or 0 if all elements are equal.
func (r *Result) Share() float64 {
	if r.Error == 0 {
		return 0
	}
	return r.Error / r.Allowed
}

// Err returns a *Mismatch if elements are wrong, or nil.
func (r *Result) Err() error {
	if r.Wrong == 0 {
		return nil
	}
	return &Mismatch{*r}
}

// A Mismatch is the error of a comparison that found wrong elements.
type Mismatch struct{ Result Result }

// Error returns the number of wrong elements, and the worst one.
func (m *Mismatch) Error() string {
	r := &m.Result
	return fmt.Sprintf("%s: %d of %d elements are wrong; the worst is %s: got %.9g, want %.9g, "+
		"error %.3g, allowed %.3g",
		r.What, r.Wrong, r.Elements, r.Position, r.Got, r.Want, r.Error, r.Allowed)
}

// Compare compares the results of a kernel with a reference, and returns a *Mismatch if an element
// differs by more than the tolerance allows. NaN is equal to NaN only. what describes the
// comparison and its size in messages.
func Compare[G, W ~float32 | ~float64](t *T, what string, got []G, want []W,
	tolerance Tolerance) error {
	if len(got) != len(want) {
		return fmt.Errorf("%s: %d elements, want %d", what, len(got), len(want))
	}
	return t.compare(what, len(got), func(i int) (float64, float64) {
		return float64(got[i]), float64(want[i])
	}, nil, tolerance)
}

// Equal compares the results of a kernel with a reference, and returns a *Mismatch if an element
// is not equal. Zeros of either sign are equal, and all NaN are equal.
func Equal[E runtime.Element](t *T, what string, got, want []E) error {
	if len(got) != len(want) {
		return fmt.Errorf("%s: %d elements, want %d", what, len(got), len(want))
	}
	return t.compare(what, len(got), func(i int) (float64, float64) {
		g, w := float64(got[i]), float64(want[i])
		// large integers whose difference float64 cannot represent
		if got[i] != want[i] && g == w {
			g = math.Nextafter(g, math.Inf(1))
		}
		return g, w
	}, nil, Tolerance{})
}

// compare compares n elements and records the result. position describes the position of an
// element; if position is nil, its index is used.
func (t *T) compare(what string, n int, pair func(i int) (got, want float64),
	position func(i int) string,
	tolerance Tolerance,
) error {
	r := Result{What: what, Elements: n, Tolerance: tolerance}
	share := -1.0
	for i := range n {
		got, want := pair(i)
		if i < 4 {
			r.First = append(r.First, got)
		}
		if t.Keep {
			r.All = append(r.All, got)
		}
		distance, allowed := 0.0, tolerance.Allows(want)
		switch {
		case got == want || math.IsNaN(got) && math.IsNaN(want):
		case math.IsNaN(got) || math.IsNaN(want) || math.IsInf(got, 0) || math.IsInf(want, 0):
			distance = math.Inf(1)
			if !(allowed < math.MaxFloat64) || math.IsNaN(want) { // also if want is infinite
				allowed = 0
			}
		default:
			distance = math.Abs(got - want)
		}
		if distance > allowed {
			r.Wrong++
		}
		s := 0.0
		if distance > 0 {
			s = distance / allowed
		}
		if s > share {
			share = s
			r.Index, r.Got, r.Want, r.Error, r.Allowed = i, got, want, distance, allowed
		}
	}
	r.Position = fmt.Sprintf("[%d]", r.Index)
	if position != nil {
		r.Position = position(r.Index)
	}
	t.results = append(t.results, r)
	return r.Err()
}
