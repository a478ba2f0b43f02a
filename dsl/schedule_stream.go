// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"iter"

	"github.com/ptxdsl/ptxdsl/isa"
)

// A StreamSchedule divides the steps of all tiles of a GEMM evenly among the blocks of a grid, so
// that no multiprocessor is idle in the last wave (stream-K). If several blocks compute parts of
// a tile, the block with the last step adds the parts, which the other blocks write to memory.
type StreamSchedule struct {
	k                 *Kernel
	rows, cols, steps Reg[U32]
	groupRows         int
	partials          Array[F32]
	flags             Array[U32]
	groups            int
	barrier           []NamedBarrier // one for each warpgroup
}

// A StreamTile is a range of K steps of a tile that one block computes: Steps steps, starting at
// First.
type StreamTile struct {
	TileCoord
	First, Steps Reg[U32]
	s            *StreamSchedule
	begin        Reg[U32] // first step of the tile, in the order of the steps of all shared tiles
}

// StreamK returns a stream-K schedule over rows by cols tiles of the given number of K steps
// each, for warpgroups that each compute a part of every tile. The steps of the tiles in the last
// full wave and in the remainder are divided evenly among the blocks; all other tiles are
// assigned as Persistent does, together tile rows at a time. Each block needs space in partials
// for the accumulators of its warpgroups ([Accumulator.SavePartial]), and one element of flags
// per warpgroup. The flags must be zero when the launch starts, and are zero when it ends.
//
//	work := k.StreamK(rows, cols, steps, 8, 2, partials, flags)
//	for at := range work.Each() {
//		acc := k.Accumulator(64, 256, isa.F32)
//		for s := range ab.Consume(at.Steps) {
//			acc.MMA(s.Tile(a).Part(half, 2), s.Tile(b))
//		}
//		at.Fixup(acc, half, func() { out.Store(acc, 0, half, row, col) })
//	}
func (k *Kernel) StreamK(rows, cols, steps Reg[U32], together, groups int, partials Array[F32],
	flags Array[U32]) *StreamSchedule {
	k = k.sound()
	s := &StreamSchedule{k: k, rows: rows, cols: cols, steps: steps, groupRows: together,
		partials: partials, flags: flags, groups: groups}
	if together < 1 || groups < 1 || groups > 4 {
		k.fault(&ruleProtocol,
			"StreamK has groups of %d rows of tiles and %d warpgroups, expected a positive number and 1 to 4",
			together, groups)
		s.groupRows, s.groups = 1, 1
	}
	if n := k.clusterSize(); n > 1 {
		k.fault(&ruleProtocol, "StreamK is used in a cluster of %d blocks, expected no cluster", n)
	}
	if partials.at.k == nil || flags.at.k == nil {
		k.fault(&ruleValue, "arrays of StreamK are a zero value, not created by a builder call")
		return nil
	}
	s.barrier = k.barrierRow(s.groups, 128)
	return s
}

// sharedTiles returns the number of tiles whose steps are divided among blocks, and a function
// that returns a block's first step among the steps of these tiles.
func (s *StreamSchedule) sharedTiles() (tiles Reg[U32], begins func(block Reg[U32]) Reg[U32]) {
	k := s.k
	blocks, all := k.NCTAID().X, s.rows.Mul(s.cols)
	whole := all.Div(blocks).MaxI(1).SubI(1).Mul(blocks)
	tiles = all.Sub(whole)
	steps := tiles.Mul(s.steps)
	each, more := steps.Div(blocks), steps.Rem(blocks)
	return tiles, func(block Reg[U32]) Reg[U32] { return block.Mad(each, block.Min(more)) }
}

// Each returns a loop over the tiles of which the block computes steps. Tiles that are shared
// with other blocks come first. Among them, the tile whose last steps belong to another block is
// first, because that block waits for it.
func (s *StreamSchedule) Each() iter.Seq[StreamTile] {
	return func(yield func(StreamTile) bool) {
		if s == nil || s.k == nil {
			return
		}
		k := s.k
		all := s.rows.Mul(s.cols)
		tiles, begins := s.sharedTiles()
		block := k.CTAID().X
		first := begins(block)
		at, id := begins(block.AddI(1)).Var(), tiles.Add(block).Var()
		top, l := k.newBlock("tiles"), k.newLoop()
		k.place(top)
		k.inside("a loop over tiles", func() {
			sharing := at.GT(first)
			k.branchIf(sharing.Or(id.LT(all)).Not(), false, l.end)
			tile := Select(sharing, at.SubI(1).Div(s.steps), id)
			begin := tile.Mul(s.steps)
			from, to := Select(sharing, first.Max(begin).Sub(begin), k.U32(0)),
				Select(sharing, at.Sub(begin), s.steps)
			t := StreamTile{TileCoord: groupedTile(tile, s.rows, s.cols, s.groupRows), First: from,
				Steps: to.Sub(from), s: s, begin: begin}
			at.Set(Select(sharing, begin.Add(from), at))
			id.Set(Select(sharing, id, id.Add(k.NCTAID().X)))
			if !yield(t) {
				k.fault(&ruleLoop,
					"Go break or return leaves the body of Each, which is built only once")
			}
		})
		k.closeLoop(l, func() { k.branch(top) })
	}
}

