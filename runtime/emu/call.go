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

// An argument is an operand of a call: registers, or a .param variable in the caller's local
// memory.
type argument struct {
	regs []ref
	at   uint64 // offset in the frame
	size int
}

// call decodes call, direct and indirect.
func call(d *decoder) (step, error) {
	args := d.in.Args
	var results, in []argument
	if len(args) > 1 && args[0].Kind == ir.Group {
		results = d.arguments(&args[0])
		args = args[1:]
	}
	callee := &args[0]
	if len(args) > 1 && args[1].Kind == ir.Group {
		in = d.arguments(&args[1])
	}
	if callee.Kind == ir.Function {
		name := callee.Ref().(*ir.Func).Name
		if b := builtins[name]; b != nil {
			return b(d, results, in)
		}
		fn := d.image.module.defined[name]
		if fn == nil {
			return nil, fmt.Errorf("function %s is declared but not defined", name)
		}
		p := d.image.program(fn)
		if err := checkCall(p, results, in); err != nil {
			return nil, err
		}
		return func(w *warp, mask uint32) action { return w.call(p, results, in) }, nil
	}
	target := d.registers(nil, callee)[0]
	im := d.image
	return func(w *warp, mask uint32) action {
		f := w.cur
		v := w.value(&target, &w.scratch[0])
		lane := bits.TrailingZeros32(f.mask)
		address := v[lane]
		same := uint32(0)
		for l := range eval.Lanes {
			if f.mask>>l&1 != 0 && v[l] == address {
				same |= 1 << l
			}
		}
		p := im.callable(address)
		if p == nil {
			return w.fault(lane, nil, "indirect call of address 0x%x, which is not a function",
				address)
		}
		if err := checkCall(p, results, in); err != nil {
			return w.fault(lane, nil, "indirect call: %v", err)
		}
		if same != f.mask {
			w.split(f.mask&^same, f.pc, f.pc+1)
		}
		return w.call(p, results, in)
	}, nil
}

// checkCall returns an error if the operands of a call do not match the parameters and results of
// the function.
func checkCall(p *program, results, in []argument) error {
	if len(results) != len(p.results) || len(in) != len(p.params) {
		return fmt.Errorf("%s takes %d arguments and returns %d values, but the call has %d and %d",
			p.fn.Name, len(p.params), len(p.results), len(in), len(results))
	}
	return nil
}

// arguments decodes a list of operands of a call.
func (d *decoder) arguments(o *ir.Operand) []argument {
	var list []argument
	parts := o.Args()
	for i := range parts {
		x := &parts[i]
		if v := x.Var(); x.Kind == ir.Variable && v.Space.Base() == isa.Param {
			at, ok := d.local[v]
			if !ok || d.prog.fn.Kernel && !d.callee(v) {
				d.fail("parameter " + v.Name +
					" of the kernel as the operand of a call is not emulated")
			}
			list = append(list, argument{at: at, size: int(v.Size())})
			continue
		}
		list = append(list, argument{regs: d.flatten(nil, x)})
	}
	return list
}

// call enters a function with all lanes of the current fragment.
func (w *warp) call(p *program, results, in []argument) action {
	f := w.cur
	depth := 0
	for x := f.frame; x != nil; x = x.caller {
		depth++
	}
	if depth > maxCallDepth || f.frame.top > maxLocalBytes {
		return w.fault(bits.TrailingZeros32(f.mask), nil,
			"call stack overflow: %d nested calls use %d bytes of local memory", depth, f.frame.top)
	}
	caller := f.frame
	g := w.newFrame(p, caller.top)
	g.caller, g.back, g.results, g.lanes = caller, f.pc+1, results, f.mask
	w.forget(f.mask, g.local, uint64(p.local))
	for i := range in {
		w.pass(f.mask, caller, &in[i], g, &p.params[i])
	}
	f.frame, f.pc = g, 0
	w.enter(f)
	return moved
}

// maxCallDepth is the maximum depth of nested function calls.
const maxCallDepth = 4096

// pass copies an operand of a call to a parameter of the called function.
func (w *warp) pass(mask uint32, from *frame, a *argument, to *frame, p *place) {
	var values [2]eval.Vector
	n := w.fetch(mask, from, a.regs, a.at, a.size, &values)
	if n == 0 || len(a.regs) == 0 && len(p.regs) == 0 {
		w.copyLocal(mask, to.local+uint64(p.at), from.local+a.at, uint64(min(a.size, p.size)))
		return
	}
	w.deliver(mask, to, p.regs, uint64(p.at), p.size, &values)
	passRegisterMarks(mask, from, a.regs, to, p.regs)
}

