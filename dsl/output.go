// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// An Output stores results to global memory through staging tiles in shared memory, one per
// warpgroup of a role: the warpgroup writes its registers into the tile, and the TMA stores the
// tile asynchronously.
type Output struct {
	k       *Kernel
	to      *TensorMap
	tiles   SharedTile // the staging tile of the first warpgroup
	groups  int
	barrier []NamedBarrier
	pos     ir.Pos
	stored  ir.Pos // position of the first store, or NoPos
	drained bool

	combined *combination // see Combine
	factors  *ScaleOutput // see Scales
}

// Output declares staging buffers in shared memory for the tiles of a tensor map, one for each of
// the given number of warpgroups.
func (k *Kernel) Output(name string, to *TensorMap, groups int) *Output {
	k = k.sound()
	if groups < 1 || groups > 4 {
		k.fault(&ruleShape, "output is declared for %d warpgroups, expected 1 to 4", groups).
			withFix(nearest(groups, 1, 4, 1))
		groups = 1
	}
	if to == nil {
		k.fault(&ruleValue,
			"tensor map of output %s is a zero value, not created by a builder call", name)
		to = &TensorMap{k: k, name: name,
			tile: Tile{Type: isa.Bf16, Rows: 64, Cols: 64, Swizzle: Swizzle128}, boxCols: 64,
			boxRows: 64}
		to.v = &ir.Var{Name: name, Space: isa.Param, Type: isa.B8, Dims: []int64{128}}
	}
	o := &Output{k: k, to: to, groups: groups, pos: k.m.calls.Here()}
	t := to.tile
	align := max(128, t.Align())
	bytes := (t.Bytes() + align - 1) / align * align
	o.tiles = SharedTile{Tile: t, at: k.SharedBytes(unique(name, k.names), bytes*groups, align)}
	o.barrier = k.barrierRow(groups, 128)
	k.outputs = append(k.outputs, o)
	return o
}

// kernel returns the kernel of o, or nil for a zero value.
func (o *Output) kernel() *Kernel {
	if o == nil {
		return nil
	}
	return o.k
}

// isStoringThread returns a predicate that is true in the thread of each warpgroup that starts
// its stores and waits for them.
func (o *Output) isStoringThread() Reg[Pred] { return o.k.Thread().AndI(127).EQI(0) }

// tile returns the staging tile of a warpgroup.
func (o *Output) tile(group Reg[U32]) SharedTile {
	t := o.tiles
	if o.groups > 1 {
		bytes := int64((t.Bytes() + max(128, t.Align()) - 1) / max(128, t.Align()) *
			max(128, t.Align()))
		t.at = t.at.add(group.MulI(bytes))
	}
	return t
}

// Store writes one part of an accumulator, 64 rows, to the matrix, converted to its element type.
// row and col are the coordinates of the part's first element. Store waits until the warpgroup's
// staging tile is free, and returns while the TMA still reads the tile.
func (o *Output) Store(acc *Accumulator, part int, group, row, col Reg[U32]) {
	k := o.kernel()
	if !checkCreated(k, "output in Store", acc.kernel(), row.k) || !o.checkStore(acc, group) {
		return
	}
	k.annotateTileStore(o.to.v, Addr{}, row, col, 64, acc.cols, 128)
	o.storePart(acc, part, group, func(tile SharedTile) { o.to.Store(tile, row, col) })
}

// checkStore reports whether accumulators can be stored to the output by a warpgroup, and records
// the reason if not.
func (o *Output) checkStore(acc *Accumulator, group Reg[U32]) bool {
	k := o.k
	t := o.to.tile
	switch {
	case acc.kernel() == nil:
		k.fault(&ruleValue, "accumulator in Store is a zero value, not created by a builder call")
		return false
	case t.Rows != 64 || t.Cols != acc.cols:
		k.fault(&ruleShape, "accumulator of 64x%d does not match the output tile %s", acc.cols, t)
		return false
	case t.Type != isa.Bf16 && t.Type != isa.F16 && t.Type != isa.F32:
		k.fault(&ruleShape, "output tile %s cannot hold accumulators, expected .f32, .bf16 or .f16",
			t.Type)
		return false
	case t.Swizzle != Swizzle128 && (t.Swizzle != Swizzle64 || t.Type == isa.F32) ||
		acc.cols%16 != 0 || acc.typ != isa.F32:
		k.fault(&ruleShape,
			"output tile %s is not supported, expected a 128-byte swizzle (or 64 bytes for 16-bit types), a multiple of 16 columns and an accumulator of .f32",
			t)
		return false
	}
	if group.IsConstant() && (group.bits < 0 || group.bits >= int64(o.groups)) {
		k.fault(&ruleShape, "warpgroup %d is out of bounds: the output has %d tiles", group.bits,
			o.groups)
		return false
	}
	return true
}

