// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package blockscaled

import (
	"strings"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

// A Format is a block-scaled format: the element types of A and B, and the type of their scale
// factors.
type Format struct {
	Name  string
	A, B  isa.Type
	Scale dsl.BlockScale
	// Sparse selects 2:4 sparsity of A: of every four adjacent elements in a row, two are zero
	// and not stored. With Packed, this applies to pairs of elements. A scale factor applies to
	// twice as many elements.
	Sparse bool
	// Packed stores two elements of 4 bits in a byte of shared memory (kinds mxf4 and mxf4nvf4).
	// Otherwise an element takes a byte of shared memory, whatever its size in global memory is
	// (kind mxf8f6f4).
	Packed bool
	// Deep selects MMAs that multiply 96 elements per row instead of 64. They require sm_103a and
	// Packed.
	Deep bool
	// Depth is the number of elements per row of A in a stage, which take 128 bytes, or 384 with
	// MMAs 96 deep.
	Depth int
}

// Zeros returns the format with 2:4 sparsity of A.
func (f Format) Zeros() Format {
	f.Name, f.Scale, f.Sparse = f.Name+"_sparse", f.Scale.Sparse(), true
	return f
}

// Depth96 returns the format with MMAs that multiply 96 elements per row.
func (f Format) Depth96() Format {
	f.Name, f.Deep, f.Depth = f.Name+"_k96", true, 768
	return f
}

// box returns the TMA box of a tile with the given numbers of rows and columns.
func (f Format) box(t isa.Type, rows, cols int) dsl.Box {
	return dsl.Box{Rows: rows, Cols: cols, Padded: t.Bits() < 8 && !f.Packed}
}

// depth returns the number of elements per row of A in a stage, and of B.
func (f Format) depth() (kept, full int) {
	if f.Sparse {
		return f.Depth, 2 * f.Depth
	}
	return f.Depth, f.Depth
}

// aligned returns the number that must divide the length of a row in elements: the number of
// elements in 16 bytes, or 128 if elements are padded in shared memory.
func (f Format) aligned() int {
	n := 16
	for _, t := range []isa.Type{f.A, f.B} {
		switch {
		case f.Packed:
			n = 32
		case t.Bits() < 8:
			n = 128
		}
	}
	if f.Sparse {
		n *= 2
	}
	return n
}

// Formats in which A and B have the same type.
var (
	nvfp4 = Format{Name: "nvfp4", A: isa.E2m1, B: isa.E2m1, Scale: dsl.NVFP4, Packed: true,
		Depth: 256}
	mxfp4 = Format{Name: "mxfp4", A: isa.E2m1, B: isa.E2m1, Scale: dsl.MXFP4, Packed: true,
		Depth: 256}
	mxfp6 = mixed(isa.E2m3, isa.E2m3)
	mxfp8 = mixed(isa.E4m3, isa.E4m3)
)

// uniform16 is mxfp4 with one power-of-two scale factor for every 16 elements (kind mxf4nvf4).
var uniform16 = Format{Name: "mxfp4_block16", A: isa.E2m1, B: isa.E2m1,
	Scale: dsl.BlockScale{Type: isa.Ue8m0, Vector: 16}, Packed: true, Depth: 256}

// mxfp8x4 has 8-bit activations and 4-bit weights.
var mxfp8x4 = mixed(isa.E4m3, isa.E2m1)

// mixed returns a format of the kind mxf8f6f4, in which the elements of A and of B have 8, 6 or 4
// bits.
func mixed(a, b isa.Type) Format {
	name := func(t isa.Type) string {
		switch t {
		case isa.E4m3:
			return "mxfp8"
		case isa.E2m3:
			return "mxfp6"
		case isa.E2m1:
			return "mxfp4"
		}
		if t.Bits() == 8 {
			return "mxfp8" + strings.ReplaceAll(t.String(), ".", "_")
		}
		return "mxfp6" + strings.ReplaceAll(t.String(), ".", "_")
	}
	f := Format{Name: name(a), A: a, B: b, Scale: dsl.MXFP8, Depth: 128}
	switch {
	case a == isa.E2m1 && b == isa.E2m1:
		f.Name = "mxfp4_padded"
	case a != b:
		f.Name += "_" + name(b)
	}
	return f
}

// FormatFor returns the dense format with the given element types and scale factors. ok is false
// if no such format exists.
func FormatFor(a, b isa.Type, scale dsl.BlockScale) (f Format, ok bool) {
	for _, f := range append([]Format{nvfp4, mxfp4, uniform16}, Pairs()...) {
		if f.A == a && f.B == b && f.Scale == scale {
			return f, true
		}
	}
	return Format{}, false
}

// Pairs returns all formats of the kind mxf8f6f4: one for every pair of the five types.
func Pairs() []Format {
	types := []isa.Type{isa.E4m3, isa.E5m2, isa.E2m3, isa.E3m2, isa.E2m1}
	var list []Format
	for _, a := range types {
		for _, b := range types {
			list = append(list, mixed(a, b))
		}
	}
	return list
}

// Formats are the formats for which the kernel is built: first the dense formats, and then the
// same formats with sparse A.
var Formats = formats()

func formats() []Format {
	list := append([]Format{nvfp4, mxfp4}, Pairs()...)
	for _, f := range list {
		list = append(list, f.Zeros())
	}
	return list
}
