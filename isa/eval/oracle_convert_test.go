// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package eval

import (
	"math/big"
	"strings"
)

// convertAnswer returns the expected result of cvt.
func convertAnswer(q *question) answer {
	d, a := q.types[0], q.types[1]
	switch {
	case q.has("pack"):
		return q.packAnswer()
	case q.has("rs"):
		return q.stochasticAnswer()
	case strings.Contains(d, "x") || strings.Contains(a, "x"):
		return q.packedConvert(d, a)
	case isIntType(d) && isIntType(a):
		x := number(a, q.in[0])
		if q.has("sat") {
			x = clampBig(d, x)
		}
		return value1(wrap(oracleTypes[d], x))
	case isIntType(d):
		return q.toInteger(d, a)
	case isIntType(a):
		x := number(a, q.in[0])
		return value1(q.flushOut(d, exactNumber{rat: new(big.Rat).SetInt(x)}))
	}
	return q.betweenFloats(d, a)
}

// integerRounding returns the rounding to an integer that an opcode specifies.
func (q *question) integerRounding() string {
	for w, mode := range map[string]string{"rni": "rn", "rzi": "rz", "rmi": "rm", "rpi": "rp"} {
		if q.has(w) {
			return mode
		}
	}
	return ""
}

func (q *question) toInteger(d, a string) answer {
	f := oracleFormats[a]
	x := f.value(q.in[0])
	if q.has("ftz") && a == "f32" && tiny(f, x) {
		x.rat = new(big.Rat)
	}
	width := oracleTypes[d]
	low, high := bounds(d)
	switch {
	case x.nan && (a == "f64" || width == 64):
		return value1(1 << (width - 1))
	case x.nan:
		return value1(0)
	case x.rat == nil && x.neg:
		return value1(wrap(width, low))
	case x.rat == nil:
		return value1(wrap(width, high))
	}
	return value1(wrap(width, clampBig(d, roundRat(x.rat, q.integerRounding()))))
}

func (q *question) betweenFloats(d, a string) answer {
	f := oracleFormats[a]
	x := f.value(q.in[0])
	if q.has("ftz") && a == "f32" && d != "f16" && tiny(f, x) {
		x.rat = new(big.Rat)
	}
	if x.nan && !q.has("sat") {
		return value1(q.notANumber(d, a))
	}
	if mode := q.integerRounding(); mode != "" && x.rat != nil {
		x.rat = new(big.Rat).SetInt(roundRat(x.rat, mode))
	}
	flush := *q
	if d != "f32" { // only f32 results are flushed
		flush.words = without(q.words, "ftz")
	}
	code := flush.flushOut(d, x)
	if q.has("pzo") && code == 1<<(oracleFormats[d].bits-1) {
		code = 0
	}
	return value1(code)
}

// notANumber returns what Hopper converts a NaN to. The manual says at most that it is canonical.
func (q *question) notANumber(d, a string) uint64 {
	to, from := oracleFormats[d], oracleFormats[a]
	x := q.in[0] & (^uint64(0) >> (64 - from.bits))
	bare := len(q.words) == len(q.types)
	wide := func(f oracleFormat) uint { return uint(f.mantissa + f.low) }
	sign, rest := x>>(from.bits-1), x%(1<<wide(from))
	switch {
	case d == a && bare && (d == "f32" || d == "f64"):
		return x
	case d == "f64" && q.has("ftz"):
		return 0x7fffffffe << 28
	case d == "f64" || a == "f64":
		payload := new(big.Int).Lsh(new(big.Int).SetUint64(rest), wide(to))
		payload.Rsh(payload, wide(from))
		return sign<<(to.bits-1) | (1<<(to.bits-1) - 1<<(wide(to)-1)) | payload.Uint64()
	case d == "f32" && a == "bf16" && !q.has("ftz"):
		return x << 16
	case d == "tf32" && q.has("rna") && q.has("satfinite"):
		return x - x%8192 - 8192
	case d == "tf32" && q.has("rna"):
		return x - x%8192
	case d == "tf32":
		return 0x7fffe000
	}
	return to.nan
}

func without(words []string, drop string) (rest []string) {
	for _, w := range words {
		if w != drop {
			rest = append(rest, w)
		}
	}
	return rest
}

func (q *question) packAnswer() answer {
	t := q.types[0]
	n := oracleTypes[t]
	low := new(big.Int)
	high := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), uint(n)), big.NewInt(1))
	if t[0] == 's' {
		low, high = new(big.Int).Neg(new(big.Int).Lsh(big.NewInt(1), uint(n-1))),
			new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), uint(n-1)), big.NewInt(1))
	}
	part := func(x uint64) uint64 {
		y := number("s32", x)
		if y.Cmp(low) < 0 {
			y = low
		} else if y.Cmp(high) > 0 {
			y = high
		}
		return wrap(n, y)
	}
	d := part(q.in[1]) + part(q.in[0])<<n
	if len(q.types) > 2 {
		d += q.in[2] << (2 * n)
	}
	return value1(d & 0xffffffff)
}

