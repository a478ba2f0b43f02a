// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package pressure

import (
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// addresses folds constant offsets into memory accesses, and index*size products into the additions
// that use them. It returns the folded products by their result register.
func (s *words) addresses(skip map[*ir.Instr]bool) map[int]*ir.Instr {
	other, sums := s.countUses(skip)
	wide := make(map[int]*ir.Instr)
	for i := len(s.f.Blocks) - 1; i >= 0; i-- {
		list := s.f.Blocks[i].Instrs
		for j := len(list) - 1; j >= 0; j-- {
			in := list[j]
			if skip[in] || in.Guard.Reg != nil || len(in.Args) != 3 {
				continue
			}
			d, ok := s.once(&in.Args[0])
			if !ok {
				continue
			}
			switch in.Kind() {
			case isa.KindAdd:
				if a, folded := s.offset(in, d, other[d]); folded {
					other[a]--
					skip[in] = true
				}
			case isa.KindMulWide:
				if sums[d] > 0 && sums[d] == other[d] && s.scales(list[j:], d) {
					wide[d] = in
					skip[in] = true
				}
			}
		}
	}
	return wide
}

// offset makes d, the sum of a register and a constant, an offset from that register, if d is
// used only in addresses. other is the number of other uses of d. It returns the register. ok is
// false if d is left unchanged.
func (s *words) offset(in *ir.Instr, d int, other int32) (a int, ok bool) {
	a, ok = s.once(&in.Args[1])
	if !ok || in.Args[2].Kind != ir.Int || other != 0 || s.width[d] != s.width[a] {
		return 0, false
	}
	for n := range word(s.width[d]) {
		ok = s.copyWord(s.first[d]+n, s.first[a]+n) && ok
	}
	if ok {
		s.from[d], s.plus[d] = int32(a), in.Args[2].Value
	}
	return a, ok
}

// scales reports whether list[0], which computes register d, is the product of an index and a size
// that the additions reading d can include.
func (s *words) scales(list []*ir.Instr, d int) bool {
	in := list[0]
	if !s.factor(&in.Args[2]) || s.width[d] != 2 {
		return false
	}
	_, once := s.once(&in.Args[1])
	return once || s.stays(list, &in.Args[1], d)
}

// countUses returns, for each register, the number of uses other than as an address, and the
// number of uses in 64-bit additions.
func (s *words) countUses(skip map[*ir.Instr]bool) (other, sums []int32) {
	other, sums = make([]int32, len(s.f.Regs)), make([]int32, len(s.f.Regs))
	for _, b := range s.f.Blocks {
		for _, in := range b.Instrs {
			if skip[in] || in.Directive() {
				continue
			}
			sum := sum64s(in)
			in.Registers(func(r *ir.Reg, a isa.Access) {
				if i, ok := s.of(r); ok && a != isa.Write {
					other[i]++
					if sum {
						sums[i]++
					}
				}
			})
			for i := range in.Args {
				if o := &in.Args[i]; o.Kind == ir.Address && len(o.Args()) == 1 && takesOffset(in) {
					if r, ok := s.of(o.Args()[0].Reg); ok {
						other[r]--
					}
				}
			}
		}
	}
	return other, sums
}

// factor reports whether an operand is a constant, or a register that exactly one instruction
// writes.
func (s *words) factor(o *ir.Operand) bool {
	_, ok := s.once(o)
	return ok || o.Kind == ir.Int
}

// productReach is the largest distance, in instructions, between a product and the additions it is
// folded into.
const productReach = 4096

// stays reports whether the register in o, an operand of list[0], is unchanged until the last
// read of register d. It returns false if an instruction outside list reads d.
func (s *words) stays(list []*ir.Instr, o *ir.Operand, d int) bool {
	r := o.Reg
	if _, ok := s.of(r); !ok || o.Kind != ir.Register {
		return false
	}
	left := s.reads[d]
	for _, in := range list[1:min(len(list), productReach)] {
		written := false
		in.Registers(func(other *ir.Reg, a isa.Access) {
			if i, ok := s.of(other); ok && i == d && a != isa.Write {
				left--
			}
			written = written || other == r && a != isa.Read
		})
		if left == 0 {
			return true
		}
		if written {
			return false
		}
	}
	return false
}
