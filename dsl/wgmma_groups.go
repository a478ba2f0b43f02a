// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"fmt"
	"slices"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// Wait waits until all MMAs that the warpgroup has started are complete. After a loop of Consume
// they are complete. Code inside the loop that reads or modifies the accumulator must call Wait
// first.
func (a *Accumulator) Wait() {
	if !checkCreated(a.kernel(), "accumulator in Wait") {
		return
	}
	a.k.CommitMMA()
	a.k.WaitMMA(0)
}

// A startedProduct records that wgmma operations may be in flight that were started in a scope.
type startedProduct struct {
	scope     int
	committed bool
}

// trackWgmma updates the list of wgmma operations in flight after a wgmma instruction, including
// those written with Ins. A commit or wait in a scope applies to operations started in it or in
// inner scopes. Operations that were started in outer scopes may not have been started on every
// path to it.
func (k *Kernel) trackWgmma(in *ir.Instr) {
	here := k.scope()
	switch kind := in.Kind(); {
	case kind == isa.KindWgmmaMmaAsync:
		if p := (startedProduct{scope: here}); !slices.Contains(k.started, p) {
			k.started = append(k.started, p)
		}
	case in.Guard.Reg != nil: // the instruction may not be executed
	case kind == isa.KindWgmmaCommitGroup:
		for i := range k.started {
			p := &k.started[i]
			p.committed = p.committed || p.scope >= here
		}
	case kind == isa.KindWgmmaWaitGroup && len(in.Args) == 1 && in.Args[0].Kind == ir.Int &&
		in.Args[0].Value == 0:
		k.started = slices.DeleteFunc(k.started, func(p startedProduct) bool {
			return p.committed && p.scope >= here
		})
		for _, s := range k.openStages {
			s.converged = s.converged || s.scope == here
		}
	}
}

// waitStarted commits and waits for the wgmma operations that are still in flight.
func (k *Kernel) waitStarted() {
	if slices.ContainsFunc(k.started, func(p startedProduct) bool { return !p.committed }) {
		k.CommitMMA()
	}
	if len(k.started) > 0 {
		k.WaitMMA(0)
	}
}

// CommitMMA commits the MMAs that the warpgroup started since the last call as one group
// (wgmma.commit_group).
func (k *Kernel) CommitMMA() { k.sound().ins("wgmma.commit_group.sync.aligned") }

// WaitMMA waits until at most the given number of the warpgroup's latest MMA groups are in flight
// (wgmma.wait_group). Code that reads an accumulator of an earlier group can then overlap with
// the groups in flight.
//
//	scores.MMA(queries, keys)
//	k.CommitMMA()
//	out.MMAFragments(weights, values)
//	k.CommitMMA()
//	k.WaitMMA(1) // scores is complete, out is still in flight
//
// ptxas moves a wait before arithmetic that does not depend on it, back to the previous branch.
// Arithmetic between two waits overlaps with the MMAs only if a branch separates them, such as a
// conditional rescaling:
//
//	shrink := weigh(scores)
//	k.If(k.AnyLane(grew), func() {
//		k.WaitMMA(0)
//		out.Map(shrink)
//	})
//	k.WaitMMA(0)
func (k *Kernel) WaitMMA(pending int) {
	k = k.sound()
	if pending < 0 || pending > 7 {
		k.fault(&ruleProtocol, "WaitMMA(%d) is called, expected 0 to 7 groups in flight", pending).
			withFix(nearest(pending, 0, 7, 1))
		pending = 0
	}
	k.ins("wgmma.wait_group.sync.aligned", number(int64(pending)))
}

// LocalRows returns the number of rows of which a thread holds elements. Four threads share each
// row.
func (a *Accumulator) LocalRows() int {
	if a == nil {
		return 0
	}
	return 2 * a.parts
}

// Row returns the row of the accumulator for one of the thread's LocalRows.
func (a *Accumulator) Row(line int) Reg[U32] {
	if !checkCreated(a.kernel(), "accumulator in Row") || !a.k.checkLocalRow(line, a.LocalRows()) {
		return Reg[U32]{}
	}
	return Cell{lane: a.k.Lane(), warp: a.k.WarpIndex(), row: 64*(line/2) + 8*(line%2)}.Row()
}

