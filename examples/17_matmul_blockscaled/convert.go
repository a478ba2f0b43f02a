// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package blockscaled

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// The arguments for alpha and beta, the factors of the product and of C.
const alpha, beta = 0.25, -2

// scaleWords returns the scale factors as a kernel argument: one row of 64-bit words for every
// 128 rows of the matrix.
func scaleWords(n Numbers) *kerneltest.Array {
	atoms := n.ScaleAtoms()
	words := make([]uint64, len(atoms)/8)
	for i := range words {
		words[i] = binary.LittleEndian.Uint64(atoms[8*i:])
	}
	high := (n.Rows + 127) / 128
	return kerneltest.In(words).Tensor(high, len(words)/high)
}

// paddedFactors returns a matrix with the scale factors of parts, each padded to whole tiles of 128
// rows. It has no elements.
func (n Numbers) paddedFactors(parts []part) Numbers {
	each := len(n.Factors) / n.Rows
	padded := Numbers{Type: n.Type, Scale: n.Scale, Cols: n.Cols}
	for _, p := range parts {
		rows := (p.rows + 127) / 128 * 128
		padded.Rows += rows
		padded.Factors = append(padded.Factors, n.Factors[p.row*each:][:p.rows*each]...)
		padded.Factors = append(padded.Factors, make([]uint8, (rows-p.rows)*each)...)
	}
	return padded
}

// An output holds D as a kernel argument. at returns an element of D after the launch.
type output struct {
	array *kerneltest.Array
	at    func(i int) float64
}

// output returns an output with n elements of the result type.
func (e Epilogue) output(n int) output {
	switch e.D {
	case isa.F32:
		d := make([]float32, n)
		return output{kerneltest.InOut(d), func(i int) float64 { return float64(d[i]) }}
	case isa.F16:
		d := kerneltest.F16.Encode(make([]float64, n))
		return output{kerneltest.InOut(d),
			func(i int) float64 { return kerneltest.F16.Float(d[i]) }}
	case isa.Bf16:
		d := kerneltest.BF16.Encode(make([]float64, n))
		return output{kerneltest.InOut(d),
			func(i int) float64 { return kerneltest.BF16.Float(d[i]) }}
	}
	bits, f := e.D.Bits(), kerneltest.Narrow(e.D)
	d := make([]uint8, n*bits/8)
	return output{kerneltest.InOut(d), func(i int) float64 { return f.Float(unpacked(d, i, bits)) }}
}

// sumError is the maximum relative error of the sums before they are rounded to the result type.
const sumError = 1e-6

// compare compares the output elements with the given indices (inside) with the reference. Each
// element and each scale factor must be the value of its type that is nearest to the exact
// result, allowing for the error of the sums. The recorded error is relative to the error of the
// nearest value. The sums in the checks do not overflow F32.
func (e Epilogue) compare(t *kerneltest.T, what string, cols int, inside []int, want []float64,
	got func(i int) float64, factors []uint32) error {
	vector := max(1, e.Scale.Vector)
	scaleFormat := kerneltest.Format[uint8]{}
	if e.Scale.Vector > 0 {
		scaleFormat = kerneltest.Narrow(e.Scale.Type)
	}
	errors, scale, finite := make([]float64, len(inside)), 1.0, 0.0
	for n, i := range inside {
		row, col := i/cols, i%cols
		if col%vector == 0 {
			var largest float64
			largest, finite = magnitudes(want[i : i+min(vector, cols-col)])
			if e.Scale.Vector > 0 {
				at := e.Scale.Offset(row, col, cols)
				scale = scaleFormat.Float(uint8(factors[at/4] >> (at % 4 * 8)))
				if !e.scales(scale, largest/e.largest()) {
					return fmt.Errorf("%s: the scale factor of %d, %d is %v, for numbers up to %v",
						what, row, col, scale, largest)
				}
			}
		}
		x, is := want[i], got(i)*scale
		if e.D == isa.F32 {
			x = float64(float32(x))
		}
		switch {
		case is == x || math.IsNaN(is) && math.IsNaN(x):
		case e.saturates(is, x, scale):
		default:
			errors[n] = (is - x) / (e.nearest(x, scale) + sumError*(1+finite))
		}
	}
	allowed := kerneltest.Abs(1)
	if e.D == isa.F32 {
		allowed = kerneltest.Tolerance{}
	}
	return kerneltest.Compare(t, what, errors, make([]float64, len(errors)), allowed)
}

// magnitudes returns the largest magnitude of some results, without NaN, and that of the finite
// ones. If all are NaN, the first is NaN.
func magnitudes(list []float64) (largest, finite float64) {
	largest = math.NaN()
	for _, x := range list {
		x = math.Abs(x)
		if x > math.MaxFloat32 {
			x = math.Inf(1)
		} else if x > finite {
			finite = x
		}
		if !(x <= largest) && !math.IsNaN(x) {
			largest = x
		}
	}
	return largest, finite
}

// saturates reports whether a result of a narrow type is correct for an exact result x that is
// NaN or beyond the range of the type with its scale factor: cvt.satfinite returns the largest
// number, also for NaN if the type has none, and F16 becomes infinite.
func (e Epilogue) saturates(is, x, scale float64) bool {
	switch {
	case e.D == isa.F16:
		return math.Abs(x) >= 65520 && is == math.Inf(int(math.Copysign(1, x)))
	case e.D.Bits() < 8 && math.IsNaN(x):
		return is == e.largest()*scale
	case e.D.Bits() <= 8:
		return math.Abs(x) > e.largest()*scale && is == math.Copysign(e.largest()*scale, x)
	}
	return false
}

// values returns the elements multiplied by their scale factors.
func (n Numbers) values() []float64 {
	list := make([]float64, len(n.Codes))
	for i := range list {
		list[i] = n.Value(i/n.Cols, i%n.Cols)
	}
	return list
}

// largest returns the largest finite value of the result type.
func (e Epilogue) largest() float64 {
	switch e.D {
	case isa.E2m1:
		return 6
	case isa.E2m3:
		return 7.5
	case isa.E3m2:
		return 28
	case isa.E5m2:
		return 57344
	}
	return 448
}

// scales reports whether a scale factor is correct for an exact value: the nearest number of its
// type or, if the type has only powers of two, the smallest power of two that is not less than
// the value. Factors outside the range of the type become its largest or smallest number. A block
// that has only NaN has NaN.
func (e Epilogue) scales(is, want float64) bool {
	if math.IsNaN(want) {
		return math.IsNaN(is)
	}
	if e.Scale.Type == isa.Ue8m0 {
		const smallest, most = 0x1p-127, 0x1p127
		return is >= min(want, most)*(1-sumError) && (is == smallest || is/2 < want*(1+sumError))
	}
	f := kerneltest.Narrow(isa.Ue4m3)
	want = min(want, 448)
	best := math.Abs(f.Float(f.From(want)) - want)
	return math.Abs(is-want) <= best+sumError*(1+want)
}

// nearest returns the maximum distance of x to the nearest value of the result type times a scale
// factor.
func (e Epilogue) nearest(x, scale float64) float64 {
	switch e.D {
	case isa.F32:
		return 0
	case isa.F16:
		return kerneltest.F16.ULPs(0.5).Allows(x)
	case isa.Bf16:
		return kerneltest.BF16.ULPs(0.5).Allows(x)
	}
	if scale == 0 {
		return math.Abs(x)
	}
	f := kerneltest.Narrow(e.D)
	return math.Abs(f.Float(f.From(x/scale))*scale - x)
}
