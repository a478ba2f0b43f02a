// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package tensorcore

// mma.m8n8k4 on f16 computes four products of eight lanes each: four lanes of the lower half of the
// warp, and the four lanes 16 above them. The modifiers row and col are the layouts of A and B.

// voltaA returns the lane, among the eight lanes of a product, and the element index of A's element
// (row, k).
func (m *MMA) voltaA(row, k int) (lane, element int) {
	if m.aColumn {
		return row/4*16 + k, row % 4
	}
	return row/4*16 + row%4, k
}

func (m *MMA) voltaB(k, col int) (lane, element int) {
	if m.bRow {
		return col/4*16 + k, col % 4
	}
	return col/4*16 + col%4, k
}

// voltaC returns the lane and the element index of an accumulator element.
func voltaC(half bool, row, col int) (lane, element int) {
	if half {
		return row/4*16 + row%4, col
	}
	return row/4*16 + row&1 + col&2, col&4 + row&2 + col&1
}

func (m *MMA) runVolta(f *Frame) {
	half := func(regs []*[32]uint64, lane, element int) uint64 {
		return regs[element/2][lane] >> (element % 2 * 16) & 0xffff
	}
	var a, b, c [8]*[32]uint64
	for i := range 8 {
		a[i], b[i], c[i] = (*[32]uint64)(f.A[i]), (*[32]uint64)(f.B[i]), (*[32]uint64)(f.C[i])
	}
	for quad := range 4 {
		f.a.resize(8, 4, false)
		f.b.resize(8, 4, false)
		for i := range 8 {
			for k := range 4 {
				lane, element := m.voltaA(i, k)
				f.a.set(F16, i, k, half(a[:], lane+quad*4, element))
				lane, element = m.voltaB(k, i)
				f.b.set(F16, i, k, half(b[:], lane+quad*4, element))
			}
		}
		for at := range 64 {
			row, col := at/8, at%8
			lane, element := voltaC(m.c == F16, row, col)
			var sum uint64
			if m.c == F16 {
				sum = half(c[:], lane+quad*4, element)
			} else {
				sum = c[element][lane+quad*4]
			}
			if m.c != m.d {
				sum = convertAccumulator(m.c, m.d, sum)
			}
			if m.arch >= Ampere {
				f.result[quad*64+at] = chained(f.a.value[row*4:], f.b.value[col*4:], m.d, sum)
				continue
			}
			f.result[quad*64+at] = m.model.dot(&f.a, &f.b, row, col, m.d, sum)
		}
	}
	m.storeVolta(f)
}

func (m *MMA) storeVolta(f *Frame) {
	for at, x := range f.result[:256] {
		quad, row, col := at/64, at%64/8, at%8
		lane, element := voltaC(m.d == F16, row, col)
		lane += quad * 4
		if m.d != F16 {
			f.D[element][lane] = x
			continue
		}
		d := f.D[element/2]
		if element%2 == 0 {
			d[lane] = x
		} else {
			d[lane] = d[lane]&0xffff | x<<16
		}
	}
}
