// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package attention

import (
	"iter"
	"slices"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

// hopper returns the blocks of BuildHopperBatch. The keys of a tile are on one page. Without pages,
// sequences that are multiples of the tile are faster.
func (b Batch) hopper() Hopper {
	h := HopperFor(b.Shape)
	if b.PageTokens%128 != 0 || b.Width == 256 && (b.PageTokens > 0 || !b.Causal) {
		h.Keys = 64
	}
	return h
}

// Hopper reports whether BuildHopperBatch supports the heads.
func (b Batch) Hopper() bool { return b.Width == 64 || b.Width == 128 || b.Width == 256 }

// A batchTask is a task of BuildHopperBatch. Its first query is the index of a row of Q.
type batchTask struct {
	task
	rows  u32 // index of the row of Q after the last query of the sequence
	start u32 // first row of K and V of the sequence, or its first index in the table of pages
}

// taskWords is the number of words of a batchTask in device memory: those of task, rows and start.
const taskWords = 8

// A batchBlock holds the operands of a block of BuildHopperBatch.
type batchBlock struct {
	*hopperBlock
	Batch         Batch
	pages         dsl.Array[dsl.U32]
	starts, tasks dsl.Array[dsl.U32]
	all           dsl.NamedBarrier // threads that multiply
	to            *dsl.Tensor      // o, or nil for heads of 256 elements
	results       dsl.SharedTile   // one for each warpgroup
}

// BuildHopperBatch is BuildBatch for sm_90a, for heads of 64, 128 or 256 elements, with the blocks
// of BuildHopper. The parameters q, k, v and o are tensor maps with a row for each token and head,
// and out is a pointer to o. With heads of 256 elements there is no map o, because shared memory
// has no room for results. Instead of the starts of the sequences, the kernel reads the list of
// tasks that [Batch.HopperTasks] returns for the number of blocks in the grid.
func BuildHopperBatch(m *dsl.Module, b Batch) {
	h := b.hopper()
	k := b.kernel(m, "hopper_"+b.Name(), []int{64, 128, 256}, dsl.Warpgroups(h.Groups+1))
	if !b.known(k) {
		return
	}
	tile := []int{h.Keys, 1, b.Width}
	x := &batchBlock{Batch: b, all: k.NamedBarrier(128 * h.Groups), hopperBlock: &hopperBlock{
		Shape: b.Shape, Hopper: h, k: k,
		q:  k.Tensor("q", b.Type, []int{h.Queries(), 1, b.Width}, dsl.Swizzle128),
		ks: k.Tensor("k", b.Type, tile, dsl.Swizzle128),
		vs: k.Tensor("v", b.Type, tile, dsl.Swizzle128),
	}}
	if b.Width <= 128 {
		x.to = k.Tensor("o", b.Type, []int{warpRows, 1, b.Width}, dsl.Swizzle128)
		x.results = k.SharedTiles("results", dsl.Tile{Type: b.Type, Rows: 64, Cols: b.Width,
			Swizzle: dsl.Swizzle128}, h.Groups)
	}
	x.o = k.Matrix("out", b.Type)
	x.starts, x.tasks = dsl.Global[dsl.U32](k, "starts"), dsl.Global[dsl.U32](k, "tasks")
	if b.PageTokens > 0 {
		x.pages = dsl.Global[dsl.U32](k, "pages")
	}
	x.run(x.load, x.multiply)
}

// each returns a loop over the tasks of the block.
func (b *batchBlock) each() iter.Seq[batchTask] {
	return func(yield func(batchTask) bool) {
		k := b.k
		block := k.CTAID().X
		for i := range k.Range(b.starts.Load(block), b.starts.Load(block.AddI(1))) {
			w := b.tasks.LoadVec(i.MulI(taskWords), 4)
			w = append(w, b.tasks.LoadVec(i.MulI(taskWords).AddI(4), 4)...)
			if !yield(batchTask{task{w[0], w[1], w[2], w[3], w[4], w[5]}, w[6], w[7]}) {
				return // the loop reports it
			}
		}
	}
}

// load loads the queries of each task, and then its keys and values. Instead of values before the
// first tile and of keys after the last one, it loads a box outside of the tensor: zeros.
func (b *batchBlock) load() {
	k, zero := b.k, b.k.U32(0)
	outside := zero.SubI(int64(b.Keys))
	for t := range b.each() {
		for at := range b.own.Produce(k.U32(1)) {
			b.q.LoadStage(at, t.first, t.head, zero)
		}
		head := t.head.DivI(int64(b.Batch.Heads / b.Batch.KV))
		row, before := b.place(t, zero).Var(), outside.Var()
		for at := range b.kv.Produce(t.steps.AddI(1)) {
			i := at.Iteration()
			b.ks.LoadStage(at, dsl.Select(i.LT(t.steps), row, outside), head, zero)
			b.vs.LoadStage(at, before, head, zero)
			before.Set(row)
			row.Set(b.place(t, i.AddI(1).Min(t.steps.SubI(1))))
		}
	}
}

// place returns the first row of K and V of a tile of keys.
func (b *batchBlock) place(t batchTask, tile u32) u32 {
	from := tile.MulI(int64(b.Keys))
	if b.Batch.PageTokens == 0 {
		return t.start.Add(from)
	}
	page := b.pages.Load(t.start.Add(from.DivI(int64(b.Batch.PageTokens))))
	return page.MadI(int64(b.Batch.PageTokens), from.RemI(int64(b.Batch.PageTokens)))
}

// multiply computes the tasks of the block.
func (b *batchBlock) multiply(half u32) {
	k, row := b.k, half.MulI(64)
	thread := k.TID().X.SubI(128)
	for t := range b.each() {
		w := &queryRows{hopperBlock: b.hopperBlock, task: t.task, half: half, row: row,
			out: k.Accumulator(64, b.Width, isa.F32)}
		w.rows = k.OnlineSoftmax(w.out.LocalRows(), k.F32(b.scale()))
		w.rows.AllowEmpty()
		b.own.ConsumeOne(w.overlap)
		b.kv.ConsumeOne(func(at *dsl.Stage) {
			last := t.steps.SubI(1).MulI(int64(b.Keys))
			b.clear(b.vs.InStage(at), t.end.Sub(t.from).Sub(last), thread)
			w.addLast(at)
		})
		w.rows.Divide(w.out)
		b.store(w, t.rows)
	}
	if b.to != nil {
		k.When(k.Leader(), func() { k.WaitStores(0) })
	}
}

// warpRows is the number of rows of the results of a warp.
const warpRows = 16

// store stores the results of a warpgroup. end is the row of O after the last one of the sequence.
// The TMA stores the results of a warp, unless the sequence ends among them.
func (b *batchBlock) store(w *queryRows, end u32) {
	k := b.k
	direct := func() {
		w.out.Store(b.o.Sized(end, k.U32(b.Batch.Heads*b.Width)), w.first.Add(w.row),
			w.head.MulI(int64(b.Width)))
	}
	if b.to == nil {
		direct()
		return
	}
	warp := k.WarpIndex().AndI(3)
	row := w.first.Add(w.row).Add(warp.MulI(warpRows))
	k.If(row.AddI(warpRows).LE(end), func() {
		k.When(k.Leader(), func() { k.WaitStoresRead(0) })
		k.SyncWarp()
		tile := b.results.At(w.half)
		w.out.ToFragments(b.Type).StoreShared(tile)
		k.FenceAsync()
		k.SyncWarp()
		k.When(k.Leader(), func() {
			b.to.Store(tile.Part(warp, 4), row, w.head, k.U32(0))
			k.CommitStores()
		})
	}, direct)
}

// clear sets the values of keys from a row on to zero: those of the next sequence, or those of a
// page that is not full. Their weights are zero, but they may be infinite or NaN.
func (b *batchBlock) clear(values dsl.SharedTile, row, thread u32) {
	k, chunks := b.k, int64(b.Width/8)
	zero := dsl.Const[dsl.B16](k, 0)
	k.If(row.LTI(int64(b.Keys)), func() {
		for i := range k.RangeStep(row.MulI(chunks).Add(thread), k.U32(b.Keys*b.Width/8),
			k.U32(128*b.Groups)) {
			at := dsl.Element[dsl.B16](values, i.DivI(chunks), i.RemI(chunks).MulI(8))
			at.StoreFirstVec(slices.Repeat([]dsl.Reg[dsl.B16]{zero}, 8))
		}
		k.FenceAsync()
		b.all.Sync()
	})
}

// HopperTasks returns the arrays starts and tasks of BuildHopperBatch for sequences with the given
// numbers of queries and keys, and a grid of a number of blocks. most is the number of columns of
// the table of pages, or 0. Tasks that share keys run at the same time, and all blocks get a
// similar amount of work.
func (b Batch) HopperTasks(queries, keys []int, most, blocks int) (starts, tasks []uint32) {
	const together = 8 // heads whose tasks run at the same time
	var some [][taskWords]int
	heads, rows := 0, b.hopper().Queries()
	lists, loads := make([][]uint32, blocks), make([]int, blocks)
	assign := func() {
		slices.SortStableFunc(some, func(x, y [taskWords]int) int { return y[3] - x[3] })
		for _, t := range some {
			block := slices.Index(loads, slices.Min(loads))
			loads[block] += t[3] + 1
			for _, x := range t {
				lists[block] = append(lists[block], uint32(x))
			}
		}
		some, heads = nil, 0
	}
	firstQ, firstK := 0, 0
	for s, n := range queries {
		start := firstK
		if b.PageTokens > 0 {
			start = s * most
		}
		for head := range b.Heads {
			for tile := range (n + rows - 1) / rows {
				t := b.hopperTask(n, keys[s], tile)
				t[0], t[1], t[6], t[7] = head, t[1]+firstQ, firstQ+n, start
				some = append(some, t)
			}
			if heads++; heads == together {
				assign()
			}
		}
		firstQ, firstK = firstQ+n, firstK+keys[s]
	}
	assign()
	starts = []uint32{0}
	for _, list := range lists {
		tasks = append(tasks, list...)
		starts = append(starts, uint32(len(tasks)/taskWords))
	}
	return starts, tasks
}

// hopperTask returns the words of a task for a tile of queries of the first sequence and head. All
// positions are larger by a number such that none is negative if there are fewer keys than queries.
func (b Batch) hopperTask(queries, keys, tile int) (t [taskWords]int) {
	h := b.hopper()
	first, from := tile*h.Queries(), max(0, queries-keys)
	visible := keys
	if b.Causal {
		visible = min(keys, max(0, first+h.Queries()+keys-queries))
	}
	steps := max(1, (visible+h.Keys-1)/h.Keys)
	return [taskWords]int{0, first, first + keys - queries + from, steps, from, from + keys}
}
