// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package passes_test

import (
	"fmt"
	"math/bits"
	"strings"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// compute executes an integer instruction.
func (m *machine) compute(in *ir.Instr) error {
	width, letter := kind(in.Op)
	x := make([]uint64, 4)
	for i := range in.Args[1:] {
		x[i] = m.value(&in.Args[1+i])
	}
	a, b, c := x[0]&mask(width), x[1]&mask(width), x[2]&mask(width)
	sa, sb := signed(a, width), signed(b, width)
	less := a < b
	if letter == 's' {
		less = sa < sb
	}
	var v uint64
	switch in.Head() {
	case "add", "addc":
		v = m.sum(in, a, b, width)
		if in.HasMod(isa.ModSat) {
			v = saturated(sa+sb, width)
		}
	case "sub", "subc":
		v = m.difference(in, a, b, width)
		if in.HasMod(isa.ModSat) {
			v = saturated(sa-sb, width)
		}
	case "mul", "mad", "madc":
		m.product(in, x, width, letter)
		return nil
	case "and":
		v = a & b
	case "or":
		v = a | b
	case "xor":
		v = a ^ b
	case "not":
		v = ^a
		if width == 1 {
			v = a ^ 1
		}
	case "neg":
		v = -a
	case "min", "max":
		v = b
		if less == (in.Head() == "min") {
			v = a
		}
		if in.HasMod(isa.ModReLU) && signed(v, width) < 0 {
			v = 0
		}
	case "shl", "shr":
		v = shifted(in.Head(), letter, a, x[1]&0xffffffff, width)
	case "selp":
		v = b
		if x[2]&1 != 0 {
			v = a
		}
	case "popc":
		v = uint64(bits.OnesCount64(a))
	case "cvt":
		words := strings.Split(in.Op, ".")
		v = a
		if letter == 's' {
			v = uint64(sa)
		}
		to, _ := kind(words[len(words)-2])
		v &= mask(to)
	case "lop3":
		for i := range width {
			at := a>>i&1<<2 | b>>i&1<<1 | c>>i&1
			v |= x[3] >> at & 1 << i
		}
	default:
		return fmt.Errorf("the machine does not know it")
	}
	if len(elements(&in.Args[0])) != 1 {
		return fmt.Errorf("more than one result")
	}
	m.put(&in.Args[0], v)
	return nil
}

// sum executes add or addc, which may set the carry.
func (m *machine) sum(in *ir.Instr, a, b uint64, width int) uint64 {
	more := uint64(0)
	if in.Head() == "addc" {
		more = m.carry
	}
	low, carry := bits.Add64(a, b, more)
	if width < 64 {
		carry = low >> width & 1
	}
	if in.HasMod(isa.ModCC) {
		m.carry = carry
	}
	return low
}

// difference executes sub or subc; the carry is a borrow.
func (m *machine) difference(in *ir.Instr, a, b uint64, width int) uint64 {
	less := uint64(0)
	if in.Head() == "subc" {
		less = m.carry
	}
	low, borrow := bits.Sub64(a, b, less)
	if in.HasMod(isa.ModCC) {
		m.carry = borrow
	}
	return low
}

// product executes mul, mad or madc.
func (m *machine) product(in *ir.Instr, x []uint64, width int, letter byte) {
	a, b := x[0]&mask(width), x[1]&mask(width)
	high, low := bits.Mul64(a, b)
	if letter == 's' {
		a, b := uint64(signed(a, width)), uint64(signed(b, width))
		high, low = bits.Mul64(a, b)
		high -= uint64(int64(a)>>63)&b + uint64(int64(b)>>63)&a
	}
	v, out := low, width
	switch {
	case in.HasMod(isa.ModHi) && width == 64:
		v = high
	case in.HasMod(isa.ModHi):
		v = low >> width
	case in.Kind() == isa.KindMulWide || in.Kind() == isa.KindMadWide:
		out = 2 * width
	}
	if in.Head() != "mul" {
		more := uint64(0)
		if in.Head() == "madc" {
			more = m.carry
		}
		sum, carry := bits.Add64(v&mask(out), x[2]&mask(out), more)
		if out < 64 {
			carry = sum >> out & 1
		}
		if in.HasMod(isa.ModCC) {
			m.carry = carry
		}
		v = sum
	}
	m.put(&in.Args[0], v)
}

func saturated(v int64, width int) uint64 {
	return uint64(min(max(v, -1<<(width-1)), 1<<(width-1)-1))
}

func shifted(head string, letter byte, a, by uint64, width int) uint64 {
	switch {
	case head == "shl" && by >= uint64(width), head == "shr" && letter != 's' &&
		by >= uint64(width):
		return 0
	case head == "shl":
		return a << by
	case letter == 's':
		return uint64(signed(a, width) >> min(by, 63))
	}
	return a >> by
}
