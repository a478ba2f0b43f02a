// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// A Matrix is a row-major matrix in global memory whose size the launch chooses. Copies and
// stores of tiles are clipped at its edges: elements outside are read as zeros and not written.
// Copies require that the row size is a multiple of 16 bytes, stores that the number of columns
// is even; otherwise the access is misaligned and aborts the kernel.
type Matrix struct {
	k          *Kernel
	name       string
	typ        isa.Type
	at         Addr
	rows, cols Reg[U32]
	pitch      Reg[U64] // bytes between consecutive rows
	last       bool     // copies of rows past the end read the last row instead of zeros
}

// Matrix declares a kernel parameter that points to a matrix. [Matrix.Sized] sets its size.
// Elements of fewer than eight bits are packed, the first in the lowest bits.
func (k *Kernel) Matrix(name string, t isa.Type) *Matrix {
	k = k.sound()
	element := t
	switch {
	case t.Bits() < 1 || t.Bits() > 64 || t == isa.Predicate || 8%t.Bits() != 0 && t.Bits()%8 != 0:
		k.fault(&ruleOperand, "matrix has elements of %s, expected 1, 2, 4, 8, 16, 32 or 64 bits",
			t)
		t, element = isa.F32, isa.F32
	case t.Bits() < 8:
		element = isa.B8
	}
	return &Matrix{k: k, name: name, typ: t, at: k.pointer(name, element)}
}

// Sized returns the matrix with the given numbers of rows and columns.
func (m *Matrix) Sized(rows, cols Reg[U32]) *Matrix {
	if m == nil || m.k == nil {
		return m
	}
	sized := *m
	sized.rows, sized.cols = rows.snapshot(), cols.snapshot()
	sized.pitch = To[U64](sized.bytes(cols))
	return &sized
}

// RowsFrom returns the part of the matrix that starts at the given row.
func (m *Matrix) RowsFrom(row Reg[U32]) *Matrix {
	if !m.hasSize("RowsFrom") {
		return m
	}
	part := *m
	part.at = At(m.at.Value64().Add(To[U64](row).Mul(m.pitch)), 0)
	part.at.space, part.at.root = m.at.space, m.at.root
	part.rows = m.rows.Sub(row.Min(m.rows))
	return &part
}

// At returns the n-th of several contiguous matrices of the same size, such as those of a batch or
// of attention heads.
func (m *Matrix) At(n Reg[U32]) *Matrix {
	if !m.hasSize("At") {
		return m
	}
	part := *m
	part.at = At(m.at.Value64().Add(To[U64](n).Mul(To[U64](m.rows)).Mul(m.pitch)), 0)
	part.at.space, part.at.root = m.at.space, m.at.root
	return &part
}

// From returns the matrix whose first element is the given number of elements after that of m,
// such as one of a group of matrices of different sizes. Its size must be set with Sized. For
// copies the distance must be a multiple of 16 bytes.
func (m *Matrix) From(elements Reg[U64]) *Matrix {
	if m == nil || m.k == nil || !checkCreated(m.k, "matrix in From", elements.k) {
		return m
	}
	part := *m
	part.at = At(m.at.Value64().Add(elements.MulI(int64(m.typ.Bits())).ShrI(3)), 0)
	part.at.space, part.at.root = m.at.space, m.at.root
	return &part
}

// ClampRows returns the matrix with a different clipping of copies: rows past the end read the
// last row again, instead of zeros. Use it for element types in which zero is not a valid value.
func (m *Matrix) ClampRows() *Matrix {
	if m == nil {
		return m
	}
	part := *m
	part.last = true
	return &part
}

// bytes returns the size in bytes of cols adjacent elements.
func (m *Matrix) bytes(cols Reg[U32]) Reg[U32] {
	if n := m.typ.Bits(); n < 8 {
		return cols.DivI(int64(8 / n))
	}
	return cols.MulI(int64(m.typ.Bits() / 8))
}

// hasSize reports whether the matrix was created by a builder call and has a size. It reports a
// missing size.
func (m *Matrix) hasSize(what string) bool {
	if m == nil || m.k == nil {
		return false
	}
	if m.rows.k == nil || m.cols.k == nil {
		m.k.fault(&ruleShape, "%s is called on matrix %s, which has no size; use Sized", what,
			m.name)
		return false
	}
	return true
}

