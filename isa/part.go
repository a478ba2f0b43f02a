// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package isa

// A Part is a set of register parts that an operand of a video instruction accepts (PTX ISA 9.1,
// section 9.7.18).
type Part uint8

// The sets of register parts.
const (
	WholeOnly Part = iota // only the whole register
	Lane                  // a byte or a half word: .b0 to .b3, .h0, .h1
	Halves                // two of the four half words of both sources: .h10, .h32
	HalfMask              // the half words to be written: .h0, .h1, .h10
	Bytes                 // four of the eight bytes of both sources: .b3210, .b7654
	ByteMask              // the bytes to be written, highest first: .b0, .b320
)

// Has reports whether p accepts field, such as ".h10".
func (p Part) Has(field string) bool {
	if len(field) < 3 || field[0] != '.' {
		return false
	}
	letter, digits := field[1], field[2:]
	switch p {
	case Lane:
		return len(digits) == 1 &&
			(letter == 'b' && below(digits, '4') || letter == 'h' && below(digits, '2'))
	case Halves:
		return letter == 'h' && len(digits) == 2 && below(digits, '4')
	case HalfMask:
		return letter == 'h' && below(digits, '2') && isDescending(digits)
	case Bytes:
		return letter == 'b' && len(digits) == 4 && below(digits, '8')
	case ByteMask:
		return letter == 'b' && below(digits, '4') && isDescending(digits)
	}
	return false
}

// below reports whether all digits are less than end.
func below(digits string, end byte) bool {
	for i := range len(digits) {
		if digits[i] < '0' || digits[i] >= end {
			return false
		}
	}
	return true
}

// isDescending reports whether each digit is less than the one before.
func isDescending(digits string) bool {
	for i := 1; i < len(digits); i++ {
		if digits[i] >= digits[i-1] {
			return false
		}
	}
	return true
}

// String returns the accepted parts as a phrase for messages.
func (p Part) String() string {
	switch p {
	case Lane:
		return "a part of it: .b0 to .b3, .h0 or .h1"
	case Halves:
		return "two half words: .h10"
	case HalfMask:
		return "a mask: .h0, .h1 or .h10"
	case Bytes:
		return "four bytes: .b3210"
	case ByteMask:
		return "a mask: .b0 to .b3210"
	}
	return ""
}
