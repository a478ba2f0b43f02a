// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package tensorcore

import (
	"fmt"

	"github.com/ptxdsl/ptxdsl/isa"
)

// A Reader reads 16 bytes of shared memory.
type Reader func(address uint32, to *[16]byte) error

// A Product computes a matrix product of wgmma or tcgen05: load its operands, then compute elements
// of D. Reuse it, because it holds the scratch space.
type Product struct {
	M, N, K          int // K includes the zeros of a sparse A
	A, B, D          *Element
	Sparse, Saturate bool
	Scale            *Element // element type of the scale factors
	Factors          int      // scale factors per row
	// four-bit elements are packed two to a byte; otherwise 16 elements take 16 bytes
	Packed bool

	model  model
	mma    MMA // used for integers and for the chunk sizes of sparsity
	a, b   panel
	kept   panel
	places []int32
	row    int // index of the last row in kept
	sa, sb [][8]scale
}

// WgmmaOf returns the product of wgmma.mma_async with modifiers in the manual's order.
func WgmmaOf(mods []isa.Mod, arch Arch) (*Product, error) {
	w := wordsOf(mods)
	types := w.types
	if w.m == 0 || len(types) < 3 {
		return nil, fmt.Errorf("tensorcore: wgmma.mma_async %v is not a warpgroup matrix product",
			mods)
	}
	p := &Product{M: w.m, N: w.n, K: w.k, Sparse: w.sparse, Saturate: w.satfinite}
	p.mma.and = w.and
	p.D, p.A, p.B = types[0], types[1], types[2]
	p.model = groupModel(arch, p.A)
	p.settle()
	return p, nil
}

// settle sets the fields that follow from the shape and the types: the chunk size of sparse
// operands, and the handling of integer overflow.
func (p *Product) settle() {
	p.mma.a, p.mma.satfinite, p.mma.bits = p.A, p.Saturate, p.A == B1
	p.mma.K, p.mma.chunk, p.mma.together = p.K, 4, 1
	switch {
	case p.A == TF32:
		p.mma.chunk = 2
	case p.Packed && p.A.Bits == 4:
		p.mma.chunk, p.mma.together = 8, 2
	}
}

// Begin allocates the operands: the rows of A that one CTA holds, and the columns of B.
func (p *Product) Begin(rows, columns int) {
	p.a.resize(rows, p.DepthA(), p.A.Integer)
	p.b.resize(columns, p.K, p.B.Integer)
	p.places = p.places[:0]
	p.row = -1
	if p.Scale != nil {
		p.sa = append(p.sa[:0], make([][8]scale, rows)...)
		p.sb = append(p.sb[:0], make([][8]scale, columns)...)
	}
}

// DepthA returns the number of elements of A that are stored per row.
func (p *Product) DepthA() int {
	if p.Sparse {
		return p.K / 2
	}
	return p.K
}

// Chunks returns the number of sparse chunks in a row of A.
func (p *Product) Chunks() int { return p.mma.chunks() }

// Metadata returns the lane and bit at which a warp holds the four metadata bits of a chunk of
// wgmma.sp. row counts within the 16 rows of the warp.
func (p *Product) Metadata(row, chunk, selector int) Place {
	return p.mma.Metadata(row, chunk, selector)
}

// SetA sets an element of A to a code.
func (p *Product) SetA(row, i int, code uint64, negate bool) {
	p.set(&p.a, p.A, row, i, code, negate)
}

// SetB sets an element of B to a code.
func (p *Product) SetB(col, k int, code uint64, negate bool) {
	p.set(&p.b, p.B, col, k, code, negate)
}

func (p *Product) set(to *panel, e *Element, row, i int, code uint64, negate bool) {
	to.set(e, row, i, code)
	at := row*to.depth + i
	switch {
	case !negate:
	case e == S1Z4M11:
		to.integer[at] = -to.integer[at]
	case !e.Integer:
		to.value[at] = -to.value[at]
	}
}

// LoadA reads rows of A from shared memory, starting at row first.
func (p *Product) LoadA(m Matrix, across, negate bool, first, rows int, read Reader) error {
	return p.load(&p.a, p.A, m, across, negate, first, rows, 0, read)
}

// LoadB reads columns of B from shared memory, starting at column first. Columns of B are the rows
// of the descriptor.
func (p *Product) LoadB(m Matrix, across, negate bool, first, columns int, read Reader) error {
	return p.load(&p.b, p.B, m, across, negate, first, columns, 0, read)
}

// LoadShifted is LoadB for a matrix whose first skip columns are left out.
func (p *Product) LoadShifted(m Matrix, across, negate bool, first, columns, skip int,
	read Reader) error {
	return p.load(&p.b, p.B, m, across, negate, first, columns, skip, read)
}

// PlacesFit returns a message if four bits of sparse metadata are not a valid selection of elements
// in a chunk, or "". Bits that are all zero are valid if the elements are zero, as where a copy
// filled out-of-bounds elements with zeros.
func (p *Product) PlacesFit(row, chunk int, bits uint64) string {
	switch {
	case bits == 0:
		if each := p.DepthA() / p.Chunks(); p.a.zeros(row, chunk*each, each) {
			return ""
		}
	case p.A == TF32:
		if bits == 0x4 || bits == 0xe {
			return ""
		}
	case bits&3 < bits>>2:
		return ""
	}
	return fmt.Sprintf("sparse metadata %#x of row %d selects no elements", bits, row)
}