// CopyAsync starts an asynchronous copy by all threads of the block into a tile. The copied part
// starts at row 0 and column col of the matrix. col must be at a multiple of 16 bytes.
func (m *Matrix) CopyAsync(to SharedTile, col Reg[U32], mods ...Mod) {
	if !m.hasSize("CopyAsync") {
		if k := to.at.k; k != nil && (m == nil || m.k == nil) {
			k.fault(&ruleValue,
				"matrix in CopyAsync is a zero value, not created by a builder call")
		}
		return
	}
	k := m.k
	if !isCompatible(to.Type, m.typ) && to.at.k != nil {
		k.fault(&ruleShape, "matrix %s of %s is copied into %s: the element types differ", m.name,
			m.typ, to.Tile)
		return
	}
	k.annotateCollective("CopyAsync", true)
	first := m.bytes(col)
	if n := int64(m.typ.Bits()); col.IsConstant() && col.bits*n%128 != 0 || m.cols.IsConstant() &&
		m.cols.bits*n%128 != 0 {
		k.fault(&ruleShape,
			"copy of matrix %s is misaligned: it starts at column %s and rows have %s columns, expected multiples of 16 bytes",
			m.name, formatIndex(col), formatIndex(m.cols))
		return
	}
	from := At(m.at.Value64().Add(To[U64](first)), 0)
	from.root = m.at.root
	k.copyAsync(to, from, m.pitch, &clip{m, first}, mods)
}

// A clip limits a copy to the rows and bytes that lie inside the matrix.
type clip struct {
	m     *Matrix
	first Reg[U32] // byte offset in the row where the copy starts
}

// unitBytes returns how many of the 16 bytes of the unit at a byte offset lie inside the matrix.
func (c *clip) unitBytes(unit Reg[U32]) Reg[U32] {
	width, at := c.m.bytes(c.m.cols), c.first.Add(unit)
	return width.Sub(at.Min(width)).MinI(16)
}

// rowBytes returns how many bytes of a unit are copied: bytes, or 0 if the row lies outside the
// matrix.
func (c *clip) rowBytes(row, bytes Reg[U32]) Reg[U32] {
	if c.m.last {
		return bytes
	}
	return Select(row.LT(c.m.rows), bytes, c.m.k.U32(0))
}

// row returns the row to copy: the given row, or the last row of the matrix if the given row lies
// outside.
func (c *clip) row(row Reg[U32]) Reg[U32] { return row.Min(c.m.rows.MaxI(1).SubI(1)) }

// Store writes the accumulator to the matrix d, with its first element at row and col, clipped at
// the edges. F32 elements are rounded to half precision if the matrix has that type.
func (w *WarpTile[C]) Store(d *Matrix, row, col Reg[U32]) {
	if !checkCreated(w.kernel(), "accumulator in Store", d.kernel()) ||
		!d.acceptsAccumulator(w.k, w.shape.C) {
		return
	}
	if !d.hasEvenColumns(col) {
		return
	}
	w.k.annotateTileStore(d.at.reg, d.at, row, col, w.rows, w.cols, 32)
	lane := w.k.Lane()
	e := d.edge(row.Add(lane.ShrI(2)), col.Add(lane.AndI(3).ShlI(1)))
	for i, line := range w.regs {
		for h := range w.pairs() {
			if i+h > 0 {
				e.nextLine()
			}
			e.emitLine(func() {
				for j, cell := range line {
					if w.shape.C == isa.F16 {
						e.put(j*w.shape.N, cell[h].in(w.k))
					} else {
						e.put(j*w.shape.N, cell[2*h].in(w.k), cell[2*h+1].in(w.k))
					}
				}
			})
		}
	}
}

// Store writes the accumulator to the matrix d, clipped at its edges, as [WarpTile.Store] does.
// If the tile size divides the matrix, [Output.Store] with a tensor map is faster.
func (a *Accumulator) Store(d *Matrix, row, col Reg[U32]) {
	if !checkCreated(a.kernel(), "accumulator in Store", d.kernel()) ||
		!d.acceptsAccumulator(a.k, a.typ) {
		return
	}
	a.checkRead()
	k := a.k
	k.annotateTileStore(d.at.reg, d.at, row, col, a.rows, a.cols, 128)
	lane := k.Lane()
	top, left := row.Add(k.WarpIndex().AndI(3).MadI(16, lane.ShrI(2))),
		col.Add(lane.AndI(3).ShlI(1))
	// registers for eight columns of an upper and a lower row
	each := len(a.regs[0]) * 8 / a.cols
	for part := range a.parts {
		e, regs := d.edge(top.AddI(int64(64*part)), left), a.operands(part)
		for h := range 2 {
			if h > 0 {
				e.nextLine()
			}
			e.emitLine(func() {
				for j := range a.cols / 8 {
					e.put(8*j, regs[each*j+h*each/2:each*j+(h+1)*each/2]...)
				}
			})
		}
	}
}

