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

// A flagArray is an array of flags with which the blocks of a kernel exchange data, and the
// accesses to that data.
type flagArray struct {
	flag   base
	raised []mark // writes that set or change a flag
	spins  []mark // loads and atomics that poll a flag in a loop
	counts []mark // atomics whose result is used once, like a counter
	once   []mark // loads with memory ordering outside of loops
	stores []mark // stores of data from which a later write of a flag is reachable
	loads  []mark // loads or bulk copies of data after a read of a flag
	late   []mark // stores of data after a write of a flag, with no write of a flag after them
	takes  bool   // flags are locks, taken by atomic operations
}

// crossing is the result of cross: whether a load reads data that another block stores.
type crossing uint8

const (
	own   crossing = iota // a thread or block reads data that it stored itself
	maybe                 // unknown
	sure
)

// blockUse is the kind of dependence of a value on the block index.
type blockUse uint8

const (
	without blockUse = iota // depends only on parameters, constants and the thread index
	with
	opaque // depends on memory, or on other threads
)

// shared returns the arrays of flags that the kernel both sets and reads.
func (w *paths) shared(raised []mark, once []mark) []*flagArray {
	of := make(map[base]*flagArray)
	var order []*flagArray
	at := func(m mark) *flagArray {
		flag := w.electors.array(w.instr(m))
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
		if in := w.instr(m); in.Kind() == isa.KindAtom && !w.polls(m) && w.electors.read(in) {
			h.counts = append(h.counts, m)
		}
	}
	for flag, list := range w.heard {
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
		return int(a.first().at) - int(b.first().at)
	})
	slices.SortStableFunc(order, func(a, b *flagArray) int {
		return a.first().block - b.first().block
	})
	for _, h := range order {
		w.data(h)
	}
	return order
}

// first returns the first access to a flag.
func (h *flagArray) first() mark {
	return slices.Concat(h.spins, h.counts, h.once)[0]
}

