// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package emu

import (
	"fmt"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/isa/eval"
)

// arithmetic returns the step of an operation that reads and writes only registers.
func (d *decoder) arithmetic(op *eval.Op) (step, error) {
	s, err := d.assign(op)
	if err != nil {
		return nil, err
	}
	if len(s.out) == 1 && s.out[0].kind == refRegister && len(s.predsIn) == 0 &&
		len(s.predsOut) == 0 && !op.CarryIn && !op.CarryOut {
		return s.simple(), nil
	}
	return s.general(), nil
}

// An assignment holds the decoded operands of an arithmetic operation: its inputs and its results.
type assignment struct {
	op                *eval.Op
	in, out           []ref
	predsIn, predsOut []ref
}

// assign matches the operands of the instruction with the inputs of an operation.
func (d *decoder) assign(op *eval.Op) (*assignment, error) {
	s := &assignment{op: op}
	for _, r := range d.writes() {
		if r.kind == refPredicate || r.kind == refSink && len(s.out) == len(op.Out) {
			s.predsOut = append(s.predsOut, r)
		} else {
			s.out = append(s.out, r)
		}
	}
	for _, r := range d.reads() {
		if r.kind == refPredicate || r.holds != nil || r.kind == refConstant &&
			len(s.in) == len(op.In) {
			s.predsIn = append(s.predsIn, r)
		} else {
			s.in = append(s.in, r)
		}
	}
	named, results := op.PIn, op.POut
	if op.CarryIn {
		named--
	}
	if op.CarryOut {
		results--
	}
	if len(s.in) != len(op.In) || len(s.out) != len(op.Out) || len(s.predsIn) != named ||
		len(s.predsOut) > results {
		return nil, fmt.Errorf("%s with these operands is not emulated", d.in.Op)
	}
	for i, t := range op.In { // the operation ignores bits above the width of its type
		s.in[i] = d.fit(s.in[i], t)
	}
	if len(s.out) == 1 && s.out[0].kind == refRegister && op.Out[0].Class() == isa.Signed &&
		s.out[0].bits > op.Out[0].Bits() {
		s.op = extended(op, op.Out[0].Bits(), s.out[0].bits)
	}
	return s, nil
}

// extended returns op with a result that is sign-extended to the width of its register.
func extended(op *eval.Op, from, to int) *eval.Op {
	wide := *op
	wide.Two, wide.Three = nil, nil
	keep := ^uint64(0) >> (64 - to)
	wide.Warp = func(f *eval.Frame) {
		op.Warp(f)
		d := f.Out[0]
		for l, x := range d {
			d[l] = uint64(int64(x)<<(64-from)>>(64-from)) & keep
		}
	}
	return &wide
}

// fit converts a constant to the bits of a type.
func (d *decoder) fit(r ref, t isa.Type) ref {
	if r.kind == refConstant && t.Bits() < 64 && !r.varies {
		r.constant = d.image.splat(r.constant[0] & (1<<uint(t.Bits()) - 1))
	}
	return r
}

// simple returns the step of an operation with one result and no other effect.
func (s *assignment) simple() step {
	run, in, out, n := s.op.Warp, s.in, s.out[0], len(s.in)
	switch {
	case n == 2 && s.op.Two != nil:
		return twoStep(s.op.Two, in[0], in[1], out.index)
	case n == 3 && s.op.Three != nil:
		return threeStep(s.op.Three, in[0], in[1], in[2], out.index)
	}
	return func(w *warp, mask uint32) action {
		f := &w.frame
		for i := range n {
			f.In[i] = w.value(&in[i], &w.scratch[i])
		}
		if mask == full {
			f.Out[0] = &w.regs[out.index]
			run(f)
			return advance
		}
		f.Out[0] = &w.out[0]
		run(f)
		blend(&w.regs[out.index], &w.out[0], mask)
		return advance
	}
}

// twoStep returns the step of an operation with two operands. It is a fast path without a loop
// over operands.
func twoStep(run func(d, a, b *eval.Vector), a, b ref, out int32) step {
	return func(w *warp, mask uint32) action {
		x, y := w.value(&a, &w.scratch[0]), w.value(&b, &w.scratch[1])
		if mask == full {
			run(&w.regs[out], x, y)
			return advance
		}
		run(&w.out[0], x, y)
		blend(&w.regs[out], &w.out[0], mask)
		return advance
	}
}

