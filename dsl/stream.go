// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"iter"

	"github.com/ptxdsl/ptxdsl/isa"
)

// A StreamSchedule deals the steps of all sums of a product out to the blocks of a grid, the same number to each, so that no multiprocessor is
// without work in the last round (stream-K). A sum that two or more blocks have parts of is joined by the one that has its end; the others
// leave their parts in memory.
type StreamSchedule struct {
	k                 *Kernel
	rows, cols, steps Reg[U32]
	together          int
	parts             Array[F32]
	told              Array[U32]
	groups            int
	barrier           NamedBarrier // the first of one for each warpgroup
}

// A StreamTile is steps of the sums of a tile: from First on, Steps in all.
type StreamTile struct {
	TileAt
	First, Steps Reg[U32]
	s            *StreamSchedule
	begin        Reg[U32] // of the tile, counted in steps of all tiles that are shared
}

// StreamK is a schedule over so many rows and columns of tiles, with so many steps each, for so many warpgroups that have a part of every tile.
// What does not fill whole rounds of the grid is shared, with the round before it; the tiles of other rounds are dealt as Persistent deals
// them. Each block has room in parts for the accumulators of its warpgroups (Accumulator.Save), and a number for each warpgroup in told, which
// are zero when the launch begins and when it ends.
//
//	work := k.StreamK(rows, cols, steps, 8, 2, parts, told)
//	for at := range work.Each() {
//		acc := k.Accumulator(64, 256, isa.F32)
//		for s := range ab.Consume(at.Steps) {
//			acc.MMA(s.Tile(a).Part(half, 2), s.Tile(b))
//		}
//		at.Join(acc, half, func() { out.Store(acc, 0, half, row, col) })
//	}
func (k *Kernel) StreamK(rows, cols, steps Reg[U32], together, groups int, parts Array[F32], told Array[U32]) *StreamSchedule {
	k = k.sound()
	s := &StreamSchedule{k: k, rows: rows, cols: cols, steps: steps, together: together, parts: parts, told: told, groups: groups}
	if together < 1 || groups < 1 || groups > 4 {
		k.fault(&ruleProtocol, "tiles in groups of %d rows for %d warpgroups; a positive number and 1 to 4 are expected", together, groups)
		s.together, s.groups = 1, 1
	}
	if n := k.clusterSize(); n > 1 {
		k.fault(&ruleProtocol, "steps are dealt to blocks, one by one, and not to clusters of %d", n)
	}
	if parts.at.k == nil || told.at.k == nil {
		k.fault(&ruleValue, "the parts of shared sums are left in arrays that no builder call made")
		return nil
	}
	s.barrier = k.barrierRow(s.groups, 128)[0]
	return s
}

// shared is how many tiles blocks share, and where the steps of a block begin among those of all of them.
func (s *StreamSchedule) shared() (tiles Reg[U32], begins func(block Reg[U32]) Reg[U32]) {
	k := s.k
	blocks, all := k.NCTAID().X, s.rows.Mul(s.cols)
	whole := all.Div(blocks).MaxI(1).SubI(1).Mul(blocks)
	tiles = all.Sub(whole)
	steps := tiles.Mul(s.steps)
	each, more := steps.Div(blocks), steps.Rem(blocks)
	return tiles, func(block Reg[U32]) Reg[U32] { return block.Mad(each, block.Min(more)) }
}

// Each is the tiles that the block has steps of. It begins with the shared ones, the last of them first: that is the one whose end another
// block has, which waits for it, and which has a lower block to wait for in turn when it is done with its own last one.
func (s *StreamSchedule) Each() iter.Seq[StreamTile] {
	return func(yield func(StreamTile) bool) {
		if s == nil || s.k == nil {
			return
		}
		k := s.k
		all := s.rows.Mul(s.cols)
		tiles, begins := s.shared()
		block := k.CTAID().X
		first := begins(block)
		at, id := begins(block.AddI(1)).Var(), tiles.Add(block).Var()
		top, l := k.newBlock("tiles"), k.newLoop()
		k.place(top)
		k.inside("a loop over tiles", func() {
			sharing := at.Gt(first)
			k.branchIf(sharing.Or(id.Lt(all)).Not(), false, l.end)
			tile := Select(sharing, at.SubI(1).Div(s.steps), id)
			begin := tile.Mul(s.steps)
			from, to := Select(sharing, first.Max(begin).Sub(begin), k.U32(0)), Select(sharing, at.Sub(begin), s.steps)
			t := StreamTile{TileAt: grouped(tile, s.rows, s.cols, s.together), First: from, Steps: to.Sub(from), s: s, begin: begin}
			at.Set(Select(sharing, begin.Add(from), at))
			id.Set(Select(sharing, id, id.Add(k.NCTAID().X)))
			if !yield(t) {
				k.fault(&ruleLoop, "a Go break or return left the body of Each, which is built once")
			}
		})
		k.closeLoop(l, func() { k.branch(top) })
	}
}

