// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package tensorcore

import (
	"math"
	"math/bits"

	"github.com/ptxdsl/ptxdsl/isa/eval"
)

// integer adds products of integers to c. The sum wraps, or is clamped with .satfinite.
func (m *MMA) integer(a, b []int32, c uint64) uint64 {
	total := int64(int32(c))
	if m.bits && !m.and {
		for k, x := range a {
			total += int64(x ^ b[k])
		}
		return m.narrow(total)
	}
	for k, x := range a {
		total += int64(x) * int64(b[k])
	}
	return m.narrow(total)
}

func (m *MMA) narrow(total int64) uint64 {
	if m.satfinite {
		total = min(max(total, math.MinInt32), math.MaxInt32)
	}
	return uint64(uint32(total))
}

// double adds products of f64 in order of k, each with a fused multiply-add.
func (m *MMA) double(a, b []float64, c uint64) uint64 {
	if m.nearest {
		sum := math.Float64frombits(c)
		for k := range a {
			sum = math.FMA(a[k], b[k], sum)
		}
		if sum == sum {
			return math.Float64bits(sum)
		}
	}
	var cell eval.Cell
	cell.Out[0] = c
	for k := range a {
		cell.In = [8]uint64{math.Float64bits(a[k]), math.Float64bits(b[k]), cell.Out[0]}
		m.round.Lane(&cell)
	}
	return cell.Out[0]
}

// runBits computes mma of single bits. It counts the bits that differ (xor), or that are set in
// both matrices (and).
func (m *MMA) runBits(f *Frame) {
	words := m.K / 32
	var a, b [16][8]uint32
	for row := range m.M {
		for i := range words {
			p := m.la.A(row, i*32)
			a[row][i] = uint32(f.A[p.Register][p.Lane])
		}
	}
	for col := range m.N {
		for i := range words {
			p := m.lb.B(i*32, col)
			b[col][i] = uint32(f.B[p.Register][p.Lane])
		}
	}
	for row := range m.M {
		for col := range m.N {
			f.result[row*m.N+col] = m.narrow(int64(int32(m.accumulator(f, row, col))) +
				m.count(a[row][:words], b[col][:words]))
		}
	}
	for row := range m.M {
		for col := range m.N {
			m.store(f, row, col, f.result[row*m.N+col])
		}
	}
}

// count counts the bits of one row of A and one column of B.
func (m *MMA) count(a, b []uint32) (n int64) {
	for i, x := range a {
		if m.and {
			n += int64(bits.OnesCount32(x & b[i]))
		} else {
			n += int64(bits.OnesCount32(x ^ b[i]))
		}
	}
	return n
}
