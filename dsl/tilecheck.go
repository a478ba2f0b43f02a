// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"strings"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// takes records an access to n rows of a tile, or to n of limit other units, starting at a computed
// row.
//
//go:noinline
func (t SharedTile) takes(from Reg[U32], n, limit int, place string) {
	k := t.at.k
	if r := k.role; r != nil && from.r == r.index.r && n == 1 && r.each > 0 && limit >= r.n/r.each {
		return // each warp of the role usually has its own rows
	}
	if from.k == k && from.r != nil && !from.IsConstant() {
		k.watch(deferredCheck{pos: k.m.calls.here(), reg: from.r, bytes: int64(n), tile: &t, limit: int64(limit), place: place})
	}
}

// unitPlace is the name of a 16-byte unit of a row in messages.
const unitPlace = "16-byte unit"

// checkPlace reports the first warp whose access exceeds the tile. Rows and parts are usually the
// same for all lanes; for elements it checks the first and the last lane.
func (k *Kernel) checkPlace(t *threadEval, w *deferredCheck) bool {
	element := w.place == "row" || w.place == "column" || w.place == unitPlace
	for thread, end := w.threads(k); thread < end; thread++ {
		if thread%32 != 0 && !(element && thread%32 == 31) {
			continue
		}
		t.begin(thread)
		at := t.value(w.reg)
		if at.kind == vague {
			return false
		}
		if at.kind != sure || !t.certain(w.conds) || thread > 0 && k.BlockThreads() == 0 {
			continue
		}
		n := int64(uint32(at.n))
		if n+w.bytes <= w.limit {
			continue
		}
		switch {
		case element:
			k.m.faultAt(w.pos, &ruleShape, "out of bounds: thread %d%s accesses %s %d of %s, which has %d", thread, t.late(), w.place, n, w.tile, w.limit)
		case w.place == "rows":
			k.m.faultAt(w.pos, &ruleShape, "out of bounds: warp %d%s accesses rows %d to %d of %s, which has %d", thread/32, t.late(), n, n+w.bytes-1, w.tile, w.limit)
		default:
			k.m.faultAt(w.pos, &ruleShape, "out of bounds: warp %d%s accesses %s %d of %d, of %s", thread/32, t.late(), w.place, n, w.limit, w.tile)
		}
		return true
	}
	return false
}

// certain reports whether the thread satisfies the conditions. Conditions that are the same for all
// threads are assumed to be true, since some launch may make them true.
func (t *threadEval) certain(conds []condition) bool {
	for _, c := range conds {
		if v := t.holds(c); (v.kind != sure || v.n == 0) && (v.kind == sure || !t.alike(c.p) && !t.loaded(c)) {
			return false
		}
	}
	return true
}

// loaded reports whether a condition belongs to a loop with an unknown trip count. The launch may
// guarantee that the loop condition keeps the index in bounds.
func (t *threadEval) loaded(c condition) bool {
	in := t.def(c.p)
	if !c.loop || c.not || in == nil || in.Head() != "setp" || len(in.Args) < 3 || in.Args[1].Kind != ir.Register {
		return false
	}
	return t.value(in.Args[1].Reg).kind == vague
}

// alike reports whether a register has the same value in all threads of the block: it is computed
// from launch parameters and constants.
func (t *threadEval) alike(r *ir.Reg) bool {
	w := t.of(r)
	if w == nil || w.asked {
		return w != nil && w.same
	}
	w.asked = true // a register that depends on itself is not
	in := w.def
	if t.work++; in == nil || in.Form == nil || t.work > mostWork {
		return false
	}
	same := w.pointer != nil
	switch in.Head() {
	case "ld":
		v := variableOf(in)
		same = v != nil && v.Space == isa.Param
	case "mov", "cvt", "add", "sub", "mul", "mad", "div", "rem", "min", "max", "shl", "shr", "and", "or", "xor", "not", "neg", "setp", "selp":
		same = in.Guard.Reg == nil
		for i := 1; i < len(in.Args); i++ {
			same = same && t.alikeOperand(&in.Args[i])
		}
	}
	w.same = same
	return same
}

