// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package tensorcore

import (
	"math/rand/v2"
	"testing"

	"github.com/ptxdsl/ptxdsl/isa/eval"
)

// TestWMMA fills the fragments as wmma.load does, with WMMAElements and WMMAPlace, and compares
// with sums in float64.
func TestWMMA(t *testing.T) {
	r := rand.New(rand.NewPCG(19, 20))
	tried := 0
	for _, op := range opcodes("wmma.mma") {
		m, err := spelled(op, Hopper)
		if err != nil {
			t.Fatal(err)
		}
		tried++
		f := newFrame()
		a := fillWMMA(r, m.a, &f.A, m.RegsA, m.M, m.K)
		b := fillWMMA(r, m.b, &f.B, m.RegsB, m.N, m.K)
		c := make([][]float64, m.M)
		for row := range c {
			c[row] = make([]float64, m.N)
			for col := range c[row] {
				code := exactCode(r, m.c)
				c[row][col] = m.c.Decode(code)
				p := WMMAPlace(m.M, m.N, m.c == F16, row, col)
				f.C[p.Register][p.Lane] |= code << p.Bit
			}
		}
		m.Run(f)
		for row := range c {
			for col := range c[row] {
				want := c[row][col]
				for k := range m.K {
					want += combined(m, a[row][k], b[col][k])
				}
				p := WMMAPlace(m.M, m.N, m.d == F16, row, col)
				got := f.D[p.Register][p.Lane] >> p.Bit & (1<<uint(m.d.Bits) - 1)
				if x := m.d.Decode(got); x != want && !overflows(m, want) {
					t.Fatalf("%s: row %d, column %d: %v, want %v", op, row, col, x, want)
				}
			}
		}
	}
	t.Logf("%d opcodes", tried)
}

func fillWMMA(r *rand.Rand, e *Element, regs *[8]*eval.Vector, count, rows, depth int) [][]float64 {
	codes := make([][]uint64, rows)
	values := make([][]float64, rows)
	for row := range codes {
		for range depth {
			code := exactCode(r, e)
			codes[row] = append(codes[row], code)
			values[row] = append(values[row], e.Decode(code))
		}
	}
	per := max(32/e.Bits, 1)
	for lane := range 32 {
		for reg := range count {
			for i := range per {
				row, k := WMMAElements(rows, depth, e.Bits, lane, reg, i)
				regs[reg][lane] |= codes[row][k] << (i * e.Bits)
			}
		}
	}
	return values
}

// TestQuads compares mma.m8n8k4 on f16, in every layout, with sums in float64. The formulas are
// those of 9.7.14.5.1.
func TestQuads(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	tried := 0
	for _, op := range opcodes("mma") {
		m, err := spelled(op, Volta)
		if err != nil || !m.volta {
			continue
		}
		tried++
		f := newFrame()
		var a, b [4][8][4]float64
		var c [4][8][8]float64
		for lane := range 32 {
			quad, high := lane%16/4, lane/16*4
			for i := range 4 {
				code := exactCode(r, F16)
				put(&f.A, lane, i, 16, 0, code)
				row, k := lane%4+high, i
				if m.aColumn {
					row, k = i%4+high, lane%4
				}
				a[quad][row][k] = F16.Decode(code)
				code = exactCode(r, F16)
				put(&f.B, lane, i, 16, 0, code)
				k, col := i, lane%4+high
				if m.bRow {
					k, col = lane%4, i+high
				}
				b[quad][col][k] = F16.Decode(code)
			}
			for i := range 8 {
				code := exactCode(r, m.c)
				put(&f.C, lane, i, m.c.Bits, 0, code)
				row, col := quadC(m.c == F16, lane, i)
				c[quad][row][col] = m.c.Decode(code)
			}
		}
		m.Run(f)
		for lane := range 32 {
			for i := range 8 {
				quad := lane % 16 / 4
				row, col := quadC(m.d == F16, lane, i)
				want := c[quad][row][col]
				for k := range 4 {
					want += a[quad][row][k] * b[quad][col][k]
				}
				got := f.D[i*m.d.Bits/32][lane] >> (i * m.d.Bits % 32) & (1<<m.d.Bits - 1)
				if x := m.d.Decode(got); x != want {
					t.Fatalf("%s: lane %d, element %d: %v, want %v", op, lane, i, x, want)
				}
			}
		}
	}
	if tried != 12 {
		t.Errorf("%d opcodes, want three types in four layouts", tried)
	}
}

func quadC(half bool, lane, i int) (row, col int) {
	if half {
		return lane%4 + lane/16*4, i
	}
	return lane&1 + i&2 + lane/16*4, i&4 + lane&2 + i&1
}
