// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"fmt"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// An Accumulator is the destination of wgmma: a matrix of 64 rows per part, distributed over the
// registers of the 128 threads of a warpgroup.
type Accumulator struct {
	k     *Kernel
	rows  int // a multiple of 64
	cols  int
	typ   isa.Type
	regs  [][]*ir.Reg // one list for each 64 rows
	used  Reg[Pred]   // whether it holds a result that the next MMA adds to
	parts int
	empty bool   // no MMA has written it so far
	loops int    // loops around its declaration
	asked ir.Pos // position of a read while it was empty
	taken int    // number of MMA and Clear operands that name its registers
}

// Accumulator returns a new accumulator of wgmma (sm_90a) with the given shape. The first MMA
// overwrites it, later ones add to it. Each thread holds rows*cols/128 elements.
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
			"accumulator has %d rows, expected a multiple of 64 up to 256 in one warpgroup", rows)
	case cols < 8 || cols > 256 || cols%8 != 0:
		k.fault(&ruleShape, "accumulator has %d columns, expected a multiple of 8 up to 256", cols)
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
			list[i].Varies = true // written by MMAs, Map, and Set on the result of At
		}
		a.regs = append(a.regs, list)
	}
	a.used = fresh[Pred](k)
	in := k.ins("setp.ne.b32", a.used.in(k), number(0), number(0))
	k.holdsAccumulator(ir.Accumulator{Pos: in.Pos, Clear: in, Words: a.Registers(),
		Registers: a.regs}, owned{takes: &a.taken})
	return a
}

// maxAccumulator is the limit of accumulator registers per thread. A thread has 255 registers and
// needs some for other values.
const maxAccumulator = 240

// Registers returns the number of registers per thread that the accumulator takes.
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

// MMA adds the product of x and the transpose of y. The rows of x are the rows of the accumulator,
// the rows of y its columns, and both tiles have the same depth. Either may be Transposed.
func (a *Accumulator) MMA(x, y SharedTile) {
	if !made(a.kernel(), "accumulator in MMA", x.at.k, y.at.k) {
		return
	}
	k := a.k
	k.lanes("MMA")
	a.empty = false
	defer func() {
		x.stage.reads(wgmma)
		y.stage.reads(wgmma)
	}()
	t := x.Type
	depth := 32 * 8 / max(1, t.Bits()) // a row of 32 bytes
	rows, left := x.sides()
	cols, deep := y.sides()
	switch {
	case x.at.k == nil || y.at.k == nil:
		k.fault(&ruleValue, "tile in MMA is a zero value, not created by a builder call")
		return
	case x.Type != y.Type && (t.Bits() != 8 || y.Type.Bits() != 8):
		k.fault(&ruleShape, "operands of MMA, %s and %s, have different element types", x.Tile,
			y.Tile)
		return
	case !x.transposable() || !y.transposable():
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

// accumulate issues the MMAs of a pair of tiles, 32 bytes of K at a time. For a sparse x, zeros
// returns the metadata operands, and y has twice the depth.
func (k *Kernel) accumulate(op string, a *Accumulator, x, y SharedTile, dx, dy Reg[U64], depth int,
	zeros func(step, part int) []ir.Operand) {
	t := x.Type
	_, deep := x.sides()
	ratio := 1
	if zeros != nil {
		ratio = 2
	}
	down := func(part int) int { return part * 64 * x.Pitch() }
	if x.turned {
		down = func(part int) int { return x.DescriptorOffset(part * 64) }
	}
	for step := range deep / depth {
		fx, fy := x.along(step*depth), y.along(step*depth*ratio)
		for part := range a.parts {
			args := []ir.Operand{a.vector(part), dx.AddI(int64((fx + down(part)) >> 4)).in(k),
				dy.AddI(int64(fy >> 4)).in(k)}
			if zeros != nil {
				args = append(args, zeros(step, part)...)
			}
			args = append(args, a.used.in(k))
			if t.Class() != isa.Signed && t.Class() != isa.Unsigned {
				args = append(args, number(1), number(1)) // neither is negated
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

// wgmmaDescriptor returns the descriptor of a tile for wgmma (PTX 9.1, 9.7.15.5.1.2): the address
// in units of 16 bytes, the stride between groups of eight rows, and the swizzle.
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

// strides returns the descriptor fields for the distance between groups of eight rows and, in
// transposed tiles, between slabs.
func (t SharedTile) strides() uint64 {
	leading := uint64(1)
	if t.turned {
		// between slabs of columns; the stride down the rows stays eight rows
		leading = uint64(t.SlabBytes() >> 4)
	}
	return uint64(8*t.Pitch()>>4)<<32 | leading<<16
}

// descriptor combines an address in shared memory with the other fields of a descriptor.
func (k *Kernel) descriptor(at Addr, fixed uint64) Reg[U64] {
	a := at.Value().ShrI(4).AndI(0x3fff)
	return To[U64](a).Or(k.U64(fixed))
}

// holds records a read of the accumulator, which is a mistake before the first MMA. In a loop
// around the declaration, an MMA of the previous iteration may come first; that is checked at the
// end.
func (a *Accumulator) holds() {
	if !a.empty || a.asked != ir.NoPos {
		return
	}
	k := a.k
	a.asked = k.m.calls.Here()
	if len(k.loops) > a.loops || len(k.marks) > 0 {
		k.sums = append(k.sums, a)
		return
	}
	k.notes.EmptyReads = append(k.notes.EmptyReads, a.asked)
}

// value returns an accumulator element of the thread.
func (a *Accumulator) value(part, i int) Reg[F32] {
	return Reg[F32]{k: a.k, r: a.regs[part][i], scope: a.used.scope}
}

// EachElement calls visit for the accumulator elements of the thread, two adjacent columns at a
// time: x is at row and col of the accumulator, y is in the next column. T is the accumulator's
// element type. The values are the accumulator registers themselves, which later MMAs modify; use
// Var to copy one.
func EachElement[T Scalar](a *Accumulator, visit func(row, col Reg[U32], x, y Reg[T])) {
	k := a.kernel()
	switch {
	case k == nil:
		return
	case TypeOf[T]() != a.typ:
		k.fault(&ruleShape, "accumulator of %s is used as %s", a.typ, TypeOf[T]())
		return
	case !k.runs("EachElement", visit != nil):
		return
	}
	a.holds()
	lane := k.Lane()
	top, left := k.WarpIndex().AndI(3).ShlI(4).Add(lane.ShrI(2)), lane.AndI(3).ShlI(1)
	each := 2 // number of registers of two adjacent elements
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
			// index of the pair: upper and lower rows alternate, then come the next eight columns
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

// At returns two adjacent elements of the accumulator. They are in the 16 rows of the thread's
// warp: in rows 0 to 7, or in rows 8 to 15 if lower is set. Their columns are among columns 8*group
// to 8*group+7. It requires an F32 accumulator.
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
	a.holds()
	return a.value(part, i), a.value(part, i+1)
}
