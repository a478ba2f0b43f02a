// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// A threadEval evaluates registers for one thread of the first block, in its first iteration of every
// loop.
type threadEval struct {
	k       *Kernel
	list    []trackedReg
	bases   map[any]int64 // addresses assumed for pointers and variables
	areas   []area
	thread  int
	when    iteration
	begun   int32 // number of evaluations started; one per thread
	nothing ir.Instr
	work    int
}

// A trackedReg is a register that a deferred check depends on, with what is known of it. While a
// threadEval is active, the Number of a tracked register is -1-i for index i in the list. Other
// registers, which are most, have no negative Number and are skipped.
type trackedReg struct {
	reg     *ir.Reg
	def     *ir.Instr      // the first instruction that writes it
	pointer *ir.Var        // the pointer parameter whose value it holds
	worked  int32          // the thread (a value of begun) for which value was last computed
	rested  int32          // the same for rest
	asked   bool           // whether same has been computed
	same    bool           // the same in all threads, see alike
	loop    *lastIteration // the loop whose iterations it counts
	value   worked
	lowBits lowBits
}

// An area is a variable, or the memory that a pointer parameter points to.
type area struct {
	space isa.Space
	name  string
	size  int64 // 0 if unknown
}

// mostWork limits the instructions that are evaluated per kernel.
const mostWork = 200_000

// areaBits is the distance between areas, so that an address identifies its area.
const areaBits = 44

// A worked value is a constant, a block-uniform value that depends on the launch, or unknown.
type worked struct {
	kind workedKind
	n    int64
}

type workedKind uint8

const (
	vague workedKind = iota
	given            // depends on the launch, the same for all threads
	free             // a predicate that compares such a value: some launch may make it true
	sure
)

// newThreadEval finds the definitions of the registers that deferred checks depend on.
func (k *Kernel) newThreadEval() *threadEval {
	t := &threadEval{k: k, list: make([]trackedReg, 0, 48), bases: make(map[any]int64), thread: noThread, begun: 1}
	for i := range k.takings {
		for _, s := range k.takings[i].sides {
			t.want(s.from.r)
		}
		for _, c := range k.takings[i].conds {
			t.want(c.p)
		}
	}
	for i := range k.touched {
		t.want(k.touched[i].reg)
		for _, c := range k.touched[i].conds {
			t.want(c.p)
		}
	}
	for i := range k.deferred {
		w := &k.deferred[i]
		t.want(w.reg)
		if s := w.stored; s != nil {
			t.want(s.row.r)
			t.want(s.col.r)
			t.want(s.to)
		}
		for _, c := range w.conds {
			t.want(c.p)
		}
	}
	for _, b := range slices.Backward(k.f.Blocks) { // uses usually follow definitions
		for i := len(b.Instrs) - 1; i >= 0; i-- {
			if in := b.Instrs[i]; !idle(in) {
				t.define(in)
			}
		}
	}
	if len(k.marks) > 0 { // with the author's labels this may not be true
		for _, b := range k.f.Blocks {
			for _, in := range b.Instrs {
				t.define(in)
			}
		}
	}
	for i := range t.list {
		w := &t.list[i]
		if w.def == nil || w.def.Op != "cvta.to.global.u64" {
			continue
		}
		if from := t.def(w.def.Args[1].Reg); from != nil {
			if v := variableOf(from); v != nil && v.Space == isa.Param && v.Ptr != nil {
				w.pointer = v
			}
		}
	}
	return t
}

// end releases the registers.
func (t *threadEval) end() {
	for i := range t.list {
		t.list[i].reg.Number = 0
	}
}

// noThread is a thread index that no thread has.
const noThread = -1

// want tracks a register.
func (t *threadEval) want(r *ir.Reg) {
	if r != nil && r.Number >= 0 {
		t.list = append(t.list, trackedReg{reg: r})
		r.Number = -int32(len(t.list))
	}
}

// of returns what is known of a register, or nil if no check depends on it.
func (t *threadEval) of(r *ir.Reg) *trackedReg {
	if r == nil || r.Number >= 0 {
		return nil
	}
	return &t.list[-r.Number-1]
}

// def returns the first instruction that writes a register, or nil if it is unknown.
func (t *threadEval) def(r *ir.Reg) *ir.Instr {
	if w := t.of(r); w != nil {
		return w.def
	}
	return nil
}

