// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package eval

import (
	"math/big"
)

// Functions computed from series with 400-bit floating point.

const precision = 400

func newFloat() *big.Float { return new(big.Float).SetPrec(precision) }

func ratFloat(r *big.Rat) *big.Float { return newFloat().SetRat(r) }

// expSeries returns e^x for small x.
func expSeries(x *big.Float) *big.Float {
	sum, term := newFloat().SetInt64(1), newFloat().SetInt64(1)
	for i := int64(1); i < 90; i++ {
		term.Mul(term, x).Quo(term, newFloat().SetInt64(i))
		sum.Add(sum, term)
	}
	return sum
}

// logSeries returns the natural logarithm of x near 1.
func logSeries(x *big.Float) *big.Float {
	one := newFloat().SetInt64(1)
	z := newFloat().Quo(newFloat().Sub(x, one), newFloat().Add(x, one))
	square, power, sum := newFloat().Mul(z, z), newFloat().Set(z), newFloat()
	for i := int64(1); i < 160; i += 2 {
		sum.Add(sum, newFloat().Quo(power, newFloat().SetInt64(i)))
		power.Mul(power, square)
	}
	return sum.Mul(sum, newFloat().SetInt64(2))
}

func ln2() *big.Float {
	// -log(1/2) has a series of its own: log 2 = 2*atanh(1/3)
	return logSeries(newFloat().SetInt64(2))
}

// exp2Exact returns 2^x.
func exp2Exact(x *big.Rat) *big.Rat {
	n := roundRat(x, "rn").Int64()
	frac := new(big.Rat).Sub(x, new(big.Rat).SetInt64(n))
	y := expSeries(newFloat().Mul(ratFloat(frac), ln2()))
	r, _ := y.Rat(nil)
	return r.Mul(r, pow2(int(n)))
}

func log2Exact(x *big.Rat) *big.Rat {
	n := floorLog(x)
	m := new(big.Rat).Mul(x, pow2(-n)) // 1 to 2
	y := newFloat().Quo(logSeries(ratFloat(m)), ln2())
	r, _ := y.Rat(nil)
	return r.Add(r, new(big.Rat).SetInt64(int64(n)))
}

// pi computes pi by Machin's formula.
func pi() *big.Float {
	atan := func(n int64) *big.Float { // atan(1/n)
		sum, power := newFloat(), newFloat().Quo(newFloat().SetInt64(1), newFloat().SetInt64(n))
		square := newFloat().SetInt64(n * n)
		for i := int64(0); i < 90; i++ {
			term := newFloat().Quo(power, newFloat().SetInt64(2*i+1))
			if i%2 == 1 {
				term.Neg(term)
			}
			sum.Add(sum, term)
			power.Quo(power, square)
		}
		return sum
	}
	x := newFloat().Mul(atan(5), newFloat().SetInt64(16))
	return x.Sub(x, newFloat().Mul(atan(239), newFloat().SetInt64(4)))
}

var piExact = pi()

// sinExact returns sin(x + quarter*pi/2) for |x| up to a few hundred.
func sinExact(x *big.Rat, quarter bool) *big.Rat {
	half := newFloat().Quo(piExact, newFloat().SetInt64(2))
	y := ratFloat(x)
	if quarter {
		y.Add(y, half)
	}
	turns, _ := newFloat().Quo(y, newFloat().Mul(piExact, newFloat().SetInt64(2))).Int(nil)
	y.Sub(y, newFloat().Mul(newFloat().SetInt(turns),
		newFloat().Mul(piExact, newFloat().SetInt64(2))))
	sum, term, square := newFloat(), newFloat().Set(y), newFloat().Mul(y, y)
	for i := int64(1); i < 140; i += 2 {
		sum.Add(sum, term)
		term.Mul(term, square).Quo(term, newFloat().SetInt64((i+1)*(i+2)))
		term.Neg(term)
	}
	r, _ := sum.Rat(nil)
	return r
}

func tanhExact(x *big.Rat) *big.Rat {
	if x.Cmp(new(big.Rat).SetInt64(60)) > 0 {
		return pow2(0)
	}
	if x.Cmp(new(big.Rat).SetInt64(-60)) < 0 {
		return new(big.Rat).SetInt64(-1)
	}
	// e^2x = 2^(2x/ln 2)
	u, _ := newFloat().Quo(ratFloat(new(big.Rat).Add(x, x)), ln2()).Rat(nil)
	e := exp2Exact(u)
	return new(big.Rat).Quo(new(big.Rat).Sub(e, pow2(0)), new(big.Rat).Add(e, pow2(0)))
}

// near accepts codes within a relative error of 2^-relative or an absolute error of 2^-absolute,
// and the correctly rounded code.
func (q *question) near(f oracleFormat, want *big.Rat, relative, absolute float64) answer {
	x := exactNumber{rat: want, neg: want.Sign() < 0}
	name := q.types[0]
	name, _ = splitType(name)
	best := q.flushOut(name, x)
	bound := new(big.Float).SetFloat64(1)
	size := ratFloat(new(big.Rat).Abs(want))
	if relative > 0 {
		bound = newFloat().Mul(size, exp2Float(-relative))
	} else {
		bound = exp2Float(-absolute)
	}
	return answer{ok: true, out: []uint64{best}, within: func(got uint64) bool {
		y := f.value(got)
		if got == best {
			return true
		}
		if y.rat == nil {
			return false
		}
		gap := ratFloat(new(big.Rat).Sub(y.rat, want))
		gap.Abs(gap)
		if f.bits == 16 && tiny(f, x) { // subnormal results are truncated
			return gap.Cmp(ratFloat(pow2(1-f.bias-f.mantissa))) < 0
		}
		return gap.Cmp(bound) <= 0
	}}
}

