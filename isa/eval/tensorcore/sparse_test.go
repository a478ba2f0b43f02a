// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package tensorcore

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// operands are the matrices of one instruction as float64. A includes its zeros, and scale factors
// are applied.
type operands struct {
	a, b [16][256]float64
	c    [16][8]float64
}

// metadataLane returns the location of a chunk's metadata bits in the manual's figures 119 to 141:
// the thread within a group of four, and the lowest bit.
func metadataLane(m *MMA, upper bool, chunk, selector int) (thread, bit int) {
	half := btoi(upper)
	switch {
	case m.a.Bits > 8 && m.chunks() == 4: // one thread has the bits of both rows
		return selector, chunk*4 + half*16
	case m.a.Bits > 8: // a pair: the first thread has the first half of both rows
		return selector*2 + chunk/4, chunk%4*4 + half*16
	case m.chunks() == 8: // a pair: the first thread has the lower row
		return selector*2 + half, chunk * 4
	}
	return chunk/8*2 + half, chunk % 8 * 4 // all four threads
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// fillSparse sets random operands of mma.sp, or of a dense instruction.
func fillSparse(r *rand.Rand, m *MMA, f *Frame) *operands {
	o := &operands{}
	places := map[[2]int]int{} // by row and stored element
	size := m.K / 4
	if m.Sparse {
		size = m.K / m.chunks()
	}
	for row := 0; m.Sparse && row < 16; row++ {
		for chunk := range m.chunks() {
			first := r.IntN(3)
			second := first + 1 + r.IntN(3-first)
			code := uint64(first | second<<2)
			if m.a == TF32 {
				first = r.IntN(2)
				code = []uint64{4, 14}[first]
				places[[2]int{row, chunk}] = chunk*2 + first
			} else {
				together := size / 4
				for j := range together {
					places[[2]int{row, chunk*size/2 + j}] = chunk*size + first*together + j
					places[[2]int{row, chunk*size/2 + together + j}] = chunk*size +
						second*together + j
				}
			}
			thread, bit := metadataLane(m, row >= 8, chunk, f.Selector)
			f.Meta[row%8*4+thread] |= code << bit
		}
	}
	per := 32 / m.la.width
	for lane := range 32 {
		for i := range m.RegsA * per {
			reg := i / per
			row, k := lane/4+reg%2*8, reg/2*4*per+lane%4*per+i%per
			if m.Sparse {
				k = places[[2]int{row, k}]
			}
			code := exactCode(r, m.a)
			o.a[row][k] = m.a.Decode(code)
			put(&f.A, lane, i, m.la.width, m.la.inset, code)
		}
		for i := range m.RegsB * per {
			k, col := i/per*4*per+lane%4*per+i%per, lane/4
			code := exactCode(r, m.b)
			o.b[col][k] = m.b.Decode(code)
			put(&f.B, lane, i, m.lb.width, m.lb.inset, code)
		}
		for i := range 4 {
			row, col := lane/4+i/2*8, lane%4*2+i%2
			code := exactCode(r, m.c)
			o.c[row][col] = m.c.Decode(code)
			put(&f.C, lane, i, m.c.Bits, 0, code)
		}
	}
	return o
}

// scaleOperands sets the scale factors of every row of A and column of B, in the bytes and threads
// that the selectors name (9.7.14.3).
func scaleOperands(r *rand.Rand, m *MMA, f *Frame, o *operands) {
	f.ByteA, f.ByteB = r.IntN(4/m.factors)*m.factors, r.IntN(4/m.factors)*m.factors
	f.ThreadA, f.ThreadB = r.IntN(2), r.IntN(4)
	give := func(word *uint64, at int, line []float64) {
		for i := range m.factors {
			code := exactCode(r, m.scale)
			*word |= code << (8 * (at + i))
			for k := range line[:m.K/m.factors] {
				line[i*m.K/m.factors+k] *= m.scale.Decode(code)
			}
		}
	}
	for row := range 16 {
		lane := row%8*4 + f.ThreadA*2 + row/8
		give(&f.ScaleA[lane], f.ByteA, o.a[row][:m.K])
	}
	for col := range 8 {
		give(&f.ScaleB[col*4+f.ThreadB], f.ByteB, o.b[col][:m.K])
	}
}

// TestSparseAndScaled compares every mma.sp and every block-scaled mma with sums in float64.
func TestSparseAndScaled(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	tried := 0
	for _, op := range opcodes("mma") {
		m, err := spelled(op, Blackwell)
		if err != nil || !m.Sparse && !m.Scaled {
			continue
		}
		for selector := range max(m.Selectors()*btoi(m.Sparse), 1) {
			tried++
			if err := trySparse(r, m, selector); err != nil {
				t.Fatalf("%s, selector %d: %v", op, selector, err)
			}
		}
	}
	t.Logf("%d opcodes and selectors", tried)
}

func trySparse(r *rand.Rand, m *MMA, selector int) error {
	f := newFrame()
	f.Selector = selector
	o := fillSparse(r, m, f)
	if m.Scaled {
		scaleOperands(r, m, f, o)
	}
	m.Run(f)
	for lane := range 32 {
		for i := range 4 {
			row, col := lane/4+i/2*8, lane%4*2+i%2
			want := o.c[row][col]
			for k := range m.K {
				want += o.a[row][k] * o.b[col][k]
			}
			got := f.D[i*m.d.Bits/32][lane] >> (i * m.d.Bits % 32) & (1<<m.d.Bits - 1)
			if x := m.d.Decode(got); x != want && !overflows(m, want) {
				return fmt.Errorf("row %d, column %d: %v, want %v", row, col, x, want)
			}
		}
	}
	return nil
}
