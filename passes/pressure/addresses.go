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
	other := make([]int32, len(s.f.Regs)) // uses other than as an address
	sums := make([]int32, len(s.f.Regs))  // uses in 64-bit additions
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
				if o := &in.Args[i]; o.Kind == ir.Address && len(o.Args()) == 1 && plain(in) {
					if r, ok := s.of(o.Args()[0].Reg); ok {
						other[r]--
					}
				}
			}
		}
	}
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
			a, also := s.once(&in.Args[1])
			if in.Kind() == isa.KindAdd && also && in.Args[2].Kind == ir.Int && other[d] == 0 && s.width[d] == s.width[a] {
				folded := true
				for n := range word(s.width[d]) {
					folded = s.copyWord(s.first[d]+n, s.first[a]+n) && folded
				}
				if folded {
					s.from[d], s.plus[d] = int32(a), in.Args[2].Value
					other[a]--
					skip[in] = true
				}
			}
			if in.Kind() == isa.KindMulWide && s.factor(&in.Args[2]) && s.width[d] == 2 && sums[d] > 0 && sums[d] == other[d] && (also || s.stays(list[j:], &in.Args[1], d)) {
				wide[d] = in
				skip[in] = true
			}
		}
	}
	return wide
}

// factor reports whether an operand is a constant or a register that is written once.
func (s *words) factor(o *ir.Operand) bool {
	_, ok := s.once(o)
	return ok || o.Kind == ir.Int
}

// productReach is the largest distance, in instructions, between a product and the additions it is
// folded into.
const productReach = 4096

// stays reports whether the register in o, an operand of list[0], is unchanged until the last read
// of register d. It returns false if an instruction outside list reads d.
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