// storePart stores part of an accumulator. store starts the copy of the staging tile.
func (o *Output) storePart(acc *Accumulator, part int, group Reg[U32],
	store func(tile SharedTile)) {
	o.noteStore()
	o.storeGroup(group, store, func(tile SharedTile) {
		if o.to.tile.Type == isa.F32 {
			acc.putWide(part, tile)
		} else {
			o.put(acc, part, tile)
		}
	})
}

// StoreTMEM writes a tensor memory accumulator of 128 rows to the matrix, converted to its
// element type. Call it in the body of Drain, outside conditions, as the last read of the
// accumulator. It frees the accumulator as soon as all elements are loaded (except in a CTA
// pair). If other code reads the accumulator too, use StoreRows with Load, which does not free
// it.
func (o *Output) StoreTMEM(a *AccumulatorStage, row, col Reg[U32]) {
	k := o.kernel()
	if !checkCreated(k, "output in StoreTMEM", a.kernel(), row.k) {
		return
	}
	switch t := o.to.tile; {
	case a.kernel() == nil:
		k.fault(&ruleValue,
			"accumulator in StoreTMEM is a zero value, not created by a builder call")
	case a.t.rows < 128:
		k.fault(&ruleShape, "accumulator in StoreTMEM has %d rows, expected 128", a.t.rows)
	case t.Cols != a.t.cols:
		k.fault(&ruleShape, "accumulator in StoreTMEM has %d columns, but the output tile is %s",
			a.t.cols, t)
	case o.combined != nil || o.factors != nil:
		o.storeCombined(a, row, col)
	case a.t.shared > 0:
		o.storeOverlapping(a, row, col)
	default:
		o.StoreRows(row, col, func(from, n int) []Reg[F32] {
			x := a.loadFor(t.Type, from, n)
			if from+n == a.t.cols && k.scope() == a.scope && !a.t.pair {
				a.Release()
			}
			return x
		})
	}
}

// loadFor loads elements as Load does, for a matrix of type t. For .s32 it returns the bits of
// the integers as F32.
func (a *AccumulatorStage) loadFor(t isa.Type, col, n int) []Reg[F32] {
	if t != isa.S32 {
		return a.Load(col, n)
	}
	list := make([]Reg[F32], n)
	for i, x := range LoadAccumulator[S32](a, col, n) {
		list[i] = Bits[F32](x)
	}
	return list
}

// storeOverlapping implements StoreTMEM for one of two overlapping accumulators. It stores 64
// columns at a time and starts with the shared columns, which are the last ones of an accumulator
// in the first position.
func (o *Output) storeOverlapping(a *AccumulatorStage, row, col Reg[U32]) {
	const wide = 64
	k, t := o.k, o.to.tile
	bytes := wide * t.Type.Bits() / 8
	if t.Swizzle != Swizzle128 || bytes%128 != 0 || t.Cols%wide != 0 {
		k.fault(&ruleShape,
			"output tile %s does not support overlapping accumulators, expected .bf16, .f16 or .f32 with a swizzle of 128 bytes and a multiple of %d columns",
			t, wide)
		return
	}
	groups, at, second := t.Cols/wide, a.row, a.second()
	o.noteStore()
	k.annotateTileStore(o.to.v, Addr{}, row, col, 128, t.Cols, 128)
	o.storeStaged(row, col, func(tile SharedTile, line Reg[U32]) {
		for g := range groups {
			if g == a.t.shared/wide && k.scope() == a.scope {
				a.Release()
				a.released = false
			}
			first := (g + groups - a.t.shared/wide) % groups
			group := Select(second.EQI(0), k.U32(first), k.U32(g))
			a.row = at.Add(group.MulI(wide)).SubI(int64(g * wide))
			to := tile
			to.at = tile.at.add(group.MulI(int64(bytes / 128 * tile.SlabBytes())))
			put := to.rowWriter(line)
			for c := 0; c < wide; c += 32 {
				put(c, a.Load(g*wide+c, 32))
			}
		}
	})
	a.row, a.released = at, k.scope() == a.scope
}

