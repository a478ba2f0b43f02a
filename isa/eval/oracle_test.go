// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package eval

import (
	"math/big"
)

// The oracle computes with rational numbers of arbitrary precision and has its own rounding. It
// shares no code with the package.

// oracleFormat describes a format with the numbers given in the manual.
type oracleFormat struct {
	bits, exponent, mantissa, bias int
	kind                           string // "ieee", "nan" (one NaN, no infinity), "finite", "scale"
	nan                            uint64
	low                            int
	unsigned                       bool
}

var oracleFormats = map[string]oracleFormat{
	"f64":   {64, 11, 52, 1023, "ieee", 0x7ff8000000000000, 0, false},
	"f32":   {32, 8, 23, 127, "ieee", 0x7fffffff, 0, false},
	"tf32":  {32, 8, 10, 127, "ieee", 0x7fffffff, 13, false},
	"f16":   {16, 5, 10, 15, "ieee", 0x7fff, 0, false},
	"bf16":  {16, 8, 7, 127, "ieee", 0x7fff, 0, false},
	"e5m2":  {8, 5, 2, 15, "ieee", 0x7f, 0, false},
	"e4m3":  {8, 4, 3, 7, "nan", 0x7f, 0, false},
	"e3m2":  {6, 3, 2, 3, "finite", 0, 0, false},
	"e2m3":  {6, 2, 3, 1, "finite", 0, 0, false},
	"e2m1":  {4, 2, 1, 1, "finite", 0, 0, false},
	"ue5m3": {8, 5, 3, 15, "nan", 0xff, 0, true},
	"ue8m0": {8, 8, 0, 127, "scale", 0xff, 0, true},
}

// exactNumber is a rational, an infinity or a NaN. Zeros have a sign.
type exactNumber struct {
	rat      *big.Rat // nil if the number is not finite
	nan, neg bool
}

func (x exactNumber) zero() bool { return x.rat != nil && x.rat.Sign() == 0 }

var oracleNaN = exactNumber{nan: true}

func pow2(n int) *big.Rat {
	one := big.NewInt(1)
	if n >= 0 {
		return new(big.Rat).SetInt(one.Lsh(one, uint(n)))
	}
	return new(big.Rat).SetFrac(big.NewInt(1), one.Lsh(one, uint(-n)))
}

func (f oracleFormat) value(code uint64) exactNumber {
	code >>= f.low
	if f.kind == "scale" {
		if code&0xff == 0xff {
			return oracleNaN
		}
		return exactNumber{rat: pow2(int(code&0xff) - f.bias)}
	}
	e := int(code>>f.mantissa) & (1<<f.exponent - 1)
	m := int64(code & (1<<f.mantissa - 1))
	neg := !f.unsigned && code>>(f.exponent+f.mantissa)&1 == 1
	if e == 1<<f.exponent-1 {
		switch {
		case f.kind == "ieee" && m == 0:
			return exactNumber{neg: neg}
		case f.kind == "ieee", f.kind == "nan" && m == 1<<f.mantissa-1:
			return oracleNaN
		}
	}
	if e == 0 {
		e = 1
	} else {
		m += 1 << f.mantissa
	}
	r := new(big.Rat).Mul(new(big.Rat).SetInt64(m), pow2(e-f.bias-f.mantissa))
	if neg {
		r.Neg(r)
	}
	return exactNumber{rat: r, neg: neg}
}

// floorLog returns the exponent of the leading bit of a positive rational.
func floorLog(r *big.Rat) int {
	n := r.Num().BitLen() - r.Denom().BitLen()
	if r.Cmp(pow2(n)) < 0 {
		n--
	}
	return n
}

// roundRat divides by a quantum and rounds to an integer.
func roundRat(r *big.Rat, mode string) *big.Int {
	q, rest := new(big.Int).QuoRem(new(big.Int).Abs(r.Num()), r.Denom(), new(big.Int))
	twice := new(big.Int).Lsh(rest, 1).Cmp(r.Denom())
	neg := r.Sign() < 0
	away := false
	switch mode {
	case "rn":
		away = twice > 0 || twice == 0 && q.Bit(0) == 1
	case "rna":
		away = twice >= 0
	case "rm":
		away = neg && rest.Sign() != 0
	case "rp":
		away = !neg && rest.Sign() != 0
	}
	if away {
		q.Add(q, big.NewInt(1))
	}
	if neg {
		q.Neg(q)
	}
	return q
}

