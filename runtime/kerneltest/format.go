// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package kerneltest

import (
	"math"
	"strings"

	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime"
)

// A Format converts between numbers and the elements of an element type.
type Format[E runtime.Element] struct {
	Name string
	// From returns the element that is nearest to a number, or one that is very near.
	From func(float64) E
	// Float returns the value of an element, without rounding.
	Float func(E) float64
	// Low and High are the bounds of random elements.
	Low, High float64

	edges     []E
	digits    int // bits of the significand, including the leading one, or 0 for integers
	exponents int // exponent of the smallest normal number
}

// The formats of Go types, and of F16, BF16 and TF32.
var (
	F64 = Format[float64]{
		"f64", func(x float64) float64 { return x }, func(x float64) float64 { return x }, -1, 1,
		[]float64{0, math.Copysign(0, -1), 1, -1, 0x1p-1074, 0x1p-1022, math.MaxFloat64,
			-math.MaxFloat64, math.Inf(1), math.Inf(-1), math.NaN()}, 53, -1022,
	}
	F32 = Format[float32]{
		"f32", func(x float64) float32 { return float32(x) }, widen[float32], -1, 1,
		[]float32{0, float32(math.Copysign(0, -1)), 1, -1, 0x1p-149, 0x1p-126, math.MaxFloat32,
			-math.MaxFloat32, float32(math.Inf(1)), float32(math.Inf(-1)),
			float32(math.NaN())}, 24, -126,
	}
	F16 = Format[runtime.F16]{
		"f16", func(x float64) runtime.F16 { return runtime.ToF16(float32(x)) },
		func(x runtime.F16) float64 { return float64(x.Float32()) }, -1, 1,
		[]runtime.F16{0, 0x8000, 0x3c00, 0xbc00, 1, 0x400, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00},
		11, -14,
	}
	BF16 = Format[runtime.BF16]{
		"bf16", func(x float64) runtime.BF16 { return runtime.ToBF16(float32(x)) },
		func(x runtime.BF16) float64 { return float64(x.Float32()) }, -1, 1,
		[]runtime.BF16{0, 0x8000, 0x3f80, 0xbf80, 1, 0x80, 0x7f7f, 0xff7f, 0x7f80, 0xff80, 0x7fc0},
		8, -126,
	}
	// The elements of TF32 are float32 numbers with the ten fraction bits that tensor cores read.
	TF32 = Format[float32]{
		"tf32", func(x float64) float32 {
			return math.Float32frombits(math.Float32bits(float32(x)) &^ (1<<13 - 1))
		}, widen[float32], -1, 1, F32.edges, 11, -126,
	}
	U8  = integers[uint8]("u8", 0, math.MaxUint8)
	S8  = integers[int8]("s8", math.MinInt8, math.MaxInt8)
	U16 = integers[uint16]("u16", 0, math.MaxUint16)
	S16 = integers[int16]("s16", math.MinInt16, math.MaxInt16)
	U32 = integers[uint32]("u32", 0, math.MaxUint32)
	S32 = integers[int32]("s32", math.MinInt32, math.MaxInt32)
)

func widen[E float32 | uint8 | int8 | uint16 | int16 | uint32 | int32](x E) float64 {
	return float64(x)
}

// integers returns the format of an integer type.
func integers[E uint8 | int8 | uint16 | int16 | uint32 | int32](name string,
	low, high float64) Format[E] {
	from := func(x float64) E {
		if !(x > low) { // NaN becomes low
			return E(low)
		}
		return E(int64(math.Round(min(x, high))))
	}
	edges := []E{from(low), 0, 1, from(high)}
	if low < 0 {
		edges = append(edges, from(-1))
	}
	return Format[E]{name, from, widen[E], low, high, edges, 0, 0}
}

// As returns the format for elements of another Go type with the same bits.
func As[E ~uint8](f Format[uint8]) Format[E] {
	g := Format[E]{
		Name: f.Name, Low: f.Low, High: f.High, digits: f.digits, exponents: f.exponents,
		From:  func(x float64) E { return E(f.From(x)) },
		Float: func(x E) float64 { return f.Float(uint8(x)) },
	}
	for _, x := range f.edges {
		g.edges = append(g.edges, E(x))
	}
	return g
}

