// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package eval

import (
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// A question is an opcode, split into its parts, with the bits of its operands.
type question struct {
	head  string
	words []string
	types []string
	in    []uint64
	pred  bool
}

func (q *question) has(w string) bool { return slices.Contains(q.words, w) }

// oracleTypes maps type names to their widths in bits.
var oracleTypes = map[string]int{
	"pred": 1, "b8": 8, "b16": 16, "b32": 32, "b64": 64, "b128": 128, "s8": 8, "s16": 16, "s32": 32,
	"s64": 64, "u8": 8, "u16": 16, "u32": 32, "u64": 64, "f16": 16, "f16x2": 32, "bf16": 16,
	"bf16x2": 32, "tf32": 32, "f32": 32, "f64": 64, "f32x2": 64, "u8x4": 32, "s8x4": 32,
	"u16x2": 32,
	"s16x2": 32, "e4m3x2": 16, "e5m2x2": 16, "e3m2x2": 16, "e2m3x2": 16, "e2m1x2": 8, "ue8m0x2": 16,
	"ue5m3x2": 16, "s2f6x2": 16, "e4m3x4": 32, "e5m2x4": 32, "e3m2x4": 32, "e2m3x4": 32,
	"e2m1x4": 16, "e2m1p4x4": 32, "ue8m0x4": 32, "u4": 4, "s4": 4, "u2": 2, "s2": 2,
}

func ask(opcode string) *question {
	parts := strings.Split(opcode, ".")
	q := &question{head: parts[0], words: parts[1:]}
	for _, w := range q.words {
		if oracleTypes[w] != 0 {
			q.types = append(q.types, w)
		}
	}
	return q
}

func isIntType(t string) bool {
	return (t[0] == 's' || t[0] == 'u') && !strings.HasPrefix(t, "ue") && !strings.Contains(t, "f6")
}

// number returns the integer with the given bits.
func number(t string, bits uint64) *big.Int {
	n := oracleTypes[t]
	x := new(big.Int).SetUint64(bits)
	x.And(x, new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), uint(n)), big.NewInt(1)))
	if t[0] == 's' && x.Bit(n-1) == 1 {
		x.Sub(x, new(big.Int).Lsh(big.NewInt(1), uint(n)))
	}
	return x
}

// wrap returns the low bits of an integer.
func wrap(width int, x *big.Int) uint64 {
	m := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), uint(width)), big.NewInt(1))
	return new(big.Int).And(x, m).Uint64()
}

// bounds returns the range of a type.
func bounds(t string) (low, high *big.Int) {
	n := uint(oracleTypes[t])
	one := big.NewInt(1)
	if t[0] == 's' {
		high = new(big.Int).Sub(new(big.Int).Lsh(one, n-1), one)
		return new(big.Int).Neg(new(big.Int).Lsh(one, n-1)), high
	}
	return new(big.Int), new(big.Int).Sub(new(big.Int).Lsh(one, n), one)
}

func clampBig(t string, x *big.Int) *big.Int {
	low, high := bounds(t)
	switch {
	case x.Cmp(low) < 0:
		return low
	case x.Cmp(high) > 0:
		return high
	}
	return x
}

// splitType returns the element type of a packed type and the number of elements.
func splitType(t string) (string, int) {
	base, n, packed := strings.Cut(t, "x")
	if !packed {
		return t, 1
	}
	count, _ := strconv.Atoi(n)
	return strings.TrimSuffix(base, "p4"), count
}

// perElement applies f to the elements of packed integers.
func (q *question) perElement(f func(t string, x []uint64) uint64) uint64 {
	element, n := splitType(q.types[0])
	width := oracleTypes[element]
	var r uint64
	for i := range n {
		x := make([]uint64, len(q.in))
		for j := range x {
			x[j] = q.in[j] >> (i * width)
			if width < 64 {
				x[j] &= 1<<width - 1
			}
		}
		y := f(element, x)
		if width < 64 {
			y &= 1<<width - 1
		}
		r |= y << (i * width)
	}
	return r
}

// answer is the expected result according to the oracle.
type answer struct {
	out    []uint64
	pred   []bool
	ok     bool
	within func(got uint64) bool // for approximations
}

func value1(x uint64) answer { return answer{out: []uint64{x}, ok: true} }

