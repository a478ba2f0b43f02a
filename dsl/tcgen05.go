// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// A tensorKind is a kind of tcgen05.mma, with the numbers that its instruction descriptor has for types (PTX 9.1, 9.7.16.4.2).
type tensorKind struct {
	name  string
	a     uint32
	b     uint32
	depth int // elements that one instruction multiplies along K
}

// kinds8 are the numbers of the small floating-point types.
var kinds8 = map[isa.Type]uint32{isa.E4m3: 0, isa.E5m2: 1, isa.E2m3: 3, isa.E3m2: 4, isa.E2m1: 5}

// denseKind is the kind for two element types without block scaling.
func denseKind(a, b isa.Type) (tensorKind, bool) {
	x, ok1 := kinds8[a]
	y, ok2 := kinds8[b]
	switch {
	case a == isa.F16 && b == isa.F16:
		return tensorKind{"f16", 0, 0, 16}, true
	case a == isa.Bf16 && b == isa.Bf16:
		return tensorKind{"f16", 1, 1, 16}, true
	case a == isa.Tf32 && b == isa.Tf32:
		return tensorKind{"tf32", 2, 2, 8}, true
	case ok1 && ok2:
		return tensorKind{"f8f6f4", x, y, 32}, true
	case (a == isa.U8 || a == isa.S8) && (b == isa.U8 || b == isa.S8):
		return tensorKind{"i8", sign(a), sign(b), 32}, true
	}
	return tensorKind{}, false
}

func sign(t isa.Type) uint32 {
	if t == isa.S8 {
		return 1
	}
	return 0
}

// tensorDescriptor is the descriptor of a tile for tcgen05 (PTX 9.1, 9.7.16.4.1), which differs from wgmma's in its constant and in
// how it names swizzles.
func (k *Kernel) tensorDescriptor(t SharedTile) Reg[U64] {
	var mode uint64
	switch t.Swizzle {
	case Swizzle128:
		mode = 2
	case Swizzle64:
		mode = 4
	case Swizzle32:
		mode = 6
	default:
		k.fault(&ruleShape, "%s: tcgen05 reads tiles with a swizzle of 32, 64 or 128 bytes here", t.Tile)
	}
	return k.descriptor(t.at, mode<<61|1<<46|uint64(8*t.Pitch()>>4)<<32|1<<16)
}

// Descriptor is the tile as wgmma takes it on sm_90a, and as tcgen05 takes it elsewhere, for instructions that are written out with Ins. A
// step along the rows adds Offset0 of the column, in units of 16 bytes.
func (t SharedTile) Descriptor() Reg[U64] {
	k := t.at.k
	switch {
	case k == nil:
		return Reg[U64]{}
	case k.m.Is("sm_90a"):
		return k.wgmmaDescriptor(t)
	}
	return k.tensorDescriptor(t)
}

// MMA adds the product of x and the transpose of y: x has a row for each row of the accumulator, y one for each column; in a pair,
// each block holds half of the rows of both.
func (a *AccumulatorStage) MMA(x, y SharedTile) { a.multiply(x, nil, y) }

// SparseMMA is MMA of a matrix x of which half is zero and left out: of each four neighbours in a row x has two, and places, from a
// SparsityMap, tell which. Tiles of y have twice as many columns. It takes integers and small floats, in 8 bits each.
func (a *AccumulatorStage) SparseMMA(x, places, y SharedTile) {
	a.multiply(x, &places, y)
	places.stage.reads(tcgen05)
}

