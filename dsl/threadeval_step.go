// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/isa"
)

// worksOut evaluates an instruction for a thread. words are its name and modifiers.
func worksOut(words []string, a, b, c worked) worked {
	head, last := words[0], words[len(words)-1]
	width, signed := widthOf(last)
	if width == 0 && last != "pred" {
		return worked{}
	}
	wide := slices.Contains(words, "wide")
	switch head {
	case "mov":
		return a
	case "cvt":
		if len(words) != 3 {
			return worked{}
		}
		to, toSigned := widthOf(words[1])
		if to == 0 || a.kind != sure || isAddress(a.n) {
			return a.unless(to == 0 || isAddress(a.n) && to < 64)
		}
		return worked{sure, cut(cut(a.n, width, signed), to, toSigned)}
	case "setp":
		return compared(words[1], cutKnown(a, width, signed), cutKnown(b, width, signed), signed)
	case "selp":
		if c.kind != sure {
			return worked{}
		}
		if c.n != 0 {
			return a
		}
		return b
	case "not":
		if last == "pred" {
			if a.kind == sure {
				a.n ^= 1
			}
			return a
		}
		if a.kind != sure {
			return a
		}
		return worked{sure, cut(^a.n, width, signed)}
	case "and", "or":
		if last == "pred" {
			return joined(head, a, b)
		}
	case "mad":
		out := width
		if wide {
			out = 2 * width
		} else if !slices.Contains(words, "lo") {
			return worked{}
		}
		return arith("add", arith("mul", cutKnown(a, width, signed), cutKnown(b, width, signed), out, signed), c, out, signed)
	case "mul":
		if wide {
			return arith("mul", cutKnown(a, width, signed), cutKnown(b, width, signed), 2*width, signed)
		}
		if !slices.Contains(words, "lo") {
			return worked{}
		}
	}
	return arith(head, cutKnown(a, width, signed), cutKnown(b, width, signed), width, signed)
}

// arith evaluates an operation on two values of a width.
func arith(head string, a, b worked, width int, signed bool) worked {
	switch {
	case head == "mul" && (a.kind == sure && a.n == 0 || b.kind == sure && b.n == 0):
		return worked{kind: sure}
	case a.kind == given && (b.kind == given || b.kind == sure && b.n == 0) || b.kind == given && a.kind == sure && a.n == 0 && head == "add":
		return worked{kind: given}
	case a.kind == given && b.kind == sure && b.n > 0 && !isAddress(b.n) && (head == "add" || head == "div" || head == "shr" && b.n < 16):
		return worked{kind: given} // still a value that the launch chooses freely
	case a.kind != sure || b.kind != sure:
		return worked{}
	case (isAddress(a.n) || isAddress(b.n)) && head != "add" && head != "sub":
		return worked{} // an address plus an unknown value is unknown
	}
	switch head {
	case "shl":
		if b.n < 0 || b.n >= int64(width) {
			return worked{kind: sure}
		}
		return worked{sure, cut(a.n<<b.n, width, signed)}
	case "shr":
		return worked{sure, cut(a.n>>min(max(b.n, 0), 63), width, signed)}
	}
	t := isa.U64
	if signed {
		t = isa.S64
	}
	if n, ok := evaluate(head, t, a.n, b.n); ok {
		return worked{sure, cut(n, width, signed)}
	}
	return worked{}
}

// compared evaluates a comparison. A value that depends on the launch may be arbitrarily large or
// small.
func compared(how string, a, b worked, signed bool) worked {
	switch {
	case a.kind == vague || b.kind == vague || a.kind == free || b.kind == free || isAddress(a.n) || isAddress(b.n):
		return worked{}
	case a.kind == given || b.kind == given:
		switch how {
		case "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs":
			return worked{kind: free}
		}
		return worked{}
	}
	less := a.n < b.n
	if !signed {
		less = uint64(a.n) < uint64(b.n)
	}
	var holds bool
	switch how {
	case "eq":
		holds = a.n == b.n
	case "ne":
		holds = a.n != b.n
	case "lt", "lo":
		holds = less
	case "ge", "hs":
		holds = !less
	case "le", "ls":
		holds = less || a.n == b.n
	case "gt", "hi":
		holds = !less && a.n != b.n
	default:
		return worked{}
	}
	if holds {
		return worked{sure, 1}
	}
	return worked{kind: sure}
}

// joined evaluates the logical and, or, or exclusive or of two predicates.
func joined(head string, a, b worked) worked {
	decides := int64(0)
	if head == "or" {
		decides = 1
	}
	for _, x := range [...]worked{a, b} {
		if x.kind == sure && x.n == decides {
			return x
		}
	}
	switch {
	case a.kind == sure:
		return b
	case b.kind == sure:
		return a
	case a.kind == free && b.kind == free:
		return a
	}
	return worked{}
}

// unless negates a if not is set.
func (a worked) unless(not bool) worked {
	if not {
		return worked{}
	}
	return a
}

// cutKnown converts a value to an operand of the given width.
func cutKnown(a worked, width int, signed bool) worked {
	if a.kind == sure {
		a.n = cut(a.n, width, signed)
	}
	return a
}

// cut returns the low bits of a number. If it is an address, the bits that identify its area are
// kept.
func cut(n int64, width int, signed bool) int64 {
	if width >= 64 {
		return n
	}
	if isAddress(n) {
		return n
	}
	shift := 64 - width
	if signed {
		return n << shift >> shift
	}
	return int64(uint64(n) << shift >> shift)
}

// isAddress reports whether a number is an address in an area.
func isAddress(n int64) bool { return n >= 1<<(areaBits-1) }

// widthOf returns the bits of an integer type and whether it is signed; 0 for other types.
func widthOf(word string) (width int, signed bool) {
	switch word {
	case "u8", "b8":
		return 8, false
	case "s8":
		return 8, true
	case "u16", "b16":
		return 16, false
	case "s16":
		return 16, true
	case "u32", "b32":
		return 32, false
	case "s32":
		return 32, true
	case "u64", "b64":
		return 64, false
	case "s64":
		return 64, true
	}
	return 0, false
}
