// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package emu

import (
	"fmt"
	"math/bits"

	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/isa/eval"
	"github.com/ptxdsl/ptxdsl/isa/eval/tensorcore"
)

// mma decodes mma, mma.sp and wmma.mma.
func mma(d *decoder) (step, error) {
	op := d.operation()
	m, err := tensorcore.Of(op.Kind, op.Mods(), d.image.module.arch())
	if err != nil {
		return nil, err
	}
	to, args := d.writes(), d.reads()
	if len(to) != m.RegsD || len(args) < m.RegsA+m.RegsB+m.RegsC {
		return nil, fmt.Errorf("%s with these operands is not emulated", d.in.Op)
	}
	a, rest := args[:m.RegsA], args[m.RegsA:]
	b, rest := rest[:m.RegsB], rest[m.RegsB:]
	c, rest := rest[:m.RegsC], rest[m.RegsC:]
	var meta *ref
	selector := 0
	if m.Sparse && len(rest) >= 2 {
		meta, selector, rest = &rest[0], int(rest[1].constant[0]), rest[2:]
	}
	var scales []ref
	if m.Scaled && len(rest) == 6 {
		scales, rest = rest, nil
	}
	if len(rest) != 0 {
		return nil, fmt.Errorf("%s with these operands is not emulated", d.in.Op)
	}
	return func(w *warp, _ uint32) action {
		if !w.together() {
			return parked
		}
		f := w.matrixFrame()
		var scratch [4]eval.Vector
		for i := range a {
			f.A[i] = w.value(&a[i], &w.scratch[0])
		}
		for i := range b {
			f.B[i] = w.value(&b[i], &w.scratch[0])
		}
		for i := range c {
			f.C[i] = w.value(&c[i], &w.scratch[0])
		}
		for i := range to {
			f.D[i] = &w.result[i]
		}
		if meta != nil {
			f.Meta, f.Selector = w.value(meta, &scratch[0]), selector
		}
		if scales != nil {
			lane := bits.TrailingZeros32(w.cur.mask)
			f.ScaleA, f.ByteA, f.ThreadA = w.value(&scales[0], &scratch[1]),
				w.selector(&scales[1], lane), w.selector(&scales[2], lane)
			f.ScaleB, f.ByteB, f.ThreadB = w.value(&scales[3], &scratch[2]),
				w.selector(&scales[4], lane), w.selector(&scales[5], lane)
		}
		m.Run(f)
		for i := range to {
			w.write(&to[i], w.cur.mask, &w.result[i])
		}
		return advance
	}, nil
}

// selector returns a selector of scale factors, which must be the same in all lanes.
func (w *warp) selector(r *ref, lane int) int { return int(w.value(r, &w.scratch[0])[lane] & 3) }

// matrixFrame returns the warp's working memory for matrix instructions.
func (w *warp) matrixFrame() *tensorcore.Frame {
	if w.matrix == nil {
		w.matrix = &tensorcore.Frame{}
	}
	return w.matrix
}

// A matrixLayout specifies where ldmatrix and stmatrix find the elements of their matrices: the
// lane that holds the address of the row, and the offset in the row.
type matrixLayout struct {
	registers int // number of registers
	addresses int // number of lanes that supply an address
	bytes     int // of an element in a register: 1 or 2
	packed    int // bits of an element in memory if it is expanded to a byte, or 0
	signed    bool
	of        func(lane, register, element int) (row, col int)
}

// matrixLayout returns the layout of an ldmatrix or stmatrix that moves n registers.
func (d *decoder) matrixLayout(n int) (*matrixLayout, error) {
	op := d.operation()
	m := &matrixLayout{registers: n, bytes: 1}
	for _, lenient := range []isa.Mod{isa.ModX8, isa.ModX16, isa.ModX32, isa.ModX64, isa.ModX128} {
		if op.Has(lenient) { // ptxas generates an instruction for one matrix
			m.registers = 1
			if op.Has(isa.ModM16N16) {
				m.registers = min(n, 2)
			}
		}
	}
	m.addresses = 8 * m.registers
	switch {
	case op.Has(isa.ModB6x16P32):
		m.packed = 6
	case op.Has(isa.ModB4x16P64):
		m.packed = 4
	case op.Has(isa.ModS4):
		m.packed, m.signed = 4, true
	}
	transposed := op.Has(isa.ModTrans)
	switch {
	case op.Has(isa.ModM8N8):
		m.bytes = 2
		m.of = func(lane, register, element int) (row, col int) {
			row, col = lane/4, lane%4*2+element
			if transposed {
				row, col = col, row
			}
			return 8*register + row, col
		}
	case op.Has(isa.ModM8N16): // four bytes of a row
		m.of = func(lane, register, element int) (row, col int) {
			return 8*register + lane/4, lane%4*4 + element
		}
	case op.Has(isa.ModM16N16): // two registers; two rows of each of two groups of eight columns
		m.of = func(lane, register, element int) (row, col int) {
			return 16*(register/2) + lane%4*4 + register%2*2 + element%2, lane/4 + element/2*8
		}
	case op.Has(isa.ModM16N8): // elements are placed as in accumulators, and stored to columns
		m.of = func(lane, register, element int) (row, col int) {
			return 8*register + lane%4*2 + element%2, lane/4 + element/2*8
		}
	default:
		return nil, fmt.Errorf("%s has a shape that is not emulated", d.in.Op)
	}
	return m, nil
}

