// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package globalsync

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/passes/verify"
)

// addressChanges reports whether the address of a load or an atomic changes in each iteration of
// its loop, depending on previous iterations. Such a loop searches, for example in a hash table,
// and does not wait for another thread.
func (w *paths) addressChanges(m position) bool {
	loop, in := w.loops[m.block], w.instr(m)
	at := verify.Address(in, 0)
	if at < 0 || w.electors.budget < 0 {
		return false
	}
	rests, where := make(map[*ir.Reg][]*ir.Reg), make(map[*ir.Reg][]int)
	for _, b := range loop.Blocks {
		for _, in := range w.Func.Blocks[b].Instrs {
			var made, of []*ir.Reg
			in.Registers(func(r *ir.Reg, a isa.Access) {
				if w.electors.budget--; a != isa.Read {
					made = append(made, r)
				}
				if a != isa.Write {
					of = append(of, r)
				}
			})
			for _, r := range made {
				rests[r], where[r] = append(rests[r], of...), append(where[r], b)
			}
		}
	}
	from := func(start []*ir.Reg) map[*ir.Reg]bool {
		met := make(map[*ir.Reg]bool)
		for work := slices.Clone(start); len(work) > 0 &&
			w.electors.budget >= 0; w.electors.budget-- {
			r := work[len(work)-1]
			if work = work[:len(work)-1]; !met[r] {
				met[r] = true
				work = append(work, rests[r]...)
			}
		}
		return met
	}
	var address []*ir.Reg
	in.Args[at].Walk(func(o *ir.Operand) {
		if o.Reg != nil {
			address = append(address, o.Reg)
		}
	})
	steps := make(map[int]bool) // blocks that change the address for the next iteration
	for r := range from(address) {
		if from(rests[r])[r] {
			for _, b := range where[r] {
				steps[b] = true
			}
		}
	}
	if w.electors.budget < 0 || len(steps) == 0 {
		return false
	}
	seen := make(map[int]bool)
	for work := []int{m.block}; len(work) > 0 && !steps[m.block]; {
		b := work[len(work)-1]
		work = work[:len(work)-1]
		for _, to := range w.Flow.Succs[b] {
			if to == m.block {
				return false // a path through the loop does not change the address
			}
			if loop.Has(to) && !steps[to] && !seen[to] {
				seen[to] = true
				work = append(work, to)
			}
		}
	}
	return true
}