func (t *threadEval) alikeOperand(o *ir.Operand) bool {
	switch o.Kind {
	case ir.Register:
		return t.alike(o.Reg)
	case ir.Int:
		return true
	case ir.Special:
		for _, name := range []string{"%ctaid", "%nctaid", "%ntid", "%clusterid", "%nclusterid", "%cluster_ctaid", "%cluster_nctaid", "%cluster_ctarank", "%cluster_nctarank"} {
			if strings.HasPrefix(o.Text(), name) {
				return true
			}
		}
	}
	return false
}

// from returns the value of a register relative to a block-uniform base, if it has one.
func (t *threadEval) from(r *ir.Reg) worked {
	if v := t.value(r); v.kind == sure {
		return v
	}
	start := func(of any) worked { return worked{sure, t.base(of, area{})} }
	if t.alike(r) {
		return start(r)
	}
	in := t.def(r)
	if in == nil || in.Form == nil {
		return worked{}
	}
	operand := func(i int) worked {
		if o := &in.Args[i]; o.Kind == ir.Register {
			return t.from(o.Reg)
		}
		return t.operand(&in.Args[i])
	}
	switch in.Op {
	case "add.u32", "add.s32":
		return arith("add", operand(1), operand(2), 64, true)
	case "mad.lo.u32", "mad.lo.s32":
		if t.alikeOperand(&in.Args[1]) && t.alikeOperand(&in.Args[2]) {
			return arith("add", start(in), operand(3), 64, true)
		}
	}
	return worked{}
}

// storedTile describes where a warp or a warpgroup stores an accumulator.
type storedTile struct {
	matrix     any     // identifies the matrix: a register or a tensor map
	to         *ir.Reg // address of the matrix
	row, col   Reg[U32]
	rows, cols int
	threads    int // threads that hold the accumulator together
}

// storesTile records a store of an accumulator to a matrix.
//
//go:noinline
func (k *Kernel) storesTile(matrix any, to Addr, row, col Reg[U32], rows, cols, threads int) {
	if row.k != k || col.k != k {
		return
	}
	k.watch(deferredCheck{pos: k.m.calls.here(), reg: row.r, stored: &storedTile{matrix, to.reg, row, col, rows, cols, threads}})
}

// checkStored reports two warps that store to the same position. One of them has a wrong row or
// column.
func (k *Kernel) checkStored(t *threadEval, w *deferredCheck) bool {
	type rectangle struct {
		who          int
		to, row, col worked
	}
	var list []rectangle
	s := w.stored
	place := func(x Reg[U32]) worked {
		if x.IsConstant() {
			return worked{sure, x.bits}
		}
		return t.from(x.r)
	}
	overlap := func(a, b worked, n int) bool { return a.n < b.n+int64(n) && b.n < a.n+int64(n) }
	first, end := w.threads(k)
	for thread := first; thread < end && k.BlockThreads() > 0; thread += s.threads {
		t.begin(thread)
		own := rectangle{thread / s.threads, worked{kind: sure}, place(s.row), place(s.col)}
		if s.to != nil && t.value(s.to).kind == sure {
			own.to = t.value(s.to)
		} else if s.to != nil && !t.alike(s.to) {
			return false
		}
		if own.row.kind != sure || own.col.kind != sure {
			return false
		}
		if !t.certain(w.conds) {
			continue
		}
		for _, r := range list {
			if own.to == r.to && overlap(own.row, r.row, s.rows) && overlap(own.col, r.col, s.cols) {
				who := "warps"
				if s.threads == 128 {
					who = "warpgroups"
				}
				k.doubt(w.pos, "%s %d and %d store overlapping accumulators of %dx%d: their tiles start %d rows and %d columns apart",
					who, r.who, own.who, s.rows, s.cols, own.row.n-r.row.n, own.col.n-r.col.n)
				return true
			}
		}
		list = append(list, own)
	}
	return false
}