// rows returns the mask of lanes that supply an address.
func (m *matrixLayout) rows() uint32 { return uint32(1<<m.addresses - 1) }

// rowBytes returns the number of bytes of a row that are accessed. The remaining bytes of the 16
// are padding.
func (m *matrixLayout) rowBytes() uint64 {
	if m.packed != 0 {
		return uint64(m.packed * 2)
	}
	return 16
}

// expand returns the 16 bytes of a row as they are placed in registers.
func (m *matrixLayout) expand(b []byte) (row [16]byte) {
	copy(row[:], b)
	switch {
	case m.signed:
		packed := row
		for i := range row {
			row[i] = byte(int8(packed[i/2]>>(i%2*4)<<4) >> 4)
		}
	case m.packed != 0:
		row = tensorcore.Expand(row, m.packed)
	}
	return row
}

// ldmatrix decodes ldmatrix. Each of the first lanes supplies the address of a row.
func ldmatrix(d *decoder) (step, error) {
	op := d.operation()
	to := d.writes()
	m, err := d.matrixLayout(len(to))
	if err != nil {
		return nil, err
	}
	to = to[:m.registers]
	at, err := d.address(0)
	if err != nil {
		return nil, err
	}
	q := demand{space: op.Space, size: m.rowBytes(), align: 16, read: true, later: true}
	return func(w *warp, _ uint32) action {
		if !w.together() {
			return parked
		}
		if !w.locate(&at, m.rows()&w.live, &q) {
			return failed
		}
		var rows [eval.Lanes][16]byte
		for l := range m.addresses {
			if w.live>>l&1 != 0 {
				rows[l] = m.expand(w.where.regionOf(l).data[w.where.at[l]:][:q.size])
			}
		}
		for i := range to {
			for l := range eval.Lanes {
				x := uint64(0)
				for e := range 4 / m.bytes {
					row, col := m.of(l, i, e)
					x |= read(rows[row][col*m.bytes:], uint64(m.bytes)) << (8 * m.bytes * e)
				}
				w.out[i][l] = x
			}
		}
		for i := range to {
			w.write(&to[i], w.cur.mask, &w.out[i])
		}
		return advance
	}, nil
}

// stmatrix decodes stmatrix.
func stmatrix(d *decoder) (step, error) {
	op := d.operation()
	from := d.reads()
	m, err := d.matrixLayout(len(from))
	if err != nil {
		return nil, err
	}
	from = from[:m.registers]
	at, err := d.address(0)
	if err != nil {
		return nil, err
	}
	q := demand{space: op.Space, size: 16, align: 16, write: true, quiet: true}
	return func(w *warp, _ uint32) action {
		if !w.together() {
			return parked
		}
		if !w.locate(&at, m.rows()&w.live, &q) {
			return failed
		}
		if w.observing() {
			w.tellRows(m, from, &q)
		}
		w.block.changes++
		for i := range from {
			v := w.value(&from[i], &w.scratch[0])
			for l := range eval.Lanes {
				for e := range 4 / m.bytes {
					row, col := m.of(l, i, e)
					if w.live>>row&1 == 0 {
						continue
					}
					r, off := w.where.regionOf(row), w.where.at[row]+uint64(m.bytes*col)
					put(r.data[off:], uint64(m.bytes), v[l]>>(8*m.bytes*e))
					if r.init != nil {
						put(r.init[off:], uint64(m.bytes), ^uint64(0))
					}
				}
			}
		}
		return advance
	}, nil
}

// tellRows reports to observers the rows that stmatrix stores. The lane with the address of a row
// stores values from registers of other lanes.
func (w *warp) tellRows(m *matrixLayout, from []ref, q *demand) {
	var words [4]eval.Vector
	values := []*eval.Vector{&words[0], &words[1], &words[2], &words[3]}
	for i := range from {
		v := w.value(&from[i], &w.scratch[0])
		for l := range eval.Lanes {
			for e := range 4 / m.bytes {
				row, col := m.of(l, i, e)
				at := m.bytes * col
				x := v[l] >> (8 * m.bytes * e) & (1<<(8*m.bytes) - 1)
				words[at/4][row] |= x << (8 * (at % 4))
			}
		}
	}
	w.tellAccess(EventWrite, m.rows()&w.live, q, values)
}

// movmatrix decodes movmatrix: an 8x8 matrix of 16-bit elements is transposed.
func movmatrix(d *decoder) (step, error) {
	from, to := d.reads()[0], d.writes()[0]
	return func(w *warp, _ uint32) action {
		if !w.together() {
			return parked
		}
		v := w.value(&from, &w.scratch[0])
		half := func(row, col int) uint64 { return v[4*row+col/2] >> (16 * (col % 2)) & 0xffff }
		for l := range eval.Lanes {
			x, y := l/4, l%4*2
			w.out[0][l] = half(y, x) | half(y+1, x)<<16
		}
		w.write(&to, w.cur.mask, &w.out[0])
		return advance
	}, nil
}
