// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package blockscaled

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

// scalings are the scalings of element types that the tests quantize to.
var scalings = []struct {
	typ   isa.Type
	scale dsl.BlockScale
}{
	{isa.E2m1, dsl.NVFP4}, {isa.E2m1, dsl.MXFP4}, {isa.E2m1, uniform16.Scale},
	{isa.E2m3, dsl.MXFP6},
	{isa.E3m2, dsl.MXFP6}, {isa.E4m3, dsl.MXFP8}, {isa.E5m2, dsl.MXFP8},
}

// inputs returns random values of many magnitudes, with edge values and exact ties among them.
func inputs(n int) []float32 {
	random := rand.New(rand.NewPCG(3, 4))
	list := make([]float32, n)
	for i := range list {
		list[i] = float32(math.Ldexp(random.NormFloat64(), i/64%40-20))
		if i%3 == 0 {
			list[i] = float32(math.Ldexp(float64(random.IntN(33)-16), i/64%40-20))
		}
	}
	inf := float32(math.Inf(1))
	edges := []float32{0, float32(math.Copysign(0, -1)), 0x1p-149, -0x1p-149, math.MaxFloat32,
		-math.MaxFloat32, inf, -inf, float32(math.NaN()), 448, 6, 0x1p-126}
	for i, x := range edges {
		list[i*97%n] = x
	}
	clear(list[n-200 : n-100]) // blocks of zeros
	return list
}

// TestQuantize compares the quantizer with the one that searches.
func TestQuantize(t *testing.T) {
	const rows, cols = 37, 100
	values := inputs(rows * cols)
	for _, s := range scalings {
		got, want := Quantize(values, s.typ, s.scale, rows, cols),
			QuantizeReference(values, s.typ, s.scale, rows, cols)
		each := len(want.Factors) / rows
		for i := range want.Factors {
			if got.Factors[i] != want.Factors[i] {
				t.Fatalf("%s, %s: scale factor %d is %#x, want %#x", s.typ, s.scale, i,
					got.Factors[i], want.Factors[i])
			}
		}
		for i := range want.Codes {
			if got.Codes[i] != want.Codes[i] {
				factor := want.Factors[i/cols*each+i%cols/s.scale.Vector]
				t.Fatalf("%s, %s: element %d of %v with scale factor %#x is %#x, want %#x", s.typ,
					s.scale, i, values[i], factor, got.Codes[i], want.Codes[i])
			}
		}
	}
}

// TestScaleAtoms compares the layout of scale factors with the formula of the PTX manual.
func TestScaleAtoms(t *testing.T) {
	const rows, cols = 300, 1000
	for _, s := range scalings {
		n := Quantize(inputs(rows*cols), s.typ, s.scale, rows, cols)
		atoms, each := n.ScaleAtoms(), len(n.Factors)/rows
		across := (each + 3) / 4
		if len(atoms) != 3*across*512 {
			t.Errorf("%s: %d bytes of scale factors, want %d", s.scale, len(atoms), 3*across*512)
		}
		for row := range rows {
			for i := range each {
				at := 512*(row/128*across+i/4) + row%32*16 + row%128/32*4 + i%4
				if atoms[at] != n.Factors[row*each+i] {
					t.Fatalf("%s: factor %d of row %d is at another byte than %d", s.scale, i, row,
						at)
				}
			}
		}
		if back := ScaleRows(atoms, s.scale, rows, cols); !slices.Equal(back, n.Factors) {
			t.Errorf("%s: ScaleRows does not return what ScaleAtoms was given", s.scale)
		}
	}
}

// TestUnpack unpacks what Packed packs, of every size.
func TestUnpack(t *testing.T) {
	for _, s := range scalings {
		n := Quantize(inputs(640), s.typ, s.scale, 10, 64)
		packed := n.Packed()
		if len(packed) != 640*s.typ.Bits()/8 {
			t.Errorf("%s: %d bytes", s.typ, len(packed))
		}
		if got := Unpack(packed, s.typ, 640); !bytes.Equal(got, n.Codes) {
			t.Errorf("%s: Unpack does not return what Packed was given", s.typ)
		}
	}
}

// BenchmarkQuantize compares the quantizers.
func BenchmarkQuantize(b *testing.B) {
	const rows, cols = 64, 4096
	values := inputs(rows * cols)
	for name, quantize := range map[string]func([]float32, isa.Type, dsl.BlockScale, int,
		int) Numbers{"fast": Quantize, "reference": QuantizeReference} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(4 * rows * cols)
			b.ReportAllocs()
			for b.Loop() {
				quantize(values, isa.E2m1, dsl.NVFP4, rows, cols)
			}
		})
	}
}