// Decode returns the values of elements.
func (f Format[E]) Decode(xs []E) []float64 {
	out := make([]float64, len(xs))
	for i, x := range xs {
		out[i] = f.Float(x)
	}
	return out
}

// Encode returns the elements nearest to the given numbers.
func (f Format[E]) Encode(xs []float64) []E {
	out := make([]E, len(xs))
	for i, x := range xs {
		out[i] = f.From(x)
	}
	return out
}

// Edges returns the elements at which kernels most often fail: both zeros, ones, the smallest and
// the largest numbers, the infinities and NaN, or the smallest and largest integers. For the
// formats of Narrow it returns all elements.
func (f Format[E]) Edges() []E { return append([]E(nil), f.edges...) }

// ULPs returns a tolerance of n units in the last place of the expected number.
func (f Format[E]) ULPs(n float64) Tolerance {
	return Tolerance{ulps: n, digits: f.digits, exponents: f.exponents}
}

// Within returns f with other bounds for random elements.
func (f Format[E]) Within(low, high float64) Format[E] {
	f.Low, f.High = low, high
	return f
}

// Random returns n random elements from f.Low to f.High.
func Random[E runtime.Element](t *T, f Format[E], n int) []E {
	xs := make([]E, n)
	for i := range xs {
		xs[i] = f.From(f.Low + (f.High-f.Low)*t.Rand.Float64())
	}
	return xs
}

// RandomEdges returns random elements as Random does, but replaces some of them by the elements
// of f.Edges. Each edge occurs at least once if n is large enough.
func RandomEdges[E runtime.Element](t *T, f Format[E], n int) []E {
	xs := Random(t, f, n)
	for i, at := range t.Rand.Perm(n) {
		if i >= max(len(f.edges), n/16) {
			break
		}
		xs[at] = f.edges[i%len(f.edges)]
	}
	return xs
}

// EdgeRows sets every second row of a matrix to zeros and one edge value: NaN, the infinities, the
// largest numbers, the smallest one, and negative zero, as far as f has them and there are rows. at
// returns the element at a row and column. The column of an edge value is even if side is 0 and odd
// if it is 1: in a product of two matrices with different sides, no edge value is multiplied by
// another.
func EdgeRows[E runtime.Element](t *T, f Format[E], rows, cols, side int,
	at func(row, col int) *E) {
	for i, edge := range f.extremes() {
		row := 1 + 2*i
		if row >= rows || cols < 2 {
			return
		}
		for col := range cols {
			*at(row, col) = f.From(0)
		}
		*at(row, 2*t.Rand.IntN(cols/2)+side) = edge
	}
}

// extremes returns the elements of f.Edges that differ most from random elements.
func (f Format[E]) extremes() (list []E) {
	ranks := []func(x float64) (rank float64, ok bool){
		func(x float64) (float64, bool) { return 0, math.IsNaN(x) },
		func(x float64) (float64, bool) { return 0, math.IsInf(x, 1) },
		func(x float64) (float64, bool) { return 0, math.IsInf(x, -1) },
		func(x float64) (float64, bool) { return x, !math.IsInf(x, 0) },
		func(x float64) (float64, bool) { return -x, !math.IsInf(x, 0) },
		func(x float64) (float64, bool) { return -x, x > 0 },
		func(x float64) (float64, bool) { return 0, x == 0 && math.Signbit(x) },
	}
	for _, rank := range ranks {
		most, found := math.Inf(-1), false
		var edge E
		for _, x := range f.edges {
			v := f.Float(x)
			if near := f.From(v); f.Float(near) != v && !math.IsNaN(v) {
				x, v = near, f.Float(near) // some edges of TF32 have bits that TF32 lacks
			}
			if r, ok := rank(v); ok && r > most {
				most, edge, found = r, x, true
			}
		}
		if found {
			list = append(list, edge)
		}
	}
	return list
}

