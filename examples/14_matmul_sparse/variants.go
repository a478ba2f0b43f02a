// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package sparse

import (
	"errors"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// sumF16 is the tolerance of F16 sums, which are rounded after every 16 products. Half of the
// products are zero.
var sumF16 = kerneltest.Abs(0x1.8p-12).RoundedEvery(16)

// sum8 is the tolerance of FP8 sums on sm_89; sums on sm_90 are more accurate.
var sum8 = kerneltest.Abs(0x1p-14).TruncatedEvery(32)

// Variants returns one test configuration per option of the kernel.
func Variants() []kerneltest.Variant {
	var list []kerneltest.Variant
	add := func(option, label string, x trial, targets []string, why string) {
		list = append(list, kerneltest.Variant{
			Option: option, Name: label, Targets: targets, Why: why,
			Build: func(m *dsl.Module) { BuildWith(m, x.Options) },
			Check: func(t *kerneltest.T) error {
				g := kerneltest.GEMM{M: 65, N: 130, K: 1024}
				if x.edges != normal {
					g = kerneltest.GEMM{M: 33, N: 18, K: 512}
				}
				err := x.check(t, g)
				if x.MMA.Saturate && x.MMA.A == isa.S8 {
					err = errors.Join(err, x.checkClamped(t))
				}
				return err
			},
		})
	}
	for _, typ := range append(Types, isa.U8, isa.U4, isa.E5m2) {
		targets, tolerance, tiling := Targets, exact, Default
		switch typ {
		case isa.F16, isa.Bf16:
			tolerance = sum16
		case isa.Tf32:
			tolerance = sum32
		case isa.E4m3, isa.E5m2:
			tolerance = sum8
			// sm_89 has only 99 KB of shared memory per block
			targets, tiling = []string{"sm_89", "sm_90"}, Tiling{M: 64, N: 64, Stages: 3}
		}
		add("sparse element types", name(typ)[1:],
			trial{Options: Options{Shape(typ), tiling}, tolerance: tolerance},
			targets, why(typ))
		if Shape(typ).C == isa.F32 {
			add("sparse element types", name(typ)[1:]+", edge values in B",
				trial{Options: Options{Shape(typ), tiling}, tolerance: tolerance, edges: partner},
				targets[:1], why(typ))
		}
		if typ != isa.E4m3 && typ != isa.E5m2 {
			add("sparse shapes with half the depth",
				name(typ)[1:]+", "+Shape(typ).HalfDepth().String(),
				trial{Options: Options{Shape(typ).HalfDepth(), Default}, tolerance: tolerance},
				Targets[:1], why(typ))
		}
	}
	for _, shape := range []dsl.MMA{dsl.SparseMMAFor(isa.F16, isa.F16),
		dsl.SparseMMAFor(isa.F16, isa.F16).HalfDepth()} {
		add("sparse F16 accumulators", shape.String(),
			trial{Options: Options{shape, Default}, tolerance: sumF16},
			Targets[:1],
			"half of the products are zero, and the sum is rounded to F16 every 16 columns")
		for _, e := range []edges{inA, partner} {
			add("sparse F16 accumulators",
				shape.String()+map[edges]string{inA: ", edge values",
					partner: ", edge values in B"}[e],
				trial{Options{shape, Default}, sumF16.Plus(kerneltest.F16.ULPs(0.5)), e},
				Targets[:1],
				"the sum is rounded to F16 every 16 columns; an edge value is rounded to half a unit")
		}
	}
	for _, typ := range []isa.Type{isa.S8, isa.S4} {
		shape := Shape(typ)
		shape.Saturate = true
		add("sparse satfinite integers", name(typ)[1:],
			trial{Options: Options{shape, Tiling{M: 32, N: 64, Stages: 3}}}, Targets[:1], why(typ))
	}
	return list
}

// why returns the reason for the tolerance of a type.
func why(t isa.Type) string {
	switch t {
	case isa.Tf32:
		return "half of the products are zero, and the sum is truncated to F32 every 8 columns"
	case isa.S8, isa.U8, isa.S4, isa.U4:
		return "integers are exact"
	case isa.E4m3, isa.E5m2:
		return "half of the products are zero, and sm_89 keeps 13 fraction bits of the largest"
	}
	return "half of the products are zero, and the sum is truncated to F32 every 16 columns"
}
