// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"fmt"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// An Accumulator is the destination of wgmma: a matrix of 64 rows per part, held in the registers
// of a warpgroup's 128 threads.
type Accumulator struct {
	k            *Kernel
	rows         int // a multiple of 64
	cols         int
	typ          isa.Type
	regs         [][]*ir.Reg // registers of the thread, by groups of 64 rows
	used         Reg[Pred]   // whether the accumulator holds a result to which the next MMA adds
	parts        int
	empty        bool   // no MMA has written the accumulator yet
	loops        int    // number of loops around the declaration
	firstRead    ir.Pos // position of the first read while it was empty
	operandCount int    // number of MMA and Clear operands that name each register
}

// Accumulator returns a new accumulator of wgmma (sm_90a) with the given shape. The first MMA
// overwrites the accumulator, and later MMAs add to it. Each thread holds rows*cols/128 elements.
func (k *Kernel) Accumulator(rows, cols int, t isa.Type) *Accumulator {
	k = k.sound()
	a := &Accumulator{k: k, rows: rows, cols: cols, typ: t, parts: rows / 64, empty: true,
		loops: len(k.loops)}
	switch {
	case !k.m.Is("sm_90a"):
		k.fault(&ruleLacks,
			"%s does not support wgmma, which only sm_90a has; use TMEM on sm_100a, or WarpTile from sm_80 on",
			k.m.Target())
	case rows < 64 || rows%64 != 0 || rows > 256:
		k.fault(&ruleShape,
			"accumulator has %d rows, expected a multiple of 64 up to 256 in one warpgroup", rows).
			withFix(nearest(rows, 64, 256, 64))
	case cols < 8 || cols > 256 || cols%8 != 0:
		k.fault(&ruleShape, "accumulator has %d columns, expected a multiple of 8 up to 256", cols).
			withFix(nearest(cols, 8, 256, 8))
	case t != isa.F32 && t != isa.S32 && t != isa.F16:
		k.fault(&ruleShape, "accumulator has type %s, expected .f32, .f16 or .s32", t)
	case rows*cols/128*t.Bits()/32 > maxAccumulator:
		k.fault(&ruleShape,
			"accumulator of %dx%d %s needs %d registers per thread, but a thread has at most 255; use more warpgroups with smaller accumulators",
			rows, cols, t, rows*cols/128*t.Bits()/32)
	}
	if a.parts < 1 || a.parts > 4 || cols < 8 || cols > 256 {
		a.parts = 1
		a.rows, a.cols = k.standInShape(64, 8)
	}
	each := a.cols / 2 * t.Bits() / 32
	held := t
	if t == isa.F16 {
		held = isa.B32
	}
	for range a.parts {
		list := make([]*ir.Reg, each)
		for i := range list {
			list[i] = k.newReg(held)
			list[i].Varies = true // MMAs, Map, and Set on the result of At write the register
		}
		a.regs = append(a.regs, list)
	}
	a.used = fresh[Pred](k)
	in := k.ins("setp.ne.b32", a.used.in(k), number(0), number(0))
	k.annotateAccumulator(ir.Accumulator{Pos: in.Pos, Clear: in, Words: a.Registers(),
		Registers: a.regs}, operandCounter{count: &a.operandCount})
	return a
}

// maxAccumulator is the maximum number of registers per thread of an accumulator. A thread has
// 255 registers and needs some for other values.
const maxAccumulator = 240

// Registers returns the number of registers per thread that hold the accumulator.
func (a *Accumulator) Registers() int {
	if a.kernel() == nil {
		return 0
	}
	return a.parts * len(a.regs[0])
}

// kernel returns the kernel of a, or nil for a zero value.
func (a *Accumulator) kernel() *Kernel {
	if a == nil {
		return nil
	}
	return a.k
}

