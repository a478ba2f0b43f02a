// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// A turn is what registers are for a thread of the first block, in its first turn through every loop.
type turn struct {
	k       *Kernel
	list    []wanted
	bases   map[any]int64 // where pointers and variables begin
	areas   []area
	thread  int
	when    turnOf
	begun   int32 // counts the threads
	nothing ir.Instr
	work    int
}

// A wanted register is one that watched calls rest on, and what is known of it. Until it is handed back its Number tells its place in the list, and
// that it is wanted: most are not, and soon passed over.
type wanted struct {
	reg     *ir.Reg
	def     *ir.Instr // what writes it, first
	pointer *ir.Var   // the parameter that it is, which points to global memory
	stands  int32     // how often it stands in instructions, which is its Number otherwise
	worked  int32     // the thread for which value was worked out last, as begun counts them
	rested  int32     // and rest
	asked   bool      // whether it is the same for all threads
	same    bool      // it is, see alike
	loop    *lastTurn // whose turns it counts
	value   worked
	rest    rest
}

// An area is a variable, or what a parameter points to.
type area struct {
	space isa.Space
	name  string
	size  int64 // 0 where nobody knows
}

// mostWork is how many instructions are worked out for a kernel.
const mostWork = 200_000

// apartBits is how far apart areas are, so that an address tells its own.
const apartBits = 44

// A worked register is a number, or one that rests on what a launch gives and is the same for all threads, or nothing that is known.
type worked struct {
	kind workedKind
	n    int64
}

type workedKind uint8

const (
	vague workedKind = iota
	given            // a launch gives it
	free             // a predicate that compares with such: a launch may make it true
	sure
)

// newTurn finds what makes the registers that watched calls rest on.
func (k *Kernel) newTurn() *turn {
	t := &turn{k: k, list: make([]wanted, 0, 48), bases: make(map[any]int64), thread: nobody, begun: 1}
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
	for i := range k.watching {
		w := &k.watching[i]
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
	for _, b := range slices.Backward(k.f.Blocks) { // what is read stands behind what is written, mostly
		for i := len(b.Instrs) - 1; i >= 0; i-- {
			if in := b.Instrs[i]; !idle(in) {
				t.define(in)
			}
		}
	}
	if len(k.marks) > 0 { // and with labels of the author's, maybe not
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

// end hands the registers back.
func (t *turn) end() {
	for i := range t.list {
		t.list[i].reg.Number = t.list[i].stands
	}
}

// nobody is no thread.
const nobody = -1

// want asks for what makes a register.
func (t *turn) want(r *ir.Reg) {
	if r != nil && r.Number >= 0 {
		t.list = append(t.list, wanted{reg: r, stands: r.Number})
		r.Number = -int32(len(t.list))
	}
}

// of is what is known of a register, nil of one that nobody wants.
func (t *turn) of(r *ir.Reg) *wanted {
	if r == nil || r.Number >= 0 {
		return nil
	}
	return &t.list[-r.Number-1]
}

// def is what writes a register, first, nil where nobody knows.
func (t *turn) def(r *ir.Reg) *ir.Instr {
	if w := t.of(r); w != nil {
		return w.def
	}
	return nil
}

// pointer is the parameter that a register is, which points to global memory, nil if it is none.
func (t *turn) pointer(r *ir.Reg) *ir.Var {
	if w := t.of(r); w != nil {
		return w.pointer
	}
	return nil
}

// idle reports whether in makes one register only, and nobody wants that. So it is mostly.
func idle(in *ir.Instr) bool {
	if in.Form == nil || len(in.Args) < 2 || in.Args[0].Kind != ir.Register {
		return false
	}
	list := in.Form.Args
	return in.Args[0].Reg.Number >= 0 && len(list) > 1 && list[1].Access == isa.Read
}

// define notes what an instruction makes of registers that are wanted. Of one that is written again nothing is known, but where it counts the turns
// of a loop: in the first it is what it began as.
func (t *turn) define(in *ir.Instr) {
	if in.Form == nil {
		return
	}
	for i := range in.Args {
		o := &in.Args[i]
		if i == len(in.Form.Args) || in.Form.Args[i].Access == isa.Read {
			return // results stand first
		}
		if o.Kind == ir.Register {
			t.written(in, o, in.Form.Args[i].Access)
			continue
		}
		if parts := o.Args(); len(parts) > 0 && parts[0].Reg != nil && parts[0].Reg.Type.Class() == isa.Float {
			continue // sums, of which no address is made
		}
		o.Walk(func(o *ir.Operand) {
			if o.Kind == ir.Register {
				t.written(in, o, in.Form.Args[i].Access)
			}
		})
	}
}

// written notes that an instruction writes a register, or part of one.
func (t *turn) written(in *ir.Instr, o *ir.Operand, a isa.Access) {
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

// variableOf is the variable that an instruction loads from.
func variableOf(in *ir.Instr) *ir.Var {
	if len(in.Args) < 2 || in.Head() != "ld" {
		return nil
	}
	if list := in.Args[1].Args(); len(list) == 1 {
		return list[0].Var()
	}
	return nil
}

// begin makes the registers those of a thread.
func (t *turn) begin(thread int) {
	if t.thread != thread {
		t.thread = thread
		t.begun++
	}
}

// base is where an area begins.
func (t *turn) base(of any, a area) int64 {
	if at, ok := t.bases[of]; ok {
		return at
	}
	t.areas = append(t.areas, a)
	t.bases[of] = int64(len(t.areas)) << apartBits
	return t.bases[of]
}

// find is the area that an address is in, or before.
func (t *turn) find(space isa.Space, at int64) (name string, size, off int64, ok bool) {
	i := (at + 1<<(apartBits-1)) >> apartBits
	if i < 1 || i > int64(len(t.areas)) || t.areas[i-1].space != space {
		return "", 0, 0, false
	}
	off = at - i<<apartBits
	if space != isa.Global {
		off = int64(int32(off)) // addresses of 32 bits wrap
	}
	return t.areas[i-1].name, t.areas[i-1].size, off, true
}

// comes is whether the thread is where conditions hold: sure, free where a launch may make it so, and vague where it is not, or nobody knows.
func (t *turn) comes(conds []condition) workedKind {
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

// holds is whether a condition holds: 1 or 0.
func (t *turn) holds(c condition) worked {
	v := t.value(c.p)
	if v.kind == sure && c.not {
		v.n ^= 1
	}
	return v
}
