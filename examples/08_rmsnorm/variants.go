// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package rmsnorm

import (
	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// Reasons for the tolerances.
const (
	fourRoundings = "the sum, rsqrt.approx with 2 ulp, and two products are rounded"
	halfUnit      = "the result is rounded once; F32 errors are far below its unit"
)

// Variants returns a variant for each option of the kernel.
func Variants() []kerneltest.Variant {
	var list []kerneltest.Variant
	add := func(option, name string, typ isa.Type, hidden int, targets ...string) {
		why := halfUnit
		if typ == isa.F32 {
			why = fourRoundings
		}
		list = append(list, kerneltest.Variant{
			Option: option, Name: name, Targets: targets, Why: why,
			Build: func(m *dsl.Module) { Build(m, typ, hidden) },
			Check: func(t *kerneltest.T) error { return checkType(t, typ, hidden, 7) },
		})
	}
	for _, typ := range []isa.Type{isa.F32, isa.F16, isa.Bf16} {
		add("RMSNorm", typ.String()[1:]+", rows of 4096", typ, 4096, Targets...)
	}
	return list
}