// Fixup completes a tile. If the block has the tile's last step, it adds the partial accumulators
// of other blocks to the warpgroup's accumulator and runs store. Otherwise it writes the
// accumulator to memory for that block. All threads of the warpgroup must call it. group is the
// warpgroup's index in the schedule.
func (t StreamTile) Fixup(acc *Accumulator, group Reg[U32], store func()) {
	s := t.s
	if s == nil || s.k == nil {
		checkCreated(nil, "tile in Fixup", acc.kernel(), group.k)
		return
	}
	k := s.k
	switch {
	case acc.kernel() == nil:
		k.fault(&ruleValue, "accumulator in Fixup is a zero value, not created by a builder call")
		return
	case !k.checkFunctions("Fixup", store != nil):
		return
	}
	size, first := int64(acc.rows*acc.cols), k.Thread().AndI(127).EQI(0)
	sync := func() { k.syncGroup(s.barrier, group) }
	of := func(block Reg[U32]) (Array[F32], Semaphore) {
		slot := block.MadI(int64(s.groups), group)
		return s.partials.At(slot.MulI(size)), k.Semaphore(s.flags, slot)
	}
	k.If(t.First.Add(t.Steps).EQ(s.steps), func() {
		_, begins := s.sharedTiles()
		block, left := k.CTAID().X.Var(), t.First.Var()
		k.While(func() Reg[Pred] { return left.NEI(0) }, func() {
			k.Comment("the preceding blocks compute the remaining steps")
			block.Set(block.SubI(1))
			part, done := of(block)
			k.If(first, func() {
				done.Wait(k.U32(1))
				done.Reset()
			})
			sync()
			acc.AddPartial(part)
			left.Set(begins(block).Max(t.begin).Sub(t.begin))
		})
		store()
	}, func() {
		k.Comment("another block computes the last step and adds the partial sums")
		part, done := of(k.CTAID().X)
		acc.SavePartial(part)
		sync()
		k.If(first, done.Arrive)
	})
}

// SavePartial writes the accumulator of a warpgroup to memory, rows*cols elements aligned to 16
// bytes, in the order in which AddPartial reads them. It requires an F32 accumulator.
func (a *Accumulator) SavePartial(to Array[F32]) {
	a.visitPartial("SavePartial", to, func(to Array[F32], sums []Reg[F32]) {
		to.StoreFirstVec(sums)
	})
}

// AddPartial adds elements that SavePartial wrote from an accumulator of the same shape.
func (a *Accumulator) AddPartial(from Array[F32]) {
	a.visitPartial("AddPartial", from, func(from Array[F32], sums []Reg[F32]) {
		for i, x := range from.LoadFirstVec(len(sums)) {
			assign(sums[i], sums[i].Add(x))
		}
	})
}

// ReducePartial adds the accumulator of a warpgroup to rows*cols elements in global memory, aligned
// to 16 bytes, in the order of SavePartial. Each element is added atomically.
func (a *Accumulator) ReducePartial(to Array[F32]) {
	a.visitPartial("ReducePartial", to, func(to Array[F32], sums []Reg[F32]) {
		to.ReduceVec("add", a.k.U32(0), sums)
	})
}

// visitPartial calls do for the accumulator elements of the thread, four at a time, with their
// position in memory. The elements of different threads are interleaved.
func (a *Accumulator) visitPartial(what string, at Array[F32],
	do func(at Array[F32], sums []Reg[F32])) {
	if !checkCreated(a.kernel(), what+" of sums", at.at.k) {
		return
	}
	k := a.k
	switch {
	case at.at.k == nil:
		k.fault(&ruleValue, "address in %s is a zero value, not created by a builder call", what)
		return
	case a.typ != isa.F32:
		k.fault(&ruleShape, "%s is called on an accumulator of %s, expected .f32", what, a.typ)
		return
	}
	a.checkRead()
	at = at.At(k.Thread().AndI(127).ShlI(2))
	n := int64(0)
	for _, regs := range a.regs {
		for i := 0; i < len(regs); i += 4 {
			do(at.AtI(n*512),
				[]Reg[F32]{a.sum(regs[i]), a.sum(regs[i+1]), a.sum(regs[i+2]), a.sum(regs[i+3])})
			n++
		}
	}
}