func exp2Float(x float64) *big.Float {
	r := exp2Exact(new(big.Rat).SetFloat64(x))
	return ratFloat(r)
}

// approxAnswer returns the expected result of an approximate operation on one element, with the
// error bounds of the manual.
func approxAnswer(q *question) answer {
	name, n := splitType(q.types[0])
	if n > 1 || name == "f64" {
		return answer{}
	}
	f := oracleFormats[name]
	legacy := !q.has("approx") && !q.has("full") && name == "f32"
	if legacy {
		q.words = append(append([]string{}, q.words...), "ftz")
	}
	x := q.flushIn(name, q.in[0])
	if q.head == "div" {
		return q.quotientAnswer(name, f, x)
	}
	if edge, ok := q.edge(f, x); ok {
		return value1(edge)
	}
	switch q.head {
	case "rcp":
		return q.near(f, new(big.Rat).Inv(x.rat), 23, 0)
	case "sqrt":
		return q.near(f, oracleSqrt(x).rat, 23, 0)
	case "rsqrt":
		return q.near(f, new(big.Rat).Inv(oracleSqrt(x).rat), 22.9, 0)
	case "ex2":
		if new(big.Rat).Abs(x.rat).Cmp(new(big.Rat).SetInt64(400)) > 0 {
			if x.neg {
				return value1(0)
			}
			return value1(f.round(exactNumber{}, "rn", false))
		}
		bound := map[string]float64{"f32": 22, "f16": 9.9, "bf16": 7}[name]
		return q.near(f, exp2Exact(x.rat), bound, 0)
	case "lg2":
		return q.near(f, log2Exact(x.rat), 0, 22)
	case "sin", "cos":
		if q.has("2pi") {
			return q.near(f, sinExact(radians(x.rat), q.head == "cos"), 0, 20.5)
		}
		if new(big.Rat).Abs(x.rat).Cmp(new(big.Rat).SetInt64(314)) > 0 {
			return answer{}
		}
		if new(big.Rat).Abs(x.rat).Cmp(new(big.Rat).SetInt64(6)) > 0 {
			return q.near(f, sinExact(x.rat, q.head == "cos"), 0, 14.7)
		}
		return q.near(f, sinExact(x.rat, q.head == "cos"), 0, 20.5)
	case "tanh":
		if name == "f32" {
			return q.near(f, tanhExact(x.rat), 11, 0)
		}
		return q.near(f, tanhExact(x.rat), 0, map[string]float64{"f16": 10.987, "bf16": 8}[name])
	}
	return answer{}
}

// radians converts a fraction of a full circle to radians, without full circles.
func radians(turns *big.Rat) *big.Rat {
	whole := new(big.Int).Quo(turns.Num(), turns.Denom())
	rest := new(big.Rat).Sub(turns, new(big.Rat).SetInt(whole))
	twoPi, _ := newFloat().Mul(piExact, newFloat().SetInt64(2)).Rat(nil)
	return rest.Mul(rest, twoPi)
}

// quotientAnswer returns the expected result of an approximate division.
func (q *question) quotientAnswer(name string, f oracleFormat, x exactNumber) answer {
	y := q.flushIn(name, q.in[1])
	e := oracleDiv(x, y)
	large := y.rat != nil && new(big.Rat).Abs(y.rat).Cmp(pow2(126)) > 0
	if large && !q.has("full") {
		if x.rat == nil {
			return value1(f.nan)
		}
		e = exactNumber{rat: new(big.Rat), neg: x.neg != y.neg}
	}
	if e.rat == nil || e.zero() {
		return value1(f.round(e, "rn", false))
	}
	return q.near(f, e.rat, 22, 0)
}

// edge returns the result that the manual's tables give for zeros, infinities and NaN.
func (q *question) edge(f oracleFormat, x exactNumber) (uint64, bool) {
	one := uint64(f.bias) << f.mantissa
	inf := f.round(exactNumber{}, "rn", false)
	sign := uint64(0)
	if x.neg {
		sign = 1 << (f.bits - 1)
	}
	infinite := x.rat == nil && !x.nan
	switch {
	case x.nan:
		return f.nan, true
	case q.head == "rcp" && infinite, q.head == "sqrt" && x.zero():
		return sign, true
	case q.head == "rcp" && x.zero(), q.head == "rsqrt" && x.zero():
		return sign | inf, true
	case (q.head == "sqrt" || q.head == "rsqrt" || q.head == "lg2") && x.neg && !x.zero():
		return f.nan, true
	case q.head == "sqrt" && infinite, q.head == "lg2" && infinite,
		q.head == "ex2" && infinite && !x.neg:
		return inf, true
	case q.head == "rsqrt" && infinite, q.head == "ex2" && infinite:
		return 0, true
	case q.head == "lg2" && x.zero():
		return 1<<(f.bits-1) | inf, true
	case (q.head == "sin" || q.head == "cos") && infinite:
		return f.nan, true
	case (q.head == "sin" || q.head == "tanh") && x.zero():
		return sign, true
	case (q.head == "ex2" || q.head == "cos") && x.zero():
		return one, true
	case q.head == "tanh" && infinite:
		return sign | one, true
	}
	return 0, false
}
