// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// ruleType is ruleOperand as a warning. It is for operands that ptxas accepts, since integer and
// packed values are held in untyped registers.
var ruleType = func() diag.Rule {
	r := ruleOperand
	r.Severity = diag.Warning
	return r
}()

// typed is implemented by all instances of Reg.
type typed interface{ Type() isa.Type }

// checkTypes warns about operands of an instruction written with Ins that are integers where the
// instruction expects floating-point values, or vice versa.
func (k *Kernel) checkTypes(in *ir.Instr, operands []any) {
	if in.Form == nil {
		return
	}
	given := slices.DeleteFunc(slices.Clone(operands), func(x any) bool { return x == nil })
	if len(given) > len(in.Form.Args) {
		return
	}
	for i, x := range given {
		want := &in.Form.Args[i]
		if want.Presence != isa.Always {
			return // optional operands make the positions ambiguous
		}
		v, ok := x.(typed)
		if !ok || len(want.Kinds) == 0 {
			continue
		}
		t := v.Type()
		if slices.ContainsFunc(want.Kinds, func(w isa.WantKind) bool {
			return !contradicts(t, w.Settled)
		}) {
			continue
		}
		k.m.faultAt(in.Pos, &ruleType,
			"operand %d of %s is a %s value, but the instruction interprets it as %s; convert it with To, or reinterpret it with Bits",
			i+1, in.Op, t, want.Kinds[0].Settled)
		return
	}
}

// contradicts reports whether t is an integer type and want a floating-point type, or vice versa.
func contradicts(t, want isa.Type) bool {
	whole := func(t isa.Type) bool { return isInteger(t) || t == isa.U16x2 || t == isa.S16x2 }
	real := func(t isa.Type) bool {
		return isFloat(t) || t.Class() == isa.Packed || t == isa.F16x2 || t == isa.Bf16x2
	}
	return whole(t) && real(want) || real(t) && whole(want)
}
