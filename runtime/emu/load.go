// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package emu

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"sync"
	"sync/atomic"

	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/isa/eval"
)

var little = binary.LittleEndian

// A transfer describes the registers of a load or a store, and the elements in memory.
type transfer struct {
	regs   []ref
	width  uint64 // bytes of one element
	signed bool   // elements are sign-extended to their registers
}

// transferOf returns the transfer for the registers of the instruction.
func (d *decoder) transferOf(op *isa.Operation, regs []ref) (*transfer, error) {
	t := op.Type()
	x := &transfer{regs: regs, width: uint64(t.Bits()+7) / 8, signed: t.Class() == isa.Signed}
	n := op.Vec
	if x.width == 16 {
		x.width, n = 8, 2*n
	}
	if len(regs) != n {
		return nil, fmt.Errorf("%s with these operands is not emulated", d.in.Op)
	}
	return x, nil
}

// size returns the number of bytes that one lane transfers.
func (x *transfer) size() uint64 { return x.width * uint64(len(x.regs)) }

// load decodes ld, ldu and similar loads.
func load(d *decoder) (step, error) {
	op := d.operation()
	x, err := d.transferOf(&op, d.writes())
	if err != nil {
		return nil, err
	}
	at, err := d.address(0)
	if err != nil {
		return nil, err
	}
	q := demand{space: op.Space, size: x.size(), align: x.size(), read: true, later: true,
		order: op.Order, scope: op.Scope}
	strong := op.Order > isa.Weak
	if s, ok := d.parameter(&at, &op, x); ok {
		return s, nil
	}
	return ordered(op.Space, strong, func(w *warp, mask uint32) action {
		if mask == full && !strong && !w.observing() {
			if r, low, ok := w.contiguous(&at, &q); ok {
				data := r.data[low:]
				for i := range x.regs {
					x.loadRun(w, data, i)
				}
				return advance
			}
		}
		if !w.locate(&at, mask, &q) {
			return failed
		}
		if strong {
			w.yield = true
			w.spins++
		}
		for i := range x.regs {
			x.loadElement(w, mask, i)
		}
		if w.cur.frame.unwritten != nil {
			x.markLoaded(w, mask)
		}
		return advance
	}), nil
}

// parameter returns the step of a load of a kernel parameter, which has the same value in all
// lanes. ok is false for other loads.
func (d *decoder) parameter(at *addressRef, op *isa.Operation, x *transfer) (step, bool) {
	if op.Space.Base() != isa.Param || !at.fixed || at.param || len(x.regs) != 1 ||
		x.regs[0].kind != refRegister {
		return nil, false
	}
	off, reg := at.base.constant[0]+at.offset, &x.regs[0]
	if off+x.width > uint64(d.prog.paramBytes()) || off%x.width != 0 {
		return nil, false
	}
	return func(w *warp, mask uint32) action {
		v := x.extend(read(w.block.grid.params.data[off:], x.width), reg.bits)
		to := &w.regs[reg.index]
		for l := range to {
			if mask>>l&1 != 0 {
				to[l] = v
			}
		}
		return advance
	}, true
}

// read returns the first width bytes of b as a little-endian integer.
func read(b []byte, width uint64) uint64 {
	switch width {
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(little.Uint16(b))
	case 4:
		return uint64(little.Uint32(b))
	}
	return little.Uint64(b)
}

// put stores the lower width bytes of x at the start of b, in little-endian order.
func put(b []byte, width, x uint64) {
	switch width {
	case 1:
		b[0] = byte(x)
	case 2:
		little.PutUint16(b, uint16(x))
	case 4:
		little.PutUint32(b, uint32(x))
	default:
		little.PutUint64(b, x)
	}
}

// extend sign-extends an element to the width of its register, if its type is signed.
func (x *transfer) extend(v uint64, width int) uint64 {
	if !x.signed || int(x.width)*8 >= width {
		return v
	}
	n := 64 - 8*x.width
	return uint64(int64(v)<<n>>n) & (^uint64(0) >> (64 - width))
}

// loadElement loads element i of each lane.
func (x *transfer) loadElement(w *warp, mask uint32, i int) {
	reg := &x.regs[i]
	if reg.kind != refRegister {
		return
	}
	to, skip := &w.regs[reg.index], uint64(i)*x.width
	if r := w.where.region; r != nil && x.width == 4 && !x.signed {
		data := r.data
		if mask == full {
			for l, at := range &w.where.at {
				to[l] = uint64(little.Uint32(data[at+skip:]))
			}
			return
		}
		for m := mask; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m) & 31
			to[l] = uint64(little.Uint32(data[w.where.at[l]+skip:]))
		}
		return
	}
	for m := mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m) & 31
		v := read(w.where.regionOf(l).data[w.where.at[l]+skip:], x.width)
		to[l] = x.extend(v, reg.bits)
	}
}

