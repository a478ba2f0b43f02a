// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package multistage

import (
	"errors"
	"fmt"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// Targets are the PTX targets for which the kernel is built.
var Targets = []string{"sm_80", "sm_90"}

// Tolerances. The products are exact. The tensor cores of sm_80 add 8 products of 16-bit types or
// 4 products of TF32 at a time, and truncate the sum to F32. The product of two F32 operands is
// the sum of three TF32 products. F64 sums are rounded after each addition.
var (
	sum16 = kerneltest.Abs(0x1p-24).TruncatedEvery(8)
	sum32 = kerneltest.Abs(0x1p-24).TruncatedEvery(4)
	split = kerneltest.Abs(0x1p-25).TruncatedEvery(4) // in each stage
	sum64 = kerneltest.Abs(0x1.8p-54).RoundedEvery(1)
	exact = kerneltest.Tolerance{}
)

// Check multiplies matrices of every type in several shapes, some of which are not multiples of
// the tile, and compares the products with a host reference.
func Check(t *kerneltest.T) error {
	for _, g := range kerneltest.Sizes(t, kerneltest.GEMM.Cost,
		kerneltest.GEMM{M: 1, N: 2, K: 16}, kerneltest.GEMM{M: 33, N: 70, K: 144},
		kerneltest.GEMM{M: 333, N: 190, K: 336},
		kerneltest.GEMM{M: 128, N: 128, K: 1024}, kerneltest.GEMM{M: 384, N: 128, K: 640},
		kerneltest.GEMM{M: 640, N: 896, K: 2048},
	) {
		var errs []error
		for _, typ := range Types {
			errs = append(errs, checkOf(t, typ, g))
		}
		if err := errors.Join(errs...); err != nil {
			return err
		}
	}
	return nil
}

// checkOf multiplies matrices of one type, and checks the product.
func checkOf(t *kerneltest.T, typ isa.Type, g kerneltest.GEMM) error {
	switch typ {
	case isa.F16:
		return check(t, typ, g, kerneltest.F16, kerneltest.F32, sum16)
	case isa.Bf16:
		return check(t, typ, g, kerneltest.BF16, kerneltest.F32, sum16)
	case isa.Tf32:
		return check(t, typ, g, kerneltest.TF32, kerneltest.F32, sum32)
	case isa.F32:
		return check(t, typ, g, kerneltest.F32, kerneltest.F32, split)
	case isa.S8:
		return check(t, typ, g, kerneltest.S8, kerneltest.S32, exact)
	case isa.U8:
		return check(t, typ, g, kerneltest.U8, kerneltest.S32, exact)
	case isa.F64:
		return check(t, typ, g, kerneltest.F64, kerneltest.F64, sum64)
	case isa.S4:
		return checkBits(t, typ, g.PadK(32), func(x uint8) int { return int(int8(x<<4) >> 4) })
	case isa.U4:
		return checkBits(t, typ, g.PadK(32), func(x uint8) int { return int(x) })
	case isa.B1:
		return checkBits(t, typ, g.PadK(128), func(x uint8) int { return int(x) })
	}
	return fmt.Errorf("no check for %s", typ)
}

// check multiplies random matrices of one type, and checks the product. Some rows have edge
// values, except for F32: the kernel splits an F32 element into a sum of three TF32 numbers, and
// the second part of an infinity is NaN.
func check[E, C runtime.Element](
	t *kerneltest.T, typ isa.Type, g kerneltest.GEMM, in kerneltest.Format[E],
	out kerneltest.Format[C], tolerance kerneltest.Tolerance,
) error {
	a, b := kerneltest.EdgeMatrix(t, g.M, g.K, in, 0), kerneltest.EdgeMatrix(t, g.N, g.K, in, 1)
	if typ == isa.F32 {
		a, b = kerneltest.RandomMatrix(t, g.M, g.K, in), kerneltest.RandomMatrix(t, g.N, g.K, in)
	}
	return multiply(t, typ, a, b, out, tolerance)
}

// checkBits multiplies random matrices of integers with fewer than 8 bits, and checks the
// product. value converts the bits of an element.
func checkBits(t *kerneltest.T, typ isa.Type, g kerneltest.GEMM, value func(bits uint8) int) error {
	a, b := kerneltest.RandomPacked(t, g.M, g.K, typ.Bits(), value),
		kerneltest.RandomPacked(t, g.N, g.K, typ.Bits(), value)
	return multiply(t, typ, a, b, kerneltest.S32, exact)
}

// multiply builds the kernel for typ, multiplies a and b, and checks that the product is within
// the tolerance.
func multiply[C runtime.Element](
	t *kerneltest.T, typ isa.Type, a, b kerneltest.Matrix, out kerneltest.Format[C],
	tolerance kerneltest.Tolerance,
) error {
	tiling := Default(typ)
	blocks, err := tiling.Blocks(typ, a.Rows, b.Rows, a.Cols)
	if err != nil {
		return err
	}
	k, err := t.Kernel("matmul"+name(typ), func(m *dsl.Module) { Build(m, typ, tiling) })
	if err != nil {
		return err
	}
	if err := kerneltest.Multiply(t, k, runtime.Grid(blocks), a, b, out, tolerance,
		nil); err != nil {
		return fmt.Errorf("%s: %w", typ, err)
	}
	return nil
}
