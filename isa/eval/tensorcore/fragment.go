// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package tensorcore

import (
	"fmt"

	"github.com/ptxdsl/ptxdsl/isa/eval"
)

// A Place is the location of an element in a fragment: a lane, one of the operand's registers, and
// the lowest bit within the register.
type Place struct{ Lane, Register, Bit int }

// A Layout is the distribution of an operand of mma.sync over the lanes of a warp. mma.m8n8k4 on
// f16 and wmma have other layouts, with types of their own.
type Layout struct {
	width int  // bits per element in a register, including unused bits
	rows  int  // of A and C: 8 or 16
	inset int  // unused bits below an element
	half  bool // C: two elements per register
}

// per returns the number of elements in a register: 1 for f64, whose registers have 64 bits.
func (l Layout) per() int { return max(32/l.width, 1) }

// A returns the location of the left matrix's element (row, k). For a sparse matrix, k counts only
// the stored elements.
func (l Layout) A(row, k int) Place {
	n := l.per()
	reg := k / (4 * n)
	if l.rows == 16 {
		reg = 2*reg + row/8
	}
	return Place{row%8*4 + k/n%4, reg, k%n*l.width + l.inset}
}

// B returns the location of the right matrix's element (k, col).
func (l Layout) B(k, col int) Place {
	n := l.per()
	return Place{col*4 + k/n%4, k / (4 * n), k%n*l.width + l.inset}
}

// C returns the location of the accumulator's element (row, col).
func (l Layout) C(row, col int) Place {
	if l.half {
		return Place{row%8*4 + col/2, row / 8, col % 2 * 16}
	}
	return Place{row%8*4 + col/2, row/8*2 + col%2, 0}
}

// container returns the width of an element in a register, unused bits included, and the number of
// unused bits below it. Kinds with mixed formats keep six-bit elements in the low bits of a byte,
// and four-bit elements in its middle.
func container(e *Element, bytes bool) (width, inset int) {
	if bytes && e.Bits < 8 {
		if e.Bits == 4 {
			return 8, 2
		}
		return 8, 0
	}
	return e.Bits, 0
}

// Metadata returns the location of the four metadata bits that specify which elements of a chunk
// are stored. A chunk is four elements, eight if they have four bits, or two of tf32. selector is
// the operand of mma.sp.
func (m *MMA) Metadata(row, chunk, selector int) Place {
	group := row % 8 * 4
	if !m.wideMetadata() {
		// 16 metadata bits per row or half row: two rows share a word.
		words := m.chunks() / 4
		return Place{group + selector*words + chunk/4, 0, chunk%4*4 + row/8*16}
	}
	// 32 metadata bits per word, all of one row: the two rows of a pair are in adjacent lanes.
	return Place{group + selector*2 + chunk/8*2 + row/8, 0, chunk % 8 * 4}
}

// wideMetadata reports whether eight chunks of a row share a metadata word: true for elements of up
// to eight bits.
func (m *MMA) wideMetadata() bool { return m.a.Bits <= 8 }

// chunks returns the number of sparse chunks in a row of A.
func (m *MMA) chunks() int { return m.K / m.chunk }

// Selectors returns the number of valid sparsity selectors of mma.sp for this shape and type.
func (m *MMA) Selectors() int {
	words := m.chunks() / 4 // lanes of a quad that hold metadata
	if m.wideMetadata() {
		words = m.chunks() / 8 * 2
	}
	return max(4/words, 1)
}

// ElementA returns the type of the elements of A.
func (m *MMA) ElementA() *Element { return m.a }

// ElementB returns the type of the elements of B.
func (m *MMA) ElementB() *Element { return m.b }

// ElementC returns the type of the elements of C.
func (m *MMA) ElementC() *Element { return m.c }

// ElementD returns the type of the elements of D.
func (m *MMA) ElementD() *Element { return m.d }

// Fill returns a register filled with elements whose codes come from next.
func (l Layout) Fill(next func() uint64, e *Element) (x uint64) {
	if l.half {
		return next()&0xffff | next()&0xffff<<16
	}
	for i := range l.per() {
		x |= next() & (1<<uint(e.Bits) - 1) << (i*l.width + l.inset)
	}
	return x
}

// Container returns a text by which layouts can be compared: it differs if elements take different
// widths in a register.
func (l Layout) Container() string { return fmt.Sprintf(" in %d+%d", l.width, l.inset) }

// Format returns the floating-point format of e, nil for integers.
func (e *Element) Format() *eval.Format { return e.format }
