// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package form

import (
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/ptxdsl/ptxdsl/ptx"
)

// A sort is the type of a constant expression.
type sort uint8

const (
	noSort   sort = iota // already reported
	signed               // .s64
	unsigned             // .u64
	double               // .f64
	single               // 0f3f800000, exact and alone
)

// A value is a constant expression, evaluated by the rules of the manual's section 4.5.
type value struct {
	sort  sort
	bits  uint64 // of integers
	float float64
}

func (v value) integer() bool { return v.sort == signed || v.sort == unsigned }
func (v value) real() bool    { return v.sort == double || v.sort == single }

// number reads a literal. Ok is false if it is not one; over is true if it does not fit.
func number(text string) (v value, over, ok bool) {
	if text == "WARP_SZ" {
		return value{sort: signed, bits: 32}, false, true
	}
	if len(text) > 2 && text[0] == '0' {
		switch text[1] {
		case 'f', 'F':
			n, err := strconv.ParseUint(text[2:], 16, 32)
			return value{sort: single, float: float64(math.Float32frombits(uint32(n)))}, false, err == nil && len(text) == 10
		case 'd', 'D':
			n, err := strconv.ParseUint(text[2:], 16, 64)
			return value{sort: double, float: math.Float64frombits(n)}, false, err == nil && len(text) == 18
		case 'x', 'X':
			return whole(text[2:], 16)
		case 'b', 'B':
			return whole(text[2:], 2)
		}
	}
	if strings.ContainsAny(text, ".eE") {
		f, err := strconv.ParseFloat(text, 64)
		if err != nil && !math.IsInf(f, 0) {
			return value{}, false, false
		}
		return value{sort: double, float: f}, math.IsInf(f, 0) || vanishes(text, f), true
	}
	if strings.HasPrefix(text, "0") {
		return whole(text, 8)
	}
	return whole(text, 10)
}

// vanishes reports whether a literal of value f is too small for a normal number. The assembler
// accepts it only if it is exactly a subnormal number, or zero.
func vanishes(text string, f float64) bool {
	const smallest, longest = 0x1p-1022, 2000 // exact literals are never longer in practice
	if math.Abs(f) >= smallest {
		return false
	}
	if f == 0 {
		digits, _, _ := strings.Cut(strings.ToLower(text), "e")
		return strings.Trim(digits, "0.") != ""
	}
	if len(text) > longest {
		return true
	}
	exact, ok := new(big.Rat).SetString(text)
	return !ok || exact.Cmp(new(big.Rat).SetFloat64(f)) != 0
}

// whole reads the digits of an integer. Like the assembler it reports an overflow only if a digit
// follows a value whose top bit is set, so a few literals just above 64 bits wrap.
func whole(digits string, base uint64) (v value, over, ok bool) {
	v.sort = signed
	if n := len(digits); n > 0 && digits[n-1] == 'U' {
		v.sort, digits = unsigned, digits[:n-1]
	}
	for i := range len(digits) {
		d := uint64(99)
		switch c := digits[i]; {
		case c >= '0' && c <= '9':
			d = uint64(c - '0')
		case c >= 'a' && c <= 'f':
			d = uint64(c-'a') + 10
		case c >= 'A' && c <= 'F':
			d = uint64(c-'A') + 10
		}
		if d >= base {
			return v, false, false
		}
		over = over || int64(v.bits) < 0
		v.bits = v.bits*base + d
	}
	if int64(v.bits) < 0 {
		v.sort = unsigned
	}
	return v, over, len(digits) > 0
}

// plainInteger returns the value of an operand that must be one integer literal, as in directives
// and declarations.
func (c *checker) plainInteger(o *ptx.Operand) (int64, bool) {
	if o.Kind != ptx.Literal && o.Text != "WARP_SZ" {
		return 0, false
	}
	v, over, ok := number(o.Text)
	if !ok || over || !v.integer() {
		return 0, false
	}
	return int64(v.bits), true
}

// tooLarge reports whether an operand is an integer that exceeds 64 bits.
func (c *checker) tooLarge(o *ptx.Operand) bool {
	if o.Kind != ptx.Literal {
		return false
	}
	v, over, ok := number(o.Text)
	if !ok || !over || !v.integer() {
		return false
	}
	c.fault(&ruleExpression, o, "constant %s does not fit into 64 bits", clip(o.Text))
	return true
}

// word32 returns a number in a directive. The assembler keeps the low 32 bits of a signed 64-bit
// number and rejects only larger ones, so 0xffffffffffffffff is 0xffffffff.
func word32(v int64) (n uint32, fits bool) { return uint32(v), v <= math.MaxUint32 }

// text returns an operand as it stands in the source.
func (c *checker) text(n ptx.Node) string {
	from, to := n.Pos(), n.End()
	if from < 0 || int(to) > len(c.src.Text) || from > to {
		return ""
	}
	return c.src.Text[from:to]
}