// visit calls do for the accumulator elements of the thread, two adjacent elements at a time,
// with the registers of a part from the current one on.
func (a *Accumulator) visit(what string, do func(c Cell, regs []*ir.Reg)) {
	if a.typ != isa.F32 {
		a.k.fault(&ruleShape, "%s is called on an accumulator of %s, expected .f32", what, a.typ)
		return
	}
	a.checkRead()
	lane, warp := a.k.Lane(), a.k.WarpIndex()
	for part, regs := range a.regs {
		for i := 0; i < len(regs); i += 2 {
			h := i / 2 % 2 // upper and lower rows alternate
			do(Cell{LocalRow: 2*part + h, lane: lane, warp: warp, row: 64*part + 8*h,
				col: i / 4 * 8}, regs[i:i+2])
		}
	}
}

// sum returns an accumulator register as a value.
func (a *Accumulator) sum(r *ir.Reg) Reg[F32] { return Reg[F32]{k: a.k, r: r, scope: a.used.scope} }

// Map replaces each element with the result of f, as [WarpTile.Map] does. It requires an F32
// accumulator.
func (a *Accumulator) Map(f func(c Cell, x Reg[F32]) Reg[F32]) {
	if !checkCreated(a.kernel(), "accumulator in Map") {
		return
	}
	if !a.k.checkFunctions("Map", f != nil) {
		return
	}
	a.visit("Map", func(c Cell, regs []*ir.Reg) {
		for i, r := range regs {
			at := c
			at.col += i
			x := a.sum(r)
			assign(x, f(at, x))
		}
	})
}

// RowReduce combines the elements of each row, as [WarpTile.RowReduce] does.
func (a *Accumulator) RowReduce(combine func(x, y Reg[F32]) Reg[F32]) []Reg[F32] {
	if !checkCreated(a.kernel(), "accumulator in RowReduce") {
		return nil
	}
	all := make([]Reg[F32], a.LocalRows())
	if !a.k.checkFunctions("RowReduce", combine != nil) {
		return all
	}
	a.visit("RowReduce", func(c Cell, regs []*ir.Reg) {
		combineRow(all, c.LocalRow, a.sum(regs[0]), a.sum(regs[1]), combine)
	})
	for i, x := range all {
		all[i] = acrossRow(x, combine).snapshot()
	}
	return all
}

// QuadReduce combines x over the four threads that share a row, as [WarpTile.QuadReduce] does.
func (a *Accumulator) QuadReduce(x Reg[F32], combine func(x, y Reg[F32]) Reg[F32]) Reg[F32] {
	if !checkCreated(a.kernel(), "accumulator in QuadReduce", x.k) ||
		!a.k.checkFunctions("QuadReduce", combine != nil) {
		return x
	}
	return acrossRow(x, combine)
}

// ToFragments returns the elements, converted to a 16-bit type or to .e4m3 or .e5m2, as the A
// operand of another MMA. With 8-bit types, each thread keeps its own elements, which permutes the
// columns in each sixteen: column 4t+i has element 2t+i, and column 4t+2+i element 8+2t+i, for t
// below 4 and i below 2. The other operand must have its depth in the same order.
func (a *Accumulator) ToFragments(t isa.Type) *Fragments {
	if !checkCreated(a.kernel(), "accumulator in ToFragments") {
		return &Fragments{}
	}
	k, small := a.k, isFP8(t)
	f := &Fragments{k: k, typ: t, rows: 64 * a.parts, cols: a.cols, each: 16}
	if small {
		f.each = 32
	}
	if t != isa.F16 && t != isa.Bf16 && !small || a.typ != isa.F32 || a.cols%f.each != 0 {
		k.fault(&ruleShape,
			"accumulator of 64x%d %s cannot become an A operand of %s, expected .f32 with a multiple of 16 columns, converted to .f16 or .bf16, or of 32, converted to .e4m3 or .e5m2",
			a.cols, a.typ, t)
		return f
	}
	a.checkRead()
	op := "cvt.rn" + packedPair(t).String() + ".f32"
	pair := func(regs []*ir.Reg) Reg[B32] {
		d := fresh[B32](k)
		k.ins(op, d.in(k), a.sum(regs[1]).in(k), a.sum(regs[0]).in(k))
		return d
	}
	if small {
		op = "cvt.rn.satfinite" + t.String() + "x2.f32"
		half := func(regs []*ir.Reg) ir.Operand {
			d := ir.Operand{Kind: ir.Register, Reg: k.newReg(isa.B16)}
			k.ins(op, d, a.sum(regs[1]).in(k), a.sum(regs[0]).in(k))
			return d
		}
		pair = func(regs []*ir.Reg) Reg[B32] {
			d := fresh[B32](k)
			k.ins("mov.b32", d.in(k), k.vector(half(regs), half(regs[4:])))
			return d
		}
	}
	for i := 0; i < len(a.regs[0]); i += f.each / 2 {
		var step [][]Reg[B32]
		for _, regs := range a.regs {
			var cell []Reg[B32]
			for n := range 4 {
				at := i + 2*n
				if small {
					at = i + n/2*8 + n%2*2
				}
				cell = append(cell, pair(regs[at:]))
			}
			step = append(step, cell)
		}
		f.regs = append(f.regs, step)
	}
	return f
}