// pointer returns the pointer parameter that a register holds, or nil.
func (t *threadEval) pointer(r *ir.Reg) *ir.Var {
	if w := t.of(r); w != nil {
		return w.pointer
	}
	return nil
}

// idle reports whether in writes a single register that no check depends on, which is the usual
// case.
func idle(in *ir.Instr) bool {
	if in.Form == nil || len(in.Args) < 2 || in.Args[0].Kind != ir.Register {
		return false
	}
	list := in.Form.Args
	return in.Args[0].Reg.Number >= 0 && len(list) > 1 && list[1].Access == isa.Read
}

// define records the definitions that an instruction makes. A register that is written twice is
// unknown, except for a loop counter, which has its initial value in the first iteration.
func (t *threadEval) define(in *ir.Instr) {
	if in.Form == nil {
		return
	}
	for i := range in.Args {
		o := &in.Args[i]
		if i == len(in.Form.Args) || in.Form.Args[i].Access == isa.Read {
			return // results are the first operands
		}
		if o.Kind == ir.Register {
			t.written(in, o, in.Form.Args[i].Access)
			continue
		}
		if parts := o.Args(); len(parts) > 0 && parts[0].Reg != nil && parts[0].Reg.Type.Class() == isa.Float {
			continue // accumulators, which are never addresses
		}
		o.Walk(func(o *ir.Operand) {
			if o.Kind == ir.Register {
				t.written(in, o, in.Form.Args[i].Access)
			}
		})
	}
}

// written records that an instruction writes a register or a part of it.
func (t *threadEval) written(in *ir.Instr, o *ir.Operand, a isa.Access) {
	r := o.Reg
	w := t.of(r)
	if w == nil {
		return
	}
	switch {
	case w.def == in:
	case !r.Varies && in.Head() == "add" && len(in.Args) > 1 && in.Args[0].Reg == r && in.Args[1].Reg == r:
	case a != isa.Write || in.Guard.Reg != nil || o.Text() != "" || w.def != nil:
		w.def = &t.nothing
	default:
		w.def = in
		for i := range in.Args {
			switch o := &in.Args[i]; o.Kind {
			case ir.Register:
				t.want(o.Reg)
			case ir.Int, ir.Special:
			default:
				o.Walk(func(o *ir.Operand) { t.want(o.Reg) })
			}
		}
	}
}

// variableOf returns the variable that an instruction loads from.
func variableOf(in *ir.Instr) *ir.Var {
	if len(in.Args) < 2 || in.Head() != "ld" {
		return nil
	}
	if list := in.Args[1].Args(); len(list) == 1 {
		return list[0].Var()
	}
	return nil
}

// begin starts the evaluation for a thread.
func (t *threadEval) begin(thread int) {
	if t.thread != thread {
		t.thread = thread
		t.begun++
	}
}

// base returns the address assumed for an area.
func (t *threadEval) base(of any, a area) int64 {
	if at, ok := t.bases[of]; ok {
		return at
	}
	t.areas = append(t.areas, a)
	t.bases[of] = int64(len(t.areas)) << areaBits
	return t.bases[of]
}

// find returns the area nearest to an address, which may be before or after it.
func (t *threadEval) find(space isa.Space, at int64) (name string, size, off int64, ok bool) {
	i := (at + 1<<(areaBits-1)) >> areaBits
	if i < 1 || i > int64(len(t.areas)) || t.areas[i-1].space != space {
		return "", 0, 0, false
	}
	off = at - i<<areaBits
	if space != isa.Global {
		off = int64(int32(off)) // 32-bit addresses wrap around
	}
	return t.areas[i-1].name, t.areas[i-1].size, off, true
}

// comes evaluates whether the thread satisfies conditions. The result is sure, free if a launch may
// satisfy them, and vague if they are false or unknown.
func (t *threadEval) comes(conds []condition) workedKind {
	here := sure
	for _, c := range conds {
		switch v := t.holds(c); {
		case v.kind == free:
			here = free
		case v.kind != sure || v.n == 0:
			return vague
		}
	}
	return here
}

// holds evaluates a condition to 1 or 0.
func (t *threadEval) holds(c condition) worked {
	v := t.value(c.p)
	if v.kind == sure && c.not {
		v.n ^= 1
	}
	return v
}
