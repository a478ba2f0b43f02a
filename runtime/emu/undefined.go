// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package emu

import (
	"math/bits"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// undefinedAtStart returns the registers of a kernel that an instruction may read although no
// instruction has written them: some path from the start writes them nowhere, or only under a
// guard. Which lanes read such a value is known only when the kernel runs.
func undefinedAtStart(fn *ir.Func) (list []*ir.Reg) {
	flow := ir.FlowOf(fn)
	reads := make([]map[*ir.Reg]bool, len(fn.Blocks)) // before any write in the block, or after it
	writes := make([]map[*ir.Reg]bool, len(fn.Blocks))
	for i, b := range fn.Blocks {
		reads[i], writes[i] = make(map[*ir.Reg]bool), make(map[*ir.Reg]bool)
		for _, in := range b.Instrs {
			in.Registers(func(r *ir.Reg, a isa.Access) {
				switch {
				case a == isa.Read && !writes[i][r]:
					reads[i][r] = true
				case a != isa.Read && in.Guard.Reg == nil: // accumulators may begin undefined
					writes[i][r] = true
				}
			})
		}
	}
	for changed := true; changed; {
		changed = false
		for i := len(fn.Blocks) - 1; i >= 0; i-- {
			for _, s := range flow.Succs[i] {
				for r := range reads[s] {
					if !writes[i][r] && !reads[i][r] {
						reads[i][r], changed = true, true
					}
				}
			}
		}
	}
	if len(reads) == 0 {
		return nil
	}
	for _, r := range fn.Regs {
		if reads[0][r] {
			list = append(list, r)
		}
	}
	return list
}

// markUndefined marks the registers that a warp may read before it writes them.
func (w *warp) markUndefined(f *frame, lanes uint32) {
	p := f.program
	p.once.Do(func() { p.undefined = undefinedAtStart(p.fn) })
	for _, r := range p.undefined {
		s, ok := p.slots[r]
		if !ok {
			continue
		}
		f.mark()
		from := w.describe(nil, bits.TrailingZeros32(lanes))
		from.Message = "register " + r.Name + " " + string(CauseUndefined)
		for i := range s.n {
			k := markKey{s.index + int32(i), s.pred, min(s.bits, 64)}
			f.unwritten.set(k, lanes, every(k, lanes), from)
		}
	}
}
