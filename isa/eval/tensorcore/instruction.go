// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package tensorcore

import (
	"fmt"

	"github.com/ptxdsl/ptxdsl/isa"
)

// An Instruction is a decoded 32-bit instruction descriptor of tcgen05.mma.
type Instruction struct {
	M, N, K          int // K includes the zeros of a sparse A
	A, B, D          *Element
	Sparse, Saturate bool
	Selector         int // selects the sparse metadata
	NegateA, NegateB bool
	AcrossA, AcrossB bool // columns are contiguous along M or N
	Scale            *Element
	Vector           int // number of elements that share a scale factor, or 0 without scale factors
	FactorA, FactorB int // index of the byte with the first scale factor
	MaxShift         int // maximum shift in rows, for .ws
	Packed           bool
	TargetK96        bool
	kind, vectors    isa.Mod
}

// eightBits holds the element types of the kinds f8f6f4 and mxf8f6f4, by their code in the
// descriptor.
var eightBits = map[uint32]*Element{0: E4M3, 1: E5M2, 3: E2M3, 4: E3M2, 5: E2M1}

// A kindInfo describes the matrix products of a kind, which a modifier such as isa.ModKindF16
// selects.
type kindInfo struct {
	name   string
	types  map[uint32]*Element // of A and B, by their code in the descriptor
	depth  int
	packed bool
	scaled bool
}

var kinds = map[isa.Mod]*kindInfo{
	isa.ModKindF16:      {name: "f16", types: map[uint32]*Element{0: F16, 1: BF16}, depth: 16},
	isa.ModKindTF32:     {name: "tf32", types: map[uint32]*Element{2: TF32}, depth: 8},
	isa.ModKindF8F6F4:   {name: "f8f6f4", types: eightBits, depth: 32},
	isa.ModKindI8:       {name: "i8", types: map[uint32]*Element{0: U8, 1: S8}, depth: 32},
	isa.ModKindTi16:     {name: "ti16", types: map[uint32]*Element{3: S1Z4M11}, depth: 16},
	isa.ModKindMxf8f6f4: {name: "mxf8f6f4", types: eightBits, depth: 32, scaled: true},
	isa.ModKindMxf4:     {name: "mxf4", types: fourBits, depth: 64, packed: true, scaled: true},
	isa.ModKindMxf4nvf4: {name: "mxf4nvf4", types: fourBits, depth: 64, packed: true, scaled: true},
}

var fourBits = map[uint32]*Element{1: E2M1}

// KindName returns the name of the kind that mod selects, such as "f16" for isa.ModKindF16, or ""
// if mod selects no kind.
func KindName(mod isa.Mod) string {
	if k := kinds[mod]; k != nil {
		return k.name
	}
	return ""
}

// InstructionOf decodes an instruction descriptor. kind is a modifier such as isa.ModKindF16.
// vectors is the modifier that specifies how many elements share a scale factor, such as
// isa.ModScaleVec1X or isa.ModBlock32, or isa.NoMod without scale factors.
func InstructionOf(d uint32, kind, vectors isa.Mod) (*Instruction, error) {
	info := kinds[kind]
	if info == nil {
		return nil, fmt.Errorf("instruction descriptor %#08x: kind %s is not known", d, kind)
	}
	types := info.types
	bits := func(at, n int) uint32 { return d >> at & (1<<n - 1) }
	o := &Instruction{kind: kind, vectors: vectors, K: info.depth, N: int(bits(17, 6)) * 8}
	o.Sparse = bits(2, 1) != 0
	o.NegateA, o.NegateB = bits(13, 1) != 0, bits(14, 1) != 0
	o.AcrossA, o.AcrossB = bits(15, 1) != 0, bits(16, 1) != 0
	o.Packed = info.packed
	o.A, o.B = types[bits(7, 3)], types[bits(10, 3)]
	if o.Packed {
		o.B = types[bits(10, 2)]
	}
	if o.A == nil || o.B == nil {
		return nil, fmt.Errorf("instruction descriptor %#08x: kind %s has no types %d and %d",
			d, info.name, bits(7, 3), bits(10, 3))
	}
	if kind == isa.ModKindF16 && o.A != o.B {
		return nil, fmt.Errorf("instruction descriptor %#08x: A and B differ in type", d)
	}
	var err error
	if info.scaled {
		err = o.scaled(d)
	} else {
		err = o.plain(d)
	}
	if o.Sparse {
		o.K *= 2
		o.Vector *= 2
	}
	return o, err
}

// plain decodes the fields of the kinds without block scaling.
func (o *Instruction) plain(d uint32) error {
	o.Selector, o.M = int(d&3), int(d>>24&31)*16
	o.MaxShift = [4]int{0, 8, 16, 32}[d>>30]
	o.D = map[uint32]*Element{0: F16, 1: F32, 2: S32}[d>>4&3]
	o.Saturate = d>>3&1 != 0
	integer := o.kind == isa.ModKindI8 || o.kind == isa.ModKindTi16
	switch {
	case o.D == nil, integer != (o.D == S32), o.D == F16 && (o.A == BF16 || o.A == TF32):
		return fmt.Errorf("instruction descriptor %#08x: kind %s has no accumulators of type %d",
			d, KindName(o.kind), d>>4&3)
	case o.Saturate && o.kind != isa.ModKindI8:
		return fmt.Errorf("instruction descriptor %#08x: only kind i8 supports saturation", d)
	case o.kind == isa.ModKindTi16 && (o.AcrossA || o.AcrossB):
		return fmt.Errorf("instruction descriptor %#08x: a transposed operand of kind ti16 is not "+
			"emulated: the tables of the manual contradict each other", d)
	case d>>6&1 != 0 || d>>23&1 != 0 || d>>29&1 != 0:
		return fmt.Errorf("instruction descriptor %#08x: reserved bits are set", d)
	}
	return nil
}