// store decodes st.
func store(d *decoder) (step, error) {
	op := d.operation()
	regs := d.reads()
	if op.Has(isa.ModL2CacheHint) {
		regs = regs[:len(regs)-1]
	}
	for i := range regs {
		regs[i] = d.fit(regs[i], op.Type())
	}
	x, err := d.transferOf(&op, regs)
	if err != nil {
		return nil, err
	}
	at, err := d.address(0)
	if err != nil {
		return nil, err
	}
	q := demand{space: op.Space, size: x.size(), align: x.size(), write: true, quiet: true,
		order: op.Order,
		scope: op.Scope, multi: op.Kind == isa.KindMultimemSt}
	strong := op.Order > isa.Weak
	return ordered(op.Space, strong, func(w *warp, mask uint32) action {
		if mask == full && !strong && !w.observing() && w.cur.frame.unwritten == nil {
			if r, low, ok := w.contiguous(&at, &q); ok {
				w.block.changes++
				data := r.data[low:]
				for i := range x.regs {
					x.storeRun(w, data, i)
				}
				if r.init != nil {
					fill(r.init[low:low+eval.Lanes*q.size], 0xff)
				}
				return advance
			}
		}
		if !w.locate(&at, mask, &q) {
			return failed
		}
		w.block.changes++
		if w.observing() {
			x.tell(w, mask, &q)
		}
		for range w.replicas(&q) {
			for i := range x.regs {
				x.storeElement(w, mask, i)
			}
		}
		if w.cur.frame.unwritten != nil && x.markStored(w, mask) {
			return failed
		}
		return advance
	}), nil
}

// tell reports a store and its values to observers.
func (x *transfer) tell(w *warp, mask uint32, q *demand) {
	values := make([]*eval.Vector, len(x.regs))
	for i := range x.regs {
		values[i] = w.value(&x.regs[i], new(eval.Vector))
	}
	w.tellAccess(EventWrite, mask, q, values)
}

// storeElement stores element i of each lane.
func (x *transfer) storeElement(w *warp, mask uint32, i int) {
	from, skip := w.value(&x.regs[i], &w.scratch[0]), uint64(i)*x.width
	if r := w.where.region; r != nil && x.width == 4 {
		data, init := r.data, r.init
		for m := mask; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m) & 31
			at := w.where.at[l] + skip
			little.PutUint32(data[at:], uint32(from[l]))
			if init != nil {
				little.PutUint32(init[at:], 0xffffffff)
			}
		}
		return
	}
	for m := mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m) & 31
		r, at := w.where.regionOf(l), w.where.at[l]+skip
		put(r.data[at:], x.width, from[l])
		if r.init != nil {
			put(r.init[at:], x.width, ^uint64(0))
		}
	}
}

// An ordering is a lock that orders strong accesses of workers that run concurrently. Devices
// that share memory share the lock. It also counts the changes for which other workers may wait.
type ordering struct {
	sync.Mutex
	changes atomic.Int64
}

// ordered returns a step that runs s under the lock that orders strong accesses of all workers.
// Weak accesses take no lock. Neither do accesses to shared memory, because only one worker runs
// the cluster.
func ordered(space isa.Space, strong bool, s step) step {
	if !strong || space.Base() == isa.Shared {
		return s
	}
	return func(w *warp, mask uint32) action {
		if g := w.block.grid; !g.alone {
			g.device.ordering.Lock()
			defer g.device.ordering.Unlock()
		}
		return s(w, mask)
	}
}

// order makes the accesses before and after the call visible to other workers in program order.
func (g *grid) order() {
	if !g.alone {
		g.device.ordering.Lock()
		defer g.device.ordering.Unlock() // taking the lock is a memory fence
	}
}

