// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package eval

import (
	"math/big"
	"strings"
)

// rnd returns the rounding that an opcode specifies.
func (q *question) rnd() string {
	for _, w := range []string{"rn", "rz", "rm", "rp", "rna"} {
		if q.has(w) {
			return w
		}
	}
	return "rn"
}

// flushIn decodes an operand of a format, flushed if the opcode says so.
func (q *question) flushIn(name string, code uint64) exactNumber {
	f := oracleFormats[name]
	x := f.value(code)
	if q.has("ftz") && (name == "f32" || name == "f16" || name == "bf16") && tiny(f, x) {
		x.rat = new(big.Rat)
	}
	return x
}

// tiny reports whether a number is subnormal in a format.
func tiny(f oracleFormat, x exactNumber) bool {
	return x.rat != nil && x.rat.Sign() != 0 && new(big.Rat).Abs(x.rat).Cmp(pow2(1-f.bias)) < 0
}

// flushOut rounds a result, then flushes and clamps it.
func (q *question) flushOut(name string, x exactNumber) uint64 {
	f := oracleFormats[name]
	code := f.round(x, q.rnd(), q.has("satfinite"))
	y := f.value(code)
	if q.has("ftz") && name != "f64" && tiny(f, x) {
		// Rounds with the precision of normal numbers: 4x is normal.
		large := exactNumber{rat: new(big.Rat).Mul(x.rat, pow2(2)), neg: x.neg}
		large = f.value(f.round(large, q.rnd(), false))
		if large.rat.Mul(large.rat, pow2(-2)); tiny(f, large) || large.zero() {
			code, y = 0, exactNumber{rat: new(big.Rat), neg: x.neg}
		}
		if code == 0 && x.neg {
			code = 1 << (f.bits - 1)
		}
	}
	if q.has("ftz") && name != "f64" && tiny(f, y) {
		code &= 1 << (f.bits - 1)
		y = f.value(code)
	}
	switch {
	case q.has("sat") && (y.nan || y.neg):
		return 0
	case q.has("sat") && (y.rat == nil || y.rat.Cmp(pow2(0)) > 0):
		return uint64(f.bias) << f.mantissa
	case q.has("relu") && y.neg && !y.nan:
		return 0
	}
	return code
}

// compute evaluates an operation on exact numbers.
func (q *question) compute(x []exactNumber) exactNumber {
	mode := q.rnd()
	switch q.head {
	case "add":
		return oracleAdd(x[0], x[1], mode)
	case "sub":
		return oracleAdd(x[0], oracleNeg(x[1]), mode)
	case "mul":
		return oracleMul(x[0], x[1])
	case "fma", "mad":
		return oracleAdd(oracleMul(x[0], x[1]), x[2], mode)
	case "div":
		return oracleDiv(x[0], x[1])
	case "rcp":
		return oracleDiv(exactNumber{rat: pow2(0)}, x[0])
	}
	return oracleSqrt(x[0]) // sqrt
}

// operandTypes returns the types of the operands of floating-point arithmetic.
func (q *question) operandTypes() []string {
	t, n := q.types, 2
	switch q.head {
	case "fma", "mad":
		n = 3
	case "rcp", "sqrt", "abs", "neg", "ex2", "lg2", "sin", "cos", "tanh", "rsqrt":
		n = 1
	}
	switch {
	case len(t) == 1:
		return []string{t[0], t[0], t[0]}[:n]
	case len(t) == n+1:
		return t[1:]
	// d, a, b; the addend has the type of d
	case q.head == "fma" && strings.HasSuffix(t[0], "x4"):
		return []string{t[1], t[2], t[0]}
	case q.head == "fma":
		return []string{t[1], t[1], t[0]}
	}
	return []string{t[1], t[0]}
}

// floatAnswer returns the expected result of floating-point arithmetic.
func floatAnswer(q *question) answer {
	out, n := splitType(q.types[0])
	if q.head == "fma" && q.has("oob") {
		return q.perHalf(func(x []uint64) uint64 {
			for _, y := range x[:2] {
				if y%0x8000 == 0x7ff7 {
					return 0
				}
			}
			return q.scalarFloat(out, x)
		})
	}
	types := q.operandTypes()
	wide := oracleTypes[q.types[0]] / n
	var r uint64
	for i := range n {
		x := make([]uint64, len(types))
		for j, t := range types {
			w := oracleTypes[t] / n
			x[j] = q.in[j] >> (i * w)
			if w < 64 {
				x[j] &= 1<<w - 1
			}
		}
		y := q.floatElement(out, types, x)
		r |= y << (i * wide)
	}
	return value1(r)
}

