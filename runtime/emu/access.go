// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package emu

import (
	"fmt"
	"math/bits"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/isa/eval"
)

// An addressRef is an address operand.
type addressRef struct {
	base   ref
	offset uint64
	keep   uint64 // mask of the significant bits of the base
	fixed  bool   // the base is a constant
	param  bool   // the base is a parameter of a device function, which lies in local memory
	symbol *ir.Var
	limit  uint64 // bytes from the address to the end of the variable that it names
}

// addressOf decodes an address operand. It returns an error if the emulator does not support this
// kind of address.
func (d *decoder) addressOf(o *ir.Operand) (addressRef, error) {
	parts := o.Args()
	if len(parts) == 0 {
		return addressRef{}, fmt.Errorf("an address operand has no base register or variable")
	}
	b := parts[0]
	a := addressRef{keep: ^uint64(0), limit: ^uint64(0)}
	switch b.Kind {
	case ir.Register:
		a.offset = uint64(b.Value)
		b.Value = 0
		list := d.registers(nil, &b)
		a.base = list[0]
		if a.base.bits == 32 {
			a.keep = 0xffffffff
		}
	case ir.Variable:
		a.base = d.symbol(&b)
		v := b.Var()
		a.param = v.Space.Base() == isa.Param && !d.prog.fn.Kernel || d.callee(v)
		if size := v.Size(); size > 0 {
			a.symbol, a.limit = v, 0
			if b.Value >= 0 && b.Value < size {
				a.limit = uint64(size - b.Value)
			}
		}
	case ir.Int:
		a.base = ref{kind: refConstant, constant: d.image.splat(uint64(b.Value))}
	default:
		return addressRef{}, fmt.Errorf("this kind of address is not emulated")
	}
	a.fixed = a.base.kind == refConstant
	return a, nil
}

// callee reports whether v is a .param variable declared in a function body. Such a variable
// holds an argument or a result of a call.
func (d *decoder) callee(v *ir.Var) bool {
	if v.Space.Base() != isa.Param {
		return false
	}
	for _, x := range d.prog.fn.Vars {
		if x == v {
			return true
		}
	}
	return false
}

// An access is the location of the bytes that an instruction accesses, per lane.
type access struct {
	region *region             // region of all lanes, or nil if the lanes access different regions
	each   [eval.Lanes]*region // region of each lane, if region is nil
	at     [eval.Lanes]uint64  // offset in the region
}

// regionOf returns the region that a lane accesses, or nil if the access of the lane is invalid.
func (a *access) regionOf(lane int) *region {
	if a.region != nil {
		return a.region
	}
	return a.each[lane]
}

// A demand describes an access: its size and alignment, and what it does with the memory.
type demand struct {
	space isa.Space
	size  uint64 // bytes of one lane
	align uint64
	write bool
	read  bool // the bytes must be initialized
	later bool // in shared and local memory, initialization is checked when the value is used
	multi bool // the address is a multicast address

	// For observers.
	quiet bool // the caller of locate reports the access to observers
	order isa.Order
	scope isa.Scope
	proxy Proxy
}

// locate finds the memory that the lanes of a mask access, and checks the access. It returns false
// after a fault.
func (w *warp) locate(a *addressRef, mask uint32, q *demand) bool {
	if !w.observing() || q.quiet {
		return w.resolve(a, mask, q)
	}
	if !w.resolve(a, mask, q) {
		return false
	}
	kind := EventRead
	if q.write {
		kind = EventWrite
	}
	w.tellAccess(kind, mask, q, nil)
	return true
}