// atomically decodes atom, red and multimem.red.
func atomically(d *decoder) (step, error) {
	op := d.operation()
	if op.Type().Bits() == 128 {
		return atomicWide(d)
	}
	combine, inShared, err := d.combines(&op)
	if err != nil {
		return nil, err
	}
	at, err := d.addressNamed("a")
	if err != nil {
		return nil, err
	}
	out, in := d.writes(), d.registersNamed("b")
	t := op.Type()
	width, n := uint64(t.Bits()/8), op.Vec
	swaps := op.Has(isa.ModCAS)
	if swaps {
		in = append(in, d.registersNamed("c")...)
	}
	if width > 8 || len(in) != n && !(swaps && len(in) == 2) {
		return nil, fmt.Errorf("%s with these operands is not emulated", d.in.Op)
	}
	for i := range in {
		in[i] = d.fit(in[i], t)
	}
	q := demand{space: op.Space, size: width * uint64(n), align: width * uint64(n), write: true,
		read:  true,
		quiet: true, order: op.Order, scope: op.Scope, multi: op.Kind == isa.KindMultimemRed}
	return ordered(op.Space, true, func(w *warp, mask uint32) action {
		if !w.locate(&at, mask, &q) {
			return failed
		}
		for range w.replicas(&q) {
			if !w.initialized(mask, &q) {
				return failed
			}
		}
		if w.observing() {
			w.tellAccess(EventAtomic, mask, &q, nil)
		}
		before := w.block.changes
		for i := range n {
			a := w.value(&in[i], &w.scratch[0])
			b := a
			if swaps {
				b = w.value(&in[1], &w.scratch[1])
			}
			old := &w.out[i&3]
			for range w.replicas(&q) {
				for m := mask; m != 0; m &= m - 1 {
					l := bits.TrailingZeros32(m)
					r := w.where.regionOf(l)
					data := r.data[w.where.at[l]+uint64(i)*width:]
					old[l] = read(data, width)
					f := combine
					if r.base == sharedWindow {
						f = inShared
					}
					if x := f(old[l], a[l], b[l]); x != old[l] {
						put(data, width, x)
						w.block.changes++
					}
				}
			}
			if i < len(out) {
				w.write(&out[i], mask, old)
			}
		}
		w.spins++
		// The atomic operation may be a failed attempt, so other warps run next.
		w.yield = w.block.changes == before
		return advance
	}), nil
}

// combines returns what an atomic operation computes in global and in shared memory. They differ
// for sums of .f32, which keep subnormal numbers only in shared memory.
func (d *decoder) combines(op *isa.Operation) (global, shared eval.Combine, err error) {
	global, err = d.combine(op)
	if err != nil || !op.Has(isa.ModAdd) || op.Type() != isa.F32 {
		return global, global, err
	}
	shared, err = eval.CombineOf(isa.ModAdd, isa.F32, isa.ModNoFTZ)
	return global, shared, err
}

// atomicWide decodes exch and cas of 128 bits.
func atomicWide(d *decoder) (step, error) {
	op := d.operation()
	at, err := d.addressNamed("a")
	if err != nil {
		return nil, err
	}
	out, b := d.writes(), d.registersNamed("b")
	swaps := op.Has(isa.ModCAS)
	c := b
	if swaps {
		c = d.registersNamed("c")
	}
	if len(b) != 2 || len(c) != 2 || !swaps && !op.Has(isa.ModExch) {
		return nil, fmt.Errorf("%s with these operands is not emulated", d.in.Op)
	}
	q := demand{space: op.Space, size: 16, align: 16, write: true, read: true, quiet: true,
		order: op.Order, scope: op.Scope}
	return ordered(op.Space, true, func(w *warp, mask uint32) action {
		if !w.locate(&at, mask, &q) || !w.initialized(mask, &q) {
			return failed
		}
		if w.observing() {
			w.tellAccess(EventAtomic, mask, &q, nil)
		}
		before := w.block.changes
		var want, next [2]*eval.Vector
		for i := range 2 {
			want[i], next[i] = w.value(&b[i], &w.scratch[i]), w.value(&c[i], &w.scratch[2+i])
		}
		for m := mask; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m)
			data := w.where.regionOf(l).data[w.where.at[l]:]
			low, high := little.Uint64(data), little.Uint64(data[8:])
			w.out[0][l], w.out[1][l] = low, high
			if swaps && (low != want[0][l] || high != want[1][l]) {
				continue
			}
			little.PutUint64(data, next[0][l])
			little.PutUint64(data[8:], next[1][l])
			if low != next[0][l] || high != next[1][l] {
				w.block.changes++
			}
		}
		for i := range min(len(out), 2) {
			w.write(&out[i], mask, &w.out[i])
		}
		w.spins++
		w.yield = w.block.changes == before
		return advance
	}), nil
}

// initialized checks that the memory that an atomic operation reads is initialized.
func (w *warp) initialized(mask uint32, q *demand) bool {
	for m := mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		r, at := w.where.regionOf(l), w.where.at[l]
		if w.mustBeWritten(r) && !allSet(r.init[at:at+q.size]) {
			return w.denyAccess(l,
				fmt.Sprintf("atomic operation on %s: %d bytes", CauseUnwritten, q.size))
		}
	}
	return true
}
