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

// A wmmaTile holds the operands of wmma.load or wmma.store.
type wmmaTile struct {
	at         addressRef
	space      isa.Space
	stride     *ref
	regs       []ref
	rows, cols int  // shape of the matrix in memory, in the notation of the PTX manual
	bits       int  // bits per element
	column     bool // column-major
	place      func(row, col int) tensorcore.Place
	// copies returns all positions of elements that the fragment holds more than once. It is nil
	// if no element is held more than once.
	copies func(lane, register, element int) (row, col int)
}

// wmmaShapes maps the shape modifiers of wmma to M, N and K.
var wmmaShapes = map[isa.Mod][3]int{
	isa.ModM16N16K16: {16, 16, 16}, isa.ModM8N32K16: {8, 32, 16}, isa.ModM32N8K16: {32, 8, 16},
	isa.ModM16N16K8: {16, 16, 8}, isa.ModM8N8K4: {8, 8, 4}, isa.ModM8N8K32: {8, 8, 32},
	isa.ModM8N8K128: {8, 8, 128},
}

// wmmaTile decodes the operands of wmma.load and wmma.store.
func (d *decoder) wmmaTile() (*wmmaTile, error) {
	op := d.operation()
	t := &wmmaTile{space: op.Space, stride: d.valueNamed("stride"), regs: d.registersNamed("r"),
		column: op.Has(isa.ModCol)}
	var err error
	if t.at, err = d.addressNamed("p"); err != nil {
		return nil, err
	}
	shape, found := [3]int{}, false
	for _, m := range op.Mods() {
		if s, ok := wmmaShapes[m]; ok {
			shape, found = s, true
		}
	}
	if !found {
		return nil, fmt.Errorf("%s has no shape of wmma", d.in.Op)
	}
	m, n, k := shape[0], shape[1], shape[2]
	kind := op.Type()
	t.bits = kind.Bits()
	if kind == isa.Tf32 {
		t.bits = 32
	}
	elements := func(rows, depth int, transposed bool) {
		t.copies = func(lane, register, element int) (int, int) {
			row, k := tensorcore.WMMAElements(rows, depth, t.bits, lane, register, element)
			if transposed {
				return k, row
			}
			return row, k
		}
	}
	switch op.Kind {
	case isa.KindWmmaLoadA:
		t.rows, t.cols = m, k
		elements(m, k, false)
	case isa.KindWmmaLoadB:
		t.rows, t.cols = k, n
		elements(n, k, true)
	default:
		t.rows, t.cols = m, n
		half := t.bits == 16
		t.place = func(row, col int) tensorcore.Place {
			return tensorcore.WMMAPlace(m, n, half, row, col)
		}
	}
	return t, nil
}

// lines returns the number of rows of the matrix in memory, or of columns if it is column-major,
// and the number of elements in each.
func (t *wmmaTile) lines() (lines, elements int) {
	if t.column {
		return t.cols, t.rows
	}
	return t.rows, t.cols
}

// find returns the address of the matrix in memory, which is the same in all lanes, and the
// distance in elements between its rows or columns. It reports invalid and uninitialized memory.
func (t *wmmaTile) find(w *warp, write bool) (base access, stride uint64, ok bool) {
	lines, elements := t.lines()
	stride = uint64(elements)
	lane := bits.TrailingZeros32(w.cur.mask)
	if t.stride != nil {
		stride = w.value(t.stride, &w.scratch[1])[lane] & 0xffffffff
	}
	size := (stride*uint64(lines-1) + uint64(elements)) * uint64(t.bits) / 8
	q := demand{space: t.space, size: size, align: max(uint64(t.bits/8), 1), write: write,
		quiet: true}
	if !w.locate(&t.at, 1<<lane, &q) {
		return access{}, 0, false
	}
	base = w.where
	base.region, base.at[0] = base.regionOf(lane), base.at[lane]
	if stride*uint64(t.bits)%8 != 0 {
		w.fault(lane, nil, "stride of %d elements of %d bits is not a multiple of a byte", stride,
			t.bits)
		return access{}, 0, false
	}
	if w.observing() {
		t.tell(w, lane, write, stride)
	}
	if write || !w.mustBeWritten(base.region) {
		return base, stride, true
	}
	for line := range uint64(lines) {
		at := base.at[0] + line*stride*uint64(t.bits)/8
		if !allSet(base.region.init[at : at+uint64(elements*t.bits)/8]) {
			return base, stride,
				w.denyAccess(lane,
					fmt.Sprintf("read of %s: row %d of the matrix", CauseUnwritten,
						line))
		}
	}
	return base, stride, true
}

// tell reports the accesses to the rows or columns of the matrix to observers.
func (t *wmmaTile) tell(w *warp, lane int, write bool, stride uint64) {
	kind := EventRead
	if write {
		kind = EventWrite
	}
	lines, elements := t.lines()
	q, start := demand{size: uint64(elements*t.bits) / 8}, w.where.at[lane]
	for line := range uint64(lines) {
		w.where.at[lane] = start + line*stride*uint64(t.bits)/8
		w.tellAccess(kind, 1<<lane, &q, nil)
	}
	w.where.at[lane] = start
}

// bit returns the bit offset of an element from the start of the matrix.
func (t *wmmaTile) bit(row, col int, stride uint64) uint64 {
	line, i := row, col
	if t.column {
		line, i = col, row
	}
	return (uint64(line)*stride + uint64(i)) * uint64(t.bits)
}

// wmmaLoad decodes wmma.load.
func wmmaLoad(d *decoder) (step, error) {
	t, err := d.wmmaTile()
	if err != nil {
		return nil, err
	}
	return func(w *warp, _ uint32) action {
		if !w.together() {
			return parked
		}
		base, stride, ok := t.find(w, false)
		if !ok {
			return failed
		}
		data := base.region.data[base.at[0]:]
		element := func(row, col int) uint64 {
			at := t.bit(row, col, stride)
			if t.bits < 8 {
				return uint64(data[at/8]) >> (at % 8) & (1<<t.bits - 1)
			}
			return read(data[at/8:], uint64(t.bits/8))
		}
		w.result = [8]eval.Vector{}
		if t.copies != nil {
			per := max(32/t.bits, 1)
			for i := range t.regs {
				for l := range eval.Lanes {
					for e := range per {
						w.result[i][l] |= element(t.copies(l, i, e)) << (e * t.bits)
					}
				}
			}
		} else {
			for row := range t.rows {
				for col := range t.cols {
					p := t.place(row, col)
					w.result[p.Register][p.Lane] |= element(row, col) << p.Bit
				}
			}
		}
		for i := range t.regs {
			w.write(&t.regs[i], w.cur.mask, &w.result[i])
		}
		return advance
	}, nil
}

// wmmaStore decodes wmma.store.
func wmmaStore(d *decoder) (step, error) {
	t, err := d.wmmaTile()
	if err != nil {
		return nil, err
	}
	return func(w *warp, _ uint32) action {
		if !w.together() {
			return parked
		}
		base, stride, ok := t.find(w, true)
		if !ok {
			return failed
		}
		w.block.changes++
		r, width := base.region, uint64(t.bits/8)
		for i := range t.regs {
			w.result[i] = *w.value(&t.regs[i], &w.scratch[0])
		}
		for row := range t.rows {
			for col := range t.cols {
				p := t.place(row, col)
				at := base.at[0] + t.bit(row, col, stride)/8
				put(r.data[at:], width, w.result[p.Register][p.Lane]>>p.Bit)
				if r.init != nil {
					fill(r.init[at:at+width], 0xff)
				}
			}
		}
		return advance
	}, nil
}
