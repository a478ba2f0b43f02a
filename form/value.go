// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package form

import (
	"math"
	"strconv"
	"strings"

	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/ptx"
)

// Constant evaluates a constant expression of a module. It returns its type (.s64, .u64 or
// .f64, or .f32 for exact 0f literals) and its bits; ok is false if o is not a constant
// expression.
func Constant(f *ptx.File, o *ptx.Operand) (bits uint64, t isa.Type, ok bool) {
	if !isConstant(o) {
		return 0, 0, false
	}
	c := checker{src: f}
	switch v := c.evaluate(o); v.sort {
	case signed:
		return v.bits, isa.S64, true
	case unsigned:
		return v.bits, isa.U64, true
	case single:
		for o.Kind == ptx.Paren {
			o = &o.Args[0]
		}
		if n, err := strconv.ParseUint(strings.TrimPrefix(strings.ToLower(o.Text), "0f"), 16, 32); err == nil && len(o.Text) == 10 {
			return n, isa.F32, true // a NaN may lose bits in a conversion
		}
		return uint64(math.Float32bits(float32(v.float))), isa.F32, true
	case double:
		return math.Float64bits(v.float), isa.F64, true
	}
	return 0, 0, false
}
