// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package attention

import (
	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

// A Hopper describes the blocks of BuildHopper.
type Hopper struct {
	Groups int // number of warpgroups that compute, 2 or 3, each with 64 queries
	Keys   int // number of keys per tile
	Ahead  int // number of tiles of queries in shared memory
	Stages int // number of tiles of keys, and of values, in shared memory
	// Logs adds a parameter: the array that receives the logarithms for the backward pass.
	Logs bool
}

// HopperFor returns the fastest blocks for a shape.
func HopperFor(s Shape) Hopper {
	switch {
	case s.Width == 64:
		return Hopper{Groups: 3, Keys: 128, Ahead: 2, Stages: 4}
	case s.Width == 256:
		return Hopper{Groups: 2, Keys: 80, Ahead: 1, Stages: 2}
	}
	return Hopper{Groups: 2, Keys: 128, Ahead: 2, Stages: 2}
}

// Queries returns the number of queries per block.
func (h Hopper) Queries() int { return 64 * h.Groups }

// A task is one tile of queries of one head.
type task struct {
	head  u32
	first u32 // index of the first query
	after u32 // position of the first query, counted in keys
	steps u32 // number of key tiles that the queries see, at least one
	from  u32 // position of the first key
	end   u32 // position after the last key
}

// BuildHopper is Build for sm_90a, which also supports heads of 256 elements. One warpgroup loads
// with the TMA, and two or three warpgroups issue wgmma. A stage holds a tile of keys and the
// values of the previous tile: while one wgmma computes the scores of a tile, another multiplies
// the values of the previous tile, and the softmax overlaps with both. The grid is persistent:
// each block computes several tiles of queries. The last parameter is the number of heads.
func BuildHopper(m *dsl.Module, s Shape) { BuildHopperWith(m, s, HopperFor(s)) }

// BuildHopperWith is BuildHopper with the given blocks.
func BuildHopperWith(m *dsl.Module, s Shape, h Hopper) {
	k := s.kernel(m, "hopper_"+s.Name(), []int{64, 128, 256}, dsl.Warpgroups(h.Groups+1))
	tile := []int{1, h.Keys, s.Width}
	b := &hopperBlock{
		Shape: s, Hopper: h, k: k,
		q:  k.Tensor("q", s.Type, []int{1, h.Queries(), s.Width}, dsl.Swizzle128),
		ks: k.Tensor("k", s.Type, tile, dsl.Swizzle128),
		vs: k.Tensor("v", s.Type, tile, dsl.Swizzle128), o: k.Matrix("o", s.Type),
		queries: dsl.Param[dsl.U32](k, "n"), keys: dsl.Param[dsl.U32](k, "m"),
		heads: dsl.Param[dsl.U32](k, "heads"),
	}
	var logs dsl.Array[dsl.F32]
	if h.Logs {
		logs = dsl.Global[dsl.F32](k, "logs")
	}
	b.roles(func(w *queryRows) {
		w.rows = k.OnlineSoftmax(w.out.LocalRows(), k.F32(s.scale()))
		if h.Logs && s.Causal {
			w.rows.AllowEmpty()
		}
		b.own.ConsumeOne(w.overlap)
		b.kv.ConsumeOne(w.addLast)
		if h.Logs {
			w.storeLogs(logs.At64(dsl.MulWide[dsl.U64](w.head, padded(b.queries))))
		}
		w.rows.Divide(w.out)
	})
}

// A hopperBlock holds the operands of a block, for BuildHopperWith and BuildFP8With.
type hopperBlock struct {
	Shape
	Hopper
	k                    *dsl.Kernel
	q, ks, vs            *dsl.Tensor
	o                    *dsl.Matrix
	queries, keys, heads u32
	own, kv              *dsl.Pipeline // queries; keys and values
	tiles                dsl.Tiles     // of queries
}

// queryRows are the queries of a task that one warpgroup computes.
type queryRows struct {
	*hopperBlock
	task
	half u32 // index of the warpgroup
	row  u32 // index of its first query in the tile
	out  *dsl.Accumulator
	rows *dsl.OnlineSoftmax
	// weights of the latest tile of keys, whose values are not yet in out
	weights *dsl.Fragments
}

// roles builds the roles of a block. attend computes the weighted values of a task in out.
func (b *hopperBlock) roles(attend func(w *queryRows)) {
	b.tiles = tilesOfHeads(b.k, b.heads, b.queries.CeilDiv(int64(b.Queries())), b.Causal, true)
	b.run(b.load, func(half u32) {
		row := half.MulI(64)
		for at := range b.tiles.Each() {
			w := &queryRows{hopperBlock: b, task: b.task(at), half: half, row: row,
				out: b.k.Accumulator(64, b.Width, isa.F32)}
			attend(w)
			w.out.Store(b.o.Sized(b.queries, b.k.U32(b.Width)).At(w.head), w.first.Add(row),
				b.k.U32(0))
		}
	})
}

// run declares the pipelines, and the roles of the warpgroup that loads and of those that multiply.
func (b *hopperBlock) run(load func(), multiply func(half u32)) {
	registers := map[int][2]int{2: {24, 240}, 3: {32, 160}}[b.Groups] // per thread
	b.own, b.kv = b.k.Pipeline("own", b.Ahead, b.q.Feed()),
		b.k.Pipeline("kv", b.Stages, b.ks.Feed(), b.vs.Feed())
	b.k.Roles(dsl.OnWarpgroup(0, "load", load).Regs(registers[0]),
		dsl.OnWarpgroups(1, b.Groups, "multiply", multiply).Regs(registers[1]))
}

// load loads the queries of each task, and then its keys and values. Values of 8 bits are
// transposed.
func (b *hopperBlock) load() {
	zero := b.k.U32(0)
	for tile := range b.tiles.Each() {
		t := b.task(tile)
		for at := range b.own.Produce(b.k.U32(1)) {
			b.q.LoadStage(at, t.head, t.first, zero)
		}
		b.k.Comment(
			"before the first keys and behind the last values lies nothing, which arrives as zeros")
		for at := range b.kv.Produce(t.steps.AddI(1)) {
			from := at.Iteration().MulI(int64(b.Keys))
			b.ks.LoadStage(at, t.head, from, zero)
			row, col := from.SubI(int64(b.Keys)), zero
			if b.Type.Bits() == 8 {
				row, col = col, row
			}
			b.vs.LoadStage(at, t.head, row, col)
		}
	}
}

// score starts the scores of a tile of keys. mine is the stage with the queries.
func (w *queryRows) score(mine, at *dsl.Stage) *dsl.Accumulator {
	scores := w.k.Accumulator(64, w.Keys, isa.F32)
	scores.MMA(w.q.InStage(mine).Part(w.half, w.Groups), w.ks.InStage(at))
	w.k.CommitMMA()
	return scores
}

// weigh returns the weights of a tile of keys as an operand, and the factors for the values that
// have been added with earlier weights.
func (w *queryRows) weigh(scores *dsl.Accumulator, tile u32) (next *dsl.Fragments, shrink []f32) {
	w.mask(w.k, scores, w.Keys, tile.MulI(int64(w.Keys)).Add(w.from), w.end, w.after, w.row)
	shrink = w.rows.Weigh(scores)
	return scores.ToFragments(w.Type), shrink
}

// addValues starts to add the weighted values of a stage.
func (w *queryRows) addValues(to *dsl.Accumulator, at *dsl.Stage) {
	to.MMAFragments(w.weights, w.vs.InStage(at).TransposedIf(w.Type.Bits() == 16))
	w.k.CommitMMA()
}

// overlap adds the weighted values of all tiles but the last in out. The scores and the softmax of
// a tile overlap with the weighted values of the previous one.
func (w *queryRows) overlap(mine *dsl.Stage) {
	k := w.k
	w.kv.ConsumeOne(func(at *dsl.Stage) {
		scores := w.score(mine, at)
		k.WaitMMA(0)
		w.weights, _ = w.weigh(scores, k.U32(0))
	})
	for at := range w.kv.Consume(w.steps.SubI(1)) {
		scores := w.score(mine, at)
		w.addValues(w.out, at)
		k.WaitMMA(1)
		next, shrink := w.weigh(scores, at.Iteration().AddI(1))
		// The branch holds the wait behind the softmax: in one block, ptxas would wait first.
		w.rows.IfGrown(shrink, func() {
			k.WaitMMA(0)
			w.out.ScaleRows(shrink)
		})
		k.WaitMMA(0)
		w.weights.Set(next)
	}
}

// addLast adds the weighted values of the last tile.
func (w *queryRows) addLast(at *dsl.Stage) { w.addValues(w.out, at) }

// storeLogs stores the logarithm to base 2 of the sum of the exponentials of each row's scores. It
// is infinite for a query that sees no key.
func (w *queryRows) storeLogs(logs dsl.Array[dsl.F32]) {
	first := w.first.Add(w.row)
	for i := range w.out.LocalRows() {
		log := w.rows.Log(w.out, i)
		at := first.Add(w.out.Row(i))
		w.k.If(w.k.Lane().AndI(3).EQI(0).And(at.LT(w.queries)), func() { logs.Store(at, log) })
	}
}

// task returns the task of a tile.
func (b *hopperBlock) task(at dsl.TileCoord) task {
	t := task{head: at.Row, first: at.Col.MulI(int64(b.Queries())), from: b.k.U32(0), end: b.keys}
	t.after = b.number(t.first, b.queries, b.keys)
	t.steps = b.steps(b.keys, t.after, b.Queries(), b.Hopper.Keys).Max(b.k.U32(1))
	if b.Logs && b.Causal { // positions are larger: none is negative if there are fewer keys
		t.from, t.end, t.after = b.queries, b.keys.Add(b.queries), t.first.Add(b.keys)
	}
	return t
}

// tilesOfHeads returns a schedule for tiles of queries or of keys, with a row for each head. Eight
// heads are assigned together, because they then share operands in the L2 cache. With causal
// attention, the work of tiles grows along the head for queries, and shrinks for keys; balanced
// assigns tiles with much and little work together.
func tilesOfHeads(k *dsl.Kernel, heads, blocks u32, balanced, growing bool) dsl.Tiles {
	const together = 8
	if balanced {
		return k.PersistentBalanced(heads, blocks, together, growing)
	}
	return k.Persistent(heads, blocks, together)
}
