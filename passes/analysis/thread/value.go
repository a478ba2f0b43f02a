// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package thread

import (
	"strings"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// Value evaluates a register.
func (e *Eval) Value(r *ir.Reg) Value {
	w := e.of(r)
	if w == nil {
		return Value{}
	}
	if w.valueOf != e.begun {
		w.valueOf, w.value = e.begun, Value{} // in case the register depends on itself
		w.value = e.result(w)
	}
	return w.value
}

// ValueOf evaluates an operand: a register or a constant.
func (e *Eval) ValueOf(o *ir.Operand) Value {
	switch o.Kind {
	case ir.Register:
		return e.Value(o.Reg)
	case ir.Int:
		return known(o.Value)
	case ir.Special:
		return e.special(o.Text())
	case ir.Variable:
		if v := o.Var(); v != nil {
			if at, ok := e.Address(v, o.Value); ok {
				return known(at)
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
			return known(w.counter.Last)
		}
		return Value{}
	}
	switch {
	case w.reg == e.notes.Warp:
		return known(int64(e.thread / 32))
	case w.pointer != nil:
		return known(e.base(w.reg, Area{Space: isa.Global, Name: w.pointer.Name}))
	case w.op.kind == isa.KindElect:
		if e.thread%32 == 0 {
			return known(1)
		}
		return known(0)
	}
	if v := loaded(in); v != nil && v.Space == isa.Param {
		return Value{Kind: Launch}
	}
	var args [3]Value
	for i := range min(3, len(in.Args)-1) {
		args[i] = e.ValueOf(&in.Args[i+1])
	}
	return w.op.result(args[0], args[1], args[2])
}

// special evaluates a special register.
func (e *Eval) special(name string) Value {
	n := e.notes.Block
	if n[0] == 0 {
		n = [3]int{32, 1, 1} // large enough for the first threads
	}
	switch name {
	case "%tid.x":
		return known(int64(e.thread % n[0]))
	case "%tid.y":
		return known(int64(e.thread / n[0] % n[1]))
	case "%tid.z":
		return known(int64(e.thread / n[0] / n[1]))
	case "%laneid":
		return known(int64(e.thread % 32))
	}
	switch {
	case strings.HasPrefix(name, "%n"):
		return Value{Kind: Launch}
	case blockSpecial(name) && e.when != AnyBlock:
		return known(0)
	}
	return Value{}
}

// blockSpecial reports whether a special register identifies the block.
func blockSpecial(name string) bool {
	base, _, _ := strings.Cut(name, ".")
	switch base {
	case "%ctaid", "%clusterid", "%cluster_ctaid", "%cluster_ctarank":
		return true
	}
	return false
}

// Holds evaluates a condition to 1 or 0.
func (e *Eval) Holds(c ir.Condition) Value {
	v := e.Value(c.Reg)
	if v.Kind == Constant && c.Not {
		v.N ^= 1
	}
	return v
}

// False reports whether the thread certainly does not satisfy the conditions.
func (e *Eval) False(conds []ir.Condition) bool {
	for _, c := range conds {
		if e.Holds(c) == known(0) {
			return true
		}
	}
	return false
}

// Comes evaluates conditions for the thread. The result is Constant if the thread satisfies them,
// Possible if some launch satisfies them, and Unknown if they are false or unknown.
func (e *Eval) Comes(conds []ir.Condition) Kind {
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

// Certain reports whether the thread satisfies the conditions. Conditions that are the same for all
// threads are assumed to be true, since some launch may make them true.
func (e *Eval) Certain(conds []ir.Condition) bool {
	for _, c := range conds {
		if v := e.Holds(c); (v.Kind != Constant || v.N == 0) &&
			(v.Kind == Constant || !e.Uniform(c.Reg) && !e.counted(c)) {
			return false
		}
	}
	return true
}

// counted reports whether a condition belongs to a loop with an unknown trip count. The launch may
// then guarantee that the loop condition keeps the index in bounds.
func (e *Eval) counted(c ir.Condition) bool {
	in := e.Def(c.Reg)
	if !c.Loop || c.Not || in == nil || in.Kind() != isa.KindSetp || len(in.Args) < 3 ||
		in.Args[1].Kind != ir.Register {
		return false
	}
	return e.Value(in.Args[1].Reg).Kind == Unknown
}

// DependsOnLoads reports whether a register depends only on values that the kernel loads. depth
// limits the number of instructions between them.
func (e *Eval) DependsOnLoads(r *ir.Reg, depth int) bool {
	in := e.Def(r)
	if in == nil || in.Form == nil || depth == 0 {
		return false
	}
	switch in.Kind() {
	case isa.KindLd, isa.KindAtom:
		v := loaded(in)
		return v == nil || v.Space != isa.Param
	}
	for i := range in.Args[1:] {
		if o := &in.Args[i+1]; o.Kind == ir.Register && e.DependsOnLoads(o.Reg, depth-1) {
			return true
		}
	}
	return false
}
