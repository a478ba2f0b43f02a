// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"fmt"

	"github.com/ptxdsl/ptxdsl/internal/slab"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// An MMA is a shape of mma.sync and its element types: a warp multiplies M rows of A by N columns
// of B, with depth K.
type MMA struct {
	M, N, K int
	A, B    isa.Type
	C       isa.Type
	Bit     BitOp // operation of single-bit MMAs; empty for other types
	Sparse  bool  // half of the elements of A are zero and not stored; see SparseMMAFor
	Split   bool  // F32 is split into two TF32, multiplied in three MMAs; see MMAFor
	// Saturate clamps integer accumulators instead of wrapping them (.satfinite).
	Saturate bool
	// Scale specifies how elements share scale factors in block-scaled formats; see ScaledMMAFor.
	Scale BlockScale
}

// A BitOp combines single-bit elements of A and B; mma.sync then adds the number of ones of the
// result to the accumulator (PTX ISA 9.1, section 9.7.14.5.14).
type BitOp string

// The operations of single-bit MMAs.
const (
	BitAnd BitOp = "and" // sm_80
	BitXor BitOp = "xor"
)

// MMAFor returns the fastest shape for operands of type t and accumulators of type sums. For F32 it
// emulates F32 with three TF32 MMAs: each element is split into its TF32 value and the TF32 value
// of the remainder, and only the product of the two remainders is omitted. For finite elements the
// products are about as exact as F32, and each MMA is accumulated separately before it is added. An
// infinity becomes NaN, and so does a number that TF32 rounds to infinity, from 0x1.ffep127 on.
func MMAFor(t, sums isa.Type) MMA {
	s := MMA{M: 16, N: 8, K: 16, A: t, B: t, C: sums}
	switch t {
	case isa.F64:
		s.M, s.K = 8, 4
	case isa.Tf32:
		s.K = 8
	case isa.F32:
		s.A, s.B, s.K, s.Split = isa.Tf32, isa.Tf32, 8, true
	case isa.S8, isa.U8, isa.E4m3, isa.E5m2:
		s.K = 32
	case isa.S4, isa.U4:
		s.K = 64
	case isa.B1:
		s.K, s.Bit = 256, BitAnd
	}
	return s
}

// HalfDepth returns the shape with half the depth, which exists for types of at most 32 bits:
// m16n8k8 for .f16 and .bf16, m16n8k4 for .tf32, m16n8k16 for .s8, and so on. Use it if K is not
// a multiple of the full depth.
func (s MMA) HalfDepth() MMA {
	s.K /= 2
	return s
}

// MMAFor returns the shape that the function MMAFor returns, except for F64 on sm_90 and later,
// where it returns the larger shape, since the small shape of sm_80 is slow there.
func (m *Module) MMAFor(t, sums isa.Type) MMA {
	m = m.sound()
	s := MMAFor(t, sums)
	if t == isa.F64 && m.Has(90) {
		s.M, s.K = 16, 16
	}
	return s
}

// MixedMMAFor returns the shape of mma.sync for operands of two types of 8, 6 and 4 bits, with
// accumulators of F32 or F16 (sm_120a, kind::f8f6f4). Elements of 4 and 6 bits are padded to bytes
// in shared memory.
func MixedMMAFor(a, b, sums isa.Type) MMA { return MMA{M: 16, N: 8, K: 32, A: a, B: b, C: sums} }

// SparseMixedMMAFor returns the shape for a sparse A operand of the types that MixedMMAFor
// supports; see SparseMMAFor.
func SparseMixedMMAFor(a, b, sums isa.Type) MMA {
	s := MixedMMAFor(a, b, sums)
	s.K *= 2
	s.Sparse = true
	return s
}

// isPaddedToBytes reports whether the elements of A or B have 4 or 6 bits and are padded to
// bytes.
func (s MMA) isPaddedToBytes() bool {
	bytes := s.K == 32 && !s.Sparse || s.K == 64 && s.Sparse
	of := func(t isa.Type) bool { return t == isa.E2m1 || t == isa.E2m3 || t == isa.E3m2 }
	return bytes && (of(s.A) || of(s.B))
}

// elementBits returns the number of bits that an element of type t occupies in a register.
func (s MMA) elementBits(t isa.Type) int {
	if s.isPaddedToBytes() {
		return 8
	}
	return t.Bits()
}