// elementWidth returns the width of an element of a packed type, padding included.
func elementWidth(t string) int {
	_, n := splitType(t)
	return oracleTypes[t] / n
}

// fixedOrFloat decodes an element; s2f6 is an integer multiple of 1/64.
func fixedOrFloat(e string, code uint64) exactNumber {
	if e == "s2f6" {
		x := number("s8", code)
		return exactNumber{rat: new(big.Rat).Mul(new(big.Rat).SetInt(x), pow2(-6)),
			neg: x.Sign() < 0}
	}
	f := oracleFormats[e]
	return f.value(code & (1<<f.bits - 1))
}

func (q *question) roundElement(e string, x exactNumber) uint64 {
	if e == "s2f6" {
		switch {
		case x.nan:
			return 127
		case x.rat == nil && x.neg:
			if q.has("relu") {
				return 0
			}
			return 0x80
		case x.rat == nil:
			return 127
		}
		n := roundRat(new(big.Rat).Mul(x.rat, pow2(6)), q.rnd())
		if q.has("relu") && n.Sign() < 0 {
			n = new(big.Int)
		}
		return wrap(8, clampBig("s8", n))
	}
	f := oracleFormats[e]
	if f.unsigned {
		x.neg = false
		if x.rat != nil {
			x.rat = new(big.Rat).Abs(x.rat)
		}
	}
	code := q.flushOut(e, x)
	if q.has("pzo") && code == 1<<(f.bits-1) {
		return 0
	}
	return code
}

func (q *question) packedConvert(d, a string) answer {
	to, _ := splitType(d)
	from, _ := splitType(a)
	one := a == "f32"
	var r uint64
	for i := range 2 {
		var code uint64
		at := 1
		if one {
			code, at = q.in[1-i], 2
		} else {
			code = q.in[0] >> (i * elementWidth(a)) & (1<<elementWidth(a) - 1)
		}
		x := fixedOrFloat(from, code)
		if q.has("scaled::n1::ue8m0") && tiny(oracleFormats[from], x) {
			x.rat = new(big.Rat)
		}
		if q.has("scaled::n1::ue8m0") || q.has("scaled::n2::ue8m0") {
			s := q.in[at]
			if q.has("scaled::n2::ue8m0") {
				s >>= 8 * i
			}
			scale := oracleFormats["ue8m0"].value(s)
			if to == "bf16" || to == "f16" {
				x = oracleMul(x, scale)
			} else {
				x = oracleDiv(x, scale)
			}
		}
		r |= q.roundElement(to, x) << (i * elementWidth(d))
	}
	return value1(r)
}

// stochasticAnswer returns the expected result of cvt.rs: it rounds up if the discarded bits plus
// the random bits carry.
func (q *question) stochasticAnswer() answer {
	d := q.types[0]
	to, n := splitType(d)
	f := oracleFormats[to]
	random := q.in[n]
	var r uint64
	for i := range n { // operand i is the i-th element from the highest
		count, bits := uint(16), random>>16
		if i*2 >= n {
			bits = random & 0xffff
		}
		bits &= 0xffff
		switch to {
		case "f16":
			count, bits = 13, bits&0x1fff
		case "e2m1":
			count, bits = 8, random>>[4]uint{24, 8, 16, 0}[i]&0xff
		}
		x := oracleFormats["f32"].value(q.in[i])
		rz := *q
		rz.words = append(without(q.words, "rs"), "rz")
		if x.rat != nil && !x.zero() {
			// Adds the random bits as a fraction of the last place, ignoring lower bits.
			e := max(floorLog(new(big.Rat).Abs(x.rat)), 1-f.bias)
			ulp := pow2(e - f.mantissa)
			units := new(big.Rat).Quo(new(big.Rat).Abs(x.rat), ulp)
			fine := roundRat(new(big.Rat).Mul(units, pow2(int(count))), "rz")
			fine.Add(fine, new(big.Int).SetUint64(bits))
			fine.Rsh(fine, count)
			y := new(big.Rat).Mul(new(big.Rat).SetInt(fine), ulp)
			if x.neg {
				y.Neg(y)
			}
			x.rat = y
			if overflow := f.round(x, "rn", false); f.value(overflow).rat == nil &&
				!q.has("satfinite") {
				x = exactNumber{neg: x.neg}
			}
		}
		r |= rz.roundElement(to, x) << ((n - 1 - i) * elementWidth(d))
	}
	return value1(r)
}
