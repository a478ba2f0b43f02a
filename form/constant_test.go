// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package form

import (
	"testing"

	"github.com/ptxdsl/ptxdsl/ptx"
)

// TestEvaluate holds constant expressions against values worked out by hand from the rules of the
// manual's section 4.5.
func TestEvaluate(t *testing.T) {
	for _, test := range []struct {
		text string
		want value
	}{
		{"42", value{sort: signed, bits: 42}},
		{"42U", value{sort: unsigned, bits: 42}},
		{"0", value{sort: signed}},
		{"0U", value{sort: unsigned}},
		{"00", value{sort: signed}},
		{"017U", value{sort: unsigned, bits: 15}},
		{"017", value{sort: signed, bits: 15}},
		{"0b101", value{sort: signed, bits: 5}},
		{"0xfabc123400000000", value{sort: unsigned, bits: 0xfabc123400000000}},
		{"-1", value{sort: signed, bits: ^uint64(0)}},
		{"-1U", value{sort: unsigned, bits: ^uint64(0)}},
		{"~0", value{sort: unsigned, bits: ^uint64(0)}},
		{"!5", value{sort: signed}},
		{"-8 / 2", value{sort: signed, bits: ^uint64(3)}},
		{"-8 / 2U", value{sort: unsigned, bits: 0x7ffffffffffffffc}},
		{"7 % 4", value{sort: signed, bits: 3}},
		{"-16 >> 2", value{sort: signed, bits: ^uint64(3)}},
		{"(.u64) -16 >> 60", value{sort: unsigned, bits: 15}},
		{"1 << 64", value{sort: signed}},
		{"1 < 2", value{sort: signed, bits: 1}},
		{"-1 < 1U", value{sort: signed}},
		{"1 + 2 * 3", value{sort: signed, bits: 7}},
		{"(1 + 2) * 3", value{sort: signed, bits: 9}},
		{"1 ? 2 : 3U", value{sort: unsigned, bits: 2}},
		{"0 || 4", value{sort: signed, bits: 1}},
		{"6 & 3 | 8", value{sort: signed, bits: 10}},
		{"WARP_SZ * 2", value{sort: signed, bits: 64}},
		{"1.5", value{sort: double, float: 1.5}},
		{"1.5 * 2.0 - 1.0", value{sort: double, float: 2}},
		{"1.5 < 2.0", value{sort: signed, bits: 1}},
		{"0f3FC00000", value{sort: single, float: 1.5}},
		{"0d3FF8000000000000", value{sort: double, float: 1.5}},
		{"1 / 0", value{}},
		{"1 + 1.0", value{}},
		{"1.0 << 2", value{}},
		{"(.s32) 1", value{}},
		{"0x123456781234567812345678", value{}},
	} {
		f, errors := ptx.Parse("constant.ptx", ".version 9.0\n.target sm_90\n.global .b64 x = "+test.text+";")
		v, ok := f.Decls[len(f.Decls)-1].(*ptx.Var)
		if len(errors) > 0 || !ok {
			t.Errorf("%s: %s", test.text, said(errors))
			continue
		}
		c := newChecker(f, Options{})
		if got := c.evaluate(v.Names[0].Init); got != test.want {
			t.Errorf("%s is %+v, want %+v", test.text, got, test.want)
		} else if (got.sort == noSort) != (len(c.list) > 0) {
			t.Errorf("%s: %s", test.text, said(c.list))
		}
	}
}
