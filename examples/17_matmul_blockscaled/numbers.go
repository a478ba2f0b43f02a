// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package blockscaled

import (
	"bytes"
	"math"
	"slices"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// Numbers is a matrix of a block-scaled format. Codes holds the bits of the elements, and Factors
// the bits of the scale factors, both in row-major order.
type Numbers struct {
	Type       isa.Type
	Scale      dsl.BlockScale
	Rows, Cols int
	Codes      []uint8
	Factors    []uint8

	number, factor kerneltest.Format[uint8] // formats of Codes and Factors
}

// random returns a matrix of random elements with magnitudes below 8, and with scale factors from
// 1/8 to 1.
func (f Format) random(t *kerneltest.T, typ isa.Type, rows, cols int) Numbers {
	n := Numbers{
		Type: typ, Scale: f.Scale, Rows: rows, Cols: cols, Codes: make([]uint8, rows*cols),
		number: kerneltest.Narrow(typ), factor: kerneltest.Narrow(f.Scale.Type),
	}
	for i := range n.Codes {
		n.Codes[i] = uint8(t.Rand.IntN(1 << typ.Bits()))
		for !(math.Abs(n.number.Float(n.Codes[i])) < 8) { // also true for NaN
			n.Codes[i] &^= 1 << (typ.Bits() - 2) // clear the highest exponent bit
		}
	}
	n.Factors = kerneltest.Random(t, n.factor, rows*((cols+f.Scale.Vector-1)/f.Scale.Vector))
	return n
}

// Value returns an element multiplied by its scale factor.
func (n Numbers) Value(row, col int) float64 {
	factors := len(n.Factors) / n.Rows
	return n.number.Float(n.Codes[row*n.Cols+col]) *
		n.factor.Float(n.Factors[row*factors+col/n.Scale.Vector])
}

// Packed returns the elements as they are stored in global memory, with the first element in the
// lowest bits.
func (n Numbers) Packed() []byte {
	bits := n.Type.Bits()
	packed := make([]byte, (len(n.Codes)*bits+7)/8)
	for i, c := range n.Codes {
		at := i * bits
		wide := uint16(c) << (at % 8)
		packed[at/8] |= uint8(wide)
		if wide > 0xff {
			packed[at/8+1] |= uint8(wide >> 8)
		}
	}
	return packed
}

// argument returns the elements as a kernel argument, stored by rows or by columns.
func (n Numbers) argument(columns bool) *kerneltest.Array {
	if columns {
		n = n.transposed()
	}
	return kerneltest.In(n.Packed()).Tensor(n.Rows, n.Cols)
}

// transposed returns the matrix with rows and columns of elements exchanged.
func (n Numbers) transposed() Numbers {
	codes := make([]uint8, len(n.Codes))
	for i, c := range n.Codes {
		codes[i%n.Cols*n.Rows+i/n.Cols] = c
	}
	n.Rows, n.Cols, n.Codes = n.Cols, n.Rows, codes
	return n
}

// edges replaces some rows by rows with a single nonzero element. The element or its scale factor
// is an edge value, such as NaN. If finite is set, no element becomes NaN or infinite.
func (n Numbers) edges(t *kerneltest.T, finite bool) {
	bits := n.Type.Bits()
	elements := []uint8{1<<(bits-1) - 1, 1<<bits - 1, 1<<(bits-1) - 2, 1, 1 << (bits - 1),
		1<<(bits-1) | 1}
	if n.Type == isa.E5m2 {
		elements = append(elements, 0x7c, 0xfc, 0x7b) // infinities, and the largest number
	}
	if finite {
		elements = slices.DeleteFunc(elements, func(code uint8) bool {
			x := n.number.Float(code)
			return math.IsNaN(x) || math.IsInf(x, 0)
		})
	}
	factors := []uint8{0, 1, 0xfd, 0xfe, 0xff}
	if n.Scale.Type == isa.Ue4m3 {
		factors = []uint8{0, 1, 0x7d, 0x7e, 0x7f}
	}
	each := len(n.Factors) / n.Rows
	for i := range len(elements) + len(factors) {
		row, at := 1+2*i, t.Rand.IntN(n.Cols)
		if row >= n.Rows {
			return
		}
		line := n.Codes[row*n.Cols:][:n.Cols]
		clear(line)
		if i < len(elements) {
			line[at] = elements[i]
			continue
		}
		line[at] = n.number.From(1)
		n.Factors[row*each+at/n.Scale.Vector] = factors[i-len(elements)]
	}
}

// metadata returns the number of metadata bytes of a number of elements in a row of A.
func (f Format) metadata(cols int) int { return cols / (8 * f.together()) }

// together returns the size of a sparsity unit in elements: 2 if two elements share a byte,
// otherwise 1.
func (f Format) together() int {
	if f.Packed {
		return 2
	}
	return 1
}

// unpacked returns the element with index i from packed elements with the given number of bits.
func unpacked(packed []byte, i, bits int) uint8 {
	at := i * bits
	wide := uint16(packed[at/8])
	if at/8+1 < len(packed) {
		wide |= uint16(packed[at/8+1]) << 8
	}
	return uint8(wide>>(at%8)) & uint8(1<<bits-1)
}

// drop sets two of every four units to zero. A unit has together elements.
func (n Numbers) drop(t *kerneltest.T, together int) {
	for i := 0; i < len(n.Codes); i += 4 * together {
		for _, at := range t.Rand.Perm(4)[:2] {
			clear(n.Codes[i+at*together:][:together])
		}
	}
}

// Compress keeps the two nonzero units of each four, and returns them with the metadata in the
// layout of dsl.SparsityOffset, which Build reads. At most two may be nonzero. A unit has
// `together` elements.
func (n Numbers) Compress(together int) (kept Numbers, metadata []byte) {
	// metadata bytes per row: four bits for each group of four units
	each := (n.Cols/together + 7) / 8
	metadata = bytes.Repeat([]byte{firstTwo}, dsl.SparsityBytes(n.Rows, each))
	kept = n.keep(together, func(row, group int, places uint8) {
		at := dsl.SparsityOffset(n.Type, row, group/2, each)
		setHalf(&metadata[at], group, places)
	})
	return kept, metadata
}

// CompressRows is Compress with the metadata in rows of bytes, which BuildSync reads. The rows and
// their lengths are padded to those of whole tiles, because metadata of zero is invalid.
func (n Numbers) CompressRows(together, tileRows, tileCols int) (kept Numbers, metadata []byte,
	rows, each int) {
	rows = (n.Rows + tileRows - 1) / tileRows * tileRows
	each = (n.Cols + tileCols - 1) / tileCols * tileCols / together / 8
	metadata = bytes.Repeat([]byte{firstTwo}, rows*each)
	kept = n.keep(together, func(row, group int, places uint8) {
		setHalf(&metadata[row*each+group/2], group, places)
	})
	return kept, metadata, rows, each
}

// firstTwo is the metadata of two groups whose first two units are kept.
const firstTwo = 0x44

// setHalf sets the lower half of a byte for an even index, or the upper half.
func setHalf(b *byte, index int, to uint8) {
	shift := index % 2 * 4
	*b = *b&^(15<<shift) | to<<shift
}

// keep returns the two nonzero units of each four, and calls put with the four bits of metadata of
// each group of four.
func (n Numbers) keep(together int, put func(row, group int, places uint8)) Numbers {
	kept := Numbers{Type: n.Type, Rows: n.Rows, Cols: n.Cols / 2}
	for row := range n.Rows {
		line := n.Codes[row*n.Cols:][:n.Cols]
		for i := 0; i < n.Cols; i += 4 * together {
			first, second := indices(line[i:][:4*together])
			kept.Codes = append(kept.Codes, line[i+first*together:][:together]...)
			kept.Codes = append(kept.Codes, line[i+second*together:][:together]...)
			put(row, i/(4*together), uint8(first|second<<2))
		}
	}
	return kept
}

// indices returns the positions of the two of four units that are kept, the lower one first.
func indices(four []uint8) (first, second int) {
	together := len(four) / 4
	var kept []int
	for p := range 4 {
		for _, code := range four[p*together:][:together] {
			if code != 0 {
				kept = append(kept, p)
				break
			}
		}
	}
	switch {
	case len(kept) >= 2:
		return kept[0], kept[1]
	case len(kept) == 1 && kept[0] > 0:
		return 0, kept[0]
	}
	return 0, 1
}
