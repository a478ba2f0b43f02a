// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package constant

import (
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/ptxdsl/ptxdsl/isa"
)

// Number returns the value of a literal. ok is false if text is not a literal. over is set if the
// value does not fit into 64 bits.
func Number(text string) (v Value, over, ok bool) {
	if text == "WARP_SZ" {
		return Value{isa.S64, 32}, false, true
	}
	if len(text) > 2 && text[0] == '0' {
		switch text[1] {
		case 'f', 'F':
			n, err := strconv.ParseUint(text[2:], 16, 32)
			return Value{isa.F32, n}, false, err == nil && len(text) == 10
		case 'd', 'D':
			n, err := strconv.ParseUint(text[2:], 16, 64)
			return Value{isa.F64, n}, false, err == nil && len(text) == 18
		case 'x', 'X':
			return parseDigits(text[2:], 16)
		case 'b', 'B':
			return parseDigits(text[2:], 2)
		}
	}
	if strings.ContainsAny(text, ".eE") {
		f, err := strconv.ParseFloat(text, 64)
		if err != nil && !math.IsInf(f, 0) {
			return Value{}, false, false
		}
		return double(f), math.IsInf(f, 0) || vanishes(text, f), true
	}
	if strings.HasPrefix(text, "0") {
		return parseDigits(text, 8)
	}
	return parseDigits(text, 10)
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

// parseDigits reads the digits of an integer. Like the assembler it reports an overflow only if a
// digit follows a value whose top bit is set, so a few literals just above 64 bits wrap.
func parseDigits(digits string, base uint64) (v Value, over, ok bool) {
	v.Type = isa.S64
	if n := len(digits); n > 0 && digits[n-1] == 'U' {
		v.Type, digits = isa.U64, digits[:n-1]
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
		over = over || int64(v.Bits) < 0
		v.Bits = v.Bits*base + d
	}
	if int64(v.Bits) < 0 {
		v.Type = isa.U64
	}
	return v, over, len(digits) > 0
}
