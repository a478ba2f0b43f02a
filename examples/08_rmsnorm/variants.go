// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package rmsnorm

import (
	"fmt"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// Targets of the variants: the oldest and the newest target, a target with clusters, and targets
// that can convert to .e4m3 and to .e2m1.
var (
	some      = []string{"sm_80", "sm_121"}
	clustered = []string{"sm_90"}
	floats8   = []string{"sm_89"}
	floats4   = []string{"sm_120a"}
)

// Tolerances by type. Kernels with 16-bit types round the result once; F32 errors are much
// smaller than this rounding.
var (
	norms = map[isa.Type]kerneltest.Tolerance{
		isa.F32: kerneltest.F32.ULPs(4), isa.F16: kerneltest.F16.ULPs(0.52),
		isa.Bf16: kerneltest.BF16.ULPs(0.52),
	}
	// The relative error of exp(x) is the absolute error of x.
	softmaxes = map[isa.Type]kerneltest.Tolerance{
		isa.F32: kerneltest.Rel(2e-6).Plus(kerneltest.Abs(0x1p-126)),
		isa.F16: kerneltest.F16.ULPs(0.53), isa.Bf16: kerneltest.BF16.ULPs(0.52),
	}
	// Differences from the mean may be much smaller than the elements of the row.
	centered = map[isa.Type]kerneltest.Tolerance{
		isa.F32:  kerneltest.F32.ULPs(1.3).Plus(kerneltest.Abs(2.5e-7)),
		isa.F16:  kerneltest.F16.ULPs(0.5).Plus(kerneltest.Abs(1e-6)),
		isa.Bf16: kerneltest.BF16.ULPs(0.5).Plus(kerneltest.Abs(1e-6)),
	}
	// An element is rounded to half a unit of 2^-4 of its size; the smallest units are 2^-9/448.
	eights = kerneltest.Rel(0x1.01p-4).Plus(kerneltest.Abs(0x1p-10 / 448))
	// The scale is rounded to .e4m3, so that the largest element is up to 1/16 beyond 6.
	fours  = kerneltest.Abs(0.2)
	losses = map[isa.Type]kerneltest.Tolerance{
		isa.F32: kerneltest.F32.ULPs(2), isa.F16: kerneltest.F32.ULPs(1.25),
		isa.Bf16: kerneltest.F32.ULPs(1.25),
	}
)

// Reasons for the tolerances. They are printed in the table of variants.
const (
	fourRoundings = "the sum, rsqrt.approx with 2 ulp, and two products are rounded; the sum loses parts of squares that are far below the largest"
	halfUnit      = "the result is rounded once; F32 errors are far below its unit"
	cancels       = "differences of F32 numbers lose digits, relative to the largest of the row"
	eightsWhy     = "half a unit of .e4m3, beside which F32 errors are small"
	foursWhy      = "half a unit of .e2m1 for numbers of 4 to 6 is 1/6 of the largest, and the scale has an error of 1/16"
	powers        = "ex2.approx has 2 ulp, and its argument is rounded"
)

// types are the types of x and y that are tested.
var types = []isa.Type{isa.F32, isa.F16, isa.Bf16}

// Variants returns one test configuration for each option of the kernels, with several types and
// row lengths.
func Variants() []kerneltest.Variant {
	var list []kerneltest.Variant
	for _, typ := range types {
		for _, hidden := range []int{1024, 4096, 8192} {
			option, targets := "RMSNorm", some[:1]
			for range 2 {
				list = append(list, kerneltest.Variant{
					Option: option, Name: fmt.Sprintf("%s, rows of %d", typ.String()[1:], hidden),
					Targets: targets, Why: why(typ, fourRoundings),
					Build: func(m *dsl.Module) { Build(m, typ, hidden) },
					Check: func(t *kerneltest.T) error { return checkType(t, typ, hidden, 7) },
				})
				option, targets = "sm_121 for F16, BF16 and F32", some[1:]
			}
		}
	}
	return append(append(list, rowVariants()...), ropeVariants()...)
}

// why returns the reason for the tolerance of a type: f32 for .f32, and the rounding of the
// result for 16-bit types.
func why(t isa.Type, f32 string) string {
	if t == isa.F32 {
		return f32
	}
	return halfUnit
}

// rowVariants returns the test configurations of BuildRow.
func rowVariants() (list []kerneltest.Variant) {
	add := func(option string, r RowKernel, rows int, targets []string,
		tolerance kerneltest.Tolerance, why string) {
		list = append(list, kerneltest.Variant{
			Option: option, Name: fmt.Sprintf("%s, rows of %d", r.Type.String()[1:], r.Cols),
			Targets: targets, Why: why,
			Build: func(m *dsl.Module) { BuildRow(m, r) },
			Check: func(t *kerneltest.T) error { return r.check(t, rows, tolerance) },
		})
	}
	for _, t := range types {
		norm := func(option string, cols, rows int, targets []string) {
			add(option, RowKernel{Kind: Normalize, Type: t, Cols: cols}, rows, targets, norms[t],
				why(t, fourRoundings))
		}
		norm("blocks of 256 threads", 4096, 7, some)
		norm("blocks of 256 threads", 16384, 3, some)
		norm("sm_121 for F16, BF16 and F32", 5120, 7, []string{"sm_121"})
		for _, cols := range []int{32768, 131_072, 262_144} {
			norm("rows up to 262,144 through clusters", cols, 2, clustered)
		}
		for _, cols := range []int{37, 1001, 4104} {
			norm("odd sizes", cols, 7, some)
		}
		add("residual add", RowKernel{Kind: Normalize, Type: t, Cols: 4096, Residual: true}, 7,
			some, norms[t], why(t, fourRoundings))
		for _, cols := range []int{4096, 1001} {
			add("LayerNorm", RowKernel{Kind: LayerNorm, Type: t, Cols: cols}, 7, some, centered[t],
				why(t, cancels))
			add("softmax", RowKernel{Kind: Softmax, Type: t, Cols: cols}, 7, some, softmaxes[t],
				why(t, powers))
		}
		add("softmax", RowKernel{Kind: Softmax, Type: t, Cols: 131_072}, 2, clustered, softmaxes[t],
			why(t, powers))
		for _, cols := range []int{4096, 50_257} {
			targets := some
			if cols > 16_384 {
				targets = clustered
			}
			add("cross-entropy forward", RowKernel{Kind: CrossEntropy, Type: t, Cols: cols}, 7,
				targets, losses[t], powers)
			add("cross-entropy backward", RowKernel{Kind: Gradient, Type: t, Cols: cols}, 7,
				targets, softmaxes[t], why(t, powers))
		}
		add("FP8 output", RowKernel{Kind: Normalize, Type: t, Cols: 4096, Output: isa.E4m3}, 7,
			floats8, eights, eightsWhy)
		add("nvfp4 output", RowKernel{Kind: Normalize, Type: t, Cols: 4096, Output: isa.E2m1}, 7,
			floats4, fours, foursWhy)
	}
	odd := RowKernel{Kind: Normalize, Type: isa.Bf16, Cols: 1001}
	fp8, sum := odd, odd
	fp8.Output, sum.Residual = isa.E4m3, true
	add("FP8 output", fp8, 7, floats8, eights, eightsWhy)
	add("residual add", sum, 7, some, norms[isa.Bf16], halfUnit)
	add("nvfp4 output", RowKernel{Kind: Normalize, Type: isa.Bf16, Cols: 4112, Output: isa.E2m1}, 7,
		floats4, fours, foursWhy)
	add("rows up to 262,144 through clusters",
		RowKernel{Kind: Normalize, Type: isa.Bf16, Cols: 100_001}, 2, clustered, norms[isa.Bf16],
		halfUnit)
	add("LayerNorm", RowKernel{Kind: LayerNorm, Type: isa.Bf16, Cols: 65_536}, 2, clustered,
		centered[isa.Bf16], why(isa.Bf16, cancels))
	add("cross-entropy forward", RowKernel{Kind: CrossEntropy, Type: isa.Bf16, Cols: 65_600}, 2,
		clustered, losses[isa.Bf16], powers)
	add("FP8 output", RowKernel{Kind: Normalize, Type: isa.Bf16, Cols: 65_536, Output: isa.E4m3}, 2,
		clustered, eights, eightsWhy)
	gradient := RowKernel{Kind: Gradient, Type: isa.F32, Cols: 4104}
	return append(list, kerneltest.Variant{
		Option: "cross-entropy backward", Name: "f32, rows of 4104, scale factors of Inf and NaN",
		Targets: some[:1], Why: powers,
		Build: func(m *dsl.Module) { BuildRow(m, gradient) },
		Check: func(t *kerneltest.T) error {
			x := inputs(t, kerneltest.F32, 7, gradient.Cols)
			return checkLoss(t, gradient, kerneltest.F32, "gradient f32, 7 rows of 4104", x, true,
				softmaxes[isa.F32])
		},
	})
}

// ropeVariants returns the test configurations of BuildRope.
func ropeVariants() (list []kerneltest.Variant) {
	for _, typ := range types {
		for _, dim := range []int{64, 128, 256} {
			tolerance := centered[typ]
			list = append(list, kerneltest.Variant{
				Option: "RoPE fused with QK-norm",
				Name:   fmt.Sprintf("%s, heads of %d", typ.String()[1:], dim), Targets: some,
				Why:   why(typ, cancels),
				Build: func(m *dsl.Module) { BuildRope(m, typ, dim) },
				Check: func(t *kerneltest.T) error {
					switch typ {
					case isa.F16:
						return checkRope(t, typ, kerneltest.F16, 5, 3, dim, tolerance)
					case isa.Bf16:
						return checkRope(t, typ, kerneltest.BF16, 5, 3, dim, tolerance)
					}
					return checkRope(t, typ, kerneltest.F32, 5, 3, dim, tolerance)
				},
			})
		}
	}
	return list
}
