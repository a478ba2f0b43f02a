// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package globalsync

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
)

// commonAccesses holds the accesses that threads of all blocks make to the same addresses.
type commonAccesses struct {
	atomics, loads, stores []position
}

// checkAtomics reports memory that all blocks access at the same addresses with atomic operations
// at block scope, with weak loads after atomic operations, or with a load and a store instead of
// an atomic operation. A kernel that never reads its block index may run as one block and is
// skipped.
func (w *paths) checkAtomics() {
	if !w.readsSpecial("%ctaid") {
		return
	}
	var e commonAccesses
	for b, block := range w.Func.Blocks {
		for i, in := range block.Instrs {
			if in.Directive() {
				continue
			}
			m := position{b, i}
			kind := trace.Of(in)
			access := kind == trace.Atomic || kind == trace.Load || kind == trace.Store
			switch {
			case !access, !accessesGlobal(in), !w.commonAddress(m):
			case kind == trace.Atomic:
				e.atomics = append(e.atomics, m)
			case kind == trace.Load:
				e.loads = append(e.loads, m)
			default:
				e.stores = append(e.stores, m)
			}
		}
	}
	for _, m := range e.atomics {
		w.checkScope(m)
		w.checkStaleLoad(m, &e)
	}
	ordered := len(w.waitsByBase) > 0 || slices.ContainsFunc(e.atomics, func(m position) bool {
		return w.electors.isResultUsed(w.instr(m))
	})
	if !ordered {
		w.checkUpdates(&e)
	}
}

// commonAddress reports whether an instruction certainly accesses the same addresses in all
// blocks.
func (w *paths) commonAddress(m position) bool {
	in := w.instr(m)
	return w.electors.baseOf(in).v != nil && w.electors.addressUse(in) == blockInvariant &&
		!w.electors.dependsOnBlock(m)
}

// checkScope reports an atomic operation with block scope.
func (w *paths) checkScope(m position) {
	if in := w.instr(m); in.HasMod(isa.ModCTA) && !w.errors[in] {
		w.errors[in] = true
		w.Report(&ruleAtomic, in,
			"%s has .cta scope, but all blocks access its address: it is not atomic for other blocks",
			in.Head())
	}
}

// checkStaleLoad reports a weak load of memory that other blocks change atomically, after atomic
// operation m on the same address.
func (w *paths) checkStaleLoad(m position, e *commonAccesses) {
	atomic := w.instr(m)
	w.searchForward(m, func(at position, in *ir.Instr, _ bool) continuation {
		switch {
		case w.isFence(in), w.isAcquire(in),
			slices.Contains(w.waitsByBase[w.electors.baseOf(in)], at):
			return walkPrune
		case w.errors[in] || !isWeak(in, trace.Load) || !slices.Contains(e.loads, at):
		case w.hasEqualAddress(atomic, in):
			w.errors[in] = true
			w.Report(&ruleAtomic, in,
				"weak load reads an address that other blocks change with atomic operations").Also(
				atomic, "the atomic operation")
			return walkStop
		}
		return walkContinue
	})
}

// hasEqualAddress reports whether two accesses certainly have the same address.
func (w *paths) hasEqualAddress(a, b *ir.Instr) bool {
	return w.electors.baseOf(a) == w.electors.baseOf(b) && w.electors.sameAddress(a, b) &&
		offset(a) == offset(b)
}

// offset returns the constant offset in the address of an access, in bytes.
func offset(in *ir.Instr) int64 {
	for i := range in.Args {
		if o := &in.Args[i]; o.Kind == ir.Address && len(o.Args()) > 0 {
			return o.Args()[0].Value
		}
	}
	return 0
}

// checkUpdates reports a volatile or relaxed load followed by a store to the same address whose
// value is computed from the loaded value. Updates by other blocks between the load and the store
// are lost.
func (w *paths) checkUpdates(e *commonAccesses) {
	for _, l := range e.loads {
		load := w.instr(l)
		if isWeak(load, trace.Load) || w.loops[l.block] != nil {
			continue // G1 covers weak loads
		}
		for _, s := range e.stores {
			store := w.instr(s)
			value := store.Args[len(store.Args)-1].Reg
			if value == nil || w.errors[store] || !w.reaches(l, s) ||
				!w.hasEqualAddress(load, store) {
				continue
			}
			if w.isComputedFrom(load, value) {
				w.errors[store] = true
				w.Report(&ruleAtomic, store,
					"load and store are not one atomic operation, but all blocks access the address: updates of other blocks are lost").Also(load, "loaded here")
			}
		}
	}
}

// isComputedFrom reports whether a register is computed from the result of a load.
func (w *paths) isComputedFrom(load *ir.Instr, r *ir.Reg) bool {
	found := false
	w.writersOf([]*ir.Reg{r}, func(in *ir.Instr) walkStep {
		switch {
		case in == load:
			found = true
			return endWalk
		case trace.Of(in) == trace.Other:
			return readWalk
		}
		return skipWalk
	})
	return found
}

// A walkStep specifies how writersOf continues at an instruction.
type walkStep uint8

const (
	skipWalk walkStep = iota // do not visit the writers of the registers that the instruction reads
	readWalk                 // visit the writers of the registers that the instruction reads
	endWalk                  // end the walk
)

// writersOf visits the instructions that write the registers in work, and, where visit returns
// readWalk, the instructions that write the registers that a visited instruction reads.
func (w *paths) writersOf(work []*ir.Reg, visit func(in *ir.Instr) walkStep) {
	seen := make(map[*ir.Reg]bool)
	for len(work) > 0 && w.electors.budget >= 0 {
		r := work[len(work)-1]
		work = work[:len(work)-1]
		if w.electors.budget--; seen[r] {
			continue
		}
		seen[r] = true
		for _, in := range w.electors.allWrites(r) {
			switch visit(in) {
			case endWalk:
				return
			case readWalk:
				in.Registers(func(r *ir.Reg, a isa.Access) {
					if a != isa.Write {
						work = append(work, r)
					}
				})
			}
		}
	}
}
