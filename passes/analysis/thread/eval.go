// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package thread evaluates registers of a kernel for one thread of the first block, in one
// iteration of every loop: addresses, positions in tiles, and conditions. It reads the
// annotations of package dsl. Unlike package trace, it does not trace control flow. Values that
// depend on data are unknown.
package thread

import (
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// An Eval evaluates the registers that the annotations of a kernel mention.
type Eval struct {
	notes       *ir.Annotations
	list        []tracked
	bases       map[any]int64 // addresses assumed for pointers and variables
	areas       []Area
	thread      int
	when        Iteration
	evaluations int32    // number of evaluations started, one for each thread or iteration
	unknown     ir.Instr // the definition of a register that several instructions write
	work        int
}

// A tracked register is a register on which the annotations depend, with the facts known about
// it. While an Eval is active, Reg.Number of a tracked register is -1-i, where i is its index in
// Eval.list. All other registers have a Number of 0 or more and are skipped.
type tracked struct {
	reg          *ir.Reg
	number       int32     // value of Reg.Number before the Eval was created
	def          *ir.Instr // the first instruction that writes it
	op           operation // the operation of def
	pointer      *ir.Var   // the pointer parameter whose value it holds
	counter      *ir.Counter
	valueOf      int32 // the evaluation (a value of begun) in which value was computed
	bitsOf       int32 // the evaluation in which bits was computed
	uniformKnown bool  // uniform has been computed
	uniform      bool
	value        Value
	bits         LowBits
}

// An Area is a variable, or the memory that a pointer parameter points to.
type Area struct {
	Space isa.Space
	Name  string
	Size  int64 // 0 if unknown
}

// maxWork limits the number of instructions that are evaluated before Refill is called.
const maxWork = 200_000

// areaBits is the base-2 logarithm of the distance between areas, so that an address identifies
// its area.
const areaBits = 44

// noThread is a thread index that no thread has.
const noThread = -1

// New returns an evaluator for a kernel with annotations. The caller must call End.
func New(f *ir.Func) *Eval {
	e := &Eval{notes: f.Annotations, list: make([]tracked, 0, 48), bases: make(map[any]int64),
		thread: noThread, evaluations: 1}
	e.trackAll()
	e.defineAll(f)
	if e.notes.Labels { // definitions may follow uses
		e.defineAll(f)
	}
	for i := range e.list {
		w := &e.list[i]
		if in := w.def; in != nil && in.Kind() == isa.KindCvtaTo && in.HasMod(isa.ModGlobal) {
			if from := e.Def(in.Args[1].Reg); from != nil {
				if v := loadedVariable(from); v != nil && v.Space == isa.Param && v.Ptr != nil {
					w.pointer = v
				}
			}
		}
	}
	for i := range e.notes.Counters {
		if w := e.lookup(e.notes.Counters[i].Reg); w != nil {
			w.counter = &e.notes.Counters[i]
		}
	}
	return e
}

// trackAll tracks the registers that the annotations mention.
func (e *Eval) trackAll() {
	a := e.notes
	for i := range a.Products {
		for n := range a.Products[i].Sides {
			e.track(a.Products[i].Sides[n].From.Reg)
		}
		e.trackConditions(a.Products[i].Conds)
	}
	for i := range a.Shared {
		e.track(a.Shared[i].Reg)
		e.trackConditions(a.Shared[i].Conds)
	}
	for i := range a.Uses {
		switch what := a.Uses[i].What.(type) {
		case *ir.Access:
			e.track(what.Reg)
		case *ir.TileAccess:
			e.track(what.Reg)
		case *ir.TileStore:
			e.track(what.Row.Reg)
			e.track(what.Col.Reg)
			e.track(what.To)
		}
		e.trackConditions(a.Uses[i].Conds)
	}
}

func (e *Eval) trackConditions(list []ir.Condition) {
	for i := range list {
		e.track(list[i].Reg)
	}
}

// End restores Number of the tracked registers. The evaluator must not be used after End.
func (e *Eval) End() {
	for i := range e.list {
		e.list[i].reg.Number = e.list[i].number
	}
}

// track adds a register to the tracked registers. It does nothing if r is nil or already tracked.
func (e *Eval) track(r *ir.Reg) {
	if r != nil && r.Number >= 0 {
		e.list = append(e.list, tracked{reg: r, number: r.Number})
		r.Number = -int32(len(e.list))
	}
}

// lookup returns the state of a tracked register, or nil if r is not tracked. track stores
// -(index+1) in Reg.Number.
func (e *Eval) lookup(r *ir.Reg) *tracked {
	if r == nil || r.Number >= 0 {
		return nil
	}
	return &e.list[-r.Number-1]
}

// Def returns the only instruction that writes a register. For a loop counter, it returns the
// instruction that sets the initial value. It returns nil if the register is not tracked.
func (e *Eval) Def(r *ir.Reg) *ir.Instr {
	if w := e.lookup(r); w != nil {
		return w.def
	}
	return nil
}

// Pointer returns the pointer parameter whose value a register holds, or nil.
func (e *Eval) Pointer(r *ir.Reg) *ir.Var {
	if w := e.lookup(r); w != nil {
		return w.pointer
	}
	return nil
}

// defineAll finds the definitions of tracked registers, and tracks the operands of these
// definitions. It visits the instructions backward, because uses usually follow definitions.
func (e *Eval) defineAll(f *ir.Func) {
	for b := len(f.Blocks) - 1; b >= 0; b-- {
		list := f.Blocks[b].Instrs
		for i := len(list) - 1; i >= 0; i-- {
			if !isUntracked(list[i]) {
				e.define(list[i])
			}
		}
	}
}

// isUntracked reports whether an instruction writes only a single register, which is not tracked.
// This is a fast test for the most frequent case.
func isUntracked(in *ir.Instr) bool {
	if in.Form == nil || len(in.Args) < 2 || in.Args[0].Kind != ir.Register {
		return false
	}
	list := in.Form.Args
	return in.Args[0].Reg.Number >= 0 && len(list) > 1 && list[1].Access == isa.Read
}

// define records the registers that an instruction writes.
func (e *Eval) define(in *ir.Instr) {
	if in.Form == nil {
		return
	}
	for i := range in.Args {
		o := &in.Args[i]
		if i == len(in.Form.Args) || in.Form.Args[i].Access == isa.Read {
			return // results are the first operands
		}
		if o.Kind == ir.Register {
			e.recordWrite(in, o, in.Form.Args[i].Access)
			continue
		}
		if parts := o.Args(); len(parts) > 0 && parts[0].Reg != nil &&
			parts[0].Reg.Type.Class() == isa.Float {
			continue // accumulators, which never hold addresses
		}
		o.Walk(func(o *ir.Operand) {
			if o.Kind == ir.Register {
				e.recordWrite(in, o, in.Form.Args[i].Access)
			}
		})
	}
}

// recordWrite records that an instruction writes a register or a part of it. A register that is
// written twice is unknown, except for a loop counter, which has its initial value in the first
// iteration.
func (e *Eval) recordWrite(in *ir.Instr, o *ir.Operand, a isa.Access) {
	r := o.Reg
	w := e.lookup(r)
	if w == nil {
		return
	}
	switch {
	case w.def == in:
	case !r.Varies && in.Kind() == isa.KindAdd && len(in.Args) > 1 && in.Args[0].Reg == r &&
		in.Args[1].Reg == r:
	case a != isa.Write || in.Guard.Reg != nil || o.Text() != "" || w.def != nil:
		w.def, w.op = &e.unknown, operation{}
	default:
		w.def, w.op = in, operationOf(in)
		for i := range in.Args {
			switch o := &in.Args[i]; o.Kind {
			case ir.Register:
				e.track(o.Reg)
			case ir.Int, ir.Special:
			default:
				o.Walk(func(o *ir.Operand) { e.track(o.Reg) })
			}
		}
	}
}

// loadedVariable returns the variable from which an instruction loads, or nil.
func loadedVariable(in *ir.Instr) *ir.Var {
	if len(in.Args) < 2 || in.Kind() != isa.KindLd {
		return nil
	}
	if list := in.Args[1].Args(); len(list) == 1 {
		return list[0].Var()
	}
	return nil
}

// Begin selects the thread for which registers are evaluated.
func (e *Eval) Begin(thread int) {
	if e.thread != thread {
		e.thread = thread
		e.evaluations++
	}
}

// Exhausted reports whether the work limit is reached. All values are then unknown.
func (e *Eval) Exhausted() bool { return e.work > maxWork }

// Refill resets the count of work, so that another maxWork instructions may be evaluated.
func (e *Eval) Refill() { e.work = 0 }

// Range returns the threads [first, end) that can execute the code of a role. If r is nil, these
// are all threads of the block, or one warp if the block size is unknown.
func (e *Eval) Range(r *ir.Role) (first, end int) {
	switch {
	case r != nil && r.Single:
		return 32 * r.First, 32 * (r.First + 1)
	case r != nil:
		return 32 * r.First, 32 * (r.First + r.Warps)
	case e.notes.Threads() == 0:
		return 0, 32
	}
	return 0, e.notes.Threads()
}
