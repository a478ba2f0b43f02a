// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package multistage

import (
	"errors"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// Variants returns a variant for each option of the kernel.
func Variants() []kerneltest.Variant {
	var list []kerneltest.Variant
	for _, typ := range Types {
		list = append(list, kerneltest.Variant{
			Option: "element types", Name: name(typ)[1:], Targets: Targets,
			Build: func(m *dsl.Module) { Build(m, typ, Default(typ)) },
			Check: func(t *kerneltest.T) error { return checkType(t, typ) },
			Why:   why(typ),
		})
	}
	return list
}

// why explains the tolerance for a type.
func why(t isa.Type) string {
	switch t {
	case isa.F64:
		return "each of the K sums is rounded to F64"
	case isa.F32, isa.Tf32:
		return "the sum is truncated to F32 every 4 products"
	case isa.F16, isa.Bf16:
		return "the sum is truncated to F32 every 8 products"
	}
	return "integers are exact"
}

// checkType multiplies matrices of a type in odd sizes.
func checkType(t *kerneltest.T, typ isa.Type) error {
	var errs []error
	for _, g := range []kerneltest.GEMM{{M: 1, N: 2, K: 16}, {M: 65, N: 130, K: 400}} {
		errs = append(errs, checkOf(t, typ, g))
	}
	return errors.Join(errs...)
}
