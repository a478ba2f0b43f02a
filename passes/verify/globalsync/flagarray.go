// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package globalsync

import (
	"slices"
	"strings"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
)

// A flagArray is an array of flags with which the blocks of a kernel synchronize, and the
// accesses to the data that the flags protect.
type flagArray struct {
	flag   base
	raised []position // writes that set or change a flag
	spins  []position // loads and atomics that poll a flag in a loop
	counts []position // atomics whose result is used once, as for a counter
	once   []position // loads with memory ordering outside loops
	stores []position // stores of data from which a later write of a flag is reachable
	loads  []position // loads or bulk copies of data after a read of a flag
	late   []position // stores of data after a write of a flag, with no later write of a flag
	isLock bool       // the flags are locks, acquired by atomic operations
}

// A crossing specifies whether a load reads data that another block stores.
type crossing uint8

const (
	sameBlock crossing = iota // a thread or block reads data that it stored itself
	mayCross                  // unknown
	crosses                   // the data comes from another block
)

// A blockUse specifies how a value depends on the block index.
type blockUse uint8

const (
	blockInvariant blockUse = iota // depends only on parameters, constants and the thread index
	blockDependent                 // depends on the block index
	unknownUse                     // depends on memory, or on other threads
)

// findFlagArrays returns the arrays of flags that the kernel both sets and reads.
func (w *paths) findFlagArrays(raised []position, once []position) []*flagArray {
	of := make(map[base]*flagArray)
	var order []*flagArray
	at := func(m position) *flagArray {
		flag := w.electors.baseOf(w.instr(m))
		if flag.v == nil {
			return &flagArray{}
		}
		if of[flag] == nil {
			of[flag] = &flagArray{flag: flag}
			order = append(order, of[flag])
		}
		return of[flag]
	}
	for _, m := range raised {
		h := at(m)
		h.raised = append(h.raised, m)
		if in := w.instr(m); in.Kind() == isa.KindAtom && !w.isPoll(m) &&
			w.electors.isResultUsed(in) {
			h.counts = append(h.counts, m)
		}
	}
	for flag, list := range w.waitsByBase {
		if flag.v == nil {
			continue
		}
		for _, m := range list {
			h := at(m)
			h.spins = append(h.spins, m)
		}
	}
	for _, m := range once {
		h := at(m)
		h.once = append(h.once, m)
	}
	order = slices.DeleteFunc(order, func(h *flagArray) bool {
		return len(h.spins)+len(h.counts)+len(h.once) == 0
	})
	if len(order) == 0 {
		return nil
	}
	slices.SortFunc(order, func(a, b *flagArray) int {
		return int(a.firstAccess().at) - int(b.firstAccess().at)
	})
	slices.SortStableFunc(order, func(a, b *flagArray) int {
		return a.firstAccess().block - b.firstAccess().block
	})
	for _, h := range order {
		w.findData(h)
	}
	return order
}

// firstAccess returns the first read of a flag: a poll if there is one, or else a counter or a
// single load.
func (h *flagArray) firstAccess() position {
	return slices.Concat(h.spins, h.counts, h.once)[0]
}

// findData records the stores before and the loads after the accesses to a flag array.
func (w *paths) findData(h *flagArray) {
	h.isLock = slices.ContainsFunc(h.spins,
		func(m position) bool { return w.instr(m).Kind() == isa.KindAtom })
	for b, block := range w.Func.Blocks {
		for i, in := range block.Instrs {
			if in.Directive() {
				continue
			}
			if kind := trace.Of(in); kind == trace.Store && isWeak(in, kind) {
				if m := (position{b, i}); w.isWeakSignal(m, h) {
					h.raised = append(h.raised, m)
				}
			}
		}
	}
	readers := slices.Concat(h.spins, h.counts, h.once)
	for b, block := range w.Func.Blocks {
		for i, in := range block.Instrs {
			if in.Directive() {
				continue
			}
			m := position{b, i}
			kind := trace.Of(in)
			store := w.isData(in, trace.Store)
			load := w.isData(in, trace.Load) && !in.HasMod(isa.ModNC) || kind == trace.BulkLoad
			if !store && !load {
				continue
			}
			if array := w.electors.baseOf(in); array.v == nil || array == h.flag {
				continue
			}
			before := slices.ContainsFunc(h.raised,
				func(r position) bool { return w.reaches(m, r) })
			switch {
			case load &&
				slices.ContainsFunc(readers, func(r position) bool { return w.reaches(r, m) }):
				h.loads = append(h.loads, m)
			case store && before:
				h.stores = append(h.stores, m)
			case store &&
				slices.ContainsFunc(h.raised, func(r position) bool { return w.reaches(r, m) }):
				h.late = append(h.late, m)
			}
		}
	}
}

