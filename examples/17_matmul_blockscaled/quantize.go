// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package blockscaled

import (
	"math"
	"runtime"
	"sync"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// A layout describes an element type: the numbers of exponent and fraction bits, the exponent
// bias, and the largest finite value.
type layout struct {
	exponents, fractions, bias int
	largest                    float64
}

var layouts = map[isa.Type]layout{
	isa.E4m3: {4, 3, 7, 448},
	isa.E5m2: {5, 2, 15, 57344},
	isa.E2m3: {2, 3, 1, 7.5},
	isa.E3m2: {3, 2, 3, 28},
	isa.E2m1: {2, 1, 1, 6},
}

// newNumbers returns a matrix of zeros.
func newNumbers(typ isa.Type, scale dsl.BlockScale, rows, cols int) Numbers {
	return Numbers{
		Type: typ, Scale: scale, Rows: rows, Cols: cols, Codes: make([]uint8, rows*cols),
		Factors: make([]uint8, rows*((cols+scale.Vector-1)/scale.Vector)),
		number:  kerneltest.Narrow(typ), factor: kerneltest.Narrow(scale.Type),
	}
}

// Quantize converts a row-major matrix to a block-scaled format. The scale factor of a block is
// the largest magnitude in the block divided by the largest value of the element type, rounded up
// to a power of two for .ue8m0 and to nearest for .ue4m3, and limited to the largest scale
// factor. Elements are divided by the scale factor and rounded to nearest even; elements beyond
// the range become the largest value. If a block contains NaN, its scale factor becomes NaN.
func Quantize(values []float32, typ isa.Type, scale dsl.BlockScale, rows, cols int) Numbers {
	n := newNumbers(typ, scale, rows, cols)
	each := len(n.Factors) / max(1, rows)
	workers := min(rows, runtime.GOMAXPROCS(0))
	var wait sync.WaitGroup
	for w := range workers {
		wait.Go(func() {
			for row := w; row < rows; row += workers {
				line := values[row*cols:][:cols]
				for b := range each {
					block := line[b*scale.Vector : min(cols, (b+1)*scale.Vector)]
					n.Factors[row*each+b] = quantizeBlock(block, typ, scale.Type,
						n.Codes[row*cols+b*scale.Vector:])
				}
			}
		})
	}
	wait.Wait()
	return n
}

// quantizeBlock writes the codes of the elements of a block to codes, and returns the code of its
// scale factor.
func quantizeBlock(block []float32, typ, scale isa.Type, codes []uint8) uint8 {
	l := layouts[typ]
	var top float32
	for _, x := range block {
		if x != x {
			clear(codes[:len(block)])
			if scale == isa.Ue8m0 {
				return 0xff
			}
			return 0x7f
		}
		top = max(top, x, -x)
	}
	want := float64(top) / l.largest
	var factor uint8
	var by float64
	if scale == isa.Ue8m0 {
		fraction, exponent := math.Frexp(want) // 0.5 <= fraction < 1
		if fraction == 0.5 {
			exponent--
		}
		if math.IsInf(want, 0) {
			exponent = 127
		}
		if want == 0 {
			exponent = -127
		}
		exponent = min(127, max(-127, exponent))
		factor, by = uint8(exponent+127), math.Ldexp(1, exponent)
	} else {
		factor = layouts[isa.E4m3].code(want)
		by = ue4m3(factor)
	}
	for i, x := range block {
		q := float64(x) / by
		if x == 0 {
			q = float64(x)
		}
		codes[i] = l.code(q) | uint8(math.Float32bits(x)>>31)<<(l.exponents+l.fractions)
	}
	return factor
}

// ue4m3 returns the value of a scale factor of type .ue4m3.
func ue4m3(code uint8) float64 {
	if code < 8 {
		return float64(code) * 0x1p-9
	}
	return math.Ldexp(float64(8+code&7), int(code>>3)-10)
}

// code returns the code of the magnitude of x, rounded to nearest even and limited to the largest
// value.
func (l layout) code(x float64) uint8 {
	x = math.Abs(x)
	if x >= l.largest {
		x = l.largest
	}
	if least := 1 - l.bias; x < math.Ldexp(1, least) {
		return uint8(math.RoundToEven(math.Ldexp(x, l.fractions-least)))
	}
	shift := 52 - l.fractions
	bits := math.Float64bits(x)
	bits += 1<<(shift-1) - 1 + bits>>shift&1
	return uint8(bits>>shift) - uint8((1023-l.bias)<<l.fractions)
}

// QuantizeReference returns the same result as Quantize by exhaustive search of scale factors and
// elements. Tests compare Quantize with it.
func QuantizeReference(values []float32, typ isa.Type, scale dsl.BlockScale,
	rows, cols int) Numbers {
	n := newNumbers(typ, scale, rows, cols)
	each := len(n.Factors) / max(1, rows)
	for i := range n.Factors {
		row, first := i/each, i%each*scale.Vector
		block := values[row*cols+first : row*cols+min(cols, first+scale.Vector)]
		top, valid := 0.0, true
		for _, x := range block {
			valid = valid && !math.IsNaN(float64(x))
			top = max(top, math.Abs(float64(x)))
		}
		n.Factors[i] = n.searchFactor(top/n.largest(), valid)
		for j, x := range block {
			if valid {
				n.Codes[row*cols+first+j] = n.searchElement(float64(x),
					n.factor.Float(n.Factors[i]))
			}
		}
	}
	return n
}

// largest returns the largest finite value of the element type.
func (n Numbers) largest() (x float64) {
	for code := range 1 << n.Type.Bits() {
		if y := n.number.Float(uint8(code)); !math.IsInf(y, 0) && !math.IsNaN(y) {
			x = max(x, y)
		}
	}
	return x
}

// searchFactor returns the code of the scale factor for the exact value want: the smallest factor
// that is not less than want for .ue8m0, and the nearest factor for .ue4m3. If valid is not set,
// it returns the code of NaN.
func (n Numbers) searchFactor(want float64, valid bool) uint8 {
	if !valid {
		return map[isa.Type]uint8{isa.Ue8m0: 0xff, isa.Ue4m3: 0x7f}[n.Scale.Type]
	}
	if n.Scale.Type == isa.Ue8m0 {
		for code := range uint8(0xfe) {
			if n.factor.Float(code) >= want {
				return code
			}
		}
		return 0xfe
	}
	return n.factor.From(min(want, 448))
}

// searchElement returns the code of the element that is nearest to x divided by the scale factor
// by.
func (n Numbers) searchElement(x, by float64) uint8 {
	minus := uint8(1) << (n.Type.Bits() - 1)
	code := uint8(0)
	if x != 0 {
		code = n.number.From(min(math.Abs(x)/by, n.largest())) &^ minus
	}
	if math.Signbit(x) {
		code |= minus
	}
	return code
}

// ScaleAtoms returns the scale factors in the layout that the tensor cores read, padded to whole
// atoms of 128 rows by four factors. Padding has the code 0.
func (n Numbers) ScaleAtoms() []byte {
	atoms := make([]byte, n.Scale.Bytes(n.Rows, n.Cols))
	each := len(n.Factors) / n.Rows
	for i, x := range n.Factors {
		atoms[n.Scale.Offset(i/each, i%each*n.Scale.Vector, n.Cols)] = x
	}
	return atoms
}

// ScaleRows converts scale factors from the layout of ScaleAtoms to row-major order.
func ScaleRows(atoms []byte, scale dsl.BlockScale, rows, cols int) []uint8 {
	each := (cols + scale.Vector - 1) / scale.Vector
	factors := make([]uint8, rows*each)
	for i := range factors {
		factors[i] = atoms[scale.Offset(i/each, i%each*scale.Vector, cols)]
	}
	return factors
}

// Unpack converts n elements from the layout of Packed to one code per byte.
func Unpack(packed []byte, typ isa.Type, n int) []uint8 {
	codes := make([]uint8, n)
	for i := range codes {
		codes[i] = unpacked(packed, i, typ.Bits())
	}
	return codes
}
