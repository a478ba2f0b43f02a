// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package emu

import (
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/isa/eval"
)

// contiguous finds the memory of an access in which all 32 lanes are active and access consecutive
// elements. It returns false for every other access, and for an invalid one, for which locate then
// describes the fault.
func (w *warp) contiguous(a *addressRef, q *demand) (r *region, at uint64, ok bool) {
	if a.base.kind != refRegister || a.param {
		return nil, 0, false
	}
	b := &w.regs[a.base.index]
	odd, want := uint64(0), b[0]
	for _, x := range b {
		odd |= x ^ want
		want += q.size
	}
	low, n := b[0]&a.keep+a.offset, eval.Lanes*q.size
	if odd|low&(q.align-1) != 0 {
		return nil, 0, false
	}
	space := q.space.Base()
	if space == isa.Generic {
		if low >= globalBase {
			space = isa.Global
		} else if space, low = spaceOf(low); space != isa.Shared {
			return nil, 0, false
		}
	}
	switch space {
	case isa.Global:
		r = w.recent[w.cur.pc&15]
		if r == nil || low < r.base || low+n > r.end() || r.copies != nil {
			return nil, 0, false // locate finds the region and caches it
		}
		low -= r.base
	case isa.Shared:
		r = w.block.shared
		if low>>rankShift != uint64(w.block.rank) {
			return nil, 0, false
		}
		low &= 1<<rankShift - 1
		if low+n > uint64(len(r.data)) || low < r.low {
			return nil, 0, false
		}
	default:
		return nil, 0, false
	}
	if q.write && r.fixed || q.read && w.mustBeWritten(r) && !allWritten(r.init[low:low+n]) {
		return nil, 0, false
	}
	return r, low, true
}

// allWritten reports whether all bytes are set. len(init) is a multiple of 32.
func allWritten(init []byte) bool {
	all := ^uint64(0)
	for ; len(init) >= 32; init = init[32:] {
		all &= little.Uint64(init) & little.Uint64(init[8:]) &
			little.Uint64(init[16:]) & little.Uint64(init[24:])
	}
	return all == ^uint64(0)
}

// loadRun loads element i of all lanes from contiguous memory.
func (x *transfer) loadRun(w *warp, data []byte, i int) {
	reg := &x.regs[i]
	if reg.kind != refRegister {
		return
	}
	to, size := &w.regs[reg.index], x.size()
	data = data[uint64(i)*x.width:]
	switch {
	case x.signed && int(x.width)*8 < reg.bits:
		for l := range to {
			to[l] = x.extend(read(data[uint64(l)*size:], x.width), reg.bits)
		}
	case x.width == 4 && size == 4:
		d := (*[4 * eval.Lanes]byte)(data)
		for l := range to {
			to[l] = uint64(little.Uint32(d[4*l : 4*l+4]))
		}
	case x.width == 4:
		for l := range to {
			to[l] = uint64(little.Uint32(data[uint64(l)*size:]))
		}
	case x.width == 8:
		for l := range to {
			to[l] = little.Uint64(data[uint64(l)*size:])
		}
	case x.width == 2:
		for l := range to {
			to[l] = uint64(little.Uint16(data[uint64(l)*size:]))
		}
	default:
		for l := range to {
			to[l] = uint64(data[uint64(l)*size])
		}
	}
}

// storeRun stores element i of all lanes to contiguous memory.
func (x *transfer) storeRun(w *warp, data []byte, i int) {
	from, size := w.value(&x.regs[i], &w.scratch[0]), x.size()
	data = data[uint64(i)*x.width:]
	switch x.width {
	case 4:
		for l, v := range from {
			little.PutUint32(data[uint64(l)*size:], uint32(v))
		}
	case 8:
		for l, v := range from {
			little.PutUint64(data[uint64(l)*size:], v)
		}
	case 2:
		for l, v := range from {
			little.PutUint16(data[uint64(l)*size:], uint16(v))
		}
	default:
		for l, v := range from {
			data[uint64(l)*size] = byte(v)
		}
	}
}
