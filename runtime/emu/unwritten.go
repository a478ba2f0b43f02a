// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package emu

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/isa/eval"
)

// A kernel that prefetches may load from a stage of shared memory that was never filled, and not
// use the value. Compilers also load structures from local memory together with their padding. Such
// a load is not an error. Instead, the bits of the register are marked as uninitialized. Arithmetic
// and stores to shared and local memory propagate the marks. An error is reported when a mark
// reaches global memory, an address, a branch, or an instruction that is not arithmetic.

// A shadow marks the bits of the registers of a frame that come from uninitialized memory or
// registers.
type shadow struct {
	regs  map[int32]*eval.Vector // by register index
	preds map[int32]uint32       // lanes, by predicate index
	from  map[markKey]*Fault     // the load that produced the mark
}

// A markKey identifies a register or a predicate of a frame.
type markKey struct {
	index int32
	pred  bool
	bits  int // width of the register
}

// get returns the marks of a register or a predicate, one word for each lane.
func (s *shadow) get(k markKey) (v eval.Vector) {
	if k.pred {
		for l := range v {
			v[l] = uint64(s.preds[k.index] >> l & 1)
		}
	} else if p := s.regs[k.index]; p != nil {
		v = *p
	}
	return v
}

// set replaces the marks of some lanes of a register or a predicate.
func (s *shadow) set(k markKey, lanes uint32, v *eval.Vector, from *Fault) {
	x, any := s.get(k), uint64(0)
	blend(&x, v, lanes)
	for _, bits := range x {
		any |= bits
	}
	id := markKey{index: k.index, pred: k.pred}
	if any == 0 {
		delete(s.from, id)
		if k.pred {
			delete(s.preds, k.index)
		} else {
			delete(s.regs, k.index)
		}
		return
	}
	if from != nil {
		s.from[id] = from
	}
	if !k.pred {
		s.regs[k.index] = &x
		return
	}
	p := uint32(0)
	for l, bits := range x {
		p |= uint32(bits&1) << l
	}
	s.preds[k.index] = p
}

// origin returns the load that a mark of a register or a predicate comes from.
func (s *shadow) origin(k markKey) *Fault { return s.from[markKey{index: k.index, pred: k.pred}] }

// settle removes the shadow of a frame if no bit of a register is marked.
func (f *frame) settle() {
	if s := f.unwritten; s != nil && len(s.regs)+len(s.preds) == 0 {
		f.unwritten = nil
	}
}

// marked returns the lanes in which at least one bit of v is marked.
func marked(v *eval.Vector) (lanes uint32) {
	for l, bits := range v {
		if bits != 0 {
			lanes |= 1 << l
		}
	}
	return lanes
}

// every returns marks for all bits of a register or predicate in the given lanes.
func every(k markKey, lanes uint32) *eval.Vector {
	v, bits := new(eval.Vector), uint64(1)
	if !k.pred {
		bits = ^uint64(0) >> (64 - min(max(k.bits, 1), 64))
	}
	for l := range v {
		if lanes>>l&1 != 0 {
			v[l] = bits
		}
	}
	return v
}

// keys appends the registers and predicates of an operand to list, except those in addresses.
func (p *program) keys(list []markKey, o *ir.Operand) []markKey {
	if o.Kind != ir.Register {
		if o.Kind == ir.Address {
			return list
		}
		parts := o.Args()
		for i := range parts {
			list = p.keys(list, &parts[i])
		}
		return list
	}
	s := p.slots[o.Reg]
	first, n := 0, s.n
	if text := o.Text(); text != "" && o.Reg.Vec > 1 {
		n /= int(o.Reg.Vec)
		first = component(text) * n
	}
	for i := range n {
		list = append(list, markKey{s.index + int32(first+i), s.pred, min(s.bits, 64)})
	}
	return list
}

// addressKeys returns the registers in the addresses of an instruction.
func (p *program) addressKeys(in *ir.Instr) (list []markKey) {
	for i := range in.Args {
		if in.Args[i].Kind == ir.Address {
			parts := in.Args[i].Args()
			for j := range parts {
				list = p.keys(list, &parts[j])
			}
		}
	}
	return list
}

