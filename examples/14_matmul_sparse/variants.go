// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package sparse

import (
	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// Variants returns a variant for each option of the kernel.
func Variants() []kerneltest.Variant {
	var list []kerneltest.Variant
	for _, typ := range Types {
		v := kerneltest.Variant{
			Option: "sparse element types", Name: name(typ)[1:], Targets: Targets,
			Build: func(m *dsl.Module) { Build(m, typ, Default) },
			Check: func(t *kerneltest.T) error { return checkOf(t, typ, kerneltest.GEMM{M: 65, N: 130, K: 1024}) },
			Why:   "half of the products are zero, and the sum is truncated to F32 every 16 columns",
		}
		switch typ {
		case isa.Tf32:
			v.Why = "half of the products are zero, and the sum is truncated to F32 every 8 columns"
		case isa.S8, isa.S4:
			v.Why = "integers are exact"
		case isa.E4m3:
			v.Targets, v.Why = []string{"sm_90"}, "the products are multiples of 2^-18, and their sums below 2^6 are exact in F32"
		}
		list = append(list, v)
	}
	return list
}
