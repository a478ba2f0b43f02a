// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package thread

import (
	"strings"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// Value evaluates a register for the current thread and iteration.
func (e *Eval) Value(r *ir.Reg) Value {
	w := e.lookup(r)
	if w == nil {
		return Value{}
	}
	if w.valueOf != e.evaluations {
		w.valueOf, w.value = e.evaluations, Value{} // result if the register depends on itself
		w.value = e.result(w)
	}
	return w.value
}

// ValueOf evaluates an operand: a register, a constant, a special register, or the address of a
// variable.
func (e *Eval) ValueOf(o *ir.Operand) Value {
	switch o.Kind {
	case ir.Register:
		return e.Value(o.Reg)
	case ir.Int:
		return constant(o.Value)
	case ir.Special:
		return e.special(o.Text())
	case ir.Variable:
		if v := o.Var(); v != nil {
			if at, ok := e.Address(v, o.Value); ok {
				return constant(at)
			}
		}
	}
	return Value{}
}

func (e *Eval) result(w *tracked) Value {
	in := w.def
	if e.work++; in == nil || in.Form == nil || e.Exhausted() {
		return Value{}
	}
	if e.when != First && (w.counter != nil || w.reg.Varies) {
		if e.when == Last && w.counter != nil && w.counter.Known {
			return constant(w.counter.Last)
		}
		return Value{}
	}
	switch {
	case w.reg == e.notes.Warp:
		return constant(int64(e.thread / 32))
	case w.pointer != nil:
		return constant(e.baseAddress(w.reg, Area{Space: isa.Global, Name: w.pointer.Name}))
	case w.op.kind == isa.KindElect:
		if e.thread%32 == 0 {
			return constant(1)
		}
		return constant(0)
	}
	if v := loadedVariable(in); v != nil && v.Space == isa.Param {
		return Value{Kind: Launch}
	}
	switch {
	case in.Args[0].Reg != w.reg: // one of several results
		return e.part(in, w.reg)
	case w.op.exact != nil:
		return e.exactResult(in, &w.op)
	case w.op.kind == isa.KindMov && in.Args[1].Kind == ir.Vector:
		return e.packed(in, w.op.width)
	}
	var args [3]Value
	for i := range min(3, len(in.Args)-1) {
		args[i] = e.ValueOf(&in.Args[i+1])
	}
	return w.op.result(args[0], args[1], args[2])
}

// special evaluates a special register for the current thread.
func (e *Eval) special(name string) Value {
	n := e.notes.Block
	if n[0] == 0 {
		n = [3]int{32, 1, 1} // large enough for the first threads
	}
	switch name {
	case "%tid.x":
		return constant(int64(e.thread % n[0]))
	case "%tid.y":
		return constant(int64(e.thread / n[0] % n[1]))
	case "%tid.z":
		return constant(int64(e.thread / n[0] / n[1]))
	case "%laneid":
		return constant(int64(e.thread % 32))
	}
	switch {
	case strings.HasPrefix(name, "%n"):
		return Value{Kind: Launch}
	case isBlockSpecial(name) && e.when != AnyBlock:
		return constant(0)
	}
	return Value{}
}

// isBlockSpecial reports whether a special register identifies the block.
func isBlockSpecial(name string) bool {
	base, _, _ := strings.Cut(name, ".")
	switch base {
	case "%ctaid", "%clusterid", "%cluster_ctaid", "%cluster_ctarank":
		return true
	}
	return false
}

// Holds returns the value of a condition: 1 if it is true, 0 if it is false.
func (e *Eval) Holds(c ir.Condition) Value {
	v := e.Value(c.Reg)
	if v.Kind == Constant && c.Not {
		v.N ^= 1
	}
	return v
}

// IsFalse reports whether the current thread certainly does not satisfy one of the conditions.
func (e *Eval) IsFalse(conds []ir.Condition) bool {
	for _, c := range conds {
		if e.Holds(c) == constant(0) {
			return true
		}
	}
	return false
}

// Satisfied evaluates conditions for the current thread. The result is Constant if the thread
// satisfies all of them, Possible if some launch satisfies them, and Unknown if one is false or
// unknown.
func (e *Eval) Satisfied(conds []ir.Condition) Kind {
	here := Constant
	for _, c := range conds {
		switch v := e.Holds(c); {
		case v.Kind == Possible:
			here = Possible
		case v.Kind != Constant || v.N == 0:
			return Unknown
		}
	}
	return here
}

// Certain reports whether the current thread satisfies the conditions. Conditions that are the
// same for all threads are assumed to be true, because some launch may make them true.
func (e *Eval) Certain(conds []ir.Condition) bool {
	for _, c := range conds {
		if v := e.Holds(c); (v.Kind != Constant || v.N == 0) &&
			(v.Kind == Constant || !e.Uniform(c.Reg) && !e.isUnknownLoop(c)) {
			return false
		}
	}
	return true
}

// isUnknownLoop reports whether a condition belongs to a loop with an unknown trip count. The
// launch may then guarantee that the loop condition keeps the index in bounds.
func (e *Eval) isUnknownLoop(c ir.Condition) bool {
	in := e.Def(c.Reg)
	if !c.Loop || c.Not || in == nil || in.Kind() != isa.KindSetp || len(in.Args) < 3 ||
		in.Args[1].Kind != ir.Register {
		return false
	}
	return e.Value(in.Args[1].Reg).Kind == Unknown
}

// DependsOnLoads reports whether a register depends only on values that the kernel loads. depth
// limits the number of instructions between the loads and the register.
func (e *Eval) DependsOnLoads(r *ir.Reg, depth int) bool {
	in := e.Def(r)
	if in == nil || in.Form == nil || depth == 0 {
		return false
	}
	switch in.Kind() {
	case isa.KindLd, isa.KindAtom:
		v := loadedVariable(in)
		return v == nil || v.Space != isa.Param
	}
	for i := range in.Args[1:] {
		if o := &in.Args[i+1]; o.Kind == ir.Register && e.DependsOnLoads(o.Reg, depth-1) {
			return true
		}
	}
	return false
}