// multiply is MMA, and where there are places SparseMMA.
func (a *AccumulatorStage) multiply(x SharedTile, places *SharedTile, y SharedTile) {
	k := a.t.k
	kind, ok := denseKind(x.Type, y.Type)
	sparse, ratio := places != nil, 1
	if sparse {
		ratio = 2
	}
	if ok && kind.name == "f8f6f4" && (x.wide() != 8 || y.wide() != 8) {
		k.fault(&ruleShape, "MMA of %s and %s: tcgen05 reads numbers of 4 bits padded here (Box.Padded)", x.Tile, y.Tile)
		return
	}
	if !ok {
		k.fault(&ruleShape, "MMA of %s and %s: tcgen05 has no kind for these types", x.Tile, y.Tile)
		return
	}
	switch {
	case sparse && kind.name != "f8f6f4" && kind.name != "i8":
		k.fault(&ruleShape, "sparse MMA of %s and %s: numbers in 8 bits are expected", x.Tile, y.Tile)
		return
	case !a.fits(x, y, kind.depth, ratio), sparse && !a.fitsPlaces(x, *places):
		return
	}
	d := uint32(1)
	if kind.name == "i8" {
		d = 2
	}
	id := d<<4 | kind.a<<7 | kind.b<<10 | uint32(a.t.cols>>3)<<17 | uint32(a.t.rows>>4)<<24
	op := "tcgen05.mma."
	if sparse {
		id |= 1 << 2
		op += "sp."
	}
	op += k.tmem.group() + ".kind::" + kind.name
	dx, dy := k.tensorDescriptor(x), k.tensorDescriptor(y)
	to, zeros := a.address(), Reg[U32]{k: k, r: k.tmem.base}.AddI(int64(a.t.places))
	a.begin(x)
	idesc := k.constant(id)
	k.When(k.Leader(), func() {
		if sparse {
			k.copyPlaces(*places, zeros)
		}
		for step := range x.Cols / kind.depth {
			col := step * kind.depth
			args := []ir.Operand{tensorAddress(k, to), k.arg(dx.AddI(int64(x.Offset0(col) >> 4))), k.arg(dy.AddI(int64(y.Offset0(col*ratio) >> 4)))}
			if sparse {
				args = append(args, tensorAddress(k, zeros.AddI(int64(2*step))))
			}
			k.ins(op, append(args, k.arg(idesc), k.arg(a.used))...)
			if step == 0 {
				a.mark()
			}
		}
	})
	x.stage.reads(tcgen05)
	y.stage.reads(tcgen05)
}

// begin orders the multiplications behind the copies that filled the stage, once a stage.
func (a *AccumulatorStage) begin(x SharedTile) {
	if x.stage != nil && x.stage.by != tcgen05 {
		a.t.k.ins("tcgen05.fence::after_thread_sync")
	}
}

// constant is a number in a register, moved there once at the head of the role.
func (k *Kernel) constant(n uint32) Reg[U32] {
	if k.role == nil {
		return k.U32(int(n)).Var()
	}
	if k.role.constants == nil {
		k.role.constants = make(map[uint32]Reg[U32])
	}
	x, ok := k.role.constants[n]
	if !ok {
		k.atHead(func() {
			x = fresh[U32](k)
			k.ins("mov.b32", k.arg(x), number(int64(n)))
		})
		k.role.constants[n] = x
	}
	return x
}

// mark notes that the accumulator holds something from here on. All lanes of the warp do, so that it is outside of the guard.
func (a *AccumulatorStage) mark() {
	k := a.t.k
	guard := k.guard
	k.guard = ir.Guard{}
	k.ins("setp.eq.b32", k.arg(a.used), number(0), number(0))
	k.guard = guard
}

// fits reports what keeps x and y from being multiplied into a, where y has so many columns for each of x.
func (a *AccumulatorStage) fits(x, y SharedTile, depth, ratio int) bool {
	k := a.t.k
	share := 1
	if a.t.pair {
		share = 2
	}
	switch {
	case x.turned || y.turned:
		k.fault(&ruleShape, "MMA of %s and %s; tcgen05 is given tiles as they lie here", x, y)
	case !a.fills:
		k.fault(&ruleProtocol, "MMA into an accumulator that is being read; Fill gives one to write")
	case x.at.k == nil || y.at.k == nil:
		k.fault(&ruleValue, "MMA of a tile that no builder call made")
	case x.stage == nil || y.stage == nil:
		k.fault(&ruleProtocol, "MMA of tiles that belong to no stage of a pipeline: nothing would wait for it")
	case x.Rows != a.t.rows/share || y.Rows != a.t.cols/share:
		k.fault(&ruleShape, "MMA of %s and %s into an accumulator of %dx%d: %d and %d rows are expected", x.Tile, y.Tile, a.t.rows, a.t.cols, a.t.rows/share, a.t.cols/share)
	case ratio != 1 && (x.Cols*ratio != y.Cols || x.Cols%depth != 0):
		k.fault(&ruleShape, "sparse MMA of %s and %s: half as many columns as the second has are expected of the first, a multiple of %d", x.Tile, y.Tile, depth)
	case ratio == 1 && (x.Cols != y.Cols || x.Cols%depth != 0):
		k.fault(&ruleShape, "MMA of %s and %s: rows of one length, a multiple of %d elements, are expected", x.Tile, y.Tile, depth)
	default:
		return true
	}
	return false
}
