// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package blackwell

import (
	"strings"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// Variants returns one test configuration for each type with one block and with a CTA pair, and
// one for tiles that the hardware assigns.
func Variants() []kerneltest.Variant {
	var list []kerneltest.Variant
	add := func(name string, t Tiling) {
		option := "plain tcgen05 GEMM in " + map[isa.Type]string{isa.Bf16: "BF16", isa.F16: "F16",
			isa.Tf32: "TF32",
			isa.E4m3: "FP8", isa.E5m2: "FP8", isa.S8: "INT8", isa.U8: "INT8"}[t.Type]
		if t.Pair {
			option = "plain tcgen05 GEMM on two SMs"
		}
		targets := Targets
		if t.Type == isa.S8 || t.Type == isa.U8 {
			targets = []string{"sm_100a"} // sm_103a has no integer MMAs
		}
		list = append(list, kerneltest.Variant{
			Option: option, Name: name, Targets: targets, Why: why(t.Type),
			Build: func(m *dsl.Module) { Build(m, t) },
			Check: func(k *kerneltest.T) error { return checkTiling(k, t) },
		})
	}
	for _, pair := range []bool{false, true} {
		for _, typ := range Types {
			name := strings.TrimPrefix(typ.String(), ".")
			t := DefaultOf(typ, pair)
			if pair {
				name += "_pair"
			}
			add(name, t)
			if typ == isa.Bf16 {
				t.Dynamic = true
				add(name+"_dynamic", t)
			}
		}
	}
	return list
}

// why returns the reason for the tolerance of a type.
func why(t isa.Type) string {
	switch t {
	case isa.S8, isa.U8:
		return "integers are exact"
	case isa.Tf32:
		return "the sum is truncated to F32 every 8 products"
	case isa.Bf16, isa.F16:
		return "the result is rounded, and the sum is truncated to F32 every 16 products"
	}
	return "the result is rounded to BF16, and the sum is truncated to F32 every 32 products"
}