func (q *question) floatElement(out string, types []string, x []uint64) uint64 {
	numbers := make([]exactNumber, len(types))
	for j, t := range types {
		e, _ := splitType(t)
		numbers[j] = q.flushIn(e, x[j]&(1<<oracleFormats[e].bits-1))
	}
	if out == "f64" {
		numbers64 := q.compute(numbers)
		if numbers64.nan {
			// the order in which Hopper selects a NaN operand
			order := map[int][]int{1: {0}, 2: {1, 0}, 3: {1, 2, 0}}[len(x)]
			if q.head == "div" {
				order = []int{0, 1}
			}
			for _, j := range order {
				if numbers[j].nan {
					return x[j] | 1<<51
				}
			}
			return 0xfff8 << 48
		}
	}
	return q.flushOut(out, q.compute(numbers))
}

func (q *question) scalarFloat(out string, x []uint64) uint64 {
	return q.floatElement(out, []string{out, out, out}[:len(x)], x)
}

// perHalf applies f to the halves of operands.
func (q *question) perHalf(f func(x []uint64) uint64) answer {
	_, n := splitType(q.types[0])
	var r uint64
	for i := range n {
		x := make([]uint64, len(q.in))
		for j := range x {
			x[j] = q.in[j] >> (16 * i) & 0xffff
		}
		r |= f(x) << (16 * i)
	}
	return value1(r)
}

// signAnswer returns the expected result of abs, neg, copysign, testp, min and max of
// floating-point numbers.
func signAnswer(q *question) answer {
	e, n := splitType(q.types[0])
	f := oracleFormats[e]
	if q.head == "testp" {
		return answer{pred: []bool{q.testFloat(f)}, ok: true}
	}
	var r uint64
	for i := range n {
		x := make([]uint64, len(q.in))
		for j := range x {
			x[j] = q.in[j] >> (i * f.bits) & (^uint64(0) >> (64 - f.bits))
		}
		r |= q.signElement(e, f, x) << (i * f.bits)
	}
	return value1(r)
}

func (q *question) signElement(e string, f oracleFormat, x []uint64) uint64 {
	sign := uint64(1) << (f.bits - 1)
	if q.head == "copysign" {
		return x[0]&sign + x[1]%sign
	}
	codes := make([]uint64, len(x))
	for i := range x {
		codes[i] = x[i]
		if q.has("ftz") && e != "f64" && tiny(f, f.value(x[i])) {
			codes[i] = x[i] & sign
		}
	}
	switch q.head {
	case "abs", "neg":
		if f.value(codes[0]).nan && e == "f64" {
			return codes[0] | 1<<51
		}
		if f.value(codes[0]).nan {
			return f.nan
		}
		if q.head == "abs" {
			return codes[0] % sign
		}
		return codes[0] ^ sign
	}
	var flip uint64
	if q.has("xorsign") {
		flip = (codes[0] ^ codes[1]) & sign
	}
	best := exactNumber{nan: true}
	code := f.nan
	if last := codes[len(codes)-1]; e == "f64" && f.value(last).nan {
		code = last | 1<<51
	}
	for _, c := range codes {
		if q.has("abs") {
			c %= sign
		}
		v := f.value(c)
		switch {
		case v.nan && q.has("NaN"):
			return f.nan
		case v.nan:
		case best.nan, q.head == "min" && lessExact(v, best), q.head == "max" && lessExact(best, v):
			best, code = v, c
		}
	}
	if q.has("xorsign") && !best.nan {
		code = code%sign + flip
	}
	return code
}

