// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package passes

import (
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// An interval is the part of a function's text in which a register is live: from one place to another,
// loops included. Instruction n reads at 2n and writes at 2n+1.
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

// intervals returns those of f's registers, by their numbers in Regs. Registers that live from one
// block to another are followed from their uses back to what writes them, so that the cost grows
// with what is live and not with registers times blocks.
func intervals(f *ir.Func, number map[*ir.Reg]int) []interval {
	g := ir.FlowOf(f)
	list := make([]interval, len(f.Regs))
	first := make([]int, len(f.Blocks)) // number of the first instruction
	last := make([]int, len(f.Blocks))  // and of the last
	written := make([]int, len(f.Regs)) // the block, one up, that has written a register so far
	asked := make([]int, len(f.Regs))   // the block, one up, that reads it before it writes it
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
	writes := make([]int, len(f.Blocks)) // the register, one up, that a block is known to write before all reads
	seen := make([]int, len(f.Blocks))   // the register, one up, that is live at its start
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
