// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package thread

import (
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// baseAddress returns the address that the evaluation assumes for the area of variable or parameter
// of.
func (e *Eval) baseAddress(of any, a Area) int64 {
	if at, ok := e.bases[of]; ok {
		return at
	}
	e.areas = append(e.areas, a)
	e.bases[of] = int64(len(e.areas)) << areaBits
	return e.bases[of]
}

// Find returns the area nearest to an address, which may lie before or after the area, and the
// offset of the address in the area. ok is false if there is no such area in the state space.
func (e *Eval) Find(space isa.Space, at int64) (a Area, offset int64, ok bool) {
	i := (at + 1<<(areaBits-1)) >> areaBits
	if i < 1 || i > int64(len(e.areas)) || e.areas[i-1].Space != space {
		return Area{}, 0, false
	}
	offset = at - i<<areaBits
	if space != isa.Global {
		offset = int64(int32(offset)) // 32-bit addresses wrap around
	}
	return e.areas[i-1], offset, true
}

// Address returns the address that the evaluation assumes for a variable plus an offset. ok is
// false if variables in the state space of v have no address.
func (e *Eval) Address(v *ir.Var, offset int64) (at int64, ok bool) {
	v, offset = e.notes.Layout.Find(v, offset)
	switch v.Space {
	case isa.Shared, isa.Local, isa.Global, isa.Const:
	default:
		return 0, false
	}
	size := v.Size()
	if v.Dims != nil && v.Dims[0] == ir.Unsized {
		size = 0
	}
	return offset + e.baseAddress(v, Area{Space: v.Space, Name: v.Name, Size: size}), true
}

// isAddress reports whether a value is an address in an area.
func isAddress(n int64) bool { return n >= 1<<(areaBits-1) }

// Root returns the register with the pointer parameter from which an address is derived, and the
// register to which an index was added last. It returns nil, nil if no pointer parameter is
// found.
func (e *Eval) Root(r *ir.Reg) (root, base *ir.Reg) {
	for range 64 {
		if e.Pointer(r) != nil {
			if base == nil {
				base = r
			}
			return r, base
		}
		w := e.lookup(r)
		if w == nil || w.def == nil || len(w.def.Args) < 2 || w.op.width != 64 {
			return nil, nil
		}
		switch w.op.kind {
		case isa.KindMadLo:
			r = w.def.Args[3].Reg
		case isa.KindAdd, isa.KindMov:
			r = w.def.Args[1].Reg
		default:
			return nil, nil
		}
		if base == nil {
			base = r
		}
	}
	return nil, nil
}

// AddressIn returns the address in a register plus an offset. ok is false if the address is
// unknown.
func (e *Eval) AddressIn(r *ir.Reg, offset int64) (at int64, ok bool) {
	v := e.Value(r)
	return v.N + offset, v.Kind == Constant && isAddress(v.N)
}
