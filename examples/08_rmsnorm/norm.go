// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package rmsnorm

import (
	"math"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

// norm emits a kernel that normalizes rows: RMSNorm or LayerNorm, depending on the kind.
func norm[E dsl.Scalar](f *frame[E], x dsl.Array[E]) {
	k, r := f.k, f.r
	w := dsl.Global[E](k, "w")
	var b, residual dsl.Array[E]
	if r.Kind == LayerNorm {
		b = dsl.Global[E](k, "b")
	}
	if r.Residual {
		residual = dsl.Global[E](k, "residual")
	}
	out := declare(f)
	eps := dsl.Param[dsl.F32](k, "eps")
	f.begin()
	v := f.load(x.At64(f.start), 0)
	if r.Residual {
		// The norm uses the sum before rounding, so the sum is kept in F32.
		f.lazy = false
		v = f.with(v, f.load(residual.At64(f.start), 0), plus)
		f.store(residual.At64(f.start), v)
	}
	weights := f.reload(w)
	if r.Kind == LayerNorm {
		v = f.centered(v)
	}
	scale := f.mean(v, "squares", square).Add(eps).Rsqrt()
	v = f.with(v, weights, func(x, w dsl.Reg[dsl.F32]) dsl.Reg[dsl.F32] {
		return x.Mul(scale).Mul(w)
	})
	if r.Kind == LayerNorm {
		v = f.with(v, f.reload(b), plus)
	}
	out(v)
}

// mean returns the mean over the row of the results of a function of the elements.
func (f *frame[E]) mean(v values, name string,
	element func(dsl.Reg[dsl.F32]) dsl.Reg[dsl.F32]) dsl.Reg[dsl.F32] {
	return f.combine(v, name, element, plus).MulF(1 / float64(f.r.Cols))
}

// centered subtracts the mean of the row from each element. Elements past the end of the row
// become zero.
func (f *frame[E]) centered(v values) values {
	center := f.mean(v, "means", same)
	return f.change(v, func(i, j int, x dsl.Reg[dsl.F32]) dsl.Reg[dsl.F32] {
		inside := f.first.AddI(int64(i*f.step + j)).LTI(int64(f.r.Cols))
		return dsl.Select(inside, x.Sub(center), f.k.F32(0))
	})
}

// declare declares the output parameters of the kernel, and returns a function that stores to
// them.
func declare[E dsl.Scalar](f *frame[E]) func(v values) {
	switch f.r.Output {
	case isa.E4m3:
		return declareE4M3(f)
	case isa.E2m1:
		return declareE2M1(f)
	}
	y := dsl.Global[E](f.k, "y")
	return func(v values) { f.store(y.At64(f.start), v) }
}

// declareE4M3 is declare for an output of .e4m3 with one scale per row.
func declareE4M3[E dsl.Scalar](f *frame[E]) func(v values) {
	y, scales := dsl.Global[dsl.E4M3x2](f.k, "y"), dsl.Global[dsl.F32](f.k, "scales")
	return func(v values) {
		most := f.combine(v, "magnitudes", func(x dsl.Reg[dsl.F32]) dsl.Reg[dsl.F32] {
			return x.Abs()
		}, largest)
		scale := most.MulF(1.0 / 448).Max(f.k.F32(0x1p-120)) // positive, even for a row of zeros
		f.k.If(f.first.EQI(0), func() { scales.Store(f.row, scale) })
		by := scale.Rcp()
		f.each(func(i int, at dsl.Reg[dsl.U32]) {
			pairs := quotients[dsl.E4M3x2](v[i](), by)
			y.At64(f.start.ShrI(1)).StoreVec(at.ShrI(1), pairs)
		})
	}
}

// declareE2M1 is declare for an output of .e2m1 with one .e4m3 scale per group of 16 elements.
func declareE2M1[E dsl.Scalar](f *frame[E]) func(v values) {
	y, scales := dsl.Global[dsl.E2M1x2](f.k, "y"), dsl.Global[dsl.E4M3](f.k, "scales")
	return func(v values) {
		f.each(func(i int, at dsl.Reg[dsl.U32]) {
			most, xs := f.k.F32(0), v[i]()
			for _, x := range xs {
				most = most.Max(x.Abs())
			}
			code := dsl.To[dsl.E4M3](most.MulF(1.0 / 6))
			scales.At64(f.start.ShrI(4)).Store(at.ShrI(4), code)
			by := dsl.To[dsl.F32](code).Rcp().Min(f.k.F32(math.MaxFloat32))
			pairs := quotients[dsl.E2M1x2](xs, by)
			y.At64(f.start.ShrI(1)).StoreVec(at.ShrI(1), pairs)
		})
	}
}

// quotients returns the elements multiplied by by, the reciprocal of their scale. Each register
// holds two results.
func quotients[P dsl.Scalar](xs []dsl.Reg[dsl.F32], by dsl.Reg[dsl.F32]) (pairs []dsl.Reg[P]) {
	for j := 0; j < len(xs); j += 2 {
		pairs = append(pairs, dsl.Pack[P](xs[j].Mul(by), xs[j+1].Mul(by)))
	}
	return pairs
}
