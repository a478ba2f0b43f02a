// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package tensorcore

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/ptxdsl/ptxdsl/isa/eval"
)

// significand splits a number as the published model does: 1 <= |s| < 2, except for subnormal
// numbers, which have the smallest exponent of the type, and zero, whose exponent is -126.
func significand(x float64, least int) (*big.Float, int) {
	if x == 0 {
		return new(big.Float), -126
	}
	_, e := math.Frexp(x)
	e = max(e-1, least)
	return new(big.Float).SetMantExp(big.NewFloat(x), -e), e
}

var leastExponent = map[*Element]int{
	F16: -14, BF16: -126, TF32: -126, E4M3: -6, E5M2: -14, F32: -126}

// published computes one fused sum with arbitrary precision: each term is shifted to the largest
// exponent and truncated to the given number of fraction bits.
func published(e *Element, a, b []float64, c float64, d *Element, fraction, kept int) uint64 {
	terms, exponents := []*big.Float{}, []int{}
	s, n := significand(c, leastExponent[d])
	terms, exponents = append(terms, s), append(exponents, n)
	for k := range a {
		sa, ea := significand(a[k], leastExponent[e])
		sb, eb := significand(b[k], leastExponent[e])
		terms = append(terms, new(big.Float).Mul(sa, sb))
		exponents = append(exponents, ea+eb)
	}
	top := exponents[0]
	for _, n := range exponents {
		top = max(top, n)
	}
	sum := new(big.Int)
	for i, s := range terms {
		t, _ := new(big.Float).SetMantExp(s, fraction+exponents[i]-top).Int(nil) // toward zero
		sum.Add(sum, t)
	}
	x, _ := new(big.Float).SetMantExp(new(big.Float).SetInt(sum), top-fraction).Float64()
	if d == F16 {
		return eval.F16.Encode(x, eval.Nearest)
	}
	if x == 0 {
		return 0
	}
	_, n = math.Frexp(x)
	unit := math.Ldexp(1, max(n-1, -126)-kept)
	x = math.Trunc(x/unit) * unit
	if math.Abs(x) >= 0x1p128 {
		x = math.Inf(int(math.Copysign(1, x)))
	}
	return uint64(math.Float32bits(float32(x)))
}

// TestPublishedModel compares the sums of every architecture with the published model, over wide
// ranges of exponents.
func TestPublishedModel(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	for _, test := range []struct {
		arch     Arch
		a, d     *Element
		k        int
		group    bool
		fraction int
		steps    int
		kept     int
	}{
		{Volta, F16, F32, 4, false, 23, 1, 23}, {Turing, F16, F32, 8, false, 24, 1, 23},
		{Ampere, BF16, F32, 16, false, 24, 2, 23}, {Ampere, F16, F16, 16, false, 24, 2, 23},
		{Ampere, TF32, F32, 8, false, 24, 2, 23}, {Ampere, TF32, F32, 4, false, 24, 1, 23},
		{Ada, E4M3, F32, 32, false, 13, 2, 13}, {Ada, BF16, F32, 8, false, 24, 1, 23},
		{Hopper, BF16, F32, 16, false, 25, 1, 23}, {Hopper, F16, F32, 16, false, 25, 1, 23},
		{Hopper, E5M2, F32, 32, true, 13, 1, 13},
		{Hopper, TF32, F32, 8, true, 25, 1, 23}, {Blackwell, BF16, F32, 16, true, 25, 1, 23},
		{Blackwell, E4M3, F32, 32, true, 25, 1, 23},
	} {
		m := warpModel(test.arch, test.a, test.k)
		if test.group {
			m = groupModel(test.arch, test.a)
		}
		for range 300 {
			var pa, pb panel
			pa.resize(1, test.k, false)
			pb.resize(1, test.k, false)
			var a, b []float64
			span := float64(r.IntN(20))
			number := func(e *Element) uint64 {
				if r.IntN(12) == 0 {
					return uint64(r.IntN(4)) // zeros and subnormal numbers
				}
				for {
					x := r.NormFloat64() * math.Exp2(span*(r.Float64()-0.5))
					if code := e.format.Encode(x, eval.Nearest); e.Decode(code)-
						e.Decode(code) == 0 {
						return code
					}
				}
			}
			for k := range test.k {
				x, y := number(test.a), number(test.a)
				pa.set(test.a, 0, k, x)
				pb.set(test.a, 0, k, y)
				a, b = append(a, test.a.Decode(x)), append(b, test.a.Decode(y))
			}
			code := number(test.d)
			want, n := code, test.k/test.steps
			for s := range test.steps {
				c := test.d.Decode(want)
				if math.IsInf(c, 0) {
					break // once NaN, always NaN
				}
				want = published(test.a, a[s*n:][:n], b[s*n:][:n], c, test.d, test.fraction,
					test.kept)
			}
			if got := m.dot(&pa, &pb, 0, 0, test.d, code); got != want {
				t.Fatalf("%+v: %v * %v + %#x: %#x, want %#x", test, a, b, code, got, want)
			}
		}
	}
}
