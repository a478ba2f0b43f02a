// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"fmt"
	"slices"

	"github.com/ptxdsl/ptxdsl/internal/slab"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// An MMAStep holds the MMAs of a warp on two tiles in shared memory. [AsyncPipeline.Multiply]
// loads its fragments ahead of time; MMA executes it at once.
type MMAStep struct {
	k            *Kernel
	sums         any // the accumulator, a *WarpTile
	steps        int
	newFragments func() fragmentSet // allocates the registers for the fragments of a step
	// newLiveFragments allocates registers for fragments that stay live into the next loop
	// iteration.
	newLiveFragments func() fragmentSet
	read             func(step int, before, into fragmentSet)
	multiply         func(fragmentSet)
	// begin is called before the steps of a pair of tiles; the function that it returns is called
	// after them.
	begin    func() (end func())
	reported bool // the tiles are invalid, which has been reported, and there is no MMA
}

// A fragmentSet holds the fragments of one step: those of A by M rows, those of B by N columns,
// the sparsity metadata of a sparse A by M rows, and the scale factors of both. When fragments
// are loaded, a cell that is empty receives the loaded register; a cell that has a register is
// written.
type fragmentSet struct{ a, b, sparsity, scaleA, scaleB [][]ir.Operand }

// set copies the fragments of to into f.
func (f fragmentSet) set(k *Kernel, from fragmentSet) {
	for n, cells := range f.lists() {
		for i, cell := range cells {
			k.fill(cell, from.lists()[n][i])
		}
	}
}

// lists returns the five lists of fragments.
func (f fragmentSet) lists() [5][][]ir.Operand {
	return [5][][]ir.Operand{f.a, f.b, f.sparsity, f.scaleA, f.scaleB}
}

// sharesRegister reports whether two sets of fragments have a register in common.
func (f fragmentSet) sharesRegister(other fragmentSet) bool {
	for n, cells := range f.lists() {
		for i, cell := range cells {
			if len(cell) > 0 && cell[0] == other.lists()[n][i][0] {
				return true
			}
		}
	}
	return false
}

// fill stores registers in the empty elements of cell, and copies them to the registers in the
// other elements.
func (k *Kernel) fill(cell, registers []ir.Operand) {
	for i, r := range cell {
		if r.Kind != ir.Register {
			cell[i] = registers[i]
			continue
		}
		k.ins("mov"+bits(r.Reg.Type.Bits()).String(), r, registers[i])
	}
}

// MMAStep returns the MMAs that MMA executes on these tiles, for AsyncPipeline.Multiply.
func (w *WarpTile[C]) MMAStep(x SharedTile, fromX Reg[U32], y SharedTile, fromY Reg[U32]) MMAStep {
	if !checkCreated(w.kernel(), "accumulator in MMAStep", x.at.k, y.at.k) {
		return MMAStep{}
	}
	if !w.checkUnscaled() || !w.checkOperands(x, y) || !checkRows(w.k, x, fromX, w.rows) ||
		!checkRows(w.k, y, fromY, w.cols) {
		return MMAStep{reported: true}
	}
	return w.denseStep(x, fromX, y, fromY)
}

// denseStep returns the MMA step of two tiles whose shapes have been checked.
func (w *WarpTile[C]) denseStep(x SharedTile, fromX Reg[U32], y SharedTile,
	fromY Reg[U32]) MMAStep {
	s := w.shape
	_, depth := x.operandShape()
	p := w.newStep(depth / s.K)
	w.k.annotateProduct(x.operandSide(fromX, w.rows), y.operandSide(fromY, w.cols))
	x.cover, y.cover = nil, nil
	if s.Split {
		p.multiply, p.begin = w.multiplySplit, w.startPartial
	}
	var a, b func(step int) func(into [][]ir.Operand)
	if s.A == isa.F64 || x.loadsByElement() {
		a = w.elementLoader(x, fromX, s.M)
	} else {
		read := x.fragments(x.leftCorner(s.K), fromX, s.K)
		a = func(step int) func([][]ir.Operand) {
			at := read(step)
			return func(into [][]ir.Operand) { w.loadA(at, into) }
		}
	}
	if s.A == isa.F64 || y.loadsByElement() {
		b = w.elementLoader(y, fromY, s.N)
	} else {
		read := y.fragments(y.rightCorner(s.K), fromY, s.K)
		b = func(step int) func([][]ir.Operand) {
			at := read(step)
			return func(into [][]ir.Operand) { w.loadB(at, into) }
		}
	}
	p.read = func(step int, _, into fragmentSet) {
		left, right := a(step), b(step)
		left(into.a)
		right(into.b)
	}
	return p
}

