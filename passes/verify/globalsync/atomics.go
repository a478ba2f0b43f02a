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
	atomics, loads, stores []mark
}

// atomics reports memory that all blocks access at the same addresses, with atomic operations at
// block scope, with weak loads after atomic operations, or with a load and a store instead of an
// atomic operation. A kernel that never reads its block index may run as one block.
func (w *paths) atomics() {
	if !w.reads("%ctaid") {
		return
	}
	var e commonAccesses
	for b, block := range w.Func.Blocks {
		for i, in := range block.Instrs {
			if in.Directive() {
				continue
			}
			m := mark{b, i}
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
	ordered := len(w.heard) > 0 || slices.ContainsFunc(e.atomics, func(m mark) bool {
		return w.electors.read(w.instr(m))
	})
	if !ordered {
		w.updates(&e)
	}
}

// commonAddress reports whether threads of all blocks certainly access the same addresses with an
// instruction.
func (w *paths) commonAddress(m mark) bool {
	in := w.instr(m)
	return w.electors.array(in).v != nil && w.electors.addressUse(in) == without &&
		!w.electors.byBlock(m)
}

// checkScope reports an atomic operation whose scope is the block.
func (w *paths) checkScope(m mark) {
	if in := w.instr(m); in.HasMod(isa.ModCTA) && !w.errors[in] {
		w.errors[in] = true
		w.Report(&ruleAtomic, in,
			"%s has .cta scope, but all blocks access its address: it is not atomic for other blocks",
			in.Head())
	}
}

// checkStaleLoad reports a weak load of memory that other blocks change atomically, after an atomic
// operation on the same address.
func (w *paths) checkStaleLoad(m mark, e *commonAccesses) {
	atomic := w.instr(m)
	w.forth(m, func(at mark, in *ir.Instr, _ bool) continuation {
		switch {
		case w.fences(in), w.acquires(in), slices.Contains(w.heard[w.electors.array(in)], at):
			return prune
		case w.errors[in] || !isWeak(in, trace.Load) || !slices.Contains(e.loads, at):
		case w.equal(atomic, in):
			w.errors[in] = true
			w.Report(&ruleAtomic, in,
				"weak load reads an address that other blocks change with atomic operations").Also(
				atomic, "the atomic operation")
			return stop
		}
		return goOn
	})
}

// equal reports whether two accesses have the same address.
func (w *paths) equal(a, b *ir.Instr) bool {
	return w.electors.array(a) == w.electors.array(b) && w.electors.sameAddress(a, b) &&
		offset(a) == offset(b)
}

// offset returns the constant part of the address of an access.
func offset(in *ir.Instr) int64 {
	for i := range in.Args {
		if o := &in.Args[i]; o.Kind == ir.Address && len(o.Args()) > 0 {
			return o.Args()[0].Value
		}
	}
	return 0
}

// updates reports a volatile or relaxed load and a store of the same address, to which the loaded
// value contributes: updates of other blocks in between are lost.
func (w *paths) updates(e *commonAccesses) {
	for _, l := range e.loads {
		load := w.instr(l)
		if isWeak(load, trace.Load) || w.loops[l.block] != nil {
			continue // G1 covers weak loads
		}
		for _, s := range e.stores {
			store := w.instr(s)
			value := store.Args[len(store.Args)-1].Reg
			if value == nil || w.errors[store] || !w.reaches(l, s) || !w.equal(load, store) {
				continue
			}
			if w.feeds(load, value) {
				w.errors[store] = true
				w.Report(&ruleAtomic, store,
					"load and store are not one atomic operation, but all blocks access the address: updates of other blocks are lost").Also(load, "loaded here")
			}
		}
	}
}

// feeds reports whether a register is computed from the result of a load.
func (w *paths) feeds(load *ir.Instr, r *ir.Reg) bool {
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
	skipWalk walkStep = iota // not at the registers that it reads
	readWalk                 // at the registers that it reads
	endWalk                  // not at all
)

// writersOf visits the instructions that write registers, and those that write the registers that
// these read.
func (w *paths) writersOf(work []*ir.Reg, visit func(in *ir.Instr) walkStep) {
	seen := make(map[*ir.Reg]bool)
	for len(work) > 0 && w.electors.left >= 0 {
		r := work[len(work)-1]
		work = work[:len(work)-1]
		if w.electors.left--; seen[r] {
			continue
		}
		seen[r] = true
		for _, in := range w.electors.all(r) {
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
