// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package constant

import (
	"testing"

	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/ptx"
)

// TestEvaluate compares constant expressions with values worked out by hand from section 4.5 of the
// PTX manual.
func TestEvaluate(t *testing.T) {
	for _, test := range []struct {
		text string
		want Value
	}{
		{"42", Value{isa.S64, 42}},
		{"42U", Value{isa.U64, 42}},
		{"0", Value{Type: isa.S64}},
		{"0U", Value{Type: isa.U64}},
		{"00", Value{Type: isa.S64}},
		{"017U", Value{isa.U64, 15}},
		{"017", Value{isa.S64, 15}},
		{"0b101", Value{isa.S64, 5}},
		{"0xfabc123400000000", Value{isa.U64, 0xfabc123400000000}},
		{"-1", Value{isa.S64, ^uint64(0)}},
		{"-1U", Value{isa.U64, ^uint64(0)}},
		{"~0", Value{isa.U64, ^uint64(0)}},
		{"!5", Value{Type: isa.S64}},
		{"-8 / 2", Value{isa.S64, ^uint64(3)}},
		{"-8 / 2U", Value{isa.U64, 0x7ffffffffffffffc}},
		{"7 % 4", Value{isa.S64, 3}},
		{"-16 >> 2", Value{isa.S64, ^uint64(3)}},
		{"(.u64) -16 >> 60", Value{isa.U64, 15}},
		{"1 << 64", Value{Type: isa.S64}},
		{"1 < 2", Value{isa.S64, 1}},
		{"-1 < 1U", Value{Type: isa.S64}},
		{"1 + 2 * 3", Value{isa.S64, 7}},
		{"(1 + 2) * 3", Value{isa.S64, 9}},
		{"1 ? 2 : 3U", Value{isa.U64, 2}},
		{"0 || 4", Value{isa.S64, 1}},
		{"6 & 3 | 8", Value{isa.S64, 10}},
		{"WARP_SZ * 2", Value{isa.S64, 64}},
		{"1.5", double(1.5)},
		{"1.5 * 2.0 - 1.0", double(2)},
		{"1.5 < 2.0", Value{isa.S64, 1}},
		{"0f3FC00000", Value{isa.F32, 0x3fc00000}},
		{"0d3FF8000000000000", double(1.5)},
		{"1 / 0", Value{}},
		{"1 + 1.0", Value{}},
		{"1.0 << 2", Value{}},
		{"(.s32) 1", Value{}},
		{"0x123456781234567812345678", Value{}},
	} {
		f, errors := ptx.Parse("constant.ptx",
			".version 9.0\n.target sm_90\n.global .b64 x = "+test.text+";")
		v, ok := f.Decls[len(f.Decls)-1].(*ptx.Var)
		if len(errors) > 0 || !ok {
			t.Errorf("%s: %v", test.text, errors)
			continue
		}
		faults := 0
		got := Evaluate(v.Names[0].Init, func(*ptx.Operand, string, ...any) { faults++ })
		if got != test.want {
			t.Errorf("%s is %+v, want %+v", test.text, got, test.want)
		} else if got.OK() != (faults == 0) {
			t.Errorf("%s: %d mistakes", test.text, faults)
		}
	}
}