// MMA adds the product of x and the transpose of y. The rows of x correspond to the rows of the
// accumulator, the rows of y to its columns. Both tiles must have the same depth. Either may be
// Transposed.
func (a *Accumulator) MMA(x, y SharedTile) {
	if !checkCreated(a.kernel(), "accumulator in MMA", x.at.k, y.at.k) {
		return
	}
	k := a.k
	k.annotateWarpOperation("MMA")
	a.empty = false
	defer func() {
		x.stage.markRead(wgmma)
		y.stage.markRead(wgmma)
	}()
	t := x.Type
	depth := 32 * 8 / max(1, t.Bits()) // elements in 32 bytes of a row
	rows, left := x.operandShape()
	cols, deep := y.operandShape()
	switch {
	case x.at.k == nil || y.at.k == nil:
		k.fault(&ruleValue, "tile in MMA is a zero value, not created by a builder call")
		return
	case x.Type != y.Type && (t.Bits() != 8 || y.Type.Bits() != 8):
		k.fault(&ruleShape, "operands of MMA, %s and %s, have different element types", x.Tile,
			y.Tile)
		return
	case !x.checkTransposable() || !y.checkTransposable():
		return
	case rows != a.rows || cols != a.cols:
		k.fault(&ruleShape,
			"operands of MMA, %s and %s, do not fit an accumulator of %dx%d, expected tiles of %d and %d rows",
			x, y, a.rows, a.cols, a.rows, a.cols)
		return
	case left != deep || left%depth != 0:
		k.fault(&ruleShape,
			"operands of MMA, %s and %s, have the wrong widths: their rows must have the same length, a multiple of %d elements",
			x, y, depth)
		return
	case x.Swizzle != y.Swizzle && x.Slabs() != y.Slabs():
		k.fault(&ruleShape,
			"operands of MMA, %s and %s, have different swizzles, expected the same swizzle",
			x.Tile, y.Tile)
		return
	}
	op := "wgmma.mma_async.sync.aligned." + fmt.Sprintf("m64n%dk%d", a.cols, depth) +
		a.typ.String() + t.String() + y.Type.String()
	dx, dy := k.wgmmaDescriptor(x), k.wgmmaDescriptor(y)
	if x.stage == nil && y.stage == nil {
		k.fault(&ruleProtocol,
			"MMA reads tiles that belong to no pipeline stage: nothing waits for the MMA before they are overwritten")
	}
	k.ins("wgmma.fence.sync.aligned")
	k.accumulate(op, a, x, y, dx, dy, depth, nil)
}

// accumulate issues the MMAs of two tiles, one for each 32 bytes along K and 64 rows of the
// accumulator. For a sparse x, metadata returns the metadata operands, and y has twice the depth.
func (k *Kernel) accumulate(op string, a *Accumulator, x, y SharedTile, dx, dy Reg[U64], depth int,
	metadata func(step, part int) []ir.Operand) {
	t := x.Type
	_, deep := x.operandShape()
	ratio := 1
	if metadata != nil {
		ratio = 2
	}
	down := func(part int) int { return part * 64 * x.Pitch() }
	if x.isTransposed {
		down = func(part int) int { return x.DescriptorOffset(part * 64) }
	}
	for step := range deep / depth {
		fx, fy := x.descriptorStep(step*depth), y.descriptorStep(step*depth*ratio)
		for part := range a.parts {
			args := []ir.Operand{a.vector(part), dx.AddI(int64((fx + down(part)) >> 4)).in(k),
				dy.AddI(int64(fy >> 4)).in(k)}
			if metadata != nil {
				args = append(args, metadata(step, part)...)
			}
			args = append(args, a.used.in(k))
			if t.Class() != isa.Signed && t.Class() != isa.Unsigned {
				args = append(args, number(1), number(1)) // neither operand is negated
			}
			if t.Bits() == 16 {
				args = append(args, x.transposeOperand(), y.transposeOperand())
			}
			k.ins(op, args...)
		}
		if step == 0 {
			k.ins("setp.eq.b32", a.used.in(k), number(0), number(0))
		}
	}
}

// wgmmaDescriptor returns the shared-memory descriptor of a tile for wgmma (PTX 9.1,
// 9.7.15.5.1.2): the address in units of 16 bytes, the strides, and the swizzle.
func (k *Kernel) wgmmaDescriptor(t SharedTile) Reg[U64] {
	var mode uint64
	switch t.Swizzle {
	case Swizzle128:
		mode = 1
	case Swizzle64:
		mode = 2
	case Swizzle32:
		mode = 3
	default:
		k.fault(&ruleShape,
			"%s is used as an operand of wgmma, expected a swizzle of 32, 64 or 128 bytes", t.Tile)
	}
	return k.descriptor(t.at, mode<<62|t.strides())
}