// round returns the code of a number; with saturate, an overflow gives the largest number.
func (f oracleFormat) round(x exactNumber, mode string, saturate bool) uint64 {
	sign := uint64(0)
	neg := x.neg
	if x.rat != nil && x.rat.Sign() != 0 {
		neg = x.rat.Sign() < 0
	}
	if neg && !f.unsigned {
		sign = 1 << (f.bits - 1)
	}
	top := uint64(1)<<(f.exponent+f.mantissa) - 1 // the largest code
	largest, inf := top, top
	switch f.kind {
	case "ieee":
		largest, inf = (1<<f.exponent-1)<<f.mantissa-1, (1<<f.exponent-1)<<f.mantissa
	case "nan", "scale":
		largest, inf = top-1, top
	}
	switch {
	case x.nan && f.kind == "finite":
		return largest
	case x.nan:
		return f.nan
	case x.rat == nil && saturate:
		return sign | largest<<f.low
	case x.rat == nil:
		return sign | inf<<f.low
	}
	abs := new(big.Rat).Abs(x.rat)
	if mode == "rm" && !neg || mode == "rp" && neg {
		mode = "rz"
	} else if mode == "rm" {
		mode = "rp" // rounding of the magnitude
	}
	if f.kind == "scale" {
		if abs.Sign() == 0 {
			return 0
		}
		n := floorLog(abs)
		if mode == "rp" && abs.Cmp(pow2(n)) != 0 {
			n++
		}
		if n > 127 && (saturate || mode == "rz") {
			n = 127
		}
		return uint64(min(max(n+127, 0), 255))
	}
	if abs.Sign() == 0 {
		return sign
	}
	n := max(floorLog(abs), 1-f.bias)
	q := roundRat(new(big.Rat).Mul(abs, pow2(f.mantissa-n)), mode).Uint64()
	code := uint64(n-1+f.bias)<<f.mantissa + q // a carry increments the exponent
	if code > largest {
		code = inf
		if saturate || mode == "rz" {
			code = largest
		}
	}
	return sign | code<<f.low
}

// Arithmetic on exact numbers. mode determines the sign of zero sums.

func oracleAdd(a, b exactNumber, mode string) exactNumber {
	switch {
	case a.nan || b.nan || a.rat == nil && b.rat == nil && a.neg != b.neg:
		return oracleNaN
	case a.rat == nil:
		return a
	case b.rat == nil:
		return b
	}
	sum := new(big.Rat).Add(a.rat, b.rat)
	neg := sum.Sign() < 0
	if sum.Sign() == 0 {
		neg = mode == "rm"
		if a.zero() && b.zero() && a.neg == b.neg {
			neg = a.neg
		}
	}
	return exactNumber{rat: sum, neg: neg}
}

func oracleNeg(a exactNumber) exactNumber {
	a.neg = !a.neg
	if a.rat != nil {
		a.rat = new(big.Rat).Neg(a.rat)
	}
	return a
}

func oracleMul(a, b exactNumber) exactNumber {
	neg := a.neg != b.neg
	switch {
	case a.nan || b.nan || a.rat == nil && b.zero() || b.rat == nil && a.zero():
		return oracleNaN
	case a.rat == nil || b.rat == nil:
		return exactNumber{neg: neg}
	}
	return exactNumber{rat: new(big.Rat).Mul(a.rat, b.rat), neg: neg}
}

func oracleDiv(a, b exactNumber) exactNumber {
	neg := a.neg != b.neg
	switch {
	case a.nan || b.nan || a.rat == nil && b.rat == nil || a.zero() && b.zero():
		return oracleNaN
	case a.rat == nil || b.zero():
		return exactNumber{neg: neg}
	case b.rat == nil:
		return exactNumber{rat: new(big.Rat), neg: neg}
	}
	return exactNumber{rat: new(big.Rat).Quo(a.rat, b.rat), neg: neg}
}

// oracleSqrt returns a number that rounds like the exact square root: 200 bits of it, and one more
// bit set if it is inexact.
func oracleSqrt(a exactNumber) exactNumber {
	switch {
	case a.nan || a.neg && !a.zero():
		return oracleNaN
	case a.rat == nil || a.zero():
		return a
	}
	// sqrt(p/q) = sqrt(p*q)/q
	n := new(big.Int).Mul(a.rat.Num(), a.rat.Denom())
	n.Lsh(n, 2400)
	root := new(big.Int).Sqrt(n)
	if new(big.Int).Mul(root, root).Cmp(n) != 0 {
		root.Lsh(root, 1).Add(root, big.NewInt(1))
		n.Lsh(n, 2)
		return exactNumber{
			rat: new(big.Rat).Mul(new(big.Rat).SetFrac(root, a.rat.Denom()), pow2(-1201))}
	}
	return exactNumber{
		rat: new(big.Rat).Mul(new(big.Rat).SetFrac(root, a.rat.Denom()), pow2(-1200))}
}
