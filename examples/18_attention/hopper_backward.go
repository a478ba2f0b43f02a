// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package attention

import (
	"math"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

// The backward pass with wgmma has three kernels, and takes the logarithms that BuildHopperWith
// stores: BuildHopperDeltas computes the deltas and clears the sums, BuildHopperBackward computes
// the gradients of keys and values and adds up those of the queries in F32, and BuildHopperQueries
// converts these sums. Logarithms, deltas and sums have PaddedQueries rows for each head.

// BackwardKeys is the number of keys of a block, half of them for each warpgroup.
const BackwardKeys = 128

// A HopperBackward is a shape of the blocks of BuildHopperBackward.
type HopperBackward struct {
	Queries int // rows of a tile of queries: 64, or 128 for heads of 64 elements
	Stages  int // tiles of queries, and of their gradients, in shared memory
	// the gradients of the queries are added in the order of the keys, so that their bits do not
	// depend on the order in which blocks run
	Ordered bool
}

// HopperBackwardFor returns the shape for a head.
func HopperBackwardFor(s Shape) HopperBackward {
	if s.Width == 64 {
		return HopperBackward{Queries: 128, Stages: 2}
	}
	return HopperBackward{Queries: 64, Stages: 2}
}

// PaddedQueries returns the number of rows of logarithms, deltas and sums for each head.
func PaddedQueries(queries int) int { return (queries + 127) / 128 * 128 }

// padded is PaddedQueries in a kernel.
func padded(queries u32) u32 { return queries.CeilDiv(128).MulI(128) }

// Names of the kernels.
func (s Shape) hopperDeltas() string   { return "hopper_" + s.Name() + "_deltas" }
func (s Shape) hopperBackward() string { return "hopper_" + s.Name() + "_backward" }
func (s Shape) hopperQueries() string  { return "hopper_" + s.Name() + "_queries" }

// BuildHopperDeltas adds a kernel that computes the product of each result and its gradient, and
// clears the sums for the gradients of the queries. The logarithms of rows behind the last query
// become infinite, which gives these rows the weight zero. The grid has one block per 128 queries
// along x, and one per head along y.
func BuildHopperDeltas(m *dsl.Module, s Shape) {
	k := s.kernel(m, s.hopperDeltas(), usual, dsl.Threads(128))
	o, grad := k.Matrix("o", s.Type), k.Matrix("do", s.Type)
	logs, deltas := dsl.Global[dsl.F32](k, "logs"), dsl.Global[dsl.F32](k, "deltas")
	sums := dsl.Global[dsl.F32](k, "sums")
	queries, zero := dsl.Param[dsl.U32](k, "n"), k.U32(0)
	head, first, width := k.CTAID().Y, k.CTAID().X.MulI(128), k.U32(s.Width)
	tile := dsl.Tile{Type: s.Type, Rows: 128, Cols: s.Width, Swizzle: dsl.Swizzle128}
	results, gradients := k.SharedTile("results", tile), k.SharedTile("gradients", tile)
	o.Sized(queries, width).At(head).RowsFrom(first).CopyAsync(results, zero)
	grad.Sized(queries, width).At(head).RowsFrom(first).CopyAsync(gradients, zero)
	k.CommitCopies()
	start := dsl.MulWide[dsl.U64](head, padded(queries)).Add(dsl.To[dsl.U64](first))
	none := []f32{k.F32(0), k.F32(0), k.F32(0), k.F32(0)}
	own := sums.At64(start.MulI(int64(s.Width))).At(k.Thread().MulI(4))
	for i := range s.Width / 4 {
		own.AtI(int64(512 * i)).StoreFirstVec(none)
	}
	k.WaitCopies(0)
	k.Sync()
	delta, row := k.F32(0), k.Thread()
	for col := 0; col < s.Width; col += 8 {
		x, y := results.LoadRow(row, col, 8), gradients.LoadRow(row, col, 8)
		for i := range x {
			delta = x[i].FMA(y[i], delta)
		}
	}
	deltas.At64(start).Store(row, delta)
	k.If(first.Add(row).GE(queries),
		func() { logs.At64(start).Store(row, k.F32(math.Inf(1))) })
}

// BuildHopperQueries adds a kernel that converts the sums of BuildHopperBackward to the gradients
// of the queries. Each block converts the sums of 64x64 elements, which are in the order of the
// accumulator. The grid has one block for each of them along x, and one per head along y.
func BuildHopperQueries(m *dsl.Module, s Shape) {
	k := s.kernel(m, s.hopperQueries(), usual, dsl.Threads(128))
	sums, dq := dsl.Global[dsl.F32](k, "sums"), k.Matrix("dq", s.Type)
	queries := dsl.Param[dsl.U32](k, "n")
	head, part := k.CTAID().Y, k.CTAID().X
	start := dsl.MulWide[dsl.U64](head, padded(queries)).MulI(int64(s.Width)).Add(
		dsl.MulWide[dsl.U64](part, k.U32(64*64)))
	own := sums.At64(start).At(k.Thread().MulI(4))
	var fours [][]f32
	for i := range 8 {
		fours = append(fours, own.AtI(int64(512*i)).LoadFirstVec(4))
	}
	out := dsl.NewWarpTile[dsl.F32](k, dsl.MMAFor(s.Type, isa.F32), 16, 64)
	out.Clear()
	next, scale := [2]int{}, 1/math.Sqrt(float64(s.Width))
	out.MapPairs(func(c dsl.Cell, _, _ f32) (f32, f32) {
		four := fours[next[c.LocalRow]]
		next[c.LocalRow]++
		return four[2*c.LocalRow].MulF(scale), four[2*c.LocalRow+1].MulF(scale)
	})
	parts := int64(s.Width / 64)
	row := part.DivI(parts).MulI(64).Add(k.WarpIndex().MulI(16))
	out.Store(dq.Sized(queries, k.U32(s.Width)).At(head), row, part.RemI(parts).MulI(64))
}

// BuildHopperBackward adds the kernel for the gradients. One warpgroup loads tiles of queries and
// of the gradients of their results with the TMA. Each of two others has half of the keys of the
// block, and computes the transposed scores. So the weights and their changes are operands in
// registers for the gradients of values and keys, which stay in registers. The changes are also
// written to shared memory, and both warpgroups compute a half of their product with the keys,
// which they add to the sums in global memory. The grid is persistent, as for BuildHopper.
func BuildHopperBackward(m *dsl.Module, s Shape) {
	BuildHopperBackwardWith(m, s, HopperBackwardFor(s))
}

// BuildHopperBackwardWith is BuildHopperBackward with blocks of a shape. If it is Ordered, the last
// parameter has two counters for each tile of the padded queries, which are zero, and the grid has
// one block for each tile of keys of each head.
func BuildHopperBackwardWith(m *dsl.Module, s Shape, h HopperBackward) {
	k := s.kernel(m, s.hopperBackward(), usual, dsl.Warpgroups(3))
	box, keyBox, out := []int{1, h.Queries, s.Width}, []int{1, BackwardKeys, s.Width},
		[]int{1, 64, s.Width}
	b := &backward{
		Shape: s, HopperBackward: h, k: k,
		q:      k.Tensor("q", s.Type, box, dsl.Swizzle128),
		grad:   k.Tensor("do", s.Type, box, dsl.Swizzle128),
		ks:     k.Tensor("k", s.Type, keyBox, dsl.Swizzle128),
		vs:     k.Tensor("v", s.Type, keyBox, dsl.Swizzle128),
		logs:   dsl.ChunkOf(dsl.Global[dsl.F32](k, "logs"), h.Queries),
		deltas: dsl.ChunkOf(dsl.Global[dsl.F32](k, "deltas"), h.Queries),
		dk:     k.Tensor("dk", s.Type, out, dsl.Swizzle128),
		dv:     k.Tensor("dv", s.Type, out, dsl.Swizzle128),
		sums:   k.Reduction(dsl.Global[dsl.F32](k, "sums"), 64, 2),

		queries: dsl.Param[dsl.U32](k, "n"), keys: dsl.Param[dsl.U32](k, "m"),
		heads: dsl.Param[dsl.U32](k, "heads"),
	}
	b.tiles = b.queries.CeilDiv(int64(h.Queries))
	b.chunks = padded(b.queries).DivI(int64(h.Queries))
	b.own = k.Pipeline("own", 1, b.ks.Feed(), b.vs.Feed())
	b.qs = k.Pipeline("qs", h.Stages, b.q.Feed(), b.grad.Feed(), b.logs.Feed(), b.deltas.Feed())
	b.changed = k.SharedTiles("changes", dsl.Tile{Type: s.Type, Rows: BackwardKeys,
		Cols: h.Queries, Swizzle: dsl.Swizzle128}, 2)
	b.results, b.both = k.TensorOutput("results", b.dk, 2), k.NamedBarrier(256)
	if h.Ordered {
		b.sums.InOrder("staged", dsl.Global[dsl.U32](k, "turns"))
	}
	// A block waits for those with earlier tiles if the sums are Ordered, so none may come first.
	b.schedule = tilesOfHeads(k, b.heads, b.keys.CeilDiv(BackwardKeys), b.Causal && !b.Ordered,
		false)
	k.Roles(
		dsl.OnWarpgroup(0, "load", b.load).Regs(24),
		dsl.OnWarpgroups(1, 2, "multiply", b.multiply).Regs(240),
	)
}

// A backward is the state of BuildHopperBackwardWith.
type backward struct {
	Shape
	HopperBackward
	k                       *dsl.Kernel
	q, grad, ks, vs, dk, dv *dsl.Tensor
	logs, deltas            *dsl.Chunk[dsl.F32]
	sums                    *dsl.Reduction // gradients of the queries, in parts of 64x64
	queries, keys, heads    u32
	tiles                   u32            // of queries
	chunks                  u32            // tiles of the padded queries of each head
	schedule                dsl.Tiles      // of the tiles of keys
	own                     *dsl.Pipeline  // keys and values
	qs                      *dsl.Pipeline  // queries and the gradients of their results
	changed                 dsl.SharedTile // two tiles of transposed changes
	results                 *dsl.Output
	both                    dsl.NamedBarrier
}

// load loads the tiles.
func (b *backward) load() {
	zero := b.k.U32(0)
	for tile := range b.schedule.Each() {
		t := b.keyTile(tile)
		for at := range b.own.Produce(b.k.U32(1)) {
			b.ks.LoadStage(at, t.head, t.first, zero)
			b.vs.LoadStage(at, t.head, t.first, zero)
		}
		for at := range b.qs.Produce(b.tiles.Sub(t.skip)) {
			tile := at.Iteration().Add(t.skip)
			from, chunk := tile.MulI(int64(b.Queries)), t.head.Mad(b.chunks, tile)
			b.q.LoadStage(at, t.head, from, zero)
			b.grad.LoadStage(at, t.head, from, zero)
			b.logs.Load(at, chunk)
			b.deltas.Load(at, chunk)
		}
	}
}

// A warpgroup is the state of one of the two warpgroups that multiply, for a tile of keys.
type warpgroup struct {
	*backward
	keyTile
	half       u32
	row        u32 // first key of the warpgroup
	sumK, sumV *dsl.Accumulator
}

// multiply computes the gradients of tiles of keys and values, half of them in each warpgroup.
func (b *backward) multiply(half u32) {
	for tile := range b.schedule.Each() {
		w := &warpgroup{backward: b, keyTile: b.keyTile(tile), half: half,
			sumK: b.k.Accumulator(64, b.Width, isa.F32),
			sumV: b.k.Accumulator(64, b.Width, isa.F32)}
		w.row = w.first.Add(half.MulI(64))
		b.own.ConsumeOne(func(mine *dsl.Stage) {
			for at := range b.qs.ConsumeLate(b.tiles.Sub(w.skip)) {
				w.step(mine, at)
			}
		})
		b.sums.Wait()
		w.sumK.Map(
			func(_ dsl.Cell, x f32) f32 { return x.MulF(1 / math.Sqrt(float64(b.Width))) })
		b.results.StoreBox(b.dv, w.sumV, 0, half, w.head, w.row, b.k.U32(0))
		b.results.StoreBox(b.dk, w.sumK, 0, half, w.head, w.row, b.k.U32(0))
	}
	b.results.Wait()
}

// step processes a tile of queries. The products of one step overlap with the arithmetic of another
// one: those for the changes with the weights, those for the values with the changes, and those for
// the keys with the sums and with the next scores.
func (w *warpgroup) step(mine, at *dsl.Stage) {
	k, tile := w.k, at.Iteration().Add(w.skip)
	scores := k.Accumulator(64, w.Queries, isa.F32)
	scores.MMA(w.ks.InStage(mine).Part(w.half, 2), w.q.InStage(at))
	k.CommitMMA()
	k.WaitMMA(1)
	at.ReleasePrevious()
	changes := k.Accumulator(64, w.Queries, isa.F32)
	changes.MMA(w.vs.InStage(mine).Part(w.half, 2), w.grad.InStage(at))
	k.CommitMMA()
	k.WaitMMA(1)
	w.weigh(scores, w.logs.InStage(at))
	w.hide(scores, tile.MulI(int64(w.Queries)))
	weights := scores.ToFragments(w.Type)
	w.sumV.MMAFragments(weights, w.grad.InStage(at).Transposed())
	k.CommitMMA()
	k.WaitMMA(1)
	change(k, changes, weights, w.deltas.InStage(at))
	fragments := changes.ToFragments(w.Type)
	all := w.changed.At(at.Iteration().AndI(1))
	fragments.StoreShared(all.Part(w.half, 2))
	k.FenceAsync()
	w.both.Sync()
	product := k.Accumulator(64, 64, isa.F32)
	rows, cols := w.Queries/64, w.Width/64 // parts of the product, one for each warpgroup
	product.MMA(all.Transposed().Part(w.half.RemI(int64(rows)), rows),
		w.ks.InStage(mine).Transposed().Part(w.half.RemI(int64(cols)), cols))
	k.CommitMMA()
	w.sumK.MMAFragments(fragments, w.q.InStage(at).Transposed())
	k.CommitMMA()
	k.WaitMMA(1)
	next := w.first.AddI(BackwardKeys)
	w.sums.Add(product, w.half, w.head.Mad(w.chunks, tile).MadI(2, w.half),
		w.first.DivI(BackwardKeys), next.GE(w.keys).Or(w.skipped(next).GT(tile)))
}

// weigh replaces transposed scores, with a column for each query, by the weights.
func (w *warpgroup) weigh(scores *dsl.Accumulator, logs dsl.Array[dsl.F32]) {
	scale := w.k.F32(w.scale())
	weight := func(x, log f32) f32 { return x.FMA(scale, log.Neg()).Exp2(dsl.Approx, dsl.FTZ) }
	scores.MapColumns(logs, w.k.U32(0), func(_ dsl.Cell, x, y f32, log []f32) (f32, f32) {
		return weight(x, log[0]), weight(y, log[1])
	})
}

// hide clears the weights of keys and queries past the last one, whose scores may be NaN, and of
// keys that a query does not see. The columns of the tile start at a query. Positions are larger by
// the number of queries, so that none is negative if there are fewer keys.
func (w *warpgroup) hide(weights *dsl.Accumulator, query u32) {
	key, end := w.row.Add(w.queries), w.keys.Add(w.queries)
	some := key.AddI(64).GT(end).Or(query.AddI(int64(w.Queries)).GT(w.queries))
	if w.Causal {
		some = some.Or(key.AddI(63).GT(query.Add(w.keys)))
	}
	w.k.If(some, func() {
		weights.Mask(func(c dsl.Cell) dsl.Reg[dsl.Pred] {
			at, last := query.Add(c.Col()), end.SubI(1)
			if w.Causal {
				last = last.Min(at.Add(w.keys))
			}
			last = dsl.Select(at.LT(w.queries), last, w.k.U32(0))
			return key.Add(c.Row()).LE(last)
		}, w.k.F32(0))
	})
}

// change replaces the gradients of transposed weights by those of the scores, but for their scale.
func change(k *dsl.Kernel, gradients *dsl.Accumulator, weights *dsl.Fragments,
	deltas dsl.Array[dsl.F32]) {
	gradients.MapColumns(deltas, k.U32(0), func(c dsl.Cell, x, y f32, delta []f32) (f32, f32) {
		weightX, weightY := weights.Pair(c)
		return x.Sub(delta[0]).Mul(weightX), y.Sub(delta[1]).Mul(weightY)
	})
}

// A keyTile is a tile of keys of one head.
type keyTile struct {
	head  u32
	first u32 // first key
	skip  u32 // number of tiles of queries that see none of the keys
}

// skipped returns the number of tiles of queries that do not see a key. If there are fewer keys
// than queries, it returns zero.
func (b *backward) skipped(key u32) u32 {
	if !b.Causal {
		return b.k.U32(0)
	}
	return key.Sub(b.keys.Sub(b.queries).Min(key)).DivI(int64(b.Queries))
}

// keyTile returns the tile of keys at a position of the schedule.
func (b *backward) keyTile(at dsl.TileCoord) keyTile {
	first := at.Col.MulI(BackwardKeys)
	return keyTile{head: at.Row, first: first, skip: b.skipped(first)}
}
