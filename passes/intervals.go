// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package passes

import (
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// An interval is the range of a function's text in which a register is live. It includes whole
// loops. Instruction n reads at position 2n and writes at 2n+1.
type interval struct {
	from, to int
	used     bool
}

func (v *interval) cover(at int) {
	if !v.used {
		v.from, v.to, v.used = at, at, true
	}
	v.from, v.to = min(v.from, at), max(v.to, at)
}

// intervals returns the live intervals of f's registers, indexed as in Regs. For registers that
// are live across blocks, it searches backward from the uses to the definitions, so that the cost
// grows with the live ranges and not with the number of registers times the number of blocks.
func intervals(f *ir.Func, number map[*ir.Reg]int) []interval {
	g := ir.FlowOf(f)
	list := make([]interval, len(f.Regs))
	first := make([]int, len(f.Blocks)) // index of the first instruction of each block
	last := make([]int, len(f.Blocks))  // index of the last instruction of each block
	written := make([]int, len(f.Regs)) // the block plus one that last wrote each register
	// the block plus one that reads each register before writing it
	asked := make([]int, len(f.Regs))
	readers := make([][]int32, len(f.Regs))
	writers := make([][]int32, len(f.Regs))
	n := 0
	for b := range f.Blocks {
		first[b] = n
		for _, in := range f.Blocks[b].Instrs {
			in.Registers(func(r *ir.Reg, a isa.Access) {
				i, ok := number[r]
				if !ok {
					return
				}
				if a != isa.Write {
					list[i].cover(2 * n)
					if written[i] != b+1 && asked[i] != b+1 {
						asked[i] = b + 1
						readers[i] = append(readers[i], int32(b))
					}
				}
				if a != isa.Read {
					list[i].cover(2*n + 1)
				}
			})
			in.Registers(func(r *ir.Reg, a isa.Access) {
				if i, ok := number[r]; ok && a == isa.Write && written[i] != b+1 {
					written[i] = b + 1
					writers[i] = append(writers[i], int32(b))
				}
			})
			n++
		}
		last[b] = max(first[b], n-1)
	}
	// the register plus one that each block writes before reading
	writes := make([]int, len(f.Blocks))
	seen := make([]int, len(f.Blocks)) // the register plus one that is live at its start
	var work []int32
	for i := range f.Regs {
		for _, b := range writers[i] {
			writes[b] = i + 1
		}
		for _, b := range readers[i] {
			seen[b] = i + 1
			work = append(work, b)
		}
		for len(work) > 0 {
			b := work[len(work)-1]
			work = work[:len(work)-1]
			list[i].cover(2 * first[b])
			for _, p := range g.Preds[b] {
				list[i].cover(2*last[p] + 1)
				if writes[p] != i+1 && seen[p] != i+1 {
					seen[p] = i + 1
					work = append(work, int32(p))
				}
			}
		}
	}
	return list
}