// accepts reports whether the elements of tile t can be MMA operands of type of.
func (s MMA) accepts(t Tile, of isa.Type) bool {
	return isCompatible(t.Type, of) && t.elementBits() == s.elementBits(of) &&
		(t.Type == of || !s.isPaddedToBytes())
}

// describeMismatch describes the tiles that the shape expects, as the end of a message.
func (s MMA) describeMismatch() string {
	if s.isPaddedToBytes() {
		return "expected elements of " + s.A.String() + " and " + s.B.String() +
			", with those of 4 bits padded (Box.Padded)"
	}
	return "the element types differ"
}

// String returns the shape in the notation of opcodes, such as m16n8k16.
func (s MMA) String() string { return fmt.Sprintf("m%dn%dk%d", s.M, s.N, s.K) }

// op returns the opcode of the MMA.
func (s MMA) op() string {
	head := "mma"
	if s.Sparse {
		head = "mma.sp::ordered_metadata"
	}
	op := head + ".sync.aligned." + s.String() + ".row.col" + s.scaling()
	if s.Saturate {
		op += ".satfinite"
	}
	op += s.C.String() + s.A.String() + s.B.String() + s.C.String()
	if s.Bit != "" {
		op += "." + string(s.Bit) + ".popc"
	}
	if s.isScaled() {
		op += s.Scale.Type.String()
	}
	return op
}

// registers returns the number of registers per lane that hold A, B and C. in is the register
// type of A and B, out that of C.
func (s MMA) registers() (a, b, c int, in, out isa.Type) {
	in, out = isa.B32, registerType(s.C)
	if s.A == isa.F64 {
		return s.M * s.K / 32, s.K * s.N / 32, s.M * s.N / 32, isa.F64, isa.F64
	}
	if s.C == isa.F16 {
		out = isa.B32
	}
	return s.M * s.K * s.elementBits(s.A) / 1024, s.K * s.N * s.elementBits(s.B) / 1024,
		s.M * s.N * s.C.Bits() / (32 * max(32, s.C.Bits())), in, out
}

// A WarpTile is the accumulator of a warp: a matrix of rows by cols elements that several MMAs
// per step compute, in the registers of the warp's lanes.
type WarpTile[C Scalar] struct {
	k            *Kernel
	shape        MMA
	rows, cols   int
	operandCount int          // number of MMA and Clear operands that name each register
	regs         [][][]Reg[C] // by M rows, then by N columns; an F16 register holds two elements
}

// NewWarpTile returns an accumulator of rows by cols elements, all zero. The size must be a
// multiple of the shape's M and N.
func NewWarpTile[C Scalar](k *Kernel, shape MMA, rows, cols int) *WarpTile[C] {
	k = k.sound()
	if shape.M < 1 || shape.N < 1 || shape.K < 1 {
		k.fault(&ruleShape, "warp tile of %dx%d does not fit MMA shape %s; use a shape from MMAFor",
			rows, cols, shape)
		shape = MMA{M: 16, N: 8, K: 16, A: isa.F16, B: isa.F16, C: TypeOf[C]()}
	}
	w := &WarpTile[C]{k: k, shape: shape, rows: rows, cols: cols}
	if shape.C != TypeOf[C]() || rows < shape.M || rows%shape.M != 0 || cols < 2*shape.N ||
		cols%(2*shape.N) != 0 {
		k.fault(&ruleShape,
			"warp tile of %dx%d %s does not fit %s with %s, expected a multiple of %d rows and %d columns",
			rows, cols, TypeOf[C](), shape, shape.C, shape.M, 2*shape.N)
		w.rows, w.cols = k.standInShape(shape.M, 2*shape.N)
	}
	if n := w.Registers(); n > maxAccumulator {
		k.fault(&ruleShape,
			"warp tile of %dx%d %s needs %d registers per thread, but a thread has at most 255; use more warps with smaller tiles",
			rows, cols, shape.C, n)
		w.rows, w.cols = k.standInShape(shape.M, 2*shape.N)
	}
	w.regs = w.zeros()
	if w.annotateRegisters(&w.operandCount); shape.Split {
		// accumulators to which other values are added first are not cleared
		k.operandCounters[len(k.operandCounters)-1].count = nil
	}
	return w
}

