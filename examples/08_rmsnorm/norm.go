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
	v := f.Load(x.At64(f.Start()), 0)
	if r.Residual {
		// The sum is not rounded for the norm, so it is kept in F32.
		f.Eager()
		v = f.Zip(v, f.Load(residual.At64(f.Start()), 0), plus)
		f.Store(residual.At64(f.Start()), v)
	}
	weights := f.Reload(w)
	if r.Kind == LayerNorm {
		v = f.centered(v)
	}
	scale := f.mean(v, "squares", square).Add(eps).Rsqrt()
	v = f.Zip(v, weights, func(x, w dsl.Reg[dsl.F32]) dsl.Reg[dsl.F32] {
		return x.Mul(scale).Mul(w)
	})
	if r.Kind == LayerNorm {
		v = f.Zip(v, f.Reload(b), plus)
	}
	out(v)
}

// mean returns the mean of a function of the elements.
func (f *frame[E]) mean(v dsl.RowValues, name string,
	element func(dsl.Reg[dsl.F32]) dsl.Reg[dsl.F32]) dsl.Reg[dsl.F32] {
	return f.Reduce(v, name, element, plus).MulF(1 / float64(f.r.Cols))
}

// centered subtracts the mean from each element, and leaves zeros after the end of the row.
func (f *frame[E]) centered(v dsl.RowValues) dsl.RowValues {
	center := f.mean(v, "means", nil)
	return f.MapAt(v, func(col func() dsl.Reg[dsl.U32], x dsl.Reg[dsl.F32]) dsl.Reg[dsl.F32] {
		return dsl.Select(col().LTI(int64(f.r.Cols)), x.Sub(center), f.k.F32(0))
	})
}

// declare declares the output parameters of the kernel, and returns a function that stores to them.
func declare[E dsl.Scalar](f *frame[E]) func(v dsl.RowValues) {
	switch f.r.Output {
	case isa.E4m3:
		return declareE4M3(f)
	case isa.E2m1:
		return declareE2M1(f)
	}
	y := dsl.Global[E](f.k, "y")
	return func(v dsl.RowValues) { f.Store(y.At64(f.Start()), v) }
}

// declareE4M3 is declare for y of .e4m3, with a scale for each row.
func declareE4M3[E dsl.Scalar](f *frame[E]) func(v dsl.RowValues) {
	y, scales := dsl.Global[dsl.E4M3x2](f.k, "y"), dsl.Global[dsl.F32](f.k, "scales")
	return func(v dsl.RowValues) {
		most := f.Reduce(v, "magnitudes", magnitude, largest)
		scale := most.MulF(1.0 / 448).Max(f.k.F32(0x1p-120)) // a row of zeros has a scale, too
		f.k.If(f.IsFirst(), func() { scales.Store(f.Row(), scale) })
		by := scale.Rcp()
		f.Each(v, func(at dsl.Reg[dsl.U32], xs []dsl.Reg[dsl.F32]) {
			if len(xs) == 1 { // rows of odd length
				x := dsl.To[dsl.E4M3](xs[0].Mul(by))
				dsl.As[dsl.E4M3](y).At64(f.Start()).Store(at, x)
				return
			}
			pairs := quotients[dsl.E4M3x2](xs, by)
			y.At64(f.Start().ShrI(1)).StoreVec(at.ShrI(1), pairs)
		})
	}
}

// declareE2M1 is declare for y of .e2m1, with a scale of .e4m3 for each group of 16 elements.
func declareE2M1[E dsl.Scalar](f *frame[E]) func(v dsl.RowValues) {
	y, scales := dsl.Global[dsl.E2M1x2](f.k, "y"), dsl.Global[dsl.E4M3](f.k, "scales")
	if f.r.Cols%16 != 0 {
		f.k.Errorf("rows of %d elements of .e2m1, expected a multiple of the 16 that share a scale",
			f.r.Cols)
		return func(dsl.RowValues) {}
	}
	return func(v dsl.RowValues) {
		f.Each(v, func(at dsl.Reg[dsl.U32], xs []dsl.Reg[dsl.F32]) {
			most := f.k.F32(0)
			for _, x := range xs {
				most = most.Max(x.Abs())
			}
			code := dsl.To[dsl.E4M3](most.MulF(1.0 / 6))
			scales.At64(f.Start().ShrI(4)).Store(at.ShrI(4), code)
			by := dsl.To[dsl.F32](code).Rcp().Min(f.k.F32(math.MaxFloat32)) // zero times it is zero
			pairs := quotients[dsl.E2M1x2](xs, by)
			y.At64(f.Start().ShrI(1)).StoreVec(at.ShrI(1), pairs)
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
