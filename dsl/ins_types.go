// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// ruleType is ruleOperand for operands that PTX accepts, since registers of the builder are untyped
// for integers and packed values.
var ruleType = func() diag.Rule {
	r := ruleOperand
	r.Severity = diag.Warning
	return r
}()

// typed is implemented by Reg.
type typed interface{ Type() isa.Type }

// checkTypes warns about operands of an instruction written as text that are integers where it
// expects floating-point numbers, or vice versa.
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
			return // operands that may be left out make positions ambiguous
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
	whole := func(t isa.Type) bool { return integer(t) || t == isa.U16x2 || t == isa.S16x2 }
	real := func(t isa.Type) bool {
		return floating(t) || t.Class() == isa.Packed || t == isa.F16x2 || t == isa.Bf16x2
	}
	return whole(t) && real(want) || real(t) && whole(want)
}
