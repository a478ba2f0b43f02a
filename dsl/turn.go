// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// A turn is what registers are for a thread of the first block, in its first turn through every loop.
type turn struct {
	k        *Kernel
	defs     map[*ir.Reg]*ir.Instr // what writes a register, first
	pointers map[*ir.Reg]string    // pointer parameters, in global memory
	bases    map[any]int64         // where pointers and variables begin
	areas    []area
	thread   int
	have     map[*ir.Reg]worked
	nothing  ir.Instr
	work     int
	same     map[*ir.Reg]bool // whether a register is the same for all threads, see alike
	rests    map[*ir.Reg]rest // what is known of registers of the thread, see rest
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
	t := &turn{k: k, defs: make(map[*ir.Reg]*ir.Instr, 64), pointers: make(map[*ir.Reg]string), bases: make(map[any]int64), have: make(map[*ir.Reg]worked), thread: nobody}
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
	for r, in := range t.defs {
		r.Number &^= wanted
		if in == nil || in.Op != "cvta.to.global.u64" {
			continue
		}
		if from := t.defs[in.Args[1].Reg]; from != nil {
			if v := variableOf(from); v != nil && v.Space == isa.Param && v.Ptr != nil {
				t.pointers[r] = v.Name
			}
		}
	}
	return t
}

// nobody is no thread.
const nobody = -1

// wanted marks registers that are asked for, beside their counts: most are not, and soon passed over.
const wanted = math.MinInt32

// want asks for what makes a register.
func (t *turn) want(r *ir.Reg) {
	if r != nil && r.Number&wanted == 0 {
		t.defs[r] = nil
		r.Number |= wanted
	}
}

// idle reports whether in makes one register only, and nobody wants that. So it is mostly.
func idle(in *ir.Instr) bool {
	if in.Form == nil || len(in.Args) < 2 || in.Args[0].Kind != ir.Register {
		return false
	}
	list := in.Form.Args
	return in.Args[0].Reg.Number&wanted == 0 && len(list) > 1 && list[1].Access == isa.Read
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
	if r.Number&wanted == 0 {
		return
	}
	switch old := t.defs[r]; {
	case old == in:
	case !r.Varies && in.Head() == "add" && len(in.Args) > 1 && in.Args[0].Reg == r && in.Args[1].Reg == r:
	case a != isa.Write || in.Guard.Reg != nil || o.Text() != "" || old != nil:
		t.defs[r] = &t.nothing
	default:
		t.defs[r] = in
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
		clear(t.have)
		clear(t.rests)
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

// root is the pointer parameter that an address comes from, and what was indexed last.
func (t *turn) root(r *ir.Reg) (root, base *ir.Reg) {
	for range 64 {
		if _, ok := t.pointers[r]; ok {
			return r, cmp.Or(base, r)
		}
		in := t.defs[r]
		if in == nil || len(in.Args) < 2 {
			return nil, nil
		}
		switch in.Op {
		case "mad.lo.u64":
			r = in.Args[3].Reg
		case "add.u64", "add.s64", "mov.b64", "mov.u64":
			r = in.Args[1].Reg
		default:
			return nil, nil
		}
		if base == nil {
			base = r
		}
	}
	return nil, nil
}

// value is what a register is.
func (t *turn) value(r *ir.Reg) worked {
	if v, ok := t.have[r]; ok {
		return v
	}
	t.have[r] = worked{} // of what rests on itself
	v := t.result(r)
	t.have[r] = v
	return v
}

func (t *turn) result(r *ir.Reg) worked {
	in := t.defs[r]
	if t.work++; in == nil || in.Form == nil || t.work > mostWork {
		return worked{}
	}
	if r == t.k.warp.r && r != nil {
		return worked{sure, int64(t.thread / 32)}
	}
	if _, ok := t.pointers[r]; ok {
		return worked{sure, t.base(r, area{space: isa.Global, name: t.pointers[r]})}
	}
	if in.Head() == "elect" {
		if t.thread%32 == 0 {
			return worked{sure, 1}
		}
		return worked{kind: sure}
	}
	if v := variableOf(in); v != nil && v.Space == isa.Param {
		return worked{kind: given}
	}
	var args [3]worked
	for i := range min(3, len(in.Args)-1) {
		args[i] = t.operand(&in.Args[i+1])
	}
	if args == [3]worked{} {
		return worked{} // of what nobody knows
	}
	var room [8]string
	words := room[:0]
	for word := range strings.SplitSeq(in.Op, ".") {
		words = append(words, word)
	}
	return worksOut(words, args[0], args[1], args[2])
}

// operand is what an operand is.
func (t *turn) operand(o *ir.Operand) worked {
	switch o.Kind {
	case ir.Register:
		return t.value(o.Reg)
	case ir.Int:
		return worked{sure, o.Value}
	case ir.Special:
		return t.special(o.Text())
	case ir.Variable:
		if v := o.Var(); v != nil && (v.Space == isa.Shared || v.Space == isa.Local || v.Space == isa.Global || v.Space == isa.Const) {
			size := v.Size()
			if v.Dims != nil && v.Dims[0] == ir.Unsized {
				size = 0
			}
			return worked{sure, o.Value + t.base(v, area{space: v.Space, name: v.Name, size: size})}
		}
	}
	return worked{}
}

// special is what a special register is.
func (t *turn) special(name string) worked {
	n := t.k.threads
	if n[0] == 0 {
		n = [3]int{32, 1, 1} // as far as the first threads go
	}
	switch name {
	case "%tid.x":
		return worked{sure, int64(t.thread % n[0])}
	case "%tid.y":
		return worked{sure, int64(t.thread / n[0] % n[1])}
	case "%tid.z":
		return worked{sure, int64(t.thread / n[0] / n[1])}
	case "%laneid":
		return worked{sure, int64(t.thread % 32)}
	case "%ctaid.x", "%ctaid.y", "%ctaid.z", "%cluster_ctarank", "%clusterid.x", "%clusterid.y", "%clusterid.z", "%cluster_ctaid.x", "%cluster_ctaid.y", "%cluster_ctaid.z":
		return worked{kind: sure}
	}
	if strings.HasPrefix(name, "%n") {
		return worked{kind: given}
	}
	return worked{}
}
