// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"math"
	"testing"

	"github.com/ptxdsl/ptxdsl/isa"
)

// TestEvaluate evaluates each operation on constants at the limits of the types.
func TestEvaluate(t *testing.T) {
	for _, test := range []struct {
		how  verb
		typ  isa.Type
		a, b int64
		want int64
		ok   bool
	}{
		{doAdd, isa.U8, 255, 2, 1, true},
		{doAdd, isa.S32, math.MaxInt32, 1, math.MinInt32, true},
		{doSub, isa.U16, 0, 1, math.MaxUint16, true},
		{doSub, isa.U64, 0, 1, -1, true},
		{doMul, isa.U32, 1 << 31, 6, 0, true},
		{doMul, isa.S64, -3, 5, -15, true},
		{doDiv, isa.S32, -7, 2, -3, true},
		{doDiv, isa.U64, -1, 2, math.MaxInt64, true},
		{doDiv, isa.U32, 1, 0, 0, false},
		{doDiv, isa.S32, math.MinInt32, -1, 0, false},
		{doRem, isa.S32, -7, 2, -1, true},
		{doRem, isa.U64, -1, 10, 5, true},
		{doMin, isa.S8, -128, 127, -128, true},
		{doMin, isa.U64, -1, 1, 1, true},
		{doMax, isa.S64, -1, 1, 1, true},
		{doMax, isa.U64, -1, 1, -1, true},
		{doAnd, isa.S16, -2, 0x7f, 0x7e, true},
		{doOr, isa.B32, 1 << 31, 1, 1<<31 | 1, true},
		{doXor, isa.S32, -1, 1, -2, true},
		{doShl, isa.U32, 1, 1, 0, false},
		{doFMA, isa.U32, 1, 1, 0, false},
	} {
		if got, ok := evaluate(test.how, test.typ, test.a, test.b); got != test.want ||
			ok != test.ok {
			t.Errorf("%s of %s: %d, %d is %d, %t; want %d, %t", verbs[test.how], test.typ, test.a,
				test.b, got, ok, test.want, test.ok)
		}
	}
}