// sourceKeys returns the registers that an instruction reads, and resultKeys the registers that
// it writes, except registers in addresses and in the guard.
func (p *program) sourceKeys(in *ir.Instr) (list []markKey) {
	for i := range in.Args {
		if i >= len(in.Form.Args) || in.Form.Args[i].Access != isa.Write {
			list = p.keys(list, &in.Args[i])
		}
	}
	return list
}

func (p *program) resultKeys(in *ir.Instr) (list []markKey) {
	for i := range min(len(in.Args), len(in.Form.Args)) {
		if in.Form.Args[i].Access != isa.Read {
			list = p.keys(list, &in.Args[i])
		}
	}
	return list
}

// markAbsent marks the first result of a shuffle in the lanes that read from a lane which does not
// take part in it.
func (w *warp) markAbsent(lanes uint32) {
	in, f := w.command(), w.cur.frame
	e := w.describe(w.cur, bits.TrailingZeros32(lanes))
	e.Message = string(CauseOtherLane)
	f.mark()
	if keys := f.program.resultKeys(in.at); len(keys) > 0 {
		f.unwritten.set(keys[0], lanes, every(keys[0], lanes), e)
	}
}

// mark creates the shadow of a frame, if it has none.
func (f *frame) mark() {
	if f.unwritten == nil {
		f.unwritten = &shadow{
			make(map[int32]*eval.Vector), make(map[int32]uint32), make(map[markKey]*Fault),
		}
	}
}

// loadUnwritten records that the current instruction loads uninitialized memory in these lanes.
func (w *warp) loadUnwritten(lanes uint32, lane int, size uint64) {
	in := w.command()
	e := w.describe(w.cur, lane)
	e.Message = fmt.Sprintf("read of %s: %d bytes", CauseUnwritten, size)
	e.Notes = append(w.nearestAllocation(w.address[lane]),
		w.where.regionOf(lane).copySource(w.where.at[lane])...)
	if in.at.Form.Form.Kind == isa.KindLdmatrix {
		lanes = w.cur.mask // rows are distributed to several lanes
	}
	f := w.cur.frame
	f.mark()
	for _, k := range f.program.resultKeys(in.at) {
		f.unwritten.set(k, lanes, every(k, lanes), e)
	}
}

// markLoaded marks the bits that a load took from uninitialized memory.
func (x *transfer) markLoaded(w *warp, mask uint32) {
	f := w.cur.frame
	for i := range x.regs {
		r := &x.regs[i]
		if r.kind != refRegister {
			continue
		}
		var v eval.Vector
		for l := range v {
			if mask>>l&1 == 0 {
				continue
			}
			if m, at := w.where.regionOf(l), w.where.at[l]+uint64(i)*x.width; w.mustBeWritten(m) {
				v[l] = x.extend(^read(m.init[at:], x.width)&(^uint64(0)>>(64-8*x.width)), r.bits)
			}
		}
		f.unwritten.set(markKey{r.index, false, r.bits}, mask, &v, nil)
	}
	f.settle()
}

// markStored marks the bytes that a store wrote from marked registers. It reports whether a lane
// stores such a byte to global memory, which is a fault.
func (x *transfer) markStored(w *warp, mask uint32) bool {
	s := w.cur.frame.unwritten
	for i := range x.regs {
		r := &x.regs[i]
		if r.kind != refRegister {
			continue
		}
		k := markKey{index: r.index}
		v := s.get(k)
		lanes := marked(&v) & mask
		for l := range v {
			if lanes>>l&1 == 0 {
				continue
			}
			m, at := w.where.regionOf(l), w.where.at[l]+uint64(i)*x.width
			for b := range x.width {
				switch {
				case v[l]>>(8*b)&0xff == 0:
				case m.base != sharedWindow && m.base != localWindow:
					w.reportUnwritten(s.origin(k), "the value is used at line %d: %s")
					return true
				case m.init != nil:
					m.init[at+b] = 0
				}
			}
		}
	}
	return false
}