// isWeakSignal reports whether a weak store sets a flag that other threads poll. A store of zero
// does not count unless the flag is a lock, because it may only reset the flag.
func (w *paths) isWeakSignal(m position, h *flagArray) bool {
	in := w.instr(m)
	if len(h.spins) == 0 || w.electors.baseOf(in) != h.flag {
		return false
	}
	return !isReset(in) || h.isLock
}

// isPoll reports whether an access polls a flag in a loop.
func (w *paths) isPoll(m position) bool {
	return slices.Contains(w.waitsByBase[w.electors.baseOf(w.instr(m))], m)
}

// reaches reports whether a path leads from one instruction to another. If from equals to, the
// path must lead through a loop.
func (w *paths) reaches(from, to position) bool {
	if from.block == to.block && from.at < to.at {
		return true
	}
	set, known := w.reachable[from.block]
	if !known {
		set = make([]bool, len(w.Func.Blocks))
		for work := []int{from.block}; len(work) > 0; {
			b := work[len(work)-1]
			work = work[:len(work)-1]
			for _, next := range w.Flow.Succs[b] {
				if w.electors.budget--; !set[next] {
					set[next] = true
					work = append(work, next)
				}
			}
		}
		w.reachable[from.block] = set
	}
	return set[to.block]
}

// crossingOf determines whether a load reads data that another block writes with the given store.
func (w *paths) crossingOf(store, load position) crossing {
	s, l := w.instr(store), w.instr(load)
	if w.electors.baseOf(s) != w.electors.baseOf(l) {
		return sameBlock
	}
	if w.electors.sameAddress(s, l) && w.electors.addressUse(s) != blockInvariant {
		return sameBlock
	}
	if !w.reaches(store, load) && !w.reaches(load, store) {
		return crosses
	}
	a, b := w.electors.addressUse(s), w.electors.addressUse(l)
	switch {
	case a == unknownUse || b == unknownUse:
		return mayCross
	case a == blockDependent && b == blockDependent:
		return mayCross
	}
	return crosses
}

// loadOf returns a load that reads the stored data in another block. The second result is false
// if there is no such load.
func (w *paths) loadOf(h *flagArray, store position) (position, bool) {
	for _, l := range h.loads {
		if w.crossingOf(store, l) == crosses {
			return l, true
		}
	}
	return position{}, false
}

// storeOf returns a store in another block that provides the data of a load. The second result is
// false if there is no such store.
func (w *paths) storeOf(h *flagArray, load position) (position, bool) {
	for _, s := range h.stores {
		if w.crossingOf(s, load) == crosses {
			return s, true
		}
	}
	return position{}, false
}

// readsOtherBlock reports whether a load after a flag certainly reads data that another block
// stored before it set the flag.
func (w *paths) readsOtherBlock(flag, load position) bool {
	for _, h := range w.flagArrays {
		if slices.Contains(h.spins, flag) && slices.Contains(h.loads, load) && !w.isBlockLocal(h) {
			_, ok := w.storeOf(h, load)
			return ok
		}
	}
	return false
}

// addressUse returns how the address of an access depends on the block index.
func (w *threadSelection) addressUse(in *ir.Instr) blockUse {
	r := addressRegister(in)
	if r == nil {
		return unknownUse
	}
	return w.registerUse(r)
}

// addressRegister returns the register with the address of an access in global memory, or nil.
// For a bulk load, the address is the source.
func addressRegister(in *ir.Instr) *ir.Reg {
	n := 0
	if trace.Of(in) == trace.BulkLoad {
		n = 1
	}
	for i := range in.Args {
		o := &in.Args[i]
		if o.Kind != ir.Address {
			continue
		}
		if n--; n < 0 {
			if len(o.Args()) == 0 {
				return nil
			}
			return o.Args()[0].Reg
		}
	}
	return nil
}

