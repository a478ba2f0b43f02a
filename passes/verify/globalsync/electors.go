// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package globalsync

import (
	"maps"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/passes/analysis/reach"
	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
	"github.com/ptxdsl/ptxdsl/passes/analysis/uniform"
	"github.com/ptxdsl/ptxdsl/passes/verify"
)

// A threadSelection finds the predicates that select which threads of a block execute an
// instruction: comparisons of a thread, lane or warp index with one value, and elect.sync. A
// predicate is identified by the instruction that computes it, because registers are reused.
type threadSelection struct {
	flow *ir.Flow
	// uniformity of the registers, which the first call computes
	levels   func() *uniform.Levels
	writes   *reach.Writes
	writesOf map[*ir.Reg][]*ir.Instr // cache of allWrites
	queries  int                     // number of reaching-definition queries made by onlyWrite
	// number of instructions and branches that may still be visited
	budget     int
	selections map[*ir.Instr]selection // cache of selectionOf
	blocks     map[int]predicates      // cache of blockPredicates
	bases      map[*ir.Reg]base        // cache of baseOfRegister
	used       map[*ir.Reg]blockUse    // cache of registerUse
	read       map[*ir.Reg]bool        // registers that an instruction reads; see isRead
	indexes    map[*ir.Reg]bool        // see indexRegisters
}

// predicates is a set of predicates, each identified by the instruction that computes it, that
// must all be true.
type predicates map[*ir.Instr]bool

// A selection describes which threads a predicate selects.
type selection uint8

const (
	unknown       selection = iota // not computed yet
	anyThreads                     // any threads
	byThreadIndex                  // threads of a block by their index
	byLane                         // lanes of a warp
)

// maxVisits limits the instructions and branches that are visited for all flags of a kernel.
const maxVisits = 2_000_000

func newThreadSelection(f *ir.Flow, levels func() *uniform.Levels) *threadSelection {
	return &threadSelection{budget: maxVisits, flow: f, levels: levels, writes: reach.Of(f),
		writesOf:   make(map[*ir.Reg][]*ir.Instr),
		selections: make(map[*ir.Instr]selection), blocks: make(map[int]predicates),
		bases: make(map[*ir.Reg]base),
		used:  make(map[*ir.Reg]blockUse)}
}

// maxQueries limits the reaching-definition queries for registers that are written more than
// once, because these queries are slow.
const maxQueries = 2000

// allWrites returns every write of a register.
func (w *threadSelection) allWrites(r *ir.Reg) []*ir.Instr {
	list, met := w.writesOf[r]
	if !met {
		list = w.writes.All(r)
		w.writesOf[r] = list
	}
	return list
}

// onlyWrite returns the only write of register r that reaches instruction at, or nil if several
// writes may reach it.
func (w *threadSelection) onlyWrite(at *ir.Instr, r *ir.Reg) *ir.Instr {
	if r == nil {
		return nil
	}
	list := w.allWrites(r)
	if len(list) > 1 && w.queries < maxQueries {
		w.queries++
		list, _ = w.writes.At(at, r)
	}
	if len(list) != 1 {
		return nil
	}
	return list[0]
}

// selectionOf returns which threads are selected by the predicate that an instruction computes.
func (w *threadSelection) selectionOf(in *ir.Instr) selection {
	if in == nil {
		return anyThreads
	}
	if p := w.selections[in]; p != unknown {
		return p
	}
	w.selections[in] = anyThreads // assumed if the instruction depends on its own result
	p := anyThreads
	switch in.Kind() {
	case isa.KindElect:
		p = byLane
	case isa.KindSetp:
		first := in.Args[0].Reg
		if in.HasMod(isa.ModEQ, isa.ModNE) && first != nil &&
			w.levels().Value(first) < uniform.Block && !w.comparesLoaded(in) &&
			w.comparesThreadIndex(in) {
			p = byThreadIndex
			if w.testsLane(in) {
				p = byLane
			}
		}
	case isa.KindAnd, isa.KindOr, isa.KindXor, isa.KindNot, isa.KindSelp:
		for i := range in.Args[1:] {
			if from := in.Args[i+1].Reg; from != nil && from.Type.Class() == isa.Pred {
				p = max(p, w.selectionOf(w.onlyWrite(in, from)))
			}
		}
	}
	w.selections[in] = p
	return p
}