// fetch reads an operand that is in registers or that is passed in registers. It returns the number
// of vectors, or zero if the operand stays in memory.
func (w *warp) fetch(mask uint32, from *frame, regs []ref, at uint64, size int,
	values *[2]eval.Vector) int {
	if len(regs) == 0 {
		if size > 16 || size&(size-1) != 0 {
			return 0
		}
		n := max(1, size/8)
		for i := range n {
			for m := mask; m != 0; m &= m - 1 {
				l := bits.TrailingZeros32(m)
				off := uint64(l)*w.perLane + from.local + at + uint64(i)*8
				values[i][l] = read(w.localRegion.data[off:], uint64(min(size, 8)))
			}
		}
		return n
	}
	w.regs, w.preds = from.regs, from.preds
	for i := range min(len(regs), 2) {
		if regs[i].kind == refPredicate {
			values[i] = eval.Vector{}
			p := w.truth(&regs[i])
			for l := range values[i] {
				values[i][l] = uint64(p >> l & 1)
			}
			continue
		}
		values[i] = *w.value(&regs[i], &w.scratch[i])
	}
	w.regs, w.preds = w.cur.frame.regs, w.cur.frame.preds
	return min(len(regs), 2)
}

// deliver writes values to registers or memory of a frame.
func (w *warp) deliver(mask uint32, to *frame, regs []ref, at uint64, size int,
	values *[2]eval.Vector) {
	if len(regs) > 0 {
		for i := range min(len(regs), 2) {
			switch regs[i].kind {
			case refPredicate:
				p := uint32(0)
				for l, x := range values[i] {
					p |= uint32(x&1) << l
				}
				q := &to.preds[regs[i].index]
				*q = *q&^mask | p&mask
			case refRegister:
				blend(&to.regs[regs[i].index], &values[i], mask)
			}
		}
		return
	}
	for i := range max(1, size/8) {
		for m := mask; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m)
			off := uint64(l)*w.perLane + to.local + at + uint64(i)*8
			put(w.localRegion.data[off:], uint64(min(size, 8)), values[i][l])
			fill(w.localRegion.init[off:off+uint64(min(size, 8))], 0xff)
		}
	}
}

// forget marks n bytes of the local memory of the lanes in mask as uninitialized, because an
// earlier call used them.
func (w *warp) forget(mask uint32, at, n uint64) {
	if n == 0 {
		return
	}
	for m := mask; m != 0; m &= m - 1 {
		from := uint64(bits.TrailingZeros32(m))*w.perLane + at
		clear(w.localRegion.init[from : from+n])
	}
}

// copyLocal copies n bytes of local memory of the lanes in mask, together with the marks of
// initialized bytes.
func (w *warp) copyLocal(mask uint32, to, from, n uint64) {
	r := &w.localRegion
	for m := mask; m != 0; m &= m - 1 {
		base := uint64(bits.TrailingZeros32(m)) * w.perLane
		copy(r.data[base+to:base+to+n], r.data[base+from:base+from+n])
		copy(r.init[base+to:base+to+n], r.init[base+from:base+from+n])
	}
}

// finish is the step that returns from a function, in the lanes of a mask.
func finish(w *warp, mask uint32) action {
	f := w.cur
	g := f.frame
	p := g.program
	for i := range g.results {
		a := &g.results[i]
		q := &p.results[i]
		var values [2]eval.Vector
		if n := w.fetch(mask, g, q.regs, uint64(q.at), q.size, &values); n == 0 ||
			len(a.regs) == 0 && len(q.regs) == 0 {
			w.copyLocal(mask, g.caller.local+a.at, g.local+uint64(q.at),
				uint64(min(a.size, q.size)))
			continue
		}
		w.deliver(mask, g.caller, a.regs, a.at, a.size, &values)
		passRegisterMarks(mask, g, q.regs, g.caller, a.regs)
	}
	f.frame, f.pc = g.caller, g.back
	if g.lanes &^= mask; g.lanes == 0 {
		w.spare = append(w.spare, g)
	}
	w.enter(f)
	return moved
}

// arguments returns the values of all operands of a call, each as at most two vectors.
func (w *warp) arguments(mask uint32, from *frame, in []argument) [][2]eval.Vector {
	values := make([][2]eval.Vector, len(in))
	for i := range in {
		w.fetch(mask, from, in[i].regs, in[i].at, in[i].size, &values[i])
	}
	return values
}