// strides returns the stride fields of a descriptor: the distance between groups of eight rows
// and, in transposed tiles, between slabs.
func (t SharedTile) strides() uint64 {
	leading := uint64(1)
	if t.isTransposed {
		// distance between slabs of columns
		leading = uint64(t.SlabBytes() >> 4)
	}
	return uint64(8*t.Pitch()>>4)<<32 | leading<<16
}

// descriptor returns the descriptor with the address at and the given other fields.
func (k *Kernel) descriptor(at Addr, fixed uint64) Reg[U64] {
	a := at.Value().ShrI(4).AndI(0x3fff)
	return To[U64](a).Or(k.U64(fixed))
}

// checkRead records a read of the accumulator, which is a mistake before the first MMA. In a loop
// that does not contain the declaration, an MMA of the previous iteration may precede the read,
// so such a read is checked when the kernel is complete.
func (a *Accumulator) checkRead() {
	if !a.empty || a.firstRead != ir.NoPos {
		return
	}
	k := a.k
	a.firstRead = k.m.calls.Here()
	if len(k.loops) > a.loops || len(k.marks) > 0 {
		k.readEmpty = append(k.readEmpty, a)
		return
	}
	k.notes.EmptyReads = append(k.notes.EmptyReads, a.firstRead)
}

// value returns element i of the thread's registers for a part.
func (a *Accumulator) value(part, i int) Reg[F32] {
	return Reg[F32]{k: a.k, r: a.regs[part][i], scope: a.used.scope}
}

// EachElement calls visit for the accumulator elements of the thread, two adjacent columns at a
// time: x is the element at row and col of the accumulator, y the element in the next column. T
// is the accumulator's element type. The values are the accumulator registers themselves, which
// later MMAs modify; use Var to copy one.
func EachElement[T Scalar](a *Accumulator, visit func(row, col Reg[U32], x, y Reg[T])) {
	k := a.kernel()
	switch {
	case k == nil:
		return
	case TypeOf[T]() != a.typ:
		k.fault(&ruleShape, "accumulator of %s is used as %s", a.typ, TypeOf[T]())
		return
	case !k.checkFunctions("EachElement", visit != nil):
		return
	}
	a.checkRead()
	lane := k.Lane()
	top, left := k.WarpIndex().AndI(3).ShlI(4).Add(lane.ShrI(2)), lane.AndI(3).ShlI(1)
	each := 2 // number of registers for two adjacent elements
	if a.typ == isa.F16 {
		each = 1
	}
	cols := make([]Reg[U32], a.cols/8)
	for i := range cols {
		cols[i] = left.AddI(int64(8 * i))
	}
	for part, regs := range a.regs {
		rows := [2]Reg[U32]{top.AddI(int64(64 * part)), top.AddI(int64(64*part + 8))}
		for i := 0; i < len(regs); i += each {
			// index of the pair: an upper and a lower row alternate, then follow the next eight
			// columns
			n := i / each
			x, y := Reg[T]{k: k, r: regs[i], scope: a.used.scope},
				Reg[T]{k: k, r: regs[i+each-1], scope: a.used.scope}
			if each == 1 {
				x, y = Unpack[T](Reg[B32]{k: k, r: regs[i], scope: a.used.scope})
			}
			visit(rows[n%2], cols[n/2], x, y)
		}
	}
}

// At returns two adjacent elements of the accumulator. They are in the part's 16 rows of the
// thread's warp: in the first eight rows, or in the last eight if lower is set. Their columns are
// two of columns 8*group to 8*group+7. It requires an F32 accumulator.
func (a *Accumulator) At(part, group int, lower bool) (x, y Reg[F32]) {
	if a.kernel() == nil {
		return x, y
	}
	i := 4 * group
	if lower {
		i += 2
	}
	if a.typ != isa.F32 || part < 0 || part >= a.parts || group < 0 || 8*group >= a.cols {
		a.k.fault(&ruleShape,
			"out of bounds: part %d has columns %d to %d, but the accumulator is %dx%d %s", part,
			8*group, 8*group+7, a.rows, a.cols, a.typ)
		return a.k.F32(0), a.k.F32(0)
	}
	a.checkRead()
	return a.value(part, i), a.value(part, i+1)
}