// sameAddress reports whether two accesses use the same address register with the same value, or
// registers that are computed in the same way.
func (w *threadSelection) sameAddress(a, b *ir.Instr) bool {
	x, y := addressRegister(a), addressRegister(b)
	if x == nil || x != y {
		return w.isSameValue(w.onlyWrite(a, x), w.onlyWrite(b, y), maxDerivationSteps)
	}
	return len(w.allWrites(x)) == 1 || w.onlyWrite(a, x) == w.onlyWrite(b, y)
}

// isSameValue reports whether two instructions certainly compute the same value.
func (w *threadSelection) isSameValue(a, b *ir.Instr, steps int) bool {
	if a == nil || b == nil || steps == 0 || a.Op != b.Op || len(a.Args) != len(b.Args) {
		return false
	}
	if a == b {
		return true
	}
	for i := range a.Args[1:] {
		x, y := &a.Args[i+1], &b.Args[i+1]
		switch {
		case x.Kind != y.Kind:
			return false
		case x.Reg != nil && x.Reg == y.Reg && len(w.allWrites(x.Reg)) == 1:
		case x.Reg != nil:
			if !w.isSameValue(w.onlyWrite(a, x.Reg), w.onlyWrite(b, y.Reg), steps-1) {
				return false
			}
		case x.Text() != y.Text():
			return false
		}
	}
	return true
}

// registerUse returns how a register depends on the block index.
func (w *threadSelection) registerUse(r *ir.Reg) blockUse {
	if u, met := w.used[r]; met {
		return u
	}
	w.used[r] = blockInvariant // assumed for a register that depends on itself
	found := blockInvariant
	for _, in := range w.allWrites(r) {
		w.budget--
		found = max(found, w.resultUse(in))
	}
	w.used[r] = found
	return found
}

// resultUse returns how the result of an instruction depends on the block index.
func (w *threadSelection) resultUse(in *ir.Instr) (found blockUse) {
	switch head := in.Kind().Head(); {
	case head == isa.HeadLd && in.HasMod(isa.ModParam):
		return blockInvariant
	case trace.Of(in) != trace.Other, head == isa.HeadShfl, head == isa.HeadVote,
		head == isa.HeadCall, head == isa.HeadTex:
		return unknownUse
	}
	in.Registers(func(r *ir.Reg, a isa.Access) {
		if a != isa.Write {
			found = max(found, w.registerUse(r))
		}
	})
	for i := range in.Args {
		o := &in.Args[i]
		o.Walk(func(o *ir.Operand) {
			if o.Kind == ir.Special && isBlockIndex(o.Text()) {
				found = max(found, blockDependent)
			}
		})
	}
	return found
}

// isBlockIndex reports whether a special register differs between blocks.
func isBlockIndex(name string) bool {
	return strings.HasPrefix(name, "%ctaid") || strings.HasPrefix(name, "%cluster")
}

// dependsOnBlock reports whether a branch or a guard on the block index decides whether an
// instruction is executed.
func (w *threadSelection) dependsOnBlock(m position) bool {
	in := w.flow.Func.Blocks[m.block].Instrs[m.at]
	if r := in.Guard.Reg; r != nil && w.registerUse(r) == blockDependent {
		return true
	}
	seen := map[int]bool{m.block: true}
	for work := []int{m.block}; len(work) > 0 && w.budget >= 0; {
		b := work[len(work)-1]
		work = work[:len(work)-1]
		for _, from := range w.levels().Controls(b) {
			if w.budget--; seen[from] {
				continue
			}
			seen[from] = true
			work = append(work, from)
			in := w.flow.Func.Blocks[from].Last()
			if in != nil && in.Guard.Reg != nil && w.registerUse(in.Guard.Reg) == blockDependent {
				return true
			}
		}
	}
	return false
}

// isResultUsed reports whether the kernel uses the result of an atomic operation.
func (w *threadSelection) isResultUsed(in *ir.Instr) bool {
	return in.Kind() == isa.KindAtom && len(in.Args) > 0 && w.isRead(in.Args[0].Reg)
}

// isRead reports whether an instruction of the kernel reads a register. Compilers write the result
// of an atomic operation to a register also if nothing reads it.
func (w *threadSelection) isRead(r *ir.Reg) bool {
	if w.read == nil {
		w.read = make(map[*ir.Reg]bool)
		for _, b := range w.flow.Func.Blocks {
			for _, in := range b.Instrs {
				in.Registers(func(r *ir.Reg, a isa.Access) {
					if a != isa.Write {
						w.read[r] = true
					}
				})
			}
		}
	}
	return w.read[r]
}
