// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package globalsync

import (
	"slices"
	"strings"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/passes/analysis/uniform"
)

// checkGridBarrier reports blocks that skip a grid-wide barrier: a branch on the block index
// bypasses the arrivals at a counter, although a thread waits until the counter has reached a
// number computed from the grid size.
func (w *paths) checkGridBarrier(h *flagArray) {
	i := slices.IndexFunc(h.spins, w.waitsForGrid)
	if i < 0 || len(h.raised) == 0 || w.readsSpecial("%cluster") {
		return
	}
	reached := func(from int) bool {
		return slices.ContainsFunc(slices.Concat(h.raised, h.spins), func(m position) bool {
			return m.block == from || w.reaches(position{from, -1}, m)
		})
	}
	for b, block := range w.Func.Blocks {
		in := block.Last()
		if in == nil || in.Guard.Reg == nil || len(w.Flow.Succs[b]) != 2 || !reached(b) {
			continue
		}
		by := in.Guard.Reg
		if w.electors.registerUse(by) != blockDependent ||
			w.electors.levels().Value(by) < uniform.Block {
			continue
		}
		if reached(w.Flow.Succs[b][0]) != reached(w.Flow.Succs[b][1]) && w.noArrivalBefore(b, h) {
			w.Report(&ruleGrid, in,
				"deadlock: a grid-wide barrier waits for all blocks of the grid, but some blocks skip it").Also(w.instr(h.spins[i]), "the wait for all blocks")
			return
		}
	}
}

// noArrivalBefore reports whether no arrival precedes basic block b, so that threads that exit in
// b have not arrived.
func (w *paths) noArrivalBefore(b int, h *flagArray) bool {
	return !slices.ContainsFunc(h.raised, func(m position) bool {
		return w.reaches(m, position{b, 0})
	})
}

// readsSpecial reports whether a kernel reads a special register whose name has the given prefix.
func (w *paths) readsSpecial(prefix string) bool {
	for _, b := range w.Func.Blocks {
		for _, in := range b.Instrs {
			for i := range in.Args {
				if o := &in.Args[i]; o.Kind == ir.Special && strings.HasPrefix(o.Text(), prefix) {
					return true
				}
			}
		}
	}
	return false
}

// waitsForGrid reports whether the loop around m polls until a counter has reached a number
// computed from the grid size.
func (w *paths) waitsForGrid(m position) bool {
	loop, in := w.loops[m.block], w.instr(m)
	for _, b := range loop.Blocks {
		for _, test := range w.Func.Blocks[b].Instrs {
			if test.Directive() || test.Kind() != isa.KindSetp || !w.readsResultOf(test, in) {
				continue
			}
			for i := range test.Args[1:] {
				if o := &test.Args[i+1]; o.Kind == ir.Special && isGridSize(o.Text()) ||
					o.Reg != nil && w.isComputedFromGrid(o.Reg) {
					return true
				}
			}
		}
	}
	return false
}

// readsResultOf reports whether an instruction reads the result of a load, directly or through
// other instructions.
func (w *paths) readsResultOf(in, load *ir.Instr) bool {
	found := false
	in.Registers(func(r *ir.Reg, a isa.Access) {
		found = found || a != isa.Write && w.isComputedFrom(load, r)
	})
	return found
}

// isComputedFromGrid reports whether a register is computed only from the grid size and from
// other values that are equal in all blocks.
func (w *paths) isComputedFromGrid(r *ir.Reg) bool {
	found := false
	w.writersOf([]*ir.Reg{r}, func(in *ir.Instr) walkStep {
		if w.electors.resultUse(in) != blockInvariant {
			found = false
			return endWalk
		}
		for i := range in.Args {
			found = found || in.Args[i].Kind == ir.Special && isGridSize(in.Args[i].Text())
		}
		return readWalk
	})
	return found
}

// isGridSize reports whether a special register holds the grid size.
func isGridSize(name string) bool { return strings.HasPrefix(name, "%nctaid") }
