// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package ir

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ptxdsl/ptxdsl/isa"
)

// TestShape checks that the shape of operands equals the shape of the arguments that list returns
// for them.
func TestShape(t *testing.T) {
	var list []Operand
	for _, r := range []*Reg{{Type: isa.B32}, {Type: isa.F64}, {Type: isa.Predicate},
		{Type: isa.F32, Vec: 4}} {
		for _, text := range []string{"", ".x", ".h10"} {
			for bits := range 8 {
				o := Operand{Kind: Register, Reg: r, More: &More{Text: text}, Not: bits&1 != 0,
					Minus: bits&2 != 0}
				if bits&4 != 0 {
					o.Value = 16
				}
				list = append(list, o)
			}
		}
	}
	for _, value := range []int64{0, 7, -1} {
		list = append(list, Operand{Kind: Int, Value: value}, Operand{Kind: Single, Value: value},
			Operand{Kind: Double, Value: value})
		for _, v := range []*Var{{Space: isa.Shared, Type: isa.B8},
			{Space: isa.Param, Type: isa.B64, Vec: 2}} {
			list = append(list, Named(Variable, v, value))
		}
	}
	list = append(list, Operand{}, Named(Function, &Func{}, 0), Named(Jump, &Block{}, 0),
		Named(List, &Targets{}, 0),
		Named(List, &Targets{Proto: &Func{}}, 0),
		Operand{Kind: Special, More: &More{Text: "%tid.x"}},
		Operand{Kind: Special, More: &More{Text: "%tid"}},
		Operand{Kind: Special, More: &More{Text: "%clock"}, Value: 4}, Operand{Kind: Sink},
		Operand{Kind: Raw, More: &More{Text: "x"}})
	for n := range len(list) {
		for _, k := range []Kind{Vector, Address, Pair, Group, Element} {
			list = append(list, Operand{Kind: k, More: &More{Args: []Operand{list[n], list[0]}}})
		}
		list = append(list,
			Operand{Kind: Address, More: &More{Text: ".unified", Args: []Operand{list[n]}}},
			Operand{Kind: Vector, More: &More{Args: list[:n]}})
	}
	target, _ := isa.ParseTarget("sm_90a")
	b := NewBinder(isa.Newest(), target)
	for i := range list {
		for _, valued := range []bool{false, true} {
			args := []Operand{list[i], {Kind: Sink}}
			got := b.appendShape(nil, args, valued)
			if diff := cmp.Diff(isa.AppendShape(nil, b.list(args), valued), got); diff != "" {
				t.Errorf("%+v (valued: %t): -of the arguments +of the operands\n%s", list[i],
					valued, diff)
			}
		}
	}
}
