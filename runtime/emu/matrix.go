// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package emu

import (
	"fmt"

	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/isa/eval"
	"github.com/ptxdsl/ptxdsl/isa/eval/tensorcore"
)

// mma decodes mma, mma.sp and wmma.mma.
func mma(d *decoder) (step, error) {
	m, err := tensorcore.Of(d.in.Form.Opcode, tensorcore.ArchOf(d.image.module.ir.Target.Info().Number))
	if err != nil {
		return nil, err
	}
	to, args := d.writes(), d.reads()
	if len(to) != m.RegsD || len(args) < m.RegsA+m.RegsB+m.RegsC {
		return nil, fmt.Errorf("%s with these operands is not emulated yet", d.in.Op)
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
		for _, i := range []int{1, 2, 4, 5} {
			if scales[i].kind != refConstant {
				return nil, fmt.Errorf("%s with a selector that is no constant is not emulated yet", d.in.Op)
			}
		}
	}
	if len(rest) != 0 {
		return nil, fmt.Errorf("%s with these operands is not emulated yet", d.in.Op)
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
			f.ScaleA, f.ByteA, f.ThreadA = w.value(&scales[0], &scratch[1]), int(scales[1].constant[0]), int(scales[2].constant[0])
			f.ScaleB, f.ByteB, f.ThreadB = w.value(&scales[3], &scratch[2]), int(scales[4].constant[0]), int(scales[5].constant[0])
		}
		m.Run(f)
		for i := range to {
			w.write(&to[i], w.cur.mask, &w.result[i])
		}
		return advance
	}, nil
}

// matrixFrame returns the work space of matrix instructions.
func (w *warp) matrixFrame() *tensorcore.Frame {
	if w.matrix == nil {
		w.matrix = &tensorcore.Frame{}
	}
	return w.matrix
}

// matrixShape returns how many 8x8 matrices of 16-bit elements an ldmatrix or stmatrix moves.
func matrixShape(d *decoder, n int) (transposed bool, err error) {
	op := d.operation()
	if !op.Has(isa.ModM8N8) || op.Type() != isa.B16 || n != 1 && n != 2 && n != 4 {
		return false, fmt.Errorf("%s is not emulated yet", d.in.Op)
	}
	return op.Has(isa.ModTrans), nil
}

// ldmatrix decodes ldmatrix of 8x8 matrices. Lanes 8i to 8i+7 have the addresses of the rows of matrix i.
func ldmatrix(d *decoder) (step, error) {
	op := d.operation()
	to := d.writes()
	transposed, err := matrixShape(d, len(to))
	if err != nil {
		return nil, err
	}
	at, err := d.address(0)
	if err != nil {
		return nil, err
	}
	rows := uint32(1<<(8*len(to)) - 1)
	if len(to) == 4 {
		rows = full
	}
	q := demand{space: op.Space, size: 16, align: 16, read: true}
	return func(w *warp, _ uint32) action {
		if !w.together() {
			return parked
		}
		if !w.locate(&at, rows&w.live, &q) {
			return failed
		}
		half := func(matrix, row, col int) uint64 {
			l := 8*matrix + row
			if w.live>>l&1 == 0 {
				return 0
			}
			return uint64(little.Uint16(w.where.of(l).data[w.where.at[l]+uint64(2*col):]))
		}
		for i := range to {
			for l := range eval.Lanes {
				x, y := l/4, l%4*2
				if transposed {
					w.out[i][l] = half(i, y, x) | half(i, y+1, x)<<16
				} else {
					w.out[i][l] = half(i, x, y) | half(i, x, y+1)<<16
				}
			}
		}
		for i := range to {
			w.write(&to[i], w.cur.mask, &w.out[i])
		}
		return advance
	}, nil
}

// stmatrix decodes stmatrix of 8x8 matrices.
func stmatrix(d *decoder) (step, error) {
	op := d.operation()
	from := d.reads()
	transposed, err := matrixShape(d, len(from))
	if err != nil {
		return nil, err
	}
	at, err := d.address(0)
	if err != nil {
		return nil, err
	}
	rows := uint32(1<<(8*len(from)) - 1)
	if len(from) == 4 {
		rows = full
	}
	q := demand{space: op.Space, size: 16, align: 16, write: true}
	return func(w *warp, _ uint32) action {
		if !w.together() {
			return parked
		}
		if !w.locate(&at, rows&w.live, &q) {
			return failed
		}
		w.block.changes++
		for i := range from {
			v := w.value(&from[i], &w.scratch[0])
			for l := range eval.Lanes {
				for h := range 2 {
					row, col := l/4, l%4*2+h
					if transposed {
						row, col = col, row
					}
					to := 8*i + row
					if w.live>>to&1 == 0 {
						continue
					}
					r, off := w.where.of(to), w.where.at[to]+uint64(2*col)
					little.PutUint16(r.data[off:], uint16(v[l]>>(16*h)))
					if r.init != nil {
						little.PutUint16(r.init[off:], 0xffff)
					}
				}
			}
		}
		return advance
	}, nil
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
