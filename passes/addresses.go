// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package passes

import (
	"strings"

	"github.com/ptxdsl/ptxdsl/ir"
)

func foldAddresses() *Pass {
	return &Pass{
		Name:  "fold-addresses",
		Doc:   "writes constants that are added to an address into the brackets of the loads and stores that use it. From sm_100 on it computes base plus index times size in one instruction, of which the assembler makes longer code for earlier targets.",
		Edits: true,
		Run: func(s *Step) {
			binder := ir.NewBinder(s.Module.Version, s.Module.Target)
			fused := s.Module.Target.Info().Number >= 100
			for _, f := range s.Module.Funcs() {
				before := s.Changes
				for {
					n := offsets(f)
					if fused {
						n += products(f, binder)
					}
					s.Changes += n
					if n == 0 {
						break
					}
				}
				if s.Changes > before {
					trim(f)
				}
			}
		},
	}
}

// sumOf64 reports whether an instruction is a sum of 64 bits and nothing more.
func sumOf64(in *ir.Instr) bool {
	head, bits, _, ok := plainly(in)
	return ok && head == "add" && bits == 64
}

// products folds mul.wide.u32 %a, %i, 4; add.s64 %b, %base, %a into mad.wide.u32 %b, %i, 4, %base, if nothing
// else reads %a. Both stand in one block: a product before a loop stays there.
func products(f *ir.Func, binder *ir.Binder) int {
	d := defsOf(f)
	gone := make(map[*ir.Instr]bool)
	for _, r := range f.Regs {
		in := d.writer[r]
		if in == nil || len(d.uses[r]) != 1 || in.Guard.Reg != nil || len(in.Args) != 3 {
			continue
		}
		word, ok := strings.CutPrefix(in.Op, "mul.wide.")
		if !ok || word != "u32" && word != "s32" || !steadyOperands(in, d) {
			continue
		}
		sum := d.uses[r][0].in
		if !sumOf64(sum) || sum.Guard.Reg != nil || gone[sum] || d.block(sum) != d.block(in) {
			continue
		}
		other := &sum.Args[1]
		if whole(other) == r {
			other = &sum.Args[2]
		} else if whole(&sum.Args[2]) != r {
			continue
		}
		if whole(other) == r || whole(other) == nil {
			continue
		}
		op, args := sum.Op, sum.Args
		sum.Op, sum.Args = "mad.wide."+word, []ir.Operand{args[0], in.Args[1], in.Args[2], *other}
		if len(binder.Bind(sum)) > 0 || sum.Form == nil {
			sum.Op, sum.Args = op, args
			binder.Bind(sum)
			continue
		}
		gone[in] = true
	}
	if len(gone) > 0 {
		dropped(f, gone)
	}
	return len(gone)
}

// steadyOperands reports whether what an instruction reads has one value, so that it may be read later.
func steadyOperands(in *ir.Instr, d *defs) bool {
	for i := range in.Args[1:] {
		o := &in.Args[1+i]
		if o.Kind == ir.Int && o.Ref == nil {
			continue
		}
		if r := whole(o); r == nil || d.writer[r] == nil {
			return false
		}
	}
	return true
}
