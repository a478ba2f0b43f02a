// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package multistage

import (
	"errors"
	"fmt"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// Tolerances for options. F16 accumulators are rounded after every 8 products.
var (
	sumF16 = kerneltest.Abs(0x1p-11).RoundedEvery(8)
	// The variants have small K, so their sums have smaller errors than Check allows.
	short16    = kerneltest.Abs(0x1.8p-25).TruncatedEvery(8)
	short32    = kerneltest.Abs(0x1.4p-25).TruncatedEvery(4)
	shortSplit = kerneltest.Abs(0x1p-26).TruncatedEvery(4)
	// The FP8 tensor cores of sm_89 keep 13 fractional bits of a sum.
	short8 = kerneltest.Abs(0x1p-14).TruncatedEvery(16)
	// With split K, each part has a short sum. F64 sums of the parts are rounded once more.
	shared = map[isa.Type]kerneltest.Tolerance{
		isa.Bf16: kerneltest.Abs(0x1p-27).TruncatedEvery(8),
		isa.Tf32: kerneltest.Abs(0x1.8p-27).TruncatedEvery(4),
		isa.F64:  kerneltest.Abs(0x1p-53).RoundedEvery(1),
	}
)

// Targets of the options: the first target with these tensor cores, and targets with less shared
// memory.
var (
	ampere  = Targets[:1]
	limited = []string{"sm_86", "sm_89"}
)

// variant returns a test configuration that runs the kernel for the given sizes.
func (x trial) variant(option, name, why string, targets []string,
	sizes ...kerneltest.GEMM) kerneltest.Variant {
	return kerneltest.Variant{
		Option: option, Name: name, Why: why, Targets: targets,
		Build: func(m *dsl.Module) { BuildWith(m, x.Options) },
		Check: func(t *kerneltest.T) error {
			if x.Groups {
				return x.checkGroups(t)
			}
			var errs []error
			for _, g := range sizes {
				for _, edge := range []bool{false, true} {
					if y := x; !edge || y.plain() {
						y.edges = edge
						errs = append(errs, y.check(t, g))
					}
				}
			}
			return errors.Join(errs...)
		},
	}
}

// plain reports whether results are exact for edge values: the epilogue does not change the
// accumulators, and F32 elements are not split into TF32.
func (x trial) plain() bool {
	e := x.Epilogue
	return x.Type != isa.F32 && e == Epilogue{D: e.D} && x.Split == NoSplit && x.batch == 0 &&
		(e.D == 0 || x.Sums == isa.F16)
}

// Variants returns one test configuration for each option of the kernel.
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
	return append(append(append(list, shapes()...), layouts()...), epilogues()...)
}

// half is an option that selects the MMA shape with half the depth.
func half(_ *dsl.Module, s dsl.MMA) dsl.MMA { return s.HalfDepth() }

