// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package race

import (
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime/emu"
)

// overwritten is the value of the stamp of an atomic operation after which a store wrote the cell.
const overwritten = 1

// observed reports whether the first of writes, an atomic operation of another block, precedes y in
// the order of all writes to its location although no synchronization orders them. This is so if an
// atomic operation that happens before y, and whose result is used, read its result, directly or
// through other atomic operations. The last block to count itself may reset the counter in this
// way.
func (d *Detector) observed(writes []stamp, v *view, y *stamp) bool {
	x := &writes[0]
	s := &d.shadow.sites[x.site]
	if s.kind != emu.EventAtomic || len(writes) == 1 || x.value == overwritten || s.async ||
		x.agent == d.previous || d.blockOf(x.thread) == d.blockOf(y.thread) {
		return false
	}
	for i := range writes[1:] {
		z := &writes[1+i]
		t := &d.shadow.sites[z.site]
		if t.used && t.size == s.size && z.at == x.at && min(s.scope, t.scope) >= isa.ScopeGPU &&
			d.knows(v, z) {
			return true
		}
	}
	return false
}

// cut marks atomic operations of which later ones do not read the result, because a store follows.
func (d *Detector) cut(writes []stamp) {
	for i := range writes {
		if d.shadow.sites[writes[i].site].kind == emu.EventAtomic {
			writes[i].value = overwritten
		}
	}
}

// usesResult reports whether an instruction of the kernel reads the result of an atomic operation.
func (d *Detector) usesResult(in *ir.Instr) (yes bool) {
	if in == nil || in.Kind() != isa.KindAtom || len(in.Args) == 0 || in.Args[0].Reg == nil {
		return false
	}
	for _, f := range d.launch.Module.Funcs() {
		for _, b := range f.Blocks {
			for _, other := range b.Instrs {
				other.Registers(func(r *ir.Reg, a isa.Access) {
					yes = yes || r == in.Args[0].Reg && a != isa.Write
				})
			}
		}
	}
	return yes
}