// zeros returns the registers of a cleared accumulator of this shape.
func (w *WarpTile[C]) zeros() (sums [][][]Reg[C]) {
	_, _, n, _, _ := w.shape.registers()
	for range w.rows / w.shape.M {
		var line [][]Reg[C]
		for range w.cols / w.shape.N {
			cell := make([]Reg[C], n)
			for i := range cell {
				if w.shape.C == isa.F16 {
					pair := Const[B32](w.k, 0).Var()
					cell[i] = Reg[C]{k: w.k, r: pair.r, scope: pair.scope}
				} else {
					cell[i] = Const[C](w.k, 0).Var()
				}
			}
			line = append(line, cell)
		}
		sums = append(sums, line)
	}
	return sums
}

// annotateRegisters annotates the current registers of the accumulator. count points to the
// number of operands that name each of them, or is nil.
func (w *WarpTile[C]) annotateRegisters(count *int) {
	list := make([]*ir.Reg, 0, w.rows/w.shape.M*(w.cols/w.shape.N)*len(w.regs[0][0]))
	for _, line := range w.regs {
		for _, cell := range line {
			for _, r := range cell {
				list = append(list, r.r)
			}
		}
	}
	w.k.annotateAccumulator(ir.Accumulator{Pos: w.k.m.calls.Here(), Words: w.Registers(),
		Registers: [][]*ir.Reg{list}}, operandCounter{count: count, first: 1})
}

// kernel returns the kernel of w, or nil for a zero value.
func (w *WarpTile[C]) kernel() *Kernel {
	if w == nil {
		return nil
	}
	return w.k
}

// Registers returns the number of 32-bit registers per lane that hold the accumulator.
func (w *WarpTile[C]) Registers() int {
	if w == nil {
		return 0
	}
	return w.rows * w.cols * w.shape.C.Bits() / 1024
}

// MMA adds the product of rows of x and the transpose of rows of y. The rows start at fromX and
// fromY; their numbers are the rows and columns of the accumulator. K is the whole depth of the
// tiles. Either tile may be Transposed.
func (w *WarpTile[C]) MMA(x SharedTile, fromX Reg[U32], y SharedTile, fromY Reg[U32]) {
	if checkCreated(w.kernel(), "accumulator in MMA", x.at.k, y.at.k) {
		w.MMAStep(x, fromX, y, fromY).MMA()
	}
}

// checkOperands reports whether x and y can be multiplied, and records the reason if not.
func (w *WarpTile[C]) checkOperands(x, y SharedTile) bool {
	k, s := w.k, w.shape
	rows, depth := x.operandShape()
	cols, deep := y.operandShape()
	switch {
	case x.at.k == nil || y.at.k == nil:
		k.fault(&ruleValue, "tile in MMA is a zero value, not created by a builder call")
	case x.at.k != k || y.at.k != k:
		k.fault(&ruleForeign,
			"MMA mixes kernels: its tiles belong to %s and %s, its accumulator to %s",
			x.at.k.Name(), y.at.k.Name(), k.Name())
	case s.Sparse:
		k.fault(&ruleShape, "MMA is called with %s, a sparse shape; use SparseMMA", s)
	case !s.accepts(x.Tile, s.A) || !s.accepts(y.Tile, s.B):
		k.fault(&ruleShape,
			"operands of MMA, %s and %s, do not match shape %s, which multiplies A of %s by B of %s: %s",
			x.Tile, y.Tile, s, s.A, s.B, s.describeMismatch())
	case depth != deep || depth%s.K != 0:
		k.fault(&ruleShape,
			"operands of MMA, %s and %s, have the wrong widths: their rows must have the same length, a multiple of %d elements",
			x, y, s.K)
	case rows < w.rows || cols < w.cols:
		k.fault(&ruleShape,
			"operands of MMA, %s and %s, do not fit an accumulator of %dx%d, expected tiles of at least %d and %d rows",
			x, y, w.rows, w.cols, w.rows, w.cols)
	case s.A == isa.F64 && (x.Slabs() > 1 || y.Slabs() > 1):
		k.fault(&ruleShape,
			"operands of MMA, %s and %s, are too wide: tiles of .f64 must not be wider than their swizzle",
			x.Tile, y.Tile)
	default:
		return (x.loadsByElement() || x.checkTransposable()) &&
			(y.loadsByElement() || y.checkTransposable())
	}
	return false
}