// resolve is locate without the report to observers.
func (w *warp) resolve(a *addressRef, mask uint32, q *demand) bool {
	base := w.value(&a.base, &w.scratch[7])
	v := &w.address
	low, high, all := ^uint64(0), uint64(0), uint64(0)
	if mask == full {
		for l, x := range base {
			x = x&a.keep + a.offset
			v[l] = x
			low, high, all = min(low, x), max(high, x), all|x
		}
	} else {
		for l, x := range base {
			x = x&a.keep + a.offset
			v[l] = x
			if mask>>l&1 != 0 {
				low, high, all = min(low, x), max(high, x), all|x
			}
		}
	}
	if all&(q.align-1) != 0 {
		return w.reportMisaligned(mask, q)
	}
	if q.size > a.limit {
		return w.reportBeyond(a, mask, q)
	}
	space := q.space.Base()
	if a.param {
		space = isa.Local
	}
	w.space = space
	if space == isa.Generic {
		first, from := spaceOf(low)
		if last, _ := spaceOf(high); first != last || first == isa.Generic {
			return w.locateScattered(mask, q)
		}
		shift := low - from
		w.space = first
		if space = first; shift != 0 {
			low, high = low-shift, high-shift
			for l := range v {
				v[l] -= shift
			}
		}
	}
	var r *region
	switch space {
	case isa.Global:
		slot := &w.recent[w.cur.pc&15]
		if r = *slot; r == nil || low < r.base || high > r.end()-min(q.size, uint64(len(r.data))) ||
			q.size > uint64(len(r.data)) {
			if r = w.block.grid.device.memory.span(low, q.size); r == nil || high > r.end()-q.size {
				return w.locateScattered(mask, q)
			}
			*slot = r
		}
		low = r.base
	case isa.Shared:
		rank := low >> rankShift
		if rank != high>>rankShift || rank >= uint64(len(w.block.cluster.blocks)) {
			return w.locateScattered(mask, q)
		}
		k := w.block.cluster.blocks[rank]
		if k.alive == 0 && k != w.block {
			return w.locateScattered(mask, q)
		}
		r = k.shared
		high -= rank << rankShift
		if high+q.size > uint64(len(r.data)) || low-rank<<rankShift < r.low {
			return w.locateScattered(mask, q)
		}
		low = rank << rankShift
	case isa.Local:
		if high+q.size > w.cur.frame.top {
			return w.locateScattered(mask, q)
		}
		w.where.region = &w.localRegion
		for l := range v {
			w.where.at[l] = v[l] + uint64(l)*w.perLane
		}
		return w.checkAccess(mask, q)
	case isa.Const, isa.Param:
		if r = w.block.grid.fixed(space); r == nil || high+q.size > uint64(len(r.data)) {
			return w.locateScattered(mask, q)
		}
		low = 0
	default:
		return w.locateScattered(mask, q)
	}
	w.where.region = r
	for l := range v {
		w.where.at[l] = v[l] - low
	}
	return w.checkAccess(mask, q)
}

// fixed returns the read-only region of a space: constant memory, or the parameters of the kernel.
func (g *grid) fixed(space isa.Space) *region {
	if space == isa.Const {
		return g.image.module.constants
	}
	return g.params
}

// checkAccess reports whether the instruction may access the region that locate found, in all lanes
// of mask. If not, it ends the block with a fault. A load of uninitialized memory that is allowed
// until its value is used is recorded.
func (w *warp) checkAccess(mask uint32, q *demand) bool {
	r := w.where.region
	if q.write && r.fixed {
		return w.denyAccess(bits.TrailingZeros32(mask), "kernels cannot write "+r.name)
	}
	if r.copies != nil && !q.multi {
		return w.denyAccess(bits.TrailingZeros32(mask), notMultimem)
	}
	if q.write || !q.read || !w.mustBeWritten(r) {
		return true
	}
	lanes := uint32(0)
	for m := mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		at := w.where.at[l]
		if !allSet(r.init[at : at+q.size]) {
			if !w.mayLoadUnwritten(r, q) {
				return w.denyAccess(l,
					fmt.Sprintf("read of %s: %d bytes", CauseUnwritten, q.size))
			}
			lanes |= 1 << l
		}
	}
	if lanes != 0 {
		w.loadUnwritten(lanes, bits.TrailingZeros32(lanes), q.size)
	}
	return true
}

// mustBeWritten reports whether it is an error to read uninitialized bytes of a region.
func (w *warp) mustBeWritten(r *region) bool {
	g := w.block.grid
	return r.init != nil && g.checks
}