// newStep returns an MMA step with the given number of steps along K. The caller sets the
// function read, which loads the fragments.
func (w *WarpTile[C]) newStep(steps int) MMAStep {
	return MMAStep{
		k: w.k, sums: w, steps: steps, newFragments: w.newFragments,
		newLiveFragments: w.newFragments,
		multiply:         func(f fragmentSet) { w.multiply(f.a, f.b, noOperands) },
		begin:            func() func() { return func() {} },
	}
}

// MMAStepFunc returns an MMA step as MMAStep does, but with a B operand that the kernel computes,
// such as dequantized 4-bit weights. The function right returns the fragments for one step of K
// elements: for each N columns of the warp's tile the registers that [MMA.Registers] counts. A
// register holds the n adjacent elements of one column that fit 32 bits: register r of lane l in
// column group c holds those of column c*N + l/4, starting at row (l%4 + 4*r)*n of the step.
//
//	ab.Multiply(steps, load, func(s dsl.AsyncStage) dsl.MMAStep {
//		return w.MMAStepFunc(s.Tile(0), fromA, func(step int) [][]dsl.Reg[dsl.B32] {
//			return dequantized(s.Tile(1), step)
//		})
//	})
func (w *WarpTile[C]) MMAStepFunc(x SharedTile, fromX Reg[U32],
	right func(step int) [][]Reg[B32]) MMAStep {
	if !checkCreated(w.kernel(), "accumulator in MMAStepFunc", x.at.k) ||
		!w.k.checkFunctions("MMAStepFunc", right != nil) {
		return MMAStep{reported: true}
	}
	k, s := w.k, w.shape
	rows, depth := x.operandShape()
	none := MMAStep{reported: true}
	switch {
	case x.at.k == nil:
		k.fault(&ruleValue, "tile in MMAStepFunc is a zero value, not created by a builder call")
		return none
	case x.at.k != k:
		k.fault(&ruleForeign,
			"MMA reads a tile of kernel %s, but its accumulator belongs to kernel %s",
			x.at.k.Name(), k.Name())
		return none
	case s.Sparse || s.Split || s.isScaled() || s.A == isa.F64:
		k.fault(&ruleShape,
			"MMAStepFunc is called with shape %s of %s, whose fragments have another layout; use MMAStep",
			s, s.A)
		return none
	case !s.accepts(x.Tile, s.A) || depth%s.K != 0 || rows < w.rows:
		k.fault(&ruleShape,
			"operand %s of MMAStepFunc does not fit an accumulator of %dx%d with shape %s of %s: it has too few rows, or its depth is not a multiple of %d",
			x, w.rows, w.cols, s, s.A, s.K)
		return none
	case !x.checkTransposable():
		return none
	}
	p := w.newStep(depth / s.K)
	_, each, _, _, _ := s.registers()
	p.newFragments = func() fragmentSet {
		return fragmentSet{a: w.newFragmentsA(), b: emptyCells(w.cols/s.N, each)}
	}
	k.annotateProduct(x.operandSide(fromX, w.rows), ir.Side{})
	x.cover = nil
	a, here := x.fragments(x.leftCorner(s.K), fromX, s.K), k.m.calls.Here()
	p.read = func(step int, _, into fragmentSet) {
		w.loadA(a(step), into.a)
		w.setFragments(here, right(step), into.b)
	}
	return p
}

// setFragments puts fragments that the author computed into the cells of a step. Findings are
// reported at the position here.
func (w *WarpTile[C]) setFragments(here ir.Pos, fragments [][]Reg[B32], into [][]ir.Operand) {
	k := w.k
	_, each, _, _, _ := w.shape.registers()
	wrong := len(fragments) != len(into)
	for _, f := range fragments {
		wrong = wrong || len(f) != each
	}
	if wrong {
		k.m.faultAt(here, &ruleShape,
			"B operand of one MMA has %s, expected %d lists of %d registers: one list for each %d of %d columns",
			describeFragments(fragments), len(into), each, w.shape.N, w.cols)
		fragments = slices.Repeat([][]Reg[B32]{slices.Repeat([]Reg[B32]{Const[B32](k, 0)}, each)},
			len(into))
	}
	for i, f := range fragments {
		registers := make([]ir.Operand, each)
		for n, r := range f {
			registers[n] = r.register().in(k)
		}
		k.fill(into[i], registers)
	}
}

