// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"fmt"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// AFragmentsFunc returns an A operand that the kernel computes, for MMAFragments, such as
// dequantized 4-bit weights. The function cell returns the registers for sixteen rows and one
// step of K elements, as many as [MMA.Registers] returns for A. A register holds the n adjacent
// elements of one row that fit 32 bits: register r of lane l holds those of row l/4 + r%2*8,
// starting at column (l%4 + r/2*4)*n of the step.
func (w *WarpTile[C]) AFragmentsFunc(depth int, cell func(step, rows int) []Reg[B32]) *Fragments {
	if !checkCreated(w.kernel(), "accumulator in AFragmentsFunc") ||
		!w.k.checkFunctions("AFragmentsFunc", cell != nil) {
		return &Fragments{}
	}
	k, s := w.k, w.shape
	each, _, _ := s.Registers()
	f := &Fragments{k: k, typ: s.A, rows: w.rows, cols: depth, each: s.K}
	switch {
	case s.Sparse || s.Split || s.isScaled() || s.A == isa.F64 || s.M != 16:
		k.fault(&ruleShape, "AFragmentsFunc does not support MMA shape %s of %s", s, s.A)
		return f
	case depth < s.K || depth%s.K != 0:
		k.fault(&ruleShape, "A operand has %d columns for shape %s, expected a multiple of %d",
			depth, s, s.K)
		return f
	}
	f.regs = k.computedFragments(depth/s.K, w.rows/s.M, each, cell)
	return f
}

// AFragmentsFunc returns the A operand of a wgmma that the kernel computes in registers: elements
// of 16 bits, in steps of 16. Each call of cell returns the registers for the sixteen rows of the
// thread's warp, out of the 64 of a part of the accumulator: register r of lane l holds two
// adjacent elements of row l/4 + r%2*8, starting at column (l%4 + r/2*4)*2 of the step. The
// registers must not change until the MMAs are complete.
func (a *Accumulator) AFragmentsFunc(t isa.Type, depth int,
	cell func(step, part int) []Reg[B32]) *Fragments {
	if !checkCreated(a.kernel(), "accumulator in AFragmentsFunc") ||
		!a.k.checkFunctions("AFragmentsFunc", cell != nil) {
		return &Fragments{}
	}
	k := a.k
	f := &Fragments{k: k, typ: t, rows: a.rows, cols: depth, each: 16}
	if t != isa.F16 && t != isa.Bf16 || depth < 16 || depth%16 != 0 {
		k.fault(&ruleShape,
			"A operand in registers has %d columns of %s, expected a multiple of 16 columns of .f16 or .bf16",
			depth, t)
		return f
	}
	f.regs = k.computedFragments(depth/16, a.parts, 4, cell)
	return f
}

// computedFragments calls cell for each step and each of the given number of cells, and returns
// the registers. It reports a cell that does not have the expected number of registers and
// returns nil.
func (k *Kernel) computedFragments(steps, cells, each int,
	cell func(step, n int) []Reg[B32]) (list [][][]Reg[B32]) {
	for step := range steps {
		var line [][]Reg[B32]
		for i := range cells {
			regs := cell(step, i)
			if len(regs) != each {
				k.fault(&ruleShape, "A operand has %d registers for one MMA, expected %d",
					len(regs), each)
				return nil
			}
			for n, r := range regs {
				if r.k == nil {
					k.fault(&ruleValue,
						"register %d of the A operand of one MMA is a zero value, not created by a builder call",
						n)
					return nil
				}
				regs[n] = r.register()
			}
			line = append(line, regs)
		}
		list = append(list, line)
	}
	return list
}

// SparseMMA adds a product as MMA does, for a sparse A operand x, which stores two of each four
// adjacent elements in a row (of TF32 one of two). The tiles of y have twice as many columns. The
// function metadata returns the register with the sparsity metadata for a step of 32 bytes of x
// and 64 rows of the accumulator. Each thread provides its own part, as PTX specifies for wgmma
// (PTX ISA 9.1, section 9.7.15.6.1); for types of 16 and 32 bits only the first two of each four
// lanes provide one.
func (a *Accumulator) SparseMMA(x, y SharedTile, metadata func(step, part int) Reg[U32]) {
	if !checkCreated(a.kernel(), "accumulator in SparseMMA", x.at.k, y.at.k) ||
		!a.k.checkFunctions("SparseMMA", metadata != nil) {
		return
	}
	k := a.k
	k.annotateWarpOperation("SparseMMA")
	a.empty = false
	x.stage.markRead(wgmma)
	y.stage.markRead(wgmma)
	t := x.Type
	depth := 32 * 8 / max(1, t.Bits())
	rows, left := x.operandShape()
	cols, deep := y.operandShape()
	switch {
	case x.at.k == nil || y.at.k == nil:
		k.fault(&ruleValue, "tile in SparseMMA is a zero value, not created by a builder call")
		return
	case t != y.Type && (t.Bits() != 8 || y.Type.Bits() != 8):
		k.fault(&ruleShape, "operands of SparseMMA, %s and %s, have different element types",
			x.Tile, y.Tile)
		return
	case !x.checkTransposable() || !y.checkTransposable():
		return
	case rows != a.rows || cols != a.cols:
		k.fault(&ruleShape,
			"operands of SparseMMA, %s and %s, do not fit an accumulator of %dx%d, expected tiles of %d and %d rows",
			x, y, a.rows, a.cols, a.rows, a.cols)
		return
	case 2*left != deep || left%depth != 0:
		k.fault(&ruleShape,
			"operands of SparseMMA, %s and %s, have the wrong widths: A must have half as many columns as B, and a multiple of %d",
			x, y, depth)
		return
	case x.stage == nil && y.stage == nil:
		k.fault(&ruleProtocol,
			"SparseMMA reads tiles that belong to no pipeline stage: nothing waits for the MMA before they are overwritten")
		return
	}
	// The sparsity metadata is read before the MMAs begin, because the registers of asynchronous
	// MMAs must not be written.
	metadataRegs := k.computedFragments(left/depth, a.parts, 1, func(step, part int) []Reg[B32] {
		return []Reg[B32]{Bits[B32](metadata(step, part))}
	})
	if metadataRegs == nil {
		return
	}
	op := "wgmma.mma_async.sp.sync.aligned." + fmt.Sprintf("m64n%dk%d", a.cols, 2*depth) +
		a.typ.String() + t.String() + y.Type.String()
	dx, dy := k.wgmmaDescriptor(x), k.wgmmaDescriptor(y)
	k.ins("wgmma.fence.sync.aligned")
	k.accumulate(op, a, x, y, dx, dy, depth, func(step, part int) []ir.Operand {
		return []ir.Operand{metadataRegs[step][part][0].in(k), number(0)}
	})
}