// Join makes the sums of a warpgroup those of the whole tile, and runs store, if its steps are the last of the tile; otherwise it leaves them to
// the block that has these. The threads of a warpgroup do this, and group is its number among those of the schedule.
func (t StreamTile) Join(acc *Accumulator, group Reg[U32], store func()) {
	s := t.s
	if s == nil || s.k == nil {
		made(nil, "Join of a tile", acc.kernel(), group.k)
		return
	}
	k := s.k
	switch {
	case acc.kernel() == nil:
		k.fault(&ruleValue, "Join of sums that no builder call made")
		return
	case !k.runs("Join", store != nil):
		return
	}
	size, first := int64(acc.rows*acc.cols), k.Thread().AndI(127).EqI(0)
	sync := func() {
		if s.groups == 1 {
			s.barrier.Sync()
			return
		}
		k.ins("bar.sync", group.AddI(int64(s.barrier.id)).register().in(k), number(128))
	}
	of := func(block Reg[U32]) (Array[F32], Semaphore) {
		slot := block.MadI(int64(s.groups), group)
		return s.parts.At(slot.MulI(size)), k.Semaphore(s.told, slot)
	}
	k.If(t.First.Add(t.Steps).Eq(s.steps), func() {
		_, begins := s.shared()
		block, left := k.CTAID().X.Var(), t.First.Var()
		k.While(func() Reg[Pred] { return left.NeI(0) }, func() {
			k.Comment("the blocks before this one have the steps that are left")
			block.Set(block.SubI(1))
			part, done := of(block)
			k.If(first, func() {
				done.Wait(k.U32(1))
				done.Reset()
			})
			sync()
			acc.AddSaved(part)
			left.Set(begins(block).Max(t.begin).Sub(t.begin))
		})
		store()
	}, func() {
		k.Comment("another block has the last step, and joins the sums")
		part, done := of(k.CTAID().X)
		acc.Save(part)
		sync()
		k.If(first, done.Arrive)
	})
}

// Save writes the sums of a warpgroup to memory in an order of its own, in which AddSaved reads them: rows times columns numbers, from a
// multiple of 16 bytes on. The sums are of F32.
func (a *Accumulator) Save(to Array[F32]) {
	a.saved("Save", to, func(to Array[F32], sums []Reg[F32]) { to.PutVec(sums) })
}

// AddSaved adds sums that Save wrote, of an accumulator with as many rows and columns.
func (a *Accumulator) AddSaved(from Array[F32]) {
	a.saved("AddSaved", from, func(from Array[F32], sums []Reg[F32]) {
		for i, x := range from.GetVec(len(sums)) {
			assign(sums[i], sums[i].Add(x))
		}
	})
}

// saved goes over the sums of the thread, four at a time, and their places in memory: those of the warpgroup's threads lie side by side.
func (a *Accumulator) saved(what string, at Array[F32], do func(at Array[F32], sums []Reg[F32])) {
	if !made(a.kernel(), what+" of sums", at.at.k) {
		return
	}
	k := a.k
	switch {
	case at.at.k == nil:
		k.fault(&ruleValue, "%s of sums at an address that no builder call made", what)
		return
	case a.typ != isa.F32:
		k.fault(&ruleShape, "%s of an accumulator of %s; sums of .f32 are expected", what, a.typ)
		return
	}
	a.holds()
	at = at.At(k.Thread().AndI(127).ShlI(2))
	n := int64(0)
	for _, regs := range a.regs {
		for i := 0; i < len(regs); i += 4 {
			do(at.AtI(n*512), []Reg[F32]{a.sum(regs[i]), a.sum(regs[i+1]), a.sum(regs[i+2]), a.sum(regs[i+3])})
			n++
		}
	}
}
