// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package constant_test

import (
	"math"
	"testing"

	"github.com/ptxdsl/ptxdsl/dsl/internal/constant"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// TestWhole tries the limits of integer types.
func TestWhole(t *testing.T) {
	for _, test := range []struct {
		t    isa.Type
		n    int64
		want bool
	}{
		{isa.U8, 255, true}, {isa.U8, 256, false}, {isa.U8, -1, false},
		{isa.S8, -128, true}, {isa.S8, 128, false},
		{isa.B16, -1, true}, {isa.B16, 65535, true}, {isa.B16, 65536, false},
		{isa.U64, -1, true}, {isa.S64, math.MinInt64, true},
		{isa.Predicate, 1, true}, {isa.Predicate, 2, false},
	} {
		if c, ok := constant.Whole(test.t, test.n); ok != test.want || ok && c.Bits != test.n {
			t.Errorf("%d as %s: %v, %t", test.n, test.t, c, ok)
		}
	}
}

// TestFloat converts numbers that are exact, rounded, subnormal and too large.
func TestFloat(t *testing.T) {
	for _, test := range []struct {
		t    isa.Type
		v    float64
		bits int64
		want bool
	}{
		{isa.F16, 1, 0x3c00, true},
		{isa.F16, 1 + 1.0/2048, 0x3c00, true}, // a tie rounds to even
		{isa.F16, 1 + 3.0/2048, 0x3c02, true},
		{isa.F16, 6e-8, 0x0001, true}, // the smallest subnormal
		{isa.F16, -65504, 0xfbff, true},
		{isa.F16, 65520, 0x7c00, false},
		{isa.F16, math.Inf(-1), 0xfc00, true},
		{isa.F16, math.NaN(), 0x7e00, true},
		{isa.Bf16, 1, 0x3f80, true},
		{isa.Bf16, 3.4e38, 0x7f80, false},
		{isa.F16x2, 1, 0x3c003c00, true},
		{isa.F32x2, 1, 0x3f8000003f800000, true},
		{isa.F32, 1e39, 0x7f800000, false},
		{isa.F64, 1, 0x3ff0000000000000, true},
	} {
		if c, ok := constant.Float(test.t, test.v); ok != test.want || c.Bits != test.bits {
			t.Errorf("%v as %s: %x, %t; want %x, %t", test.v, test.t, c.Bits, ok, test.bits,
				test.want)
		}
	}
	if _, ok := constant.Float(isa.U32, 1); ok {
		t.Error("a constant of an integer type is a float")
	}
	if constant.KindOf(isa.F64) != ir.Double || constant.KindOf(isa.Tf32) != ir.Single ||
		constant.KindOf(isa.F16) != ir.Int {
		t.Error("wrong kinds")
	}
}