// lessExact orders numbers; -0 is less than +0.
func lessExact(a, b exactNumber) bool {
	rank := func(x exactNumber) int {
		switch {
		case x.rat == nil && x.neg:
			return -1
		case x.rat == nil:
			return 1
		}
		return 0
	}
	if rank(a) != rank(b) || rank(a) != 0 {
		return rank(a) < rank(b)
	}
	if c := a.rat.Cmp(b.rat); c != 0 {
		return c < 0
	}
	return a.zero() && a.neg && !b.neg
}

func (q *question) testFloat(f oracleFormat) bool {
	v := f.value(q.in[0])
	switch {
	case q.has("finite"):
		return v.rat != nil
	case q.has("infinite"):
		return v.rat == nil && !v.nan
	case q.has("number"):
		return !v.nan
	case q.has("notanumber"):
		return v.nan
	case q.has("normal"):
		return v.rat != nil && !tiny(f, v)
	case q.has("subnormal"):
		return tiny(f, v)
	}
	return false
}

// compareAnswer returns the expected result of set, setp, slct and selp.
func compareAnswer(q *question) answer {
	switch q.head {
	case "selp":
		if q.pred {
			return value1(wrap(oracleTypes[q.types[0]], new(big.Int).SetUint64(q.in[0])))
		}
		return value1(wrap(oracleTypes[q.types[0]], new(big.Int).SetUint64(q.in[1])))
	case "slct":
		second := q.in[1]
		if q.types[1] == "s32" && int32(q.in[2]) >= 0 {
			second = q.in[0]
		}
		if q.types[1] == "f32" {
			if x := q.flushIn("f32", q.in[2]); !x.nan && (x.zero() || !x.neg) {
				second = q.in[0]
			}
		}
		return value1(wrap(oracleTypes[q.types[0]], new(big.Int).SetUint64(second)))
	}
	source := q.types[len(q.types)-1]
	element, n := splitType(source)
	width := oracleTypes[element]
	results := make([]bool, n)
	for i := range n {
		m := ^uint64(0) >> (64 - width)
		results[i] = q.holds(element, q.in[0]>>(i*width)&m, q.in[1]>>(i*width)&m)
	}
	if q.head == "setp" {
		p, other := results[0], !results[0]
		if n == 2 {
			other = results[1]
		}
		return answer{pred: []bool{q.boolean(p), q.boolean(other)}, ok: true}
	}
	var r uint64
	to, _ := splitType(q.types[0])
	each := oracleTypes[q.types[0]] / n
	for i, x := range results {
		if !q.boolean(x) {
			continue
		}
		yes := ^uint64(0) >> (64 - each)
		if f, ok := oracleFormats[to]; ok {
			yes = uint64(f.bias) << f.mantissa
		}
		r |= yes << (i * each)
	}
	return value1(r)
}

func (q *question) boolean(x bool) bool {
	switch {
	case q.has("and"):
		return x && q.pred
	case q.has("or"):
		return x || q.pred
	case q.has("xor"):
		return x != q.pred
	}
	return x
}

// holds compares two elements.
func (q *question) holds(t string, a, b uint64) bool {
	var order int
	nan := false
	if _, ok := oracleFormats[t]; ok {
		x, y := q.flushIn(t, a), q.flushIn(t, b)
		nan = x.nan || y.nan
		if !nan {
			x.neg, y.neg = x.neg && !x.zero(), y.neg && !y.zero()
			order = btoi(lessExact(y, x)) - btoi(lessExact(x, y))
		}
	} else {
		order = number(t, a).Cmp(number(t, b))
	}
	table := map[string][4]bool{ // less, equal, greater, unordered
		"eq": {false, true, false, false}, "ne": {true, false, true, false},
		"lt": {true, false, false, false}, "le": {true, true, false, false},
		"gt": {false, false, true, false}, "ge": {false, true, true, false},
		"lo": {true, false, false, false}, "ls": {true, true, false, false},
		"hi": {false, false, true, false}, "hs": {false, true, true, false},
		"equ": {false, true, false, true}, "neu": {true, false, true, true},
		"ltu": {true, false, false, true}, "leu": {true, true, false, true},
		"gtu": {false, false, true, true}, "geu": {false, true, true, true},
		"num": {true, true, true, false}, "nan": {false, false, false, true},
	}
	for _, w := range q.words {
		if row, ok := table[w]; ok {
			if nan {
				return row[3]
			}
			return row[order+1]
		}
	}
	return false
}