// isCompatible reports whether elements of type t can be used as type as without conversion: the
// types are equal, or one is untyped and has the same width, or one is F32 and the other TF32,
// which tensor cores truncate to.
func isCompatible(t, as isa.Type) bool {
	switch {
	case t == as, t == isa.F32 && as == isa.Tf32, t == isa.Tf32 && as == isa.F32:
		return true
	}
	return t.Bits() == as.Bits() && (t.Class() == isa.Bits || as.Class() == isa.Bits)
}

// checkRows reports whether n rows from row from on are inside the tile, as far as from is
// constant, and records a finding if not. It also annotates the access.
func checkRows(k *Kernel, t SharedTile, from Reg[U32], n int) bool {
	rows, _ := t.operandShape()
	if from.k == k && from.IsConstant() && from.bits+int64(n) > int64(rows) {
		k.fault(&ruleShape, "%d rows from row %d are out of bounds: %s has %d", n, from.bits, t,
			rows)
		return false
	}
	t.annotateRows(from, n, rows, ir.Rows)
	return true
}

// startPartial makes the following MMAs accumulate into a separate, cleared accumulator. The
// returned function adds the separate accumulator to the main one. Tensor cores truncate each
// sum, and the error grows with the accumulator; short partial sums that are added with rounding
// are therefore more exact.
func (w *WarpTile[C]) startPartial() (join func()) {
	all := w.regs
	w.regs = w.zeros()
	w.annotateRegisters(nil)
	return func() {
		part := w.regs
		w.regs = all
		for i, line := range all {
			for j, cell := range line {
				for n, sum := range cell {
					w.k.ins("add.rn.f32", sum.in(w.k), sum.in(w.k), part[i][j][n].in(w.k))
				}
			}
		}
	}
}

// multiplySplit issues the MMAs of split F32 fragments, the smallest terms first.
func (w *WarpTile[C]) multiplySplit(f fragmentSet) {
	a, restA := w.k.split(f.a)
	b, restB := w.k.split(f.b)
	w.multiply(restA, b, noOperands)
	w.multiply(a, restB, noOperands)
	w.multiply(a, b, noOperands)
}

// split splits fragments of F32 into two fragments of TF32: the rounded elements, and the rounded
// remainders.
func (k *Kernel) split(fragments [][]ir.Operand) (rounded, remainder [][]ir.Operand) {
	narrow := func(x ir.Operand) ir.Operand {
		r := ir.Operand{Kind: ir.Register, Reg: k.newReg(isa.B32)}
		k.ins("cvt.rna.tf32.f32", r, x)
		return r
	}
	for _, f := range fragments {
		upper, lower := make([]ir.Operand, len(f)), make([]ir.Operand, len(f))
		for i, x := range f {
			upper[i] = narrow(x)
			left := ir.Operand{Kind: ir.Register, Reg: k.newReg(isa.F32)}
			k.ins("sub.rn.f32", left, x, upper[i])
			lower[i] = narrow(left)
		}
		rounded, remainder = append(rounded, upper), append(remainder, lower)
	}
	return rounded, remainder
}

// noOperands returns no trailing operands, for multiply.
func noOperands(_, _ int) []ir.Operand { return nil }

// multiply issues the MMAs of A and B fragments. more returns the operands that follow the
// fragments of a row and column, such as sparsity metadata.
func (w *WarpTile[C]) multiply(fa, fb [][]ir.Operand, more func(i, j int) []ir.Operand) {
	k, op := w.k, w.shape.op()
	w.operandCount += 2
	for i := range fa {
		for j := range fb {
			c := slab.Many(&k.args, len(w.regs[i][j]))
			for n, r := range w.regs[i][j] {
				c[n] = r.in(k)
			}
			args := []ir.Operand{k.list(ir.Vector, c), k.list(ir.Vector, fa[i]),
				k.list(ir.Vector, fb[j]), k.list(ir.Vector, c)}
			k.ins(op, append(args, more(i, j)...)...)
		}
	}
}

// Registers returns the number of registers per lane that hold A, B and the accumulator C, for
// instructions written with Ins.
func (s MMA) Registers() (a, b, c int) {
	a, b, c, _, _ = s.registers()
	return a, b, c
}
