// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// A touch is an access to a variable in shared memory.
type touch struct {
	pos    ir.Pos
	at     int // index of the instruction in order of creation
	conds  []condition
	v      *ir.Var // the variable, if it is accessed at a constant offset
	reg    *ir.Reg // otherwise the address
	off    int64
	bytes  int64
	writes bool
}

// mostTouches is the maximum number of accesses to shared memory that are compared.
const mostTouches = 96

// touches records an access to shared memory. Accesses in roles are not checked, because roles have
// barriers of their own.
func (k *Kernel) touches(a Addr, bytes int64, writes bool) {
	if k.role != nil || k.parted || !k.f.Kernel || k.BlockThreads() <= 32 || len(k.touched) >= mostTouches {
		return
	}
	k.held = max(k.held, len(k.conds))
	k.touched = append(k.touched, touch{k.m.calls.above(), k.order.count(), k.conds, a.v, a.reg, a.off, bytes, writes})
}

// parts reports whether an instruction may synchronize threads or exchange values between them.
func parts(in *ir.Instr) bool {
	switch in.Head() {
	case "bar", "barrier", "mbarrier", "fence", "membar", "atom", "red", "call", "brx", "nanosleep", "cp", "st", "ld":
	default:
		return false
	}
	switch in.Head() {
	case "st", "ld":
		return in.Mod("volatile") || in.Mod("relaxed") || in.Mod("acquire") || in.Mod("release") || in.Mod("mmio")
	case "bar":
		return !in.Mod("warp")
	case "cp":
		return in.Mod("bulk")
	}
	return true
}

// barriersBefore counts the possible barriers before each access. A barrier that is itself an access
// counts for the following ones.
func (k *Kernel) barriersBefore() []int {
	list, met, n, i := make([]int, len(k.touched)), 0, 0, 0
	for in := range k.order.all() {
		for i < len(list) && k.touched[i].at == n {
			list[i] = met
			i++
		}
		if i == len(list) {
			break
		}
		if parts(in) {
			met++
		}
		n++
	}
	for ; i < len(list); i++ {
		list[i] = met
	}
	return list
}

// shares reports whether a thread may execute both accesses in one launch. It compares the
// conditions of both; a store may depend on data.
func (t *threadEval) shares(a, b *touch) bool {
	for _, side := range [...][2]*touch{{a, b}, {b, a}} {
		for _, c := range side[0].conds {
			v := t.holds(c)
			switch {
			case v.kind == sure, c.loop && t.alike(c.p), (v.kind == free || t.alike(c.p)) && slices.Contains(side[1].conds, c):
			case side[0].writes && v.kind == vague && !c.left && !c.loop && t.loads(c.p, 16):
			default:
				return false
			}
		}
	}
	return true
}

// loads reports whether a register depends only on values that the kernel loads.
func (t *threadEval) loads(r *ir.Reg, depth int) bool {
	in := t.def(r)
	if in == nil || in.Form == nil || depth == 0 {
		return false
	}
	switch in.Head() {
	case "ld", "atom":
		v := variableOf(in)
		return v == nil || v.Space != isa.Param
	}
	return slices.ContainsFunc(in.Args[1:], func(o ir.Operand) bool { return o.Kind == ir.Register && t.loads(o.Reg, depth-1) })
}

// place returns the address that the current thread accesses; ok is false if it does not.
func (t *threadEval) place(a *touch) (at int64, ok bool) {
	for _, c := range a.conds {
		if v := t.holds(c); v.kind == sure && v.n == 0 {
			return 0, false
		}
	}
	if a.v != nil {
		if a.v.Dims == nil || a.v.Dims[0] == ir.Unsized {
			return 0, false
		}
		return t.base(a.v, area{space: a.v.Space, name: a.v.Name, size: a.v.Size()}) + a.off, true
	}
	v := t.value(a.reg)
	return v.n + a.off, v.kind == sure && isAddress(v.n)
}

// checkRaces reports shared memory that one warp stores and another reads, without a barrier in
// between.
func (k *Kernel) checkRaces(t *threadEval, told *places) {
	if len(k.marks) > 0 || !slices.ContainsFunc(k.touched, func(a touch) bool { return a.writes }) {
		return
	}
	met := k.barriersBefore()
	t.work = 0 // each check has its own work limit
	for i := range k.touched {
		for j := i + 1; j < len(k.touched) && met[j] == met[i] && t.work < mostWork; j++ {
			a, b := &k.touched[i], &k.touched[j]
			if a.writes == b.writes || a.v != nil && b.v != nil && a.v != b.v || told.has(b.pos) {
				continue
			}
			if k.checkRace(t, a, b) {
				told.add(b.pos)
			}
		}
	}
}

// checkRace checks a store and a load, whichever comes first.
func (k *Kernel) checkRace(t *threadEval, a, b *touch) bool {
	store, load := a, b
	if b.writes {
		store, load = b, a
	}
	written := make(map[int64]int)
	own := make([]int64, k.BlockThreads())
	for thread := range own {
		own[thread] = -1
		t.begin(thread)
		if thread == 0 && !t.shares(a, b) {
			return false
		}
		at, ok := t.place(store)
		if !ok {
			continue
		}
		if !t.shares(a, b) {
			return false
		}
		own[thread] = at
		for n := int64(0); n < store.bytes; n++ {
			if _, met := written[at+n]; !met {
				written[at+n] = thread
			}
		}
	}
	if len(written) == 0 {
		return false
	}
	for thread := range own {
		t.begin(thread)
		at, ok := t.place(load)
		if !ok || !t.shares(a, b) {
			continue
		}
		for n := int64(0); n < load.bytes; n++ {
			other, met := written[at+n]
			if !met || other/32 == thread/32 || own[thread] >= 0 && own[thread] <= at+n && at+n < own[thread]+store.bytes {
				continue
			}
			name, _, _, found := t.find(isa.Shared, at)
			if !found {
				return false
			}
			if store == a {
				k.doubt(load.pos, dataRace+"thread %d reads what thread %d, of another warp, stored to %s without a barrier between; add Sync after the store", thread, other, name)
			} else {
				k.doubt(store.pos, dataRace+"thread %d overwrites what thread %d, of another warp, reads of %s without a barrier between; add Sync after the read", other, thread, name)
			}
			return true
		}
	}
	return false
}