// isFP8 reports whether t is an 8-bit floating-point type of wgmma.
func isFP8(t isa.Type) bool { return t == isa.E4m3 || t == isa.E5m2 }

// MMAFragments adds the product of an A operand in registers and the transpose of y. The rows of y,
// which may be Transposed if its elements have 16 bits, are the columns of the accumulator. The
// fragments must not change until the MMA is complete.
func (a *Accumulator) MMAFragments(x *Fragments, y SharedTile) {
	if !checkCreated(a.kernel(), "accumulator in MMAFragments", y.at.k) {
		return
	}
	k := a.k
	k.annotateWarpOperation("MMAFragments")
	a.empty = false
	rows, depth := y.operandShape()
	switch {
	case x == nil || x.k == nil || y.at.k == nil:
		k.fault(&ruleValue,
			"fragments in MMAFragments are a zero value, not created by a builder call")
		return
	case x.k != k:
		k.fault(&ruleForeign, "fragments of kernel %s are used in %s", x.k.Name(), k.Name())
		return
	case x.each*x.typ.Bits() != 256 || a.typ == isa.S32 ||
		x.typ != y.Type && (!isFP8(x.typ) || !isFP8(y.Type)):
		k.fault(&ruleShape,
			"operands of MMAFragments, %s and %s, do not fit an accumulator of %s, expected two operands of the same 16-bit type, or of .e4m3 or .e5m2",
			x.typ, y.Tile, a.typ)
		return
	case !y.checkTransposable():
		return
	case x.rows != a.rows || rows != a.cols || depth != x.cols:
		k.fault(&ruleShape,
			"operands of MMAFragments, %dx%d %s and %s, do not fit an accumulator of %dx%d: they differ in K, or the rows of B are not the columns of the accumulator",
			x.rows, x.cols, x.typ, y, a.rows, a.cols)
		return
	case y.stage == nil:
		k.fault(&ruleProtocol,
			"MMAFragments reads a tile that belongs to no pipeline stage: nothing waits for the MMA before the tile is overwritten")
	case len(x.regs) == 0:
		return
	}
	op := "wgmma.mma_async.sync.aligned." + fmt.Sprintf("m64n%dk%d", a.cols, x.each) +
		a.typ.String() + x.typ.String() + y.Type.String()
	dy := k.wgmmaDescriptor(y)
	y.stage.markRead(wgmma)
	k.ins("wgmma.fence.sync.aligned")
	for step, line := range x.regs {
		for part, cell := range line {
			fa := make([]ir.Operand, len(cell))
			for i, r := range cell {
				fa[i] = r.in(k)
			}
			args := []ir.Operand{a.vector(part), k.list(ir.Vector, fa),
				dy.AddI(int64(y.descriptorStep(x.each*step) >> 4)).in(k), a.used.in(k), number(1),
				number(1)}
			if x.each == 16 {
				args = append(args, y.transposeOperand())
			}
			k.ins(op, args...)
		}
		if step == 0 {
			k.ins("setp.eq.b32", a.used.in(k), number(0), number(0))
		}
	}
}

// vector returns the registers of a part as a vector operand.
func (a *Accumulator) vector(part int) ir.Operand {
	if part == 0 {
		a.operandCount++
	}
	return a.k.list(ir.Vector, a.operands(part))
}

func (a *Accumulator) operands(part int) []ir.Operand {
	// allocated separately, because the list is usually too long for the slab's current array
	list := make([]ir.Operand, len(a.regs[part]))
	for i, r := range a.regs[part] {
		list[i] = ir.Operand{Kind: ir.Register, Reg: r}
	}
	return list
}

// descriptorStep returns the number of bytes by which a descriptor advances for depth elements
// along K: along a row, or down the rows of a transposed tile.
func (t SharedTile) descriptorStep(depth int) int {
	if t.isTransposed {
		return depth * t.Pitch()
	}
	return t.DescriptorOffset(depth)
}

// transposeOperand returns the wgmma operand that specifies whether a tile is transposed.
func (t SharedTile) transposeOperand() ir.Operand {
	if t.isTransposed {
		return number(1)
	}
	return number(0)
}
