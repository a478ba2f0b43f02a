// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// StoreRows writes 128 rows to the matrix, one per thread, which is how accumulators in tensor
// memory are distributed. The function elements returns n elements of the thread's row, starting
// at column col; it can add a bias or another matrix ([SharedTile.LoadRow]), scale, and apply an
// activation. The elements are converted to the matrix's type: .f32, .bf16, .f16, .e4m3, .e5m2,
// .e2m3, .e3m2 or .e2m1; a matrix of .s32 takes their bits. Elements of 6 bits take a byte in
// shared memory (.b6p2x16), and the matrix must have a multiple of 128 columns.
func (o *Output) StoreRows(row, col Reg[U32], elements func(col, n int) []Reg[F32]) {
	o.storeRows(row, col, 32, elements, elements != nil)
}

// storeRows implements StoreRows and computes chunk elements at a time. given is false if the
// author passed a nil function.
func (o *Output) storeRows(row, col Reg[U32], chunk int, elements func(col, n int) []Reg[F32],
	given bool) {
	k := o.kernel()
	if !checkCreated(k, "output in StoreRows", row.k) || !k.checkFunctions("StoreRows", given) {
		return
	}
	o.noteStore()
	t := o.to.tile
	switch {
	case t.Rows != 128 || o.groups != 1:
		k.fault(&ruleShape,
			"StoreRows stores 128 rows, which do not match the output tile %s of %d warpgroups", t,
			o.groups)
		return
	case !isStorable(t.Type) || t.Padded || t.Swizzle == NoSwizzle || t.Cols%chunk != 0:
		k.fault(&ruleShape,
			"output tile %s is not supported, expected .f32, .bf16, .f16, .e4m3, .e5m2, .e2m3, .e3m2 or .e2m1 with a swizzle and a multiple of %d columns",
			t, chunk)
		return
	}
	k.annotateTileStore(o.to.v, Addr{}, row, col, 128, t.Cols, 128)
	o.storeStaged(row, col, func(tile SharedTile, line Reg[U32]) {
		put := tile.rowWriter(line)
		for c := 0; c < t.Cols; c += chunk {
			x := elements(c, chunk)
			if len(x) != chunk {
				k.fault(&ruleShape, "function passed to StoreRows returns %d elements, expected %d",
					len(x), chunk)
				return
			}
			put(c, x)
		}
	})
}

// storeStaged waits until the staging tile of 128 rows is free, calls write, in which each thread
// writes its row, and stores the tile.
func (o *Output) storeStaged(row, col Reg[U32], write func(tile SharedTile, line Reg[U32])) {
	k := o.k
	o.storeGroup(k.U32(0), func(tile SharedTile) { o.to.Store(tile, row, col) },
		func(tile SharedTile) { write(tile, k.Thread().AndI(127)) })
}

// storeGroup waits until the staging tile of a warpgroup is free, calls write, which fills the
// tile, and calls store in one thread, which stores the tile.
func (o *Output) storeGroup(group Reg[U32], store, write func(tile SharedTile)) {
	k := o.k
	first := o.isStoringThread()
	k.Comment("the previous store has read the tile")
	k.When(first, func() { k.WaitStoresRead(0) })
	k.syncGroup(o.barrier, group)
	tile := o.tile(group)
	write(tile)
	k.FenceAsync()
	k.syncGroup(o.barrier, group)
	k.When(first, func() {
		o.to.hasOutput = true
		store(tile)
		o.to.hasOutput = false
		k.CommitStores()
	})
}

// isStorable reports whether accumulator rows can be stored as elements of type t.
func isStorable(t isa.Type) bool {
	switch t {
	case isa.F32, isa.S32, isa.Bf16, isa.F16, isa.E4m3, isa.E5m2, isa.E2m3, isa.E3m2, isa.E2m1:
		return true
	}
	return false
}

// unitAddresses returns a function that returns the address of the 16-byte unit at a constant
// byte offset in row line of a swizzled tile.
func (t SharedTile) unitAddresses(line Reg[U32]) func(b int) Addr {
	at := t.at.add(line.MulI(int64(t.Pitch())))
	var unit Reg[U32]
	if t.Swizzle == Swizzle128 {
		unit = line.AndI(7).ShlI(4)
	} else {
		unit = line.MulI(int64(t.Pitch())).ShrI(3).AndI(int64(t.Swizzle.mask()))
	}
	wide := int(t.Swizzle)
	return func(b int) Addr {
		return at.Plus(int64(b / wide * t.SlabBytes())).add(unit.XorI(int64(b % wide)))
	}
}

// rowWriter returns a function that writes adjacent elements to row line of the tile, converted
// to its type, in whole 16-byte units.
func (t SharedTile) rowWriter(line Reg[U32]) func(col int, x []Reg[F32]) {
	k, bits := t.at.k, t.elementBits()
	at := t.unitAddresses(line)
	each := 128 / bits
	return func(col int, x []Reg[F32]) {
		for q := 0; q < len(x); q += each {
			regs := make([]ir.Operand, 4)
			for i := range regs {
				regs[i] = k.packElements(t.Type, x[q+i*each/4:][:each/4])
			}
			k.ins("st.shared.v4.b32", at((col+q)*bits/8).in(k), k.list(ir.Vector, regs))
		}
	}
}

// LoadRow reads n adjacent elements of a row of a swizzled tile of .f32, .bf16 or .f16, as F32.
// They must fill whole 16-byte units. Use it in epilogues that add a tile loaded by a pipeline.
func (t SharedTile) LoadRow(row Reg[U32], col, n int) []Reg[F32] {
	k := t.at.k
	none := make([]Reg[F32], max(n, 0))
	if !checkCreated(k, "tile in LoadRow", row.k) {
		return none
	}
	bits := t.Type.Bits()
	if t.Type != isa.F32 && t.Type != isa.Bf16 && t.Type != isa.F16 || t.Swizzle == NoSwizzle ||
		col < 0 || n < 1 || col*bits%128 != 0 || n*bits%128 != 0 || col+n > t.Cols {
		k.fault(&ruleShape,
			"LoadRow reads columns %d to %d of a row of %s, expected a multiple of 16 bytes from a swizzled tile of .f32, .bf16 or .f16",
			col, col+n-1, t.Tile)
		return none
	}
	t.noteAddress()
	t.noteOtherRead()
	at := t.unitAddresses(row)
	list := make([]Reg[F32], 0, n)
	for b := col * bits / 8; b < (col+n)*bits/8; b += 16 {
		words := make([]ir.Operand, 4)
		for i := range words {
			words[i] = ir.Operand{Kind: ir.Register, Reg: k.newReg(isa.B32)}
		}
		k.ins("ld.shared.v4.b32", k.list(ir.Vector, words), at(b).in(k))
		for _, w := range words {
			list = append(list, k.unpackWord(t.Type, w)...)
		}
	}
	return list
}

// unpackWord returns the one or two elements of type t in a register as F32.
func (k *Kernel) unpackWord(t isa.Type, word ir.Operand) []Reg[F32] {
	x := fresh[F32](k)
	if t == isa.F32 {
		k.ins("mov.b32", x.in(k), word)
		return []Reg[F32]{x}
	}
	low, high := ir.Operand{Kind: ir.Register, Reg: k.newReg(isa.B16)},
		ir.Operand{Kind: ir.Register, Reg: k.newReg(isa.B16)}
	k.ins("mov.b32", k.vector(low, high), word)
	y := fresh[F32](k)
	k.ins("cvt.f32"+t.String(), x.in(k), low)
	k.ins("cvt.f32"+t.String(), y.in(k), high)
	return []Reg[F32]{x, y}
}
