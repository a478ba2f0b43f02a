// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package tensorcore

// loadScales decodes the scale factors. For A, one of the two thread pairs of a quad holds them:
// its first lane holds the factors of its row, and its second lane those of the row eight below.
// For B, one thread holds them.
func (m *MMA) loadScales(f *Frame) {
	for row := range m.M {
		word := f.ScaleA[row%8*4+f.ThreadA&1*2+row/8]
		for i := range m.factors {
			f.scaleA[row][i] = scaleOf(m.scale, word>>(8*((f.ByteA+i)&3)))
		}
	}
	for col := range m.N {
		word := f.ScaleB[col*4+f.ThreadB&3]
		for i := range m.factors {
			f.scaleB[col][i] = scaleOf(m.scale, word>>(8*((f.ByteB+i)&3)))
		}
	}
	if m.model.group > 0 {
		return
	}
	for row := range m.M {
		f.a.scaleRow(row, f.scaleA[row][0])
	}
	for col := range m.N {
		f.b.scaleRow(col, f.scaleB[col][0])
	}
}

// scaleRow multiplies a row by a scale factor, by adding the factor's exponent to the exponents
// of the elements.
func (p *panel) scaleRow(row int, s scale) {
	x := s.significand
	if s.exponent == special {
		p.special[row] = true
	} else {
		x *= power(s.exponent)
	}
	for i := row * p.depth; i < (row+1)*p.depth; i++ {
		p.value[i] *= x
		p.exponent[i] += s.exponent
		if s.exponent == special {
			p.exponent[i] = special // also of a zero, which gather must not take for a number
		}
	}
}

// choose stores, for each row of A, the positions of the elements of B with which the stored
// elements of A are multiplied.
func (m *MMA) choose(f *Frame) {
	f.places = f.places[:0]
	for row := range m.M {
		for chunk := range m.chunks() {
			p := m.Metadata(row, chunk, f.Selector)
			bits := f.Meta[p.Lane&31] >> p.Bit & 15
			f.places = appendPlaces(f.places, m.a, bits, chunk*m.chunk, m.together)
		}
	}
}

// appendPlaces appends the positions of the stored elements of a chunk.
func appendPlaces(to []int32, e *Element, bits uint64, first, together int) []int32 {
	if e == TF32 {
		// 0b0100 selects the first, 0b1110 the second
		return append(to, int32(first)+int32(bits>>3))
	}
	for _, at := range [2]uint64{bits & 3, bits >> 2} {
		for i := range together {
			to = append(to, int32(first+int(at)*together+i))
		}
	}
	return to
}