// put writes part of an accumulator to a staging tile with stmatrix. Each lane supplies the
// address of a row of one of four 8x8 matrices: the upper and lower rows of two groups of eight
// columns.
func (o *Output) put(acc *Accumulator, part int, tile SharedTile) {
	k := o.k
	lane := k.Lane()
	warp := k.WarpIndex().AndI(3)
	line := lane.AndI(7)
	row := warp.ShlI(4).Add(lane.AndI(8)).Add(line) // matrices 1 and 3 are the lower rows
	turn, wide := line, int(tile.Swizzle)
	if wide == 64 {
		turn = line.ShrI(1) // the swizzle repeats every two rows, 128 bytes
	}
	unit := lane.ShrI(4).Xor(turn).ShlI(4) // matrices 2 and 3 are the second group of columns
	at := tile.at.add(row.MulI(int64(tile.Pitch())))
	pair := "cvt.rn" + packedPair(tile.Type).String() + ".f32"
	var spot Reg[U32]
	for c := 0; c < acc.cols; c += 16 {
		b := c * 2
		slab, in := b/wide, b%wide
		spot = unit.XorI(int64(in))
		to := at.Plus(int64(slab * tile.SlabBytes())).add(spot)
		regs := make([]ir.Operand, 4)
		for i := range regs {
			lo, hi := acc.At(part, c/8+i/2, i%2 == 1)
			r := ir.Operand{Kind: ir.Register, Reg: k.newReg(isa.B32)}
			k.ins(pair, r, hi.in(k), lo.in(k))
			regs[i] = r
		}
		k.ins("stmatrix.sync.aligned.m8n8.x4.shared.b16", to.in(k), k.list(ir.Vector, regs))
	}
}

// putWide writes part of an accumulator to a staging tile without conversion, two adjacent
// elements at a time.
func (a *Accumulator) putWide(part int, tile SharedTile) {
	k, lane := a.k, a.k.Lane()
	row := k.WarpIndex().AndI(3).ShlI(4).Add(lane.ShrI(2))
	at := tile.at.add(row.MulI(int64(tile.Pitch())).Add(lane.AndI(1).ShlI(3)))
	// the 16-byte unit of the pair, swizzled for the row; the row eight below has the same swizzle
	unit := lane.ShrI(1).AndI(1).Xor(row.AndI(7)).ShlI(4)
	for c := 0; c < a.cols; c += 8 {
		slab, in := c*4/128, c*4%128
		to := at.add(unit.XorI(int64(in))).Plus(int64(slab * tile.SlabBytes()))
		for i := range 2 {
			x, y := a.At(part, c/8, i == 1)
			Array[F32]{at: to.Plus(int64(i * 8 * tile.Pitch()))}.StoreFirstVec([]Reg[F32]{x, y})
		}
	}
}

// packedPair returns the type of two elements of t in one register, for t F16 or BF16.
func packedPair(t isa.Type) isa.Type {
	if t == isa.F16 {
		return isa.F16x2
	}
	return isa.Bf16x2
}

// Wait waits until all stores of the warpgroup are complete. Call it at the end of the role that
// stores.
func (o *Output) Wait() {
	if o.kernel() == nil {
		return
	}
	o.drained = true
	o.k.When(o.isStoringThread(),
		func() { o.k.waitGroups("WaitStores", "cp.async.bulk.wait_group", 0) })
}

// noteStore records the position of the first store.
func (o *Output) noteStore() {
	if o.stored == ir.NoPos {
		o.stored = o.k.m.calls.Here()
	}
}

// noteOutputs annotates the outputs of the kernel.
func (k *Kernel) noteOutputs() {
	for _, o := range k.outputs {
		k.notes.Outputs = append(k.notes.Outputs,
			ir.Output{Map: o.to.name, Pos: o.pos, Stored: o.stored, Waited: o.drained ||
				k.allStoresWaited})
	}
}