// threeStep returns the step of an operation with three operands. It is a fast path without a
// loop over operands.
func threeStep(run func(d, a, b, c *eval.Vector), a, b, c ref, out int32) step {
	return func(w *warp, mask uint32) action {
		x, y := w.value(&a, &w.scratch[0]), w.value(&b, &w.scratch[1])
		z := w.value(&c, &w.scratch[2])
		if mask == full {
			run(&w.regs[out], x, y, z)
			return advance
		}
		run(&w.out[0], x, y, z)
		blend(&w.regs[out], &w.out[0], mask)
		return advance
	}
}

// general returns the step of an operation with any number of operands and results. It is slower
// than the steps of operations with one result.
func (s *assignment) general() step {
	return func(w *warp, mask uint32) action {
		f, op := &w.frame, s.op
		for i := range s.in {
			f.In[i] = w.value(&s.in[i], &w.scratch[i])
		}
		for i := range s.predsIn {
			f.PIn[i] = w.truth(&s.predsIn[i])
		}
		if op.CarryIn {
			f.PIn[op.PIn-1] = w.carry
		}
		for i := range op.Out {
			f.Out[i] = &w.out[i]
		}
		op.Warp(f)
		for i := range s.out {
			w.write(&s.out[i], mask, &w.out[i])
		}
		for i := range s.predsOut {
			w.writeTruth(&s.predsOut[i], mask, f.POut[i])
		}
		if op.CarryOut {
			w.carry = w.carry&^mask | f.POut[op.POut-1]&mask
		}
		return advance
	}
}

// move decodes mov: copies, packs, unpacks, special registers and addresses.
func move(d *decoder) (step, error) {
	op := d.operation()
	from, to := d.reads(), d.writes()
	if op.Type() == isa.Predicate {
		return func(w *warp, mask uint32) action {
			w.writeTruth(&to[0], mask, w.truth(&from[0]))
			return advance
		}, nil
	}
	bits := op.Type().Bits() * op.Vec
	for i := range from {
		from[i] = d.fit(from[i], op.Type())
	}
	if len(from) == 1 && len(to) == 1 {
		return copyStep(from[0], to[0], bits), nil
	}
	if d.in.Args[0].Kind == ir.Register && d.in.Args[1].Kind == ir.Register ||
		len(from) == len(to) {
		return copiesStep(from, to), nil
	}
	if bits == 128 && len(from) == 1 { // an address or a constant
		from = append(from, ref{kind: refConstant, constant: d.image.splat(0)})
		if len(to) == 2 {
			return copiesStep(from, to), nil
		}
	}
	m, err := eval.OfMove(bits, len(to), len(from))
	if err != nil {
		return nil, err
	}
	if len(m.In) != len(from) || len(m.Out) != len(to) {
		return nil, fmt.Errorf("%s with these operands is not emulated", d.in.Op)
	}
	s := &assignment{op: m, in: from, out: to}
	if len(to) == 1 && to[0].kind == refRegister {
		return s.simple(), nil
	}
	return s.general(), nil
}

// copyStep executes a mov between two registers.
func copyStep(from, to ref, bits int) step {
	keep := uint64(1)<<uint(bits) - 1
	if from.kind == refRegister && from.bits <= bits {
		keep = ^uint64(0)
	}
	return func(w *warp, mask uint32) action {
		if to.kind != refRegister {
			return advance
		}
		a := w.value(&from, &w.scratch[0])
		d := &w.regs[to.index]
		switch {
		case mask == full && keep == ^uint64(0):
			*d = *a
		case mask == full:
			for l := range d {
				d[l] = a[l] & keep
			}
		default:
			for l := range d {
				if mask>>l&1 != 0 {
					d[l] = a[l] & keep
				}
			}
		}
		return advance
	}
}

// copiesStep executes a mov between vectors with the same number of elements.
func copiesStep(from, to []ref) step {
	return func(w *warp, mask uint32) action {
		for i := range from {
			w.out[i] = *w.value(&from[i], &w.scratch[i])
		}
		for i := range to {
			w.write(&to[i], mask, &w.out[i])
		}
		return advance
	}
}

// combine returns the function with which an atomic operation or a reduction combines an old and a
// new value.
func (d *decoder) combine(op *isa.Operation) (eval.Combine, error) {
	return eval.CombineOf(reductionMod(op), op.Type(), op.Mods()...)
}

// reductionMod returns the modifier that specifies which reduction an operation performs, such as
// isa.ModAdd.
func reductionMod(op *isa.Operation) isa.Mod {
	for _, m := range op.Mods() {
		switch m {
		case isa.ModAdd, isa.ModMin, isa.ModMax, isa.ModInc, isa.ModDec, isa.ModAnd, isa.ModOr,
			isa.ModXor, isa.ModExch, isa.ModCAS:
			return m
		}
	}
	return isa.NoMod
}
