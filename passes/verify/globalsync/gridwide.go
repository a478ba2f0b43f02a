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

// gridwide reports blocks that skip a grid-wide barrier: a branch on the block index bypasses the
// arrivals at a counter, although a thread waits until the counter has reached a number computed
// from the grid size.
func (w *paths) gridwide(h *flagArray) {
	i := slices.IndexFunc(h.spins, w.waitsForGrid)
	if i < 0 || len(h.raised) == 0 || w.reads("%cluster") {
		return
	}
	reached := func(from int) bool {
		return slices.ContainsFunc(slices.Concat(h.raised, h.spins), func(m mark) bool {
			return m.block == from || w.reaches(mark{from, -1}, m)
		})
	}
	for b, block := range w.Func.Blocks {
		in := block.Last()
		if in == nil || in.Guard.Reg == nil || len(w.Flow.Succs[b]) != 2 || !reached(b) {
			continue
		}
		by := in.Guard.Reg
		if w.electors.uses(by) != with || w.electors.levels().Value(by) < uniform.Block {
			continue
		}
		if reached(w.Flow.Succs[b][0]) != reached(w.Flow.Succs[b][1]) && w.noArrivalBefore(b, h) {
			w.Report(&ruleGrid, in,
				"deadlock: a grid-wide barrier waits for all blocks of the grid, but some blocks skip it").Also(w.instr(h.spins[i]), "the wait for all blocks")
			return
		}
	}
}

// noArrivalBefore reports whether no arrival precedes a basic block, so that threads that exit
// there have not arrived.
func (w *paths) noArrivalBefore(b int, h *flagArray) bool {
	return !slices.ContainsFunc(h.raised, func(m mark) bool { return w.reaches(m, mark{b, 0}) })
}

// reads reports whether a kernel reads a special register whose name has the given prefix.
func (w *paths) reads(prefix string) bool {
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

// waitsForGrid reports whether a loop polls until a counter has reached a number computed from the
// grid size.
func (w *paths) waitsForGrid(m mark) bool {
	loop, in := w.loops[m.block], w.instr(m)
	for _, b := range loop.Blocks {
		for _, test := range w.Func.Blocks[b].Instrs {
			if test.Directive() || test.Kind() != isa.KindSetp || !w.computed(test, in) {
				continue
			}
			for i := range test.Args[1:] {
				if o := &test.Args[i+1]; o.Kind == ir.Special && sizeOfGrid(o.Text()) ||
					o.Reg != nil && w.fromGrid(o.Reg) {
					return true
				}
			}
		}
	}
	return false
}

// computed reports whether an instruction reads the result of a load, directly or through other
// instructions.
func (w *paths) computed(in, load *ir.Instr) bool {
	found := false
	in.Registers(func(r *ir.Reg, a isa.Access) {
		found = found || a != isa.Write && w.feeds(load, r)
	})
	return found
}

// fromGrid reports whether a register is computed only from the grid size.
func (w *paths) fromGrid(r *ir.Reg) bool {
	found := false
	w.writersOf([]*ir.Reg{r}, func(in *ir.Instr) walkStep {
		if w.electors.usesOf(in) != without {
			found = false
			return endWalk
		}
		for i := range in.Args {
			found = found || in.Args[i].Kind == ir.Special && sizeOfGrid(in.Args[i].Text())
		}
		return readWalk
	})
	return found
}

// sizeOfGrid reports whether a special register holds the grid size.
func sizeOfGrid(name string) bool { return strings.HasPrefix(name, "%nctaid") }