// comparesLoaded reports whether an operand of a comparison is certainly computed from memory.
func (w *threadSelection) comparesLoaded(in *ir.Instr) bool {
	for i := range in.Args[1:] {
		if from := in.Args[i+1].Reg; from != nil && w.isLoaded(in, from, maxDerivationSteps) {
			return true
		}
	}
	return false
}

// isLoaded reports whether the value of a register is certainly computed from memory, such as the
// result of an atomic operation. A comparison of such a value selects threads by the data that
// they found, not by their index.
func (w *threadSelection) isLoaded(at *ir.Instr, r *ir.Reg, steps int) bool {
	in := w.onlyWrite(at, r)
	if in == nil || steps == 0 {
		return false
	}
	switch in.Kind().Head() {
	case isa.HeadAtom:
		return true
	case isa.HeadLd:
		return !in.HasMod(isa.ModParam)
	case isa.HeadAnd, isa.HeadAdd, isa.HeadSub, isa.HeadMov:
		for i := range in.Args[1:] {
			if from := in.Args[i+1].Reg; from != nil && w.isLoaded(in, from, steps-1) {
				return true
			}
		}
	}
	return false
}

// testsLane reports whether a comparison tests a lane index.
func (w *threadSelection) testsLane(in *ir.Instr) bool {
	for i := range in.Args {
		o := &in.Args[i]
		if o.Kind == ir.Special && o.Text() == "%laneid" {
			return true
		}
		from := w.onlyWrite(in, o.Reg)
		if i == 0 || from == nil {
			continue
		}
		switch from.Kind() {
		case isa.KindMov:
			if o := &from.Args[1]; o.Kind == ir.Special && o.Text() == "%laneid" {
				return true
			}
		case isa.KindAnd, isa.KindRem:
			for j := range from.Args[1:] {
				if o := &from.Args[j+1]; o.Kind == ir.Int &&
					o.Value == map[isa.Kind]int64{isa.KindAnd: 31, isa.KindRem: 32}[from.Kind()] {
					return true
				}
			}
		// a predicate of elect.sync as an integer, as inline assembly returns it
		case isa.KindSelp:
			return len(from.Args) == 4 &&
				w.selectionOf(w.onlyWrite(from, from.Args[3].Reg)) == byLane
		}
	}
	return false
}

// predicatesAt returns the predicates that select the threads that execute an instruction,
// including the instruction's own guard.
func (w *threadSelection) predicatesAt(m position) predicates {
	set := w.blockPredicates(m.block)
	in := w.flow.Func.Blocks[m.block].Instrs[m.at]
	by := w.onlyWrite(in, in.Guard.Reg)
	if set[by] || w.selectionOf(by) < byThreadIndex {
		return set
	}
	own := maps.Clone(set)
	own[by] = true
	return own
}

// blockPredicates returns the predicates that select the threads that execute a basic block.
func (w *threadSelection) blockPredicates(b int) predicates {
	if set, met := w.blocks[b]; met {
		return set
	}
	set := make(predicates)
	seen := map[int]bool{b: true}
	for work := []int{b}; len(work) > 0 && w.budget >= 0; {
		w.budget--
		at := work[len(work)-1]
		work = work[:len(work)-1]
		for _, from := range w.levels().Controls(at) {
			if seen[from] {
				continue
			}
			seen[from] = true
			work = append(work, from)
			if in := w.flow.Func.Blocks[from].Last(); in != nil {
				if by := w.onlyWrite(in, in.Guard.Reg); w.selectionOf(by) >= byThreadIndex {
					set[by] = true
				}
			}
		}
	}
	w.blocks[b] = set
	return set
}

// hasMoreThreads reports whether an instruction with the predicates all is executed by every
// thread that satisfies the predicates some, and also by threads that do not.
func hasMoreThreads(all, some predicates) bool {
	for r := range all {
		if !some[r] {
			return false
		}
	}
	return len(some) > len(all)
}

// mayPoll reports whether an access may only poll memory. An atomic operation whose operand is
// not a constant is not a poll: it changes the value, and is repeated until it succeeds.
func (w *threadSelection) mayPoll(in *ir.Instr) bool {
	if trace.Of(in) != trace.Atomic {
		return true
	}
	for i := 2; i < len(in.Args); i++ {
		o := &in.Args[i]
		if from := w.onlyWrite(in, o.Reg); from != nil && from.Kind() == isa.KindMov {
			o = &from.Args[1]
		}
		if o.Kind != ir.Int {
			return false
		}
	}
	return true
}

