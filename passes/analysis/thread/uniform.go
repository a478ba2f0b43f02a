// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package thread

import (
	"slices"
	"strings"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// Uniform reports whether a register has the same value in all threads of the block, because it
// is computed only from launch parameters and constants.
func (e *Eval) Uniform(r *ir.Reg) bool {
	w := e.lookup(r)
	if w == nil || w.uniformKnown {
		return w != nil && w.uniform
	}
	w.uniformKnown = true // the result if the register depends on itself
	in := w.def
	if e.work++; in == nil || in.Form == nil || e.Exhausted() {
		return false
	}
	same := w.pointer != nil
	switch kind := in.Kind(); {
	case kind == isa.KindLd:
		v := loadedVariable(in)
		same = v != nil && v.Space == isa.Param
	case Pure(kind):
		same = in.Guard.Reg == nil
		for i := 1; i < len(in.Args); i++ {
			same = same && e.isUniformOperand(&in.Args[i])
		}
	}
	w.uniform = same
	return same
}

// Pure reports whether the results of a kind of instruction depend only on its operands. It
// returns true only for operations with which addresses and conditions are computed.
func Pure(kind isa.Kind) bool {
	switch kind.Head() {
	case isa.HeadMov, isa.HeadCvt, isa.HeadAdd, isa.HeadSub, isa.HeadMul, isa.HeadMad, isa.HeadDiv,
		isa.HeadRem, isa.HeadMin, isa.HeadMax,
		isa.HeadShl, isa.HeadShr, isa.HeadAnd, isa.HeadOr, isa.HeadXor, isa.HeadNot, isa.HeadNeg,
		isa.HeadSetp, isa.HeadSelp, isa.HeadSet, isa.HeadSlct,
		isa.HeadAbs, isa.HeadSad, isa.HeadMul24, isa.HeadMad24, isa.HeadDp4a, isa.HeadDp2a,
		isa.HeadBrev, isa.HeadPopc, isa.HeadClz, isa.HeadBfind, isa.HeadFns, isa.HeadBfe,
		isa.HeadBfi,
		isa.HeadBmsk, isa.HeadSzext, isa.HeadPrmt, isa.HeadShf, isa.HeadLop3, isa.HeadCnot:
		return true
	}
	return false
}

func (e *Eval) isUniformOperand(o *ir.Operand) bool {
	switch o.Kind {
	case ir.Register:
		return e.Uniform(o.Reg)
	case ir.Int:
		return true
	case ir.Special:
		name, _, _ := strings.Cut(o.Text(), ".")
		return slices.Contains(uniformSpecials, name)
	}
	return false
}

// uniformSpecials lists the special registers that have the same value in all threads of a block.
var uniformSpecials = []string{
	"%ntid", "%ctaid", "%nctaid", "%clusterid", "%nclusterid",
	"%cluster_ctaid", "%cluster_nctaid", "%cluster_ctarank", "%cluster_nctarank",
}

// Relative returns the value of an operand, relative to a base that is the same for all threads.
// Values with different bases differ by more than the size of any tile.
func (e *Eval) Relative(o *ir.Operand) Value {
	if o.Kind != ir.Register {
		return e.ValueOf(o)
	}
	if v := e.Value(o.Reg); v.Kind == Constant {
		return v
	}
	start := func(of any) Value { return constant(e.baseAddress(of, Area{})) }
	if e.Uniform(o.Reg) {
		return start(o.Reg)
	}
	w := e.lookup(o.Reg)
	if w == nil || w.def == nil || w.op.width != 32 {
		return Value{}
	}
	in := w.def
	switch w.op.kind {
	case isa.KindAdd:
		return add(e.Relative(&in.Args[1]), e.Relative(&in.Args[2]), 64, true)
	case isa.KindMadLo:
		if e.isUniformOperand(&in.Args[1]) && e.isUniformOperand(&in.Args[2]) {
			return add(start(in), e.Relative(&in.Args[3]), 64, true)
		}
	}
	return Value{}
}
