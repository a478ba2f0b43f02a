// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package tensorcore

import "github.com/ptxdsl/ptxdsl/isa/eval"

// Fragments of wmma are opaque: only wmma.load, wmma.mma and wmma.store of one shape need to agree.
// Elements of A and B are distributed in order over the registers of all lanes, and repeated if a
// fragment holds more elements than the matrix has. Accumulators are tiles of mma.sync.

// wmmaRegisters returns the number of registers of A or B, with rows (or columns) of depth K.
// Fragments of f16 always have eight.
func (m *MMA) wmmaRegisters(rows int, e *Element) int {
	if e == F16 {
		return 8
	}
	return max(rows*m.K*min(e.Bits, 32)/(32*32), 1)
}

// WMMAElements returns which element a register position of an A or B fragment of regs registers
// holds: the row of A, or the column of B, and k. Copies of an element return the same indices.
func WMMAElements(rows, depth, bits, lane, register, element int) (row, k int) {
	per := max(32/bits, 1)
	at := ((register*per+element)*32 + lane) % (rows * depth)
	return at / depth, at % depth
}

// WMMAPlace returns the location of an element of an m by n accumulator.
func WMMAPlace(m, n int, half bool, row, col int) Place {
	var i int // index among the elements of a lane
	lane := row%8*4 + col%8/2
	switch {
	case m == 8:
		i = col/8*2 + col%2
	default:
		i = (row/16*(n/8)+col/8)*4 + row%16/8*2 + col%2
	}
	if half {
		return Place{lane, i / 2, i % 2 * 16}
	}
	return Place{lane, i, 0}
}

func (m *MMA) wmmaPlace(half bool, row, col int) Place {
	return WMMAPlace(m.M, m.N, half, row, col)
}

// loadWMMA decodes the fragments of A and B.
func (m *MMA) loadWMMA(f *Frame) {
	f.a.resize(m.M, m.K, m.a.Integer)
	f.b.resize(m.N, m.K, m.b.Integer)
	unpackWMMA(m.a, f.A[:m.RegsA], &f.a, m.M)
	unpackWMMA(m.b, f.B[:m.RegsB], &f.b, m.N)
}

func unpackWMMA(e *Element, regs []*eval.Vector, to *panel, rows int) {
	per := max(32/e.Bits, 1)
	for at := range rows * to.depth {
		j := at / 32 // the element of lane at%32
		if j/per >= len(regs) {
			return
		}
		word := regs[j/per][at%32]
		if e.Bits < 32 {
			word = word >> (j % per * e.Bits) & (1<<e.Bits - 1)
		}
		to.set(e, at/to.depth, at%to.depth, word)
	}
}