// StoreRow writes adjacent elements of a row, clipped at the edges. The number of elements and
// the first column must be even. Use it for accumulators in tensor memory, where each thread
// holds a row. Elements are rounded to half precision if the matrix has that type.
// [Output.StoreRows] with a tensor map is faster for whole tiles.
func (m *Matrix) StoreRow(row, col Reg[U32], x []Reg[F32]) {
	if !checkCreated(m.kernel(), "matrix in StoreRow", row.k, col.k) ||
		!m.acceptsAccumulator(m.k, isa.F32) {
		return
	}
	if len(x)%2 != 0 {
		m.k.fault(&ruleShape,
			"%d elements are stored to a row of matrix %s, expected an even number", len(x), m.name)
		return
	}
	if !m.hasEvenColumns(col) {
		return
	}
	m.k.notes.Loose = append(m.k.notes.Loose, m.at.reg)
	e := m.edge(row, col)
	e.emitLine(func() {
		for i := 0; i < len(x); i += 2 {
			e.put(i, x[i].in(m.k), x[i+1].in(m.k))
		}
	})
}

// kernel returns the kernel of m, or nil for a zero value.
func (m *Matrix) kernel() *Kernel {
	if m == nil {
		return nil
	}
	return m.k
}

// acceptsAccumulator reports whether accumulators of type t can be stored to the matrix, and
// records the reason if not.
func (m *Matrix) acceptsAccumulator(k *Kernel, t isa.Type) bool {
	switch {
	case m.kernel() == nil:
		k.fault(&ruleValue, "matrix in Store is a zero value, not created by a builder call")
	case !m.hasSize("Store"):
	case m.typ != t && !(t == isa.F32 && m.typ.Class() == isa.Half):
		k.fault(&ruleShape, "accumulator of %s is stored to matrix %s of %s", t, m.name, m.typ)
	default:
		m.at.requireAlignment(2 * size(m.typ)) // two elements are stored at a time
		return true
	}
	return false
}

// hasEvenColumns reports whether elements can be stored in pairs that start at column col, and
// records a finding if constants show that they cannot.
func (m *Matrix) hasEvenColumns(col Reg[U32]) bool {
	if col.IsConstant() && col.bits%2 != 0 || m.cols.IsConstant() && m.cols.bits%2 != 0 {
		m.k.fault(&ruleShape,
			"store to matrix %s is misaligned: it starts at column %s and rows have %s columns, expected even numbers, since two elements are stored at once",
			m.name, formatIndex(col), formatIndex(m.cols))
		return false
	}
	return true
}

// An edge is the position of a lane's accumulator elements in a matrix at whose edges stores are
// clipped. The elements are in rows that are eight apart.
type edge struct {
	m         *Matrix
	at        Reg[U64]
	row, left Reg[U32] // left is the number of columns from the lane's first column to the edge
	step      Reg[U64]
}

func (m *Matrix) edge(row, col Reg[U32]) *edge {
	at := m.at.Value64().Add(To[U64](row).Mul(m.pitch)).Add(To[U64](m.bytes(col)))
	return &edge{m: m, at: at, row: row, left: m.cols.Sub(col.Min(m.cols)), step: m.pitch.MulI(8)}
}

// nextLine advances to the lane's next row, eight rows below.
func (e *edge) nextLine() { e.at, e.row = e.at.Add(e.step), e.row.AddI(8) }

// emitLine emits the code of write under the condition that the current row is inside the matrix.
func (e *edge) emitLine(write func()) { e.m.k.If(e.row.LT(e.m.rows), write) }

// put stores two adjacent elements at a column offset in the current row, if they are inside the
// matrix. The elements are in two registers, or packed in one.
func (e *edge) put(col int, sums ...ir.Operand) {
	m, k := e.m, e.m.k
	to := At(e.at, int64(col*m.typ.Bits()/8))
	to.space = isa.Global
	if len(sums) == 2 && m.typ.Class() == isa.Half {
		// If the condition also guarded the conversion, the register would keep its old value where
		// it is false, and so would be live in a loop around the store.
		pair := ir.Operand{Kind: ir.Register, Reg: k.newReg(isa.B32)}
		k.ins("cvt.rn"+packedPair(m.typ).String()+".f32", pair, sums[1], sums[0])
		sums = []ir.Operand{pair}
	}
	k.When(e.left.GTI(int64(col)), func() {
		if len(sums) == 2 {
			k.ins(k.access("st", isa.Global, nil, 2, m.typ), to.in(k), k.vector(sums...))
			return
		}
		k.ins("st.global.b32", to.in(k), sums[0])
	})
}