// reportUnwritten ends the block because the current instruction uses uninitialized memory.
func (w *warp) reportUnwritten(from *Fault, use string) {
	e := *from
	w.locateUse(&e)
	in := w.command().at
	at, _ := w.block.grid.image.module.ir.At(in.Pos)
	e.Notes = append(slices.Clip(e.Notes), fmt.Sprintf(use, at.Line, in.Op))
	w.block.fail(&e)
}

// runGuarded runs a command whose guard is marked as unwritten in some lanes. It reports a fault
// unless the guard decides only the result of arithmetic.
func (w *warp) runGuarded(in *command, mask, lanes uint32) action {
	f := w.cur.frame
	s := f.unwritten
	from := s.origin(markKey{index: in.guard, pred: true})
	kind := in.at.Form.Form.Kind
	passes := ruleOf(w, in.at).pass != passNothing && kind != isa.KindSt
	if !passes || w.block.grid.image.module.entries[kind].whole {
		w.reportUnwritten(from, "the value decides a branch or a guard at line %d: %s")
		return failed
	}
	if mask != 0 {
		if act := w.runMarked(in, mask); act != advance {
			return act
		}
	}
	f.unwritten = s
	for _, k := range f.program.resultKeys(in.at) {
		s.set(k, lanes, every(k, lanes), from)
	}
	return advance
}

// runMarked runs a command in a frame that has marks.
func (w *warp) runMarked(in *command, mask uint32) action {
	f := w.cur.frame
	s := f.unwritten
	if in.at == nil || in.at.Form == nil {
		return in.run(w, mask)
	}
	for _, k := range f.program.addressKeys(in.at) {
		if v := s.get(k); marked(&v)&mask != 0 {
			w.reportUnwritten(s.origin(k), "the value is used as an address at line %d: %s")
			return failed
		}
	}
	rule := ruleOf(w, in.at)
	sources, results := f.program.sourceKeys(in.at), f.program.resultKeys(in.at)
	var from *Fault
	lanes := uint32(0)
	for _, k := range sources {
		v := s.get(k)
		if m := marked(&v) & mask; m != 0 {
			lanes, from = lanes|m, s.origin(k)
		}
	}
	if rule.pass == passNothing && lanes != 0 {
		w.reportUnwritten(from, "the value is used at line %d: %s")
		return failed
	}
	var marks []eval.Vector
	if lanes != 0 && rule.pass != passInMemory {
		var act action
		if marks, act = w.passMarks(in, rule, mask, lanes, sources, results); act != advance {
			return act
		}
		mask = w.cur.mask & mask
	}
	if rule.pass != passInMemory || len(results) > 0 {
		for i, k := range results {
			v := new(eval.Vector)
			if marks != nil {
				v = &marks[i]
			}
			s.set(k, mask, v, from)
		}
	}
	act := in.run(w, mask)
	f.settle()
	return act
}

// replay returns the marks of the results of a command that moves bits of registers. It runs the
// command once with the marks as values and once with zeros: bits that differ come from marked
// bits. It then restores registers and predicates.
func (w *warp) replay(in *command, mask uint32, moved, results []markKey) ([]eval.Vector, action) {
	f := w.cur.frame
	regs, preds := make(map[int32]eval.Vector), slices.Clone(f.preds)
	for _, k := range slices.Concat(moved, results) {
		if !k.pred {
			regs[k.index] = f.regs[k.index]
		}
	}
	if g := w.block.grid; g.observer != nil {
		defer func(o Observer) { g.observer = o }(g.observer)
		g.observer = nil
	}
	out := make([]eval.Vector, len(results))
	for _, marks := range []bool{true, false} {
		for _, k := range moved {
			f.regs[k.index] = eval.Vector{}
			if marks {
				f.regs[k.index] = f.unwritten.get(k)
			}
		}
		act := in.run(w, mask)
		for i, k := range results {
			for l := range out[i] {
				if !k.pred {
					out[i][l] ^= f.regs[k.index][l]
				}
			}
		}
		for index, v := range regs {
			f.regs[index] = v
		}
		copy(f.preds, preds)
		if act != advance {
			return nil, act
		}
	}
	return out, advance
}