// shapes returns the test configurations with MMA shapes other than the default.
func shapes() (list []kerneltest.Variant) {
	odd := kerneltest.GEMM{M: 65, N: 130, K: 400}
	add := func(option, name string, x trial, targets []string, sizes ...kerneltest.GEMM) {
		list = append(list, x.variant(option, name, why(x.Type), targets, sizes...))
	}
	xor := func(m *dsl.Module, s dsl.MMA) dsl.MMA { s.Bit = dsl.BitXor; return s }
	clamp := func(m *dsl.Module, s dsl.MMA) dsl.MMA { s.Saturate = true; return s }
	add("B1 with xor", "xor", trial{Options: Options{Type: isa.B1, Shape: xor}}, ampere,
		odd.PadK(128))
	add("B1 with and", "and", trial{Options: Options{Type: isa.B1}}, ampere, odd.PadK(128))
	small := Tiling{M: 32, N: 64, Stages: 3}
	add("satfinite integers", "u8, sums above 2^31",
		trial{Options: Options{Type: isa.U8, Shape: clamp, Tiling: small}}, ampere,
		odd, kerneltest.GEMM{M: 3, N: 2, K: 66_560})
	for _, typ := range []isa.Type{isa.S8, isa.S4} {
		add("satfinite integers", name(typ)[1:], trial{Options: Options{Type: typ, Shape: clamp}},
			ampere, odd.PadK(32))
	}
	for _, typ := range []isa.Type{isa.F16} {
		x := trial{Options: Options{Type: typ, Sums: isa.F16}, tolerance: sumF16}
		list = append(list,
			x.variant("F16 accumulators", name(typ)[1:],
				"the sum is rounded to F16 every 8 products", ampere,
				kerneltest.GEMM{M: 65, N: 130, K: 400}))
	}
	add("TF32 m16n8k4", "tf32",
		trial{Options: Options{Type: isa.Tf32, Shape: half}, tolerance: short32}, ampere, odd)
	add("BF16 m16n8k8", "bf16",
		trial{Options: Options{Type: isa.Bf16, Shape: half}, tolerance: short16}, ampere, odd)
	add("F16 m16n8k8", "f16",
		trial{Options: Options{Type: isa.F16, Shape: half}, tolerance: short16}, ampere, odd)
	add("INT8 m16n8k16", "s8", trial{Options: Options{Type: isa.S8, Shape: half}}, ampere, odd)
	add("INT8 m16n8k16", "u8", trial{Options: Options{Type: isa.U8, Shape: half}}, ampere, odd)
	for _, typ := range []isa.Type{isa.S4, isa.U4} {
		add("INT4 m16n8k32", name(typ)[1:], trial{Options: Options{Type: typ, Shape: half}}, ampere,
			odd.PadK(32))
		add("INT4 m16n8k64", name(typ)[1:], trial{Options: Options{Type: typ}}, ampere,
			odd.PadK(32))
	}
	add("B1 m16n8k128", "and", trial{Options: Options{Type: isa.B1, Shape: half}}, ampere,
		odd.PadK(128))
	for _, s := range []struct{ m, k int }{{8, 4}, {16, 4}, {16, 8}, {16, 16}} {
		of := func(_ *dsl.Module, shape dsl.MMA) dsl.MMA {
			shape.M, shape.K = s.m, s.k
			return shape
		}
		option, targets := "FP64 shapes of sm_90", []string{"sm_90"}
		if s.m == 8 {
			option, targets = "FP64 m8n8k4", ampere
		}
		add(option, fmt.Sprintf("m%dn8k%d", s.m, s.k),
			trial{Options: Options{Type: isa.F64, Shape: of}, tolerance: sum64}, targets, odd)
	}
	for _, typ := range []isa.Type{isa.E4m3, isa.E5m2} {
		list = append(list,
			trial{Options: Options{Type: typ}, tolerance: short8}.variant("FP8 of sm_89",
				name(typ)[1:],
				"the sum is truncated to 13 fractional bits every 16 products", []string{"sm_89"},
				odd))
	}
	for _, typ := range []isa.Type{isa.Bf16, isa.F32, isa.S8} {
		x := trial{Options: Options{Type: typ}, tolerance: tolerances[typ]}
		add("sm_86 and sm_89 limits", name(typ)[1:]+", "+x.size(), x, limited, odd)
	}
	return list
}

// tolerances are the tolerances of sums by type. Sums of integers are exact.
var tolerances = map[isa.Type]kerneltest.Tolerance{
	isa.F16: short16, isa.Bf16: short16, isa.Tf32: short32, isa.F32: shortSplit, isa.F64: sum64,
}

// size returns a description of the tiling for the table of variants.
func (x trial) size() string {
	o, _ := x.resolve(dsl.New("size", "sm_80"))
	return fmt.Sprintf("%dx%d, %d stages", o.Tiling.M, o.Tiling.N, o.Tiling.Stages)
}

// layouts returns the test configurations with other memory layouts, tile shapes and methods to
// split the work.
func layouts() (list []kerneltest.Variant) {
	odd := kerneltest.GEMM{M: 72, N: 136, K: 392}
	for _, typ := range []isa.Type{isa.Bf16, isa.Tf32, isa.F64} {
		// BLAS names: in an A that is "T" and in a B that is "N", the elements along K are
		// contiguous.
		for _, side := range []string{"TN", "TT", "NN", "NT"} {
			x := trial{Options: Options{Type: typ, TransposeA: side[0] == 'N',
				TransposeB: side[1] == 'T'}, tolerance: tolerances[typ]}
			list = append(list,
				x.variant("layouts", name(typ)[1:]+", "+side, why(typ), ampere, odd))
		}
	}
	for stages := 2; stages <= 5; stages++ {
		x := trial{Options: Options{Type: isa.Bf16, Tiling: Tiling{M: 128, N: 128, Stages: stages}},
			tolerance: short16}
		list = append(list,
			x.variant("stages", x.size(), why(isa.Bf16), ampere,
				kerneltest.GEMM{M: 65, N: 130, K: 400}))
	}
	for _, s := range [][2]int{{64, 64}, {64, 128}, {128, 64}, {64, 256}, {256, 64}, {128, 128},
		{128, 256}, {256, 128}} {
		for _, typ := range []isa.Type{isa.Bf16} {
			x := trial{Options: Options{Type: typ, Tiling: Tiling{M: s[0], N: s[1], Stages: 3}},
				tolerance: tolerances[typ]}
			list = append(list,
				x.variant("tile shapes", name(typ)[1:]+", "+x.size(), why(typ), ampere,
					kerneltest.GEMM{M: 65, N: 130, K: 400}))
		}
	}
	long := kerneltest.GEMM{M: 65, N: 130, K: 1040}
	for _, typ := range []isa.Type{isa.Bf16, isa.Tf32, isa.S8, isa.F64} {
		x := trial{Options: Options{Type: typ, Split: SplitK}, parts: 3, tolerance: shared[typ]}
		list = append(list, x.variant("split-K", name(typ)[1:]+", 3 parts", why(typ), ampere, long))
		x = trial{Options: Options{Type: typ, Split: StreamK}, blocks: 5, tolerance: shared[typ]}
		list = append(list,
			x.variant("stream-K", name(typ)[1:]+", 5 blocks", why(typ), ampere, long))
	}
	for _, typ := range []isa.Type{isa.Bf16, isa.S8} {
		x := trial{Options: Options{Type: typ, Batch: true}, batch: 3, tolerance: tolerances[typ]}
		list = append(list,
			x.variant("batched", name(typ)[1:]+", 3 pairs", why(typ), ampere,
				kerneltest.GEMM{M: 33, N: 130, K: 400}))
	}
	x := trial{Options: Options{Type: isa.F16, Groups: true}, tolerance: sum16}
	return append(list, x.variant("grouped", "f16, 3 sizes", why(isa.F16), ampere))
}