// data finds the stores before and the loads after the accesses to a flag array.
func (w *paths) data(h *flagArray) {
	h.takes = slices.ContainsFunc(h.spins,
		func(m mark) bool { return w.instr(m).Kind() == isa.KindAtom })
	for b, block := range w.Func.Blocks {
		for i, in := range block.Instrs {
			if in.Directive() {
				continue
			}
			if kind := trace.Of(in); kind == trace.Store && isWeak(in, kind) {
				if m := (mark{b, i}); w.weakly(m, h) {
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
			m := mark{b, i}
			kind := trace.Of(in)
			store := isWeak(in, trace.Store)
			load := isWeak(in, trace.Load) && !in.HasMod(isa.ModNC) || kind == trace.BulkLoad
			if !store && !load {
				continue
			}
			if array := w.electors.array(in); array.v == nil || array == h.flag {
				continue
			}
			before := slices.ContainsFunc(h.raised, func(r mark) bool { return w.reaches(m, r) })
			switch {
			case load && slices.ContainsFunc(readers, func(r mark) bool { return w.reaches(r, m) }):
				h.loads = append(h.loads, m)
			case store && before:
				h.stores = append(h.stores, m)
			case store &&
				slices.ContainsFunc(h.raised, func(r mark) bool { return w.reaches(r, m) }):
				h.late = append(h.late, m)
			}
		}
	}
}

// weakly reports whether a weak store sets a flag that other threads poll. A store of zero does not
// count, because it only releases a lock.
func (w *paths) weakly(m mark, h *flagArray) bool {
	in := w.instr(m)
	if len(h.spins) == 0 || w.electors.array(in) != h.flag {
		return false
	}
	return !resets(in) || h.takes
}

// polls reports whether an access polls a flag in a loop.
func (w *paths) polls(m mark) bool {
	return slices.Contains(w.heard[w.electors.array(w.instr(m))], m)
}

// reaches reports whether a path leads from one instruction to another, or back to itself.
func (w *paths) reaches(from, to mark) bool {
	if from.block == to.block && from.at < to.at {
		return true
	}
	set, known := w.onwards[from.block]
	if !known {
		set = make([]bool, len(w.Func.Blocks))
		for work := []int{from.block}; len(work) > 0; {
			b := work[len(work)-1]
			work = work[:len(work)-1]
			for _, next := range w.Flow.Succs[b] {
				if w.electors.left--; !set[next] {
					set[next] = true
					work = append(work, next)
				}
			}
		}
		w.onwards[from.block] = set
	}
	return set[to.block]
}

// cross determines whether a load reads data that another block writes with the given store.
func (w *paths) cross(store, load mark) crossing {
	s, l := w.instr(store), w.instr(load)
	if w.electors.array(s) != w.electors.array(l) {
		return own
	}
	if w.electors.sameAddress(s, l) && w.electors.addressUse(s) != without {
		return own
	}
	if !w.reaches(store, load) && !w.reaches(load, store) {
		return sure
	}
	a, b := w.electors.addressUse(s), w.electors.addressUse(l)
	switch {
	case a == opaque || b == opaque:
		return maybe
	case a == with && b == with:
		return maybe
	}
	return sure
}

// passed returns a load that reads the stored data in another block, and whether there is one.
func (w *paths) passed(h *flagArray, store mark) (mark, bool) {
	for _, l := range h.loads {
		if w.cross(store, l) == sure {
			return l, true
		}
	}
	return mark{}, false
}

// storeOf returns a store that provides the data of a load, and whether there is one.
func (w *paths) storeOf(h *flagArray, load mark) (mark, bool) {
	for _, s := range h.stores {
		if w.cross(s, load) == sure {
			return s, true
		}
	}
	return mark{}, false
}

// fromOthers reports whether a load after a flag certainly reads what another block stored before
// it set the flag.
func (w *paths) fromOthers(flag, load mark) bool {
	for _, h := range w.passes {
		if slices.Contains(h.spins, flag) && slices.Contains(h.loads, load) && !w.local(h) {
			_, ok := w.storeOf(h, load)
			return ok
		}
	}
	return false
}

// addressUse specifies whether the address of an access depends on the block index.
func (w *electors) addressUse(in *ir.Instr) blockUse {
	r := pointer(in)
	if r == nil {
		return opaque
	}
	return w.uses(r)
}

// pointer returns the register with the address of an access in global memory, or nil.
func pointer(in *ir.Instr) *ir.Reg {
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

// sameAddress reports whether two accesses use the same address register with the same value.
func (w *electors) sameAddress(a, b *ir.Instr) bool {
	x, y := pointer(a), pointer(b)
	if x == nil || x != y {
		return w.same(w.onlyWrite(a, x), w.onlyWrite(b, y), mostSteps)
	}
	return len(w.all(x)) == 1 || w.onlyWrite(a, x) == w.onlyWrite(b, y)
}

// same reports whether two instructions compute the same value.
func (w *electors) same(a, b *ir.Instr, steps int) bool {
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
		case x.Reg != nil && x.Reg == y.Reg && len(w.all(x.Reg)) == 1:
		case x.Reg != nil:
			if !w.same(w.onlyWrite(a, x.Reg), w.onlyWrite(b, y.Reg), steps-1) {
				return false
			}
		case x.Text() != y.Text():
			return false
		}
	}
	return true
}

// uses specifies whether a register depends on the block index.
func (w *electors) uses(r *ir.Reg) blockUse {
	if u, met := w.used[r]; met {
		return u
	}
	w.used[r] = without // assumed for a register that depends on itself
	found := without
	for _, in := range w.all(r) {
		w.left--
		found = max(found, w.usesOf(in))
	}
	w.used[r] = found
	return found
}

// usesOf specifies whether the result of an instruction depends on the block index.
func (w *electors) usesOf(in *ir.Instr) (found blockUse) {
	switch head := in.Kind().Head(); {
	case head == isa.HeadLd && in.HasMod(isa.ModParam):
		return without
	case trace.Of(in) != trace.Other, head == isa.HeadShfl, head == isa.HeadVote,
		head == isa.HeadCall, head == isa.HeadTex:
		return opaque
	}
	in.Registers(func(r *ir.Reg, a isa.Access) {
		if a != isa.Write {
			found = max(found, w.uses(r))
		}
	})
	for i := range in.Args {
		o := &in.Args[i]
		o.Walk(func(o *ir.Operand) {
			if o.Kind == ir.Special && blockIndex(o.Text()) {
				found = max(found, with)
			}
		})
	}
	return found
}

// blockIndex reports whether a special register differs between blocks.
func blockIndex(name string) bool {
	return strings.HasPrefix(name, "%ctaid") || strings.HasPrefix(name, "%cluster")
}

// byBlock reports whether a branch or a guard on the block index decides whether an instruction is
// executed.
func (w *electors) byBlock(m mark) bool {
	in := w.flow.Func.Blocks[m.block].Instrs[m.at]
	if r := in.Guard.Reg; r != nil && w.uses(r) == with {
		return true
	}
	seen := map[int]bool{m.block: true}
	for work := []int{m.block}; len(work) > 0 && w.left >= 0; {
		b := work[len(work)-1]
		work = work[:len(work)-1]
		for _, from := range w.levels().Rests(b) {
			if w.left--; seen[from] {
				continue
			}
			seen[from] = true
			work = append(work, from)
			in := w.flow.Func.Blocks[from].Last()
			if in != nil && in.Guard.Reg != nil && w.uses(in.Guard.Reg) == with {
				return true
			}
		}
	}
	return false
}

// read reports whether the kernel uses the result of an atomic operation.
func (w *electors) read(in *ir.Instr) bool {
	return in.Kind() == isa.KindAtom && len(in.Args) > 0 && in.Args[0].Reg != nil
}