// mayLoadUnwritten reports whether an access may load uninitialized bytes as long as no lane uses
// the value.
func (w *warp) mayLoadUnwritten(r *region, q *demand) bool {
	return q.later && (r.base == sharedWindow || r.base == localWindow) && !w.block.grid.strict
}

// allSet reports whether every byte of b is 0xff.
func allSet(b []byte) bool {
	switch len(b) {
	case 4:
		return b[0]&b[1]&b[2]&b[3] != 0
	case 1:
		return b[0] != 0
	}
	x := byte(0xff)
	for _, y := range b {
		x &= y
	}
	return x != 0
}

// locateScattered is the part of locate for lanes that access different regions, or that are out of
// bounds.
func (w *warp) locateScattered(mask uint32, q *demand) bool {
	w.where.region = nil
	unwritten := uint32(0)
	for m := mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		space, at := w.space, w.address[l]
		if space == isa.Generic {
			space, at = spaceOf(at)
		}
		r, off, why := w.locateLane(space, at, q.size, l)
		if why != "" {
			return w.denyAccess(l, why)
		}
		if q.write && r.fixed {
			return w.denyAccess(l, "kernels cannot write "+r.name)
		}
		if r.copies != nil && !q.multi {
			return w.denyAccess(l, notMultimem)
		}
		if q.read && !q.write && w.mustBeWritten(r) && !allSet(r.init[off:off+q.size]) {
			if !w.mayLoadUnwritten(r, q) {
				return w.denyAccess(l,
					fmt.Sprintf("read of %s: %d bytes", CauseUnwritten, q.size))
			}
			unwritten |= 1 << l
		}
		w.where.each[l], w.where.at[l] = r, off
	}
	if unwritten != 0 {
		w.loadUnwritten(unwritten, bits.TrailingZeros32(unwritten), q.size)
	}
	return true
}

// locateLane returns the region that contains the size bytes at an address of one lane, and the
// offset of the address in the region. why is the reason if the access is invalid, or "".
func (w *warp) locateLane(space isa.Space, at, size uint64,
	lane int) (r *region, off uint64, why string) {
	g := w.block.grid
	switch space {
	case isa.Global:
		if r = g.device.memory.span(at, size); r == nil {
			if r = g.device.memory.find(at); r != nil && r.freed && at < r.end() {
				return nil, 0,
					fmt.Sprintf("access to freed memory: %d bytes at global address 0x%x", size, at)
			}
			return nil, 0,
				fmt.Sprintf("access %s: %d bytes %s%x", CauseBounds, size, CauseGlobalAddress, at)
		}
		return r, at - r.base, ""
	case isa.Shared:
		rank := at >> rankShift
		off = at & (1<<rankShift - 1)
		if rank >= uint64(len(w.block.cluster.blocks)) {
			return nil, 0,
				fmt.Sprintf(
					"shared address 0x%x belongs to block %d, but the cluster has %d blocks", at,
					rank, len(w.block.cluster.blocks))
		}
		k := w.block.cluster.blocks[rank]
		if k != w.block && k.alive == 0 {
			return nil, 0,
				fmt.Sprintf("access to the shared memory of block %s, %s", point(k.id),
					CauseExited)
		}
		r = k.shared
	case isa.Local:
		if at+size > w.cur.frame.top {
			return nil, 0,
				fmt.Sprintf(
					"access out of bounds: %d bytes at local address 0x%x, but the thread has %d bytes of local memory",
					size, at, w.cur.frame.top)
		}
		return &w.localRegion, at + uint64(lane)*w.perLane, ""
	case isa.Const, isa.Param:
		r, off = g.fixed(space), at
	default:
		return nil, 0,
			fmt.Sprintf(
				"access out of bounds: %d bytes at address 0x%x, which is in no state space", size,
				at)
	}
	if r == nil || off+size > uint64(len(r.data)) || space == isa.Shared && off < r.low {
		return nil, 0,
			fmt.Sprintf("access out of bounds: %d bytes at %s address 0x%x", size,
				space.String()[1:], at)
	}
	return r, off, ""
}
