// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// A Product is one of two tiles in shared memory, a step of the depth at a time: mma.sync multiplies fragments, which are read before. MMA
// makes one at once; AsyncPipeline.Multiply reads ahead.
type Product struct {
	k        *Kernel
	sums     any // the WarpTile
	steps    int
	room     func() factors
	read     func(step int, into factors)
	multiply func(factors)
	begin    func() (end func()) // around all steps of a pair of tiles
	told     bool                // there is none, and why has been said
}

// factors are fragments of both sides: of each M rows, and of each N columns.
type factors struct{ a, b [][]ir.Operand }

// set makes f equal to other fragments.
func (f factors) set(k *Kernel, to factors) {
	for _, pair := range [][2][][]ir.Operand{{f.a, to.a}, {f.b, to.b}} {
		for i, cell := range pair[0] {
			for n, r := range cell {
				k.ins("mov"+bits(r.Reg().Type.Bits()).String(), r, pair[1][i][n])
			}
		}
	}
}

// Product is what MMA adds to the sums, to be made by AsyncPipeline.Multiply.
func (w *WarpTile[C]) Product(x SharedTile, fromX Reg[U32], y SharedTile, fromY Reg[U32]) Product {
	if !made(w.kernel(), "Product", x.at.k, y.at.k) {
		return Product{}
	}
	if !w.multiplies(x, y) {
		return Product{told: true}
	}
	k, s := w.k, w.shape
	_, depth := x.sides()
	p := Product{k: k, sums: w, steps: depth / s.K, room: w.room, begin: func() func() { return func() {} }}
	p.multiply = func(f factors) { w.multiply(f.a, f.b, nil) }
	switch {
	case s.A == isa.F64:
		p.read = w.elements(x, fromX, y, fromY)
		return p
	case s.Split:
		p.multiply, p.begin = w.multiplySplit, w.apart
	}
	a, b := x.fragments(leftCorner(x), fromX, s.K), y.fragments(rightCorner(y), fromY, s.K)
	p.read = func(step int, into factors) {
		atA, atB := a(step), b(step)
		w.lefts(atA, into.a)
		w.rights(atB, into.b)
	}
	return p
}

// make makes all of a product.
func (p Product) make() {
	if p.k == nil {
		return
	}
	end := p.begin()
	for step := range p.steps {
		f := p.room()
		p.read(step, f)
		p.multiply(f)
	}
	end()
}

// room is registers for the fragments of a step.
func (w *WarpTile[C]) room() (f factors) {
	a, b, _, t, _ := w.shape.registers()
	for range w.rows / w.shape.M {
		f.a = append(f.a, w.k.cell(a, t))
	}
	for range w.cols / w.shape.N {
		f.b = append(f.b, w.k.cell(b, t))
	}
	return f
}

// cell is n new registers.
func (k *Kernel) cell(n int, t isa.Type) []ir.Operand {
	list := k.args.Many(n)
	for i := range list {
		list[i] = ir.Operand{Kind: ir.Register, Ref: k.newReg(t)}
	}
	return list
}

// elements reads fragments of F64, which are single elements: of eight rows and four columns each, down the rows first.
func (w *WarpTile[C]) elements(x SharedTile, fromX Reg[U32], y SharedTile, fromY Reg[U32]) func(step int, into factors) {
	k, s := w.k, w.shape
	lane := k.Lane()
	row, col := lane.ShrI(2), lane.AndI(3)
	// Two elements share a unit of 16 bytes.
	a := x.reader(fromX.Add(row), col.ShrI(1))
	b := y.reader(fromY.Add(row), col.ShrI(1))
	odd := col.AndI(1).ShlI(3)
	read := func(t SharedTile, r tileReader, step, rows int, into [][]ir.Operand) {
		for four := range s.K / 4 {
			at := r.at((step*s.K/4 + four) * 32).add(odd)
			for i, cell := range into {
				for eight := range rows / 8 {
					k.ins("ld.shared.f64", cell[four*rows/8+eight], k.arg(at.Plus(int64((i*rows+eight*8)*t.Pitch()))))
				}
			}
		}
	}
	return func(step int, into factors) {
		read(x, a, step, s.M, into.a)
		read(y, b, step, s.N, into.b)
	}
}