// epilogues returns the test configurations with epilogues.
func epilogues() (list []kerneltest.Variant) {
	odd := kerneltest.GEMM{M: 65, N: 130, K: 144}
	add := func(option, name string, typ isa.Type, e Epilogue, tolerance kerneltest.Tolerance,
		why string) {
		x := trial{Options: Options{Type: typ, Epilogue: e}, tolerance: tolerance}
		list = append(list, x.variant(option, name, why, ampere, odd))
	}
	const then = "; the epilogue adds roundings of F32"
	add("alpha and beta", "f16, C in f32", isa.F16, Epilogue{Scale: true},
		sum16.Plus(kerneltest.F32.ULPs(1)), why(isa.F16)+then)
	edge := trial{Options: Options{Type: isa.F32}, edges: true}
	list = append(list, kerneltest.Variant{
		Option: "element types", Name: "f32, edge values", Targets: ampere,
		Build: func(m *dsl.Module) { BuildWith(m, edge.Options) },
		Why:   "two TF32 lack the last bit of some numbers, and those below the smallest TF32",
		Check: func(t *kerneltest.T) error { return edge.check(t, odd) },
	})
	ignored := trial{Options: Options{Type: isa.F16, Epilogue: Epilogue{Scale: true}}, ignore: true,
		tolerance: sum16.Plus(kerneltest.F32.ULPs(1))}
	list = append(list, ignored.variant("alpha and beta", "f16, beta of zero and C of NaN",
		why(isa.F16)+then, ampere, odd))
	add("bias", "f16", isa.F16, Epilogue{Bias: true}, sum16.Plus(kerneltest.F32.ULPs(1)),
		why(isa.F16)+then)
	add("bias", "f16, alpha and beta", isa.F16, Epilogue{Scale: true, Bias: true},
		sum16.Plus(kerneltest.F32.ULPs(1)), why(isa.F16)+then)
	add("ReLU and GELU", "relu, f16", isa.F16, Epilogue{Bias: true, Activation: ReLU},
		sum16.Plus(kerneltest.F32.ULPs(1)), why(isa.F16)+then)
	add("ReLU and GELU", "gelu, f16", isa.F16, Epilogue{Bias: true, Activation: GELU},
		sum16.Plus(kerneltest.F32.ULPs(1)), why(isa.F16)+then)
	add("ReLU and GELU", "gelu, bf16 to bf16", isa.Bf16,
		Epilogue{Bias: true, Activation: GELU, D: isa.Bf16},
		kerneltest.BF16.ULPs(0.5).Plus(sum16), "half a unit of BF16, and the error of the F32 sum")
	add("conversion in the epilogue", "f16 to f16", isa.F16, Epilogue{D: isa.F16},
		kerneltest.F16.ULPs(0.5).Plus(sum16), "half a unit of F16, and the error of the F32 sum")
	add("conversion in the epilogue", "bf16 to bf16", isa.Bf16, Epilogue{D: isa.Bf16},
		kerneltest.BF16.ULPs(0.5).Plus(sum16), "half a unit of BF16, and the error of the F32 sum")
	add("conversion in the epilogue", "s8 to f32", isa.S8, Epilogue{D: isa.F32}, exact,
		"alpha is a power of two, and the sums are below 2^24")
	add("conversion in the epilogue", "s8 to s8", isa.S8, Epilogue{D: isa.S8}, exact,
		"alpha is a power of two; the result is rounded to even")
	return list
}

// why returns the reason for the tolerance of a type.
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

// checkType multiplies matrices of one type, whose sizes are not multiples of the tile.
func checkType(t *kerneltest.T, typ isa.Type) error {
	var errs []error
	for _, g := range []kerneltest.GEMM{{M: 1, N: 2, K: 16}, {M: 65, N: 130, K: 400}} {
		errs = append(errs, checkOf(t, typ, g))
	}
	return errors.Join(errs...)
}
