// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package tensorcore

import "fmt"

// An Instruction is a decoded 32-bit instruction descriptor of tcgen05.mma.
type Instruction struct {
	M, N, K          int // K includes the zeros of a sparse A
	A, B, D          *Element
	Sparse, Saturate bool
	Selector         int // selects the sparse metadata
	NegateA, NegateB bool
	AcrossA, AcrossB bool // columns are contiguous along M or N
	Scale            *Element
	Vector           int // number of elements that share a scale factor; 0 for none
	FactorA, FactorB int // index of the byte with the first scale factor
	MaxShift         int // maximum shift in rows, for .ws
	Packed           bool
	TargetK96        bool
	kind, vectors    string
}

// eightBits are the formats of the kinds f8f6f4 and mxf8f6f4, by their code in the descriptor.
var eightBits = map[uint32]*Element{0: E4M3, 1: E5M2, 3: E2M3, 4: E3M2, 5: E2M1}

// InstructionOf decodes an instruction descriptor. kind is the word after "kind::". vectors is the
// word that says how many elements share a scale factor, such as scale_vec::1X or block32; "" for
// none.
func InstructionOf(d uint32, kind, vectors string) (*Instruction, error) {
	bits := func(at, n int) uint32 { return d >> at & (1<<n - 1) }
	o := &Instruction{kind: kind, vectors: vectors, N: int(bits(17, 6)) * 8}
	o.Sparse = bits(2, 1) != 0
	o.NegateA, o.NegateB = bits(13, 1) != 0, bits(14, 1) != 0
	o.AcrossA, o.AcrossB = bits(15, 1) != 0, bits(16, 1) != 0
	types := map[string]map[uint32]*Element{
		"f16": {0: F16, 1: BF16}, "tf32": {2: TF32}, "f8f6f4": eightBits, "i8": {0: U8, 1: S8},
		"ti16": {3: S1Z4M11}, "mxf8f6f4": eightBits, "mxf4": {1: E2M1}, "mxf4nvf4": {1: E2M1},
	}[kind]
	if types == nil {
		return nil, fmt.Errorf("instruction descriptor %#08x: kind %s is not known", d, kind)
	}
	o.Packed = kind == "mxf4" || kind == "mxf4nvf4"
	o.A, o.B = types[bits(7, 3)], types[bits(10, 3)]
	if o.Packed {
		o.B = types[bits(10, 2)]
	}
	if o.A == nil || o.B == nil {
		return nil, fmt.Errorf("instruction descriptor %#08x: kind %s has no types %d and %d",
			d, kind, bits(7, 3), bits(10, 3))
	}
	if kind == "f16" && o.A != o.B {
		return nil, fmt.Errorf("instruction descriptor %#08x: A and B differ in type", d)
	}
	o.K = map[string]int{"f16": 16, "ti16": 16, "tf32": 8, "mxf4": 64, "mxf4nvf4": 64}[kind]
	if o.K == 0 {
		o.K = 32
	}
	var err error
	if kind[0] == 'm' {
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
	integer := o.kind == "i8" || o.kind == "ti16"
	switch {
	case o.D == nil, integer != (o.D == S32), o.D == F16 && (o.A == BF16 || o.A == TF32):
		return fmt.Errorf("instruction descriptor %#08x: kind %s has no accumulators of type %d",
			d, o.kind, d>>4&3)
	case o.Saturate && o.kind != "i8":
		return fmt.Errorf("instruction descriptor %#08x: only products of kind i8 saturate", d)
	case o.kind == "ti16" && (o.AcrossA || o.AcrossB):
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
	case "scale_vec::4X", "block16":
		o.Vector = 16
	case "scale_vec::1X", "scale_vec::2X", "block32":
		o.Vector = 32
	case "":
		if o.kind == "mxf4nvf4" {
			return fmt.Errorf("instruction descriptor %#08x: %s must say how many elements share a factor",
				d, o.kind)
		}
		o.Vector = 32
	default:
		return fmt.Errorf("instruction descriptor %#08x: %s is not known", d, o.vectors)
	}
	switch {
	case o.kind != "mxf4nvf4" && (o.Vector != 32 || o.Scale != UE8M0),
		o.Scale == UE4M3 && o.Vector != 16:
		return fmt.Errorf("instruction descriptor %#08x: kind %s has no factors of %s for %d elements",
			d, o.kind, o.Scale.Name, o.Vector)
	case d&3 != 0 || d>>3&1 != 0 || d>>6&1 != 0 || d>>24&7 != 0:
		return fmt.Errorf("instruction descriptor %#08x: reserved bits are set", d)
	}
	return nil
}

// Product returns the product of an instruction.
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

// A returns the lane of a row of A in tensor memory.
func (p Path) A(row int) int {
	if p == PathC || p == PathF {
		return row/16*32 + row%16
	}
	return row
}

// Metadata returns the lane, the column and the lowest bit of a sparse chunk's four metadata bits
// in tensor memory. For 16- and 32-bit elements the metadata are in one of two columns, which the
// selector chooses, and rows that are eight apart share two lanes.
func (p Path) Metadata(e *Element, row, chunk, selector int) (lane, column, bit int) {
	if e.Bits > 8 {
		return p.A(row&^8 | chunk/4<<3), selector, chunk%4*4 + row/8%2*16
	}
	return p.A(row), chunk / 8, chunk % 8 * 4
}

// ScaleFactor returns the lane within a quarter, the column and the byte of scale factor i of a row
// of A or a column of B. id is the index of the first byte, from the instruction descriptor.
func ScaleFactor(row, i, id int) (lane, column, byte int) { return row % 32, row / 32, id + i }