// describeFragments describes the number of registers in the fragments, for messages.
func describeFragments(fragments [][]Reg[B32]) string {
	if len(fragments) == 0 {
		return "nothing"
	}
	for _, f := range fragments {
		if len(f) != len(fragments[0]) {
			return fmt.Sprintf("lists of %d and of %d registers", len(fragments[0]), len(f))
		}
	}
	return fmt.Sprintf("%d lists of %d registers", len(fragments), len(fragments[0]))
}

// MMA executes all MMAs of the step, for hand-written loops.
func (p MMAStep) MMA() {
	if p.k == nil {
		return
	}
	p.k.annotateWarpOperation("MMA")
	end := p.begin()
	var f fragmentSet
	for step := range p.steps {
		before := f
		f = p.newFragments()
		p.read(step, before, f)
		p.multiply(f)
	}
	end()
}

// newFragments allocates registers for the A and B fragments of a step.
func (w *WarpTile[C]) newFragments() fragmentSet {
	return fragmentSet{a: w.newFragmentsA(), b: w.newFragmentsB()}
}

func (w *WarpTile[C]) newFragmentsA() [][]ir.Operand {
	n, _, _, t, _ := w.shape.registers()
	return w.k.cells(w.rows/w.shape.M, n, t)
}

func (w *WarpTile[C]) newFragmentsB() [][]ir.Operand {
	_, n, _, t, _ := w.shape.registers()
	return w.k.cells(w.cols/w.shape.N, n, t)
}

// emptyCells returns cells of n elements without registers, for fragments that are already in
// registers.
func emptyCells(cells, n int) [][]ir.Operand {
	list := make([][]ir.Operand, cells)
	for i := range list {
		list[i] = make([]ir.Operand, n)
	}
	return list
}

// cells returns lists of n new registers of type t each.
func (k *Kernel) cells(cells, n int, t isa.Type) [][]ir.Operand {
	list := make([][]ir.Operand, cells)
	for i := range list {
		list[i] = k.cell(n, t)
	}
	return list
}

// cell returns n new registers of type t.
func (k *Kernel) cell(n int, t isa.Type) []ir.Operand {
	list := slab.Many(&k.args, n)
	for i := range list {
		list[i] = ir.Operand{Kind: ir.Register, Reg: k.newReg(t)}
	}
	return list
}

// elementLoader returns a function that loads the fragments of a step element by element: eight
// rows by four columns at a time, in column order. rows is the number of rows of a fragment.
func (w *WarpTile[C]) elementLoader(t SharedTile, from Reg[U32],
	rows int) func(step int) func(into [][]ir.Operand) {
	k, depth := w.k, w.shape.K
	bytes := t.Type.Bits() / 8
	load := "ld.shared" + bits(t.Type.Bits()).String()
	if w.shape.A == isa.F64 {
		load = "ld.shared.f64"
	}
	lane := k.Lane()
	row, col := from.Add(lane.ShrI(2)), lane.AndI(3)
	var at func(col int) Addr // elements in a unit of 16 bytes
	down := bytes             // distance from a row to the next
	if t.isTransposed {
		first := t.Addr().add(col.MulI(int64(t.Pitch())).Add(row.MulI(int64(bytes))))
		at = func(col int) Addr { return first.Plus(int64(col * t.Pitch())) }
	} else {
		down = t.Pitch()
		each := int64(16 / bytes) // elements of a unit of 16 bytes
		r, in := t.reader(row, col.DivI(each)), col.RemI(each).MulI(int64(bytes))
		at = func(col int) Addr { return r.at(col * bytes).add(in) }
	}
	return func(step int) func([][]ir.Operand) {
		return func(into [][]ir.Operand) {
			for four := range depth / 4 {
				from := at(step*depth + four*4)
				for i, cell := range into {
					for eight := range rows / 8 {
						k.ins(load, cell[four*rows/8+eight],
							from.Plus(int64((i*rows+eight*8)*down)).in(k))
					}
				}
			}
		}
	}
}