// Float32s returns n random numbers from -1 to 1.
func (t *T) Float32s(n int) []float32 {
	xs := make([]float32, n)
	for i := range xs {
		xs[i] = 2*t.Rand.Float32() - 1
	}
	return xs
}

// Uint32s returns n random integers of 32 bits.
func (t *T) Uint32s(n int) []uint32 {
	xs := make([]uint32, n)
	for i := range xs {
		xs[i] = t.Rand.Uint32()
	}
	return xs
}

// A layout describes the bit fields of a narrow floating-point type.
type layout struct {
	exponents, fractions, bias int
	unsigned                   bool
	infinite                   bool // whether the largest exponent encodes infinity and NaN
	nan                        int  // encoding of NaN without the sign, or 0
}

var layouts = map[isa.Type]layout{
	isa.E4m3:  {exponents: 4, fractions: 3, bias: 7, nan: 0x7f},
	isa.E5m2:  {exponents: 5, fractions: 2, bias: 15, infinite: true},
	isa.E2m3:  {exponents: 2, fractions: 3, bias: 1},
	isa.E3m2:  {exponents: 3, fractions: 2, bias: 3},
	isa.E2m1:  {exponents: 2, fractions: 1, bias: 1},
	isa.Ue4m3: {exponents: 4, fractions: 3, bias: 7, unsigned: true, nan: 0x7f},
}

// Narrow returns the format of floating-point numbers of at most eight bits: .e4m3, .e5m2, .e2m3,
// .e3m2, .e2m1, and the scale factors .ue8m0 and .ue4m3. Each element is a byte; types of fewer
// bits use its lowest bits. It panics for other types.
func Narrow(t isa.Type) Format[uint8] {
	value := func(code uint8) float64 {
		if code == 255 {
			return math.NaN()
		}
		return math.Ldexp(1, int(code)-127)
	}
	codes, digits := 256, 1
	low, high := 0.125, 1.0
	if t != isa.Ue8m0 {
		l, ok := layouts[t]
		if !ok {
			panic("bug: kerneltest.Narrow of " + t.String() +
				", want a floating-point type of at most 8 bits")
		}
		value = l.value
		codes, digits = 1<<(l.exponents+l.fractions), l.fractions+1
		if !l.unsigned {
			codes *= 2
			low = -1
		}
	}
	values := make([]float64, codes)
	edges := make([]uint8, codes)
	for code := range codes {
		values[code], edges[code] = value(uint8(code)), uint8(code)
	}
	return Format[uint8]{
		Name: strings.TrimPrefix(t.String(), "."), Low: low, High: high, edges: edges,
		digits: digits,
		Float: func(x uint8) float64 {
			if int(x) < codes {
				return values[x]
			}
			return value(x)
		},
		From: func(x float64) uint8 {
			best, distance := 0, math.Inf(1)
			for code, v := range values {
				if v == x { // equal, also for infinities
					return uint8(code)
				}
				if d := math.Abs(v - x); d < distance || d == distance && code%2 == 0 {
					best, distance = code, d
				}
			}
			return uint8(best)
		},
	}
}

// value returns the number that a code represents.
func (l layout) value(code uint8) float64 {
	magnitude := int(code) & (1<<(l.exponents+l.fractions) - 1)
	exponent, fraction := magnitude>>l.fractions, magnitude&(1<<l.fractions-1)
	sign := 1.0
	if !l.unsigned && int(code)>>(l.exponents+l.fractions)&1 == 1 {
		sign = -1
	}
	switch {
	case l.nan != 0 && magnitude == l.nan:
		return math.NaN()
	case l.infinite && exponent == 1<<l.exponents-1:
		if fraction > 0 {
			return math.NaN()
		}
		return sign * math.Inf(1)
	case exponent == 0:
		return math.Copysign(math.Ldexp(float64(fraction), 1-l.bias-l.fractions), sign)
	}
	return sign * math.Ldexp(float64(fraction+1<<l.fractions), exponent-l.bias-l.fractions)
}
