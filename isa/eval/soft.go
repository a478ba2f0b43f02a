// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package eval

import "math/bits"

var nan = value{class: notNumber}

// sum returns a + b.
func sum(a, b value, how Rounding) value {
	switch {
	case a.class == notNumber || b.class == notNumber:
		return nan
	case a.class == infinite && b.class == infinite && a.negative != b.negative:
		return nan
	case a.class == infinite:
		return a
	case b.class == infinite:
		return b
	case a.class == zero && b.class == zero:
		if a.negative != b.negative {
			a.negative = how == Down
		}
		return a
	case a.class == zero:
		return b
	case b.class == zero:
		return a
	}
	return add128(a, a.fraction, 0, b, b.fraction, 0, how)
}

// add128 adds two numbers with normalized 128-bit fractions.
func add128(a value, ah, al uint64, b value, bh, bl uint64, how Rounding) value {
	if a.exponent < b.exponent || a.exponent == b.exponent && (ah < bh || ah == bh && al < bl) {
		a, ah, al, b, bh, bl = b, bh, bl, a, ah, al
	}
	// make space for a carry bit
	al = al>>1 | ah<<63 | al&1
	ah >>= 1
	bh, bl = shiftDown(bh, bl, uint(a.exponent-b.exponent)+1)
	var carry uint64
	if a.negative == b.negative {
		al, carry = bits.Add64(al, bl, 0)
		ah, _ = bits.Add64(ah, bh, carry)
	} else {
		al, carry = bits.Sub64(al, bl, 0)
		ah, _ = bits.Sub64(ah, bh, carry)
	}
	if ah|al == 0 {
		return value{class: zero, negative: how == Down}
	}
	return normalized(a.negative, a.exponent+1, ah, al)
}

// shiftDown shifts right and sets the lowest bit if any set bit was shifted out.
func shiftDown(hi, lo uint64, n uint) (uint64, uint64) {
	lost := false
	if n >= 128 {
		return 0, 1
	}
	if n >= 64 {
		lost = lo != 0
		hi, lo, n = 0, hi, n-64
	}
	lost = lost || lo&(1<<n-1) != 0
	lo = lo>>n | hi<<(64-n)
	hi >>= n
	if lost {
		lo |= 1
	}
	return hi, lo
}

// normalized returns the value of a nonzero 128-bit fraction.
func normalized(negative bool, exponent int, hi, lo uint64) value {
	n := bits.LeadingZeros64(hi)
	if hi == 0 {
		n = 64 + bits.LeadingZeros64(lo)
	}
	exponent -= n
	if n >= 64 {
		hi, lo, n = lo, 0, n-64
	}
	hi = hi<<n | lo>>(64-n)
	lo <<= n
	return value{class: normal, negative: negative, exponent: exponent, fraction: hi, more: lo != 0}
}

// times returns a * b, with the lower 64 bits of the fraction in low.
func times(a, b value) (v value, low uint64) {
	v.negative = a.negative != b.negative
	switch {
	case a.class == notNumber || b.class == notNumber:
		return nan, 0
	case a.class == infinite && b.class == zero || a.class == zero && b.class == infinite:
		return nan, 0
	case a.class == infinite || b.class == infinite:
		v.class = infinite
		return v, 0
	case a.class == zero || b.class == zero:
		return v, 0
	}
	hi, lo := bits.Mul64(a.fraction, b.fraction)
	v.class, v.exponent = normal, a.exponent+b.exponent+1
	if hi>>63 == 0 {
		hi, lo = hi<<1|lo>>63, lo<<1
		v.exponent--
	}
	v.fraction, v.more = hi, lo != 0
	return v, lo
}

// fused returns a * b + c.
func fused(a, b, c value, how Rounding) value {
	p, low := times(a, b)
	if p.class != normal || c.class != normal {
		return sum(p, c, how)
	}
	return add128(p, p.fraction, low, c, c.fraction, 0, how)
}

// quotient returns a / b.
func quotient(a, b value) value {
	v := value{negative: a.negative != b.negative}
	switch {
	case a.class == notNumber || b.class == notNumber:
		return nan
	case a.class == infinite && b.class == infinite || a.class == zero && b.class == zero:
		return nan
	case a.class == infinite || b.class == zero:
		v.class = infinite
		return v
	case a.class == zero || b.class == infinite:
		return v
	}
	v.class, v.exponent = normal, a.exponent-b.exponent
	hi, lo := a.fraction, uint64(0)
	if hi >= b.fraction {
		hi, lo = hi>>1, hi<<63
	} else {
		v.exponent--
	}
	q, rest := bits.Div64(hi, lo, b.fraction)
	v.fraction, v.more = q, rest != 0
	return v
}

// root returns the square root of a.
func root(a value) value {
	switch {
	case a.class == notNumber || a.class != zero && a.negative:
		return nan
	case a.class != normal:
		return a
	}
	// The root of hi:lo is a normalized 64-bit fraction if one of the top two bits of hi is set.
	hi, lo, e := a.fraction, uint64(0), a.exponent
	if e&1 == 0 {
		hi, lo = hi>>1, hi<<63
	} else {
		e--
	}
	var r uint64
	for bit := uint64(1) << 63; bit != 0; bit >>= 1 {
		t := r | bit
		th, tl := bits.Mul64(t, t)
		if th < hi || th == hi && tl <= lo {
			r = t
		}
	}
	rh, rl := bits.Mul64(r, r)
	return value{class: normal, exponent: e / 2, fraction: r, more: rh != hi || rl != lo}
}