// zeros reports whether the n elements of a row from index first are zero.
func (p *panel) zeros(row, first, n int) bool {
	for i := row*p.depth + first; i < row*p.depth+first+n; i++ {
		if p.integer != nil && p.integer[i] != 0 || p.integer == nil && p.value[i] != 0 {
			return false
		}
	}
	return true
}

func (p *Product) load(to *panel, e *Element, m Matrix, across, negate bool, first, rows, skip int,
	read Reader) error {
	if across {
		return p.loadAcross(to, e, m, negate, first, rows, skip, read)
	}
	per := p.perUnit(e)
	var unit [16]byte
	for row := range rows {
		for i := 0; i < to.depth; i += per {
			if err := read(m.AlongK(row+skip, i/per*16), &unit); err != nil {
				return err
			}
			for j := range min(per, to.depth-i) {
				code := field(&unit, j*e.Bits, e.Bits)
				if e == S1Z4M11 {
					if err := e.Check(code); err != nil {
						return err
					}
				}
				p.set(to, e, first+row, i+j, code, negate)
			}
		}
	}
	return nil
}

// loadAcross reads a matrix whose columns are contiguous along M or N.
func (p *Product) loadAcross(to *panel, e *Element, m Matrix, negate bool, first, rows, skip int,
	read Reader) error {
	per := p.perUnit(e)
	var unit [16]byte
	for k := range to.depth {
		for row := skip / per * per; row < skip+rows; row += per {
			if err := read(m.AlongMN(row/per*16, k), &unit); err != nil {
				return err
			}
			for j := max(skip-row, 0); j < min(per, skip+rows-row); j++ {
				p.set(to, e, first+row+j-skip, k, field(&unit, j*e.Bits, e.Bits), negate)
			}
		}
	}
	return nil
}

// perUnit returns the number of elements in 16 bytes. In kinds with mixed formats, 16 elements of
// four or six bits occupy the first bytes, and the remaining bytes are unused.
func (p *Product) perUnit(e *Element) int {
	if (e.Bits == 4 || e.Bits == 6) && !p.Packed {
		return 16
	}
	return 128 / e.Bits
}

// field returns bits bits of a 16-byte unit, starting at bit at.
func field(unit *[16]byte, at, bits int) (x uint64) {
	first := at / 8
	for i := range (at%8 + bits + 7) / 8 {
		x |= uint64(unit[first+i]) << (8 * i)
	}
	return x >> (at % 8) & (1<<bits - 1)
}

// SetPlaces sets the four metadata bits of the next chunk of A, row by row.
func (p *Product) SetPlaces(chunk int, bits uint64) {
	p.places = appendPlaces(p.places, p.A, bits, chunk*p.mma.chunk, p.mma.together)
}

// SetScaleA sets scale factor i of a row of A.
func (p *Product) SetScaleA(row, i int, code uint64) { p.sa[row][i] = scaleOf(p.Scale, code) }

// SetScaleB sets scale factor i of a column of B.
func (p *Product) SetScaleB(col, i int, code uint64) { p.sb[col][i] = scaleOf(p.Scale, code) }

// Ready applies the scale factors that only change exponents. Call it after all operands are set.
func (p *Product) Ready() {
	if p.Scale == nil || p.model.group > 0 {
		return
	}
	for row := range p.sa {
		p.a.scaleRow(row, p.sa[row][0])
	}
	for col := range p.sb {
		p.b.scaleRow(col, p.sb[col][0])
	}
}

// Element returns an element of D; c is the code of the accumulator. Compute all columns of a row
// before the next row.
func (p *Product) Element(row, col int, c uint64) uint64 {
	b, n := &p.b, p.a.depth
	if p.Sparse {
		if p.row != row {
			p.row = row
			p.kept.gather(&p.b, p.places[row*n:][:n], len(p.b.special), p.B.Integer)
		}
		b = &p.kept
	}
	switch {
	case p.A.Integer:
		return p.mma.integer(p.a.integer[row*n:][:n], b.integer[col*n:][:n], c)
	case p.model.group > 0:
		av, bv := p.a.value[row*n:][:n], b.value[col*n:][:n]
		return p.model.scaledGroups(av, bv, p.sa[row][:p.Factors], p.sb[col][:p.Factors], c)
	}
	return p.model.dot(&p.a, b, row, col, p.D, c)
}

// WgmmaD returns the warp of a warpgroup that holds an element of D, and the location within the
// warp.
func WgmmaD(half bool, row, col int) (warp int, p Place) {
	lane := row%8*4 + col%8/2
	if half {
		return row / 16, Place{lane, col/8*2 + row%16/8, col % 2 * 16}
	}
	return row / 16, Place{lane, col/8*4 + row%16/8*2 + col%2, 0}
}

// WgmmaA returns the warp of a warpgroup that holds an element of A in registers, and the location
// within the warp.
func (p *Product) WgmmaA(row, i int) (warp int, at Place) {
	return row / 16, Layout{width: p.A.Bits, rows: 16}.A(row%16, i)
}

// ScaleInput divides an accumulator by a power of two, as the operand scale-input-d specifies.
func (p *Product) ScaleInput(c uint64, n int) uint64 {
	if p.D.Integer || n == 0 {
		return c
	}
	x, _ := p.D.decode(c)
	return round(p.D, x*power(int32(-n)))
}
