// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package emu

import (
	"fmt"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/isa/eval"
	"github.com/ptxdsl/ptxdsl/passes"
)

// An unsetRegister is a register that some path reads before an instruction writes it. Its bits are
// marked as uninitialized when a call of the function starts.
type unsetRegister struct {
	keys  []markKey
	fault *Fault // without a position: that of the use is added
}

// unsetOf returns the registers of a function that may be read before they are written. A register
// that an instruction reads and writes is not among them, because a predicate may tell a matrix
// instruction to ignore its accumulator. Nor are parameters and results of the function.
func (d *decoder) unsetOf(fn *ir.Func) (list []unsetRegister) {
	if len(fn.Blocks) == 0 || len(fn.Regs) == 0 {
		return nil
	}
	live := passes.LivenessOf(ir.FlowOf(fn))
	early := make(passes.Set, (len(fn.Regs)+63)/64)
	live.In(0, early)
	if early.Len() == 0 {
		return nil
	}
	updated := make(map[*ir.Reg]bool)
	for _, b := range fn.Blocks {
		for _, in := range b.Instrs {
			for i := range in.Args {
				if in.Form == nil || i < len(in.Form.Args) &&
					in.Form.Args[i].Access == isa.ReadWrite {
					in.Args[i].Walk(func(o *ir.Operand) { updated[o.Reg] = true })
				}
			}
		}
	}
	for _, v := range fn.Params {
		updated[v.Reg] = true
	}
	for _, v := range fn.Results {
		updated[v.Reg] = true
	}
	for i, r := range fn.Regs {
		if !early.Has(i) || updated[r] {
			continue
		}
		u := unsetRegister{fault: &Fault{Lane: -1,
			Message: fmt.Sprintf("use of register %s, %s", r.Name, CauseUnset)}}
		s := d.slots[r]
		for n := range s.n {
			u.keys = append(u.keys, markKey{s.index + int32(n), s.pred, min(s.bits, 64)})
		}
		list = append(list, u)
	}
	return list
}

// markUnset marks the registers of a new frame that may be read before they are written.
func (f *frame) markUnset() {
	if len(f.program.unset) == 0 {
		return
	}
	f.mark()
	for _, u := range f.program.unset {
		for _, k := range u.keys {
			f.unwritten.set(k, full, every(k, full), u.fault)
		}
	}
}

// locateUse adds the position of the current instruction to a fault without one, in the first lane
// in which a source of the instruction is marked.
func (w *warp) locateUse(e *Fault) {
	if e.Kernel != "" {
		return
	}
	f, in := w.cur, w.command()
	lanes := uint32(0)
	keys := append(f.frame.program.sourceKeys(in.at), f.frame.program.addressKeys(in.at)...)
	if in.guard >= 0 {
		keys = append(keys, markKey{index: in.guard, pred: true, bits: 1})
	}
	for _, k := range keys {
		v := f.frame.unwritten.get(k)
		lanes |= marked(&v) & f.mask
	}
	lane := 0
	for lane < eval.Lanes-1 && lanes>>lane&1 == 0 {
		lane++
	}
	at := w.describe(f, lane)
	at.Message, at.Notes = e.Message, e.Notes
	*e = *at
}

// passRegisterMarks copies the marks of registers of a frame to registers of another one, which
// have received their values. Registers that were received from memory lose their marks.
func passRegisterMarks(mask uint32, from *frame, sources []ref, to *frame, targets []ref) {
	if from.unwritten == nil && to.unwritten == nil {
		return
	}
	for i := range targets {
		target, ok := targets[i].key()
		if !ok {
			continue
		}
		var v eval.Vector
		var origin *Fault
		if i < len(sources) && from.unwritten != nil {
			if source, ok := sources[i].key(); ok {
				v, origin = from.unwritten.get(source), from.unwritten.origin(source)
			}
		}
		to.mark()
		to.unwritten.set(target, mask, &v, origin)
	}
	to.settle()
}

// key returns the key of the marks of a register or a predicate.
func (r *ref) key() (markKey, bool) {
	switch r.kind {
	case refRegister:
		return markKey{r.index, false, r.bits}, true
	case refPredicate:
		return markKey{r.index, true, 1}, true
	}
	return markKey{}, false
}