// integerAnswer returns the expected result of integer arithmetic.
func integerAnswer(q *question) answer {
	t := q.types[0]
	width := oracleTypes[t]
	n := func(i int) *big.Int { return number(t, q.in[i]) }
	done := func(x *big.Int) answer {
		if q.has("sat") {
			x = clampBig(t, x)
		}
		return value1(wrap(width, x))
	}
	switch q.head {
	case "add", "sub", "addc", "subc":
		if strings.Contains(t, "x") {
			return value1(q.perElement(func(t string, x []uint64) uint64 {
				s := new(big.Int).Add(number(t, x[0]), number(t, x[1]))
				if q.head == "sub" {
					s.Sub(number(t, x[0]), number(t, x[1]))
				}
				if q.has("sat") {
					s = clampBig(t, s)
				}
				return wrap(oracleTypes[t], s)
			}))
		}
		return q.withCarry(t, n(0), n(1))
	case "mul", "mad", "madc":
		return q.multiply(t, done)
	case "mul24", "mad24":
		x, y := number(t[:1]+"32", q.in[0]<<8), number(t[:1]+"32", q.in[1]<<8)
		p := new(big.Int).Mul(x, y)
		p.Rsh(p, 16)
		if q.has("hi") {
			p.Rsh(p, 16)
		}
		if q.head == "mad24" {
			p = number(t, wrap(32, p))
			return done(p.Add(p, n(2)))
		}
		return done(p)
	case "clmad":
		return q.carryless()
	case "sad":
		d := new(big.Int).Sub(n(0), n(1))
		return done(d.Add(d.Abs(d), n(2)))
	case "div", "rem":
		if n(1).Sign() == 0 {
			return value1(wrap(width, big.NewInt(-1)))
		}
		a, b := new(big.Int).QuoRem(n(0), n(1), new(big.Int))
		if q.head == "rem" {
			a = b
		}
		return done(a)
	case "abs", "neg", "min", "max":
		return q.signOrExtreme()
	}
	return answer{}
}

// signOrExtreme returns the expected result of abs, neg, min and max.
func (q *question) signOrExtreme() answer {
	switch q.head {
	case "abs", "neg":
		return value1(q.perElement(func(t string, x []uint64) uint64 {
			y := number("s"+strconv.Itoa(oracleTypes[t]), x[0])
			if q.head == "abs" {
				y.Abs(y)
			} else {
				y.Neg(y)
			}
			return wrap(oracleTypes[t], y)
		}))
	case "min", "max":
		return value1(q.perElement(func(t string, x []uint64) uint64 {
			a, b := number(t, x[0]), number(t, x[1])
			if (a.Cmp(b) < 0) == (q.head == "max") {
				a = b
			}
			if q.has("relu") && a.Sign() < 0 {
				a = new(big.Int)
			}
			return wrap(oracleTypes[t], a)
		}))
	}
	return answer{}
}

// withCarry returns the expected result of an addition or subtraction with carry.
func (q *question) withCarry(t string, a, b *big.Int) answer {
	width := oracleTypes[t]
	minus := strings.HasPrefix(q.head, "sub") // a subtraction borrows if the flag is not set
	carry := big.NewInt(0)
	if strings.HasSuffix(q.head, "c") && q.pred != minus {
		carry.SetInt64(1)
	}
	signed, unsigned := new(big.Int), new(big.Int)
	ua, ub := new(big.Int).SetUint64(wrap(width, a)), new(big.Int).SetUint64(wrap(width, b))
	if minus {
		signed.Sub(a, b).Sub(signed, carry)
		unsigned.Sub(ua, ub).Sub(unsigned, carry)
	} else {
		signed.Add(a, b).Add(signed, carry)
		unsigned.Add(ua, ub).Add(unsigned, carry)
	}
	if q.has("sat") {
		return value1(wrap(width, clampBig(t, signed)))
	}
	r := value1(wrap(width, signed))
	if q.has("cc") {
		if minus {
			r.pred = []bool{unsigned.Sign() >= 0}
		} else {
			r.pred = []bool{unsigned.BitLen() > width}
		}
	}
	return r
}

// multiply returns the expected result of mul, mad and madc.
func (q *question) multiply(t string, done func(*big.Int) answer) answer {
	width := oracleTypes[t]
	p := new(big.Int).Mul(number(t, q.in[0]), number(t, q.in[1]))
	if q.has("wide") {
		wide := t[:1] + strconv.Itoa(2*width)
		if q.head == "mad" {
			p.Add(p, number(wide, q.in[2]))
		}
		return value1(wrap(2*width, p))
	}
	carries := q.head == "madc" || q.has("cc")
	switch {
	case q.has("hi") && carries && width == 16: // ptxas uses 32-bit operands
		p.Rsh(p, 32)
	case q.has("hi"):
		p.Rsh(p, uint(width))
	}
	p = number(t, wrap(width, p))
	if q.head == "mul" {
		return done(p)
	}
	if carries {
		q.words = without(q.words, "sat")
		return q.withCarry(t, p, number(t, q.in[2]))
	}
	return done(p.Add(p, number(t, q.in[2])))
}

func (q *question) carryless() answer {
	p := new(big.Int)
	for i := range 64 {
		if q.in[1]>>i&1 == 1 {
			p.Xor(p, new(big.Int).Lsh(new(big.Int).SetUint64(q.in[0]), uint(i)))
		}
	}
	if q.has("hi") {
		p.Rsh(p, 64)
	}
	return value1(wrap(64, p) ^ q.in[2])
}