// scaled decodes the fields of the kinds with block scaling.
func (o *Instruction) scaled(d uint32) error {
	o.D, o.M = F32, int(d>>27&3)*128
	o.FactorB, o.FactorA = int(d>>4&3), int(d>>29&3)
	o.Scale = UE4M3
	if d>>23&1 != 0 {
		o.Scale = UE8M0
	}
	if o.Packed && d>>31 != 0 {
		o.K = 96
	}
	switch o.vectors {
	case isa.ModScaleVec4X, isa.ModBlock16:
		o.Vector = 16
	case isa.ModScaleVec1X, isa.ModScaleVec2X, isa.ModBlock32:
		o.Vector = 32
	case isa.NoMod:
		if o.kind == isa.ModKindMxf4nvf4 {
			return fmt.Errorf(
				"instruction descriptor %#08x: %s must state how many elements share a scale factor",
				d, KindName(o.kind))
		}
		o.Vector = 32
	default:
		return fmt.Errorf("instruction descriptor %#08x: %s is not known", d, o.vectors)
	}
	switch {
	case o.kind != isa.ModKindMxf4nvf4 && (o.Vector != 32 || o.Scale != UE8M0),
		o.Scale == UE4M3 && o.Vector != 16:
		return fmt.Errorf(
			"instruction descriptor %#08x: kind %s has no scale factors of %s for %d elements",
			d, KindName(o.kind), o.Scale.Name, o.Vector)
	case d&3 != 0 || d>>3&1 != 0 || d>>6&1 != 0 || d>>24&7 != 0:
		return fmt.Errorf("instruction descriptor %#08x: reserved bits are set", d)
	}
	return nil
}

// Product returns an empty product with the shape and types of the instruction.
func (o *Instruction) Product(arch Arch) *Product {
	p := &Product{M: o.M, N: o.N, K: o.K, A: o.A, B: o.B, D: o.D, Sparse: o.Sparse,
		Saturate: o.Saturate, Scale: o.Scale, Packed: o.Packed, model: groupModel(arch, o.A)}
	if o.Vector > 0 {
		p.Factors = o.K / o.Vector
	}
	if o.Packed {
		p.model = fourBitModel(arch)
	}
	p.settle()
	return p
}

// A Path is a data-path layout: the arrangement of the accumulator's rows in tensor memory.
type Path uint8

// Data-path layouts, with their letters in the PTX manual.
const (
	PathA Path = iota // M 256 on two CTAs
	PathB             // M 128 on two CTAs, dense
	PathC             // M 128 on two CTAs, sparse
	PathD             // M 128 on one CTA
	PathE             // M 64, weight stationary
	PathF             // M 64
	PathG             // M 32, weight stationary
)

// PathOf returns the data-path layout of a product.
func PathOf(m int, pair, sparse, stationary bool) (Path, error) {
	switch {
	case m == 256 && pair:
		return PathA, nil
	case m == 128 && pair && sparse:
		return PathC, nil
	case m == 128 && pair:
		return PathB, nil
	case m == 128:
		return PathD, nil
	case m == 64 && !pair && stationary:
		return PathE, nil
	case m == 64 && !pair:
		return PathF, nil
	case m == 32 && !pair && stationary:
		return PathG, nil
	}
	return 0, fmt.Errorf("tensorcore: no data path for %d rows", m)
}

// Rows returns the number of rows of the product that one CTA holds.
func (p Path) Rows(m int) int {
	if p <= PathC {
		return m / 2
	}
	return m
}

// D returns the lane and the column of an element. row counts within the CTA; n is the number of
// columns of the product.
func (p Path) D(row, col, n int) (lane, column int) {
	switch p {
	case PathC, PathF: // half of the lanes of each 32-lane quarter
		return row/16*32 + row%16, col
	case PathB, PathE:
		return row + col/(n/2)*64, col % (n / 2)
	case PathG:
		return row + col/(n/4)*32, col % (n / 4)
	}
	return row, col
}

// A returns the lane of tensor memory that holds a row of A.
func (p Path) A(row int) int {
	if p == PathC || p == PathF {
		return row/16*32 + row%16
	}
	return row
}

// Metadata returns the lane, the column and the lowest bit of a sparse chunk's four metadata bits
// in tensor memory. A chunk is four elements, eight if they have four bits, or two of tf32. For
// 16-bit and 32-bit elements, the selector chooses one of two columns, and rows r and r+8 use the
// same pair of lanes.
func (p Path) Metadata(e *Element, row, chunk, selector int) (lane, column, bit int) {
	if e.Bits > 8 {
		return p.A(row&^8 | chunk/4<<3), selector, chunk%4*4 + row/8%2*16
	}
	return p.A(row), chunk / 8, chunk % 8 * 4
}

// ScaleFactor returns the lane within a quarter, the column and the byte of scale factor i of a row
// of A or a column of B. id is the index of the first byte, from the instruction descriptor.
func ScaleFactor(row, i, id int) (lane, column, byte int) { return row % 32, row / 32, id + i }