// A base is the pointer parameter from which an address is derived, as variable and byte offset.
// The zero base means that the address is derived from no parameter, or from several.
type base struct {
	v  *ir.Var
	at int64
}

// baseOf returns the base of the address of an access. For a bulk load, the address is the
// source.
func (w *threadSelection) baseOf(in *ir.Instr) base {
	n := 0
	if trace.Of(in) == trace.BulkLoad {
		n = 1
	}
	if at := verify.Address(in, n); at >= 0 {
		if o := &in.Args[at]; o.Kind == ir.Address && len(o.Args()) == 1 {
			if r := o.Args()[0].Reg; r != nil {
				return w.baseOfRegister(r)
			}
			return baseOfVariable(&o.Args()[0])
		}
	}
	return base{}
}

// baseOfVariable returns the base of the address of a variable of the module in global memory.
func baseOfVariable(o *ir.Operand) base {
	if v := o.Var(); v != nil && o.Kind == ir.Variable && v.Space == isa.Global {
		return base{v: v}
	}
	return base{}
}

// baseOfRegister returns the base of the address in a register.
func (w *threadSelection) baseOfRegister(r *ir.Reg) base {
	if b, met := w.bases[r]; met {
		return b
	}
	w.bases[r] = base{} // assumed for a register that depends on itself in a loop
	var found base
	for _, in := range w.allWrites(r) {
		b := w.baseOfResult(in)
		if b.v == nil {
			continue
		}
		if found.v != nil && b != found {
			return base{}
		}
		found = b
	}
	w.bases[r] = found
	return found
}

// baseOfResult returns the base of the result of an instruction.
func (w *threadSelection) baseOfResult(in *ir.Instr) (found base) {
	switch in.Kind().Head() {
	case isa.HeadLd:
		if o := &in.Args[1]; in.HasMod(isa.ModParam) && o.Kind == ir.Address &&
			len(o.Args()) == 1 && o.Args()[0].Var() != nil {
			return base{o.Args()[0].Var(), o.Args()[0].Value}
		}
	case isa.HeadMov, isa.HeadCvta, isa.HeadAdd, isa.HeadSub, isa.HeadMad, isa.HeadSelp:
		for i := range in.Args[1:] {
			b, from := baseOfVariable(&in.Args[i+1]), in.Args[i+1].Reg
			if from != nil && from.Type.Bits() == 64 {
				b = w.baseOfRegister(from)
			}
			if b.v != nil && found.v != nil && b != found {
				return base{}
			}
			if b.v != nil {
				found = b
			}
		}
	}
	return found
}

// isPrivate reports whether an instruction certainly accesses a shared or local variable through
// a generic address. Other blocks cannot observe such an access.
func (w *threadSelection) isPrivate(in *ir.Instr) bool {
	at := verify.Address(in, 0)
	if at < 0 {
		return false
	}
	o := &in.Args[at]
	return o.Kind == ir.Address && len(o.Args()) == 1 && o.Args()[0].Reg != nil &&
		w.isSharedOrLocal(o.Args()[0].Reg, maxDerivationSteps)
}

// maxDerivationSteps limits the instructions between a variable and an address derived from it.
const maxDerivationSteps = 8

// isSharedOrLocal reports whether every write of a register is an address in a shared or local
// variable. The result of mapa does not count, because it is an address in another block.
func (w *threadSelection) isSharedOrLocal(r *ir.Reg, steps int) bool {
	list := w.allWrites(r)
	if w.budget--; len(list) == 0 || steps == 0 || w.budget < 0 {
		return false
	}
	for _, in := range list {
		switch in.Kind().Head() {
		case isa.HeadMov, isa.HeadCvt, isa.HeadCvta, isa.HeadAdd:
		default:
			return false
		}
		found := false
		for i := range in.Args[1:] {
			switch o := &in.Args[i+1]; {
			case o.Var() != nil:
				found = found || o.Var().Space == isa.Shared || o.Var().Space == isa.Local
			case o.Reg == r: // an increment in a loop
				found = true
			case o.Reg != nil:
				found = found || w.isSharedOrLocal(o.Reg, steps-1)
			}
		}
		if !found {
			return false
		}
	}
	return true
}
