// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package attention

import (
	"math"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

// The backward pass has three kernels: BuildRows computes two numbers for each query,
// BuildBackwardKV computes the gradients of keys and values, and BuildBackwardQ computes the
// gradient of the queries. Each element of a gradient is computed by one warp, so the results do
// not depend on an order of atomic operations.

// The names of the kernels of the backward pass.
func (s Shape) rowsName() string { return s.Name() + "_rows" }
func (s Shape) kvName() string   { return s.Name() + "_backward_kv" }
func (s Shape) qName() string    { return s.Name() + "_backward_q" }

// A head holds the matrices of one head. A row has s.Width elements.
type head struct {
	q, k, v, grad *dsl.Matrix
	logs, deltas  dsl.Array[dsl.F32] // numbers of each query, which BuildRows computes
	queries, keys u32
	index         u32
}

// declareHead declares the parameters that the kernels share. logs[i] is the logarithm to base 2
// of the sum of the exponentials of the scores of query i, or infinite if the query sees no key.
// deltas[i] is the dot product of the result of query i and the gradient of that result.
func (s Shape) declareHead(k *dsl.Kernel) head {
	h := head{q: k.Matrix("q", s.Type), k: k.Matrix("k", s.Type), v: k.Matrix("v", s.Type),
		grad: k.Matrix("do", s.Type)}
	h.logs, h.deltas = dsl.Global[dsl.F32](k, "logs"), dsl.Global[dsl.F32](k, "deltas")
	h.queries, h.keys = dsl.Param[dsl.U32](k, "n"), dsl.Param[dsl.U32](k, "m")
	h.index = k.CTAID().Y
	width := k.U32(s.Width)
	h.q, h.grad = h.q.Sized(h.queries, width).At(h.index),
		h.grad.Sized(h.queries, width).At(h.index)
	h.k, h.v = h.k.Sized(h.keys, width).At(h.index), h.v.Sized(h.keys, width).At(h.index)
	start := dsl.MulWide[dsl.U64](h.index, h.queries)
	h.logs, h.deltas = h.logs.At64(start), h.deltas.At64(start)
	return h
}

// mask sets the scores of a tile of keys that a query does not see to -inf. Positions are larger by
// the number of queries, so that none is negative if there are fewer keys. first is the block's
// first query, and row is the number of queries before the warp's.
func (h head) mask(k *dsl.Kernel, s Shape, x scores, step, first, row u32) {
	s.mask(k, x, Keys, step.MulI(Keys).Add(h.queries), h.keys.Add(h.queries), first.Add(h.keys),
		row)
}

// BuildRows adds to m a kernel that computes logs and deltas. The grid has one block per tile of
// queries along x, and one per head along y. o is the result of the forward pass, and do is the
// gradient of that result.
func BuildRows(m *dsl.Module, s Shape) {
	k := s.kernel(m, s.rowsName(), usual, dsl.Threads(128))
	o := k.Matrix("o", s.Type)
	h := s.declareHead(k)
	o = o.Sized(h.queries, k.U32(s.Width)).At(h.index)
	first, row, zero := k.CTAID().X.MulI(Queries), k.WarpIndex().MulI(Queries/4), k.U32(0)
	tile := dsl.Tile{Type: s.Type, Rows: Queries, Cols: s.Width, Swizzle: dsl.Swizzle128}
	own, results, gradients := k.SharedTile("queries", tile), k.SharedTile("results", tile),
		k.SharedTile("gradients", tile)
	h.q.RowsFrom(first).CopyAsync(own, zero)
	o.RowsFrom(first).CopyAsync(results, zero)
	h.grad.RowsFrom(first).CopyAsync(gradients, zero)
	k.CommitCopies()
	k.WaitCopies(0)
	k.Sync()
	mma := dsl.MMAFor(s.Type, isa.F32)
	deltas := k.F32(0)
	at := k.Thread().RemI(Queries)
	for col := 0; col < s.Width; col += 8 {
		x, y := results.LoadRow(at, col, 8), gradients.LoadRow(at, col, 8)
		for i := range x {
			deltas = x[i].FMA(y[i], deltas)
		}
	}
	k.If(k.Thread().LTI(Queries), func() {
		k.If(first.Add(at).LT(h.queries), func() { h.deltas.Store(first.Add(at), deltas) })
	})

	number := s.number(first, h.queries, h.keys)
	scores := dsl.NewWarpTile[dsl.F32](k, mma, Queries/4, Keys)
	rows := k.OnlineSoftmax(scores.LocalRows(), k.F32(s.scale()))
	rows.AllowEmpty()
	kv := k.AsyncPipeline("k", 2, tile)
	kv.Run(s.steps(h.keys, number, Queries, Keys),
		func(step u32, to dsl.AsyncStage) {
			h.k.RowsFrom(step.MulI(Keys)).CopyAsync(to.Tile(0), zero)
		},
		func(step u32, at dsl.AsyncStage) {
			scores.Clear()
			scores.MMA(own, row, at.Tile(0), zero)
			h.mask(k, s, scores, step, first, row)
			rows.Weigh(scores)
		})
	for i := range scores.LocalRows() {
		log := rows.Log(scores, i)
		at := first.Add(row).Add(scores.Row(i))
		k.If(k.Lane().AndI(3).EQI(0),
			func() { k.If(at.LT(h.queries), func() { h.logs.Store(at, log) }) })
	}
}

// BuildBackwardKV adds to m a kernel that computes dk and dv. A block computes the gradients of
// Keys keys, a quarter in each warp, from the transposed scores: rows are keys, and columns are
// queries. The grid has one block per tile of keys along x, and one per head along y.
func BuildBackwardKV(m *dsl.Module, s Shape) {
	k := s.kernel(m, s.kvName(), usual, dsl.Threads(128))
	h := s.declareHead(k)
	dk, dv := k.Matrix("dk", s.Type), k.Matrix("dv", s.Type)
	first, row, zero, width := k.CTAID().X.MulI(Keys), k.WarpIndex().MulI(Keys/4), k.U32(0),
		k.U32(s.Width)
	tile := dsl.Tile{Type: s.Type, Rows: Keys, Cols: s.Width, Swizzle: dsl.Swizzle128}
	keys, values := k.SharedTile("keys", tile), k.SharedTile("values", tile)
	h.k.RowsFrom(first).CopyAsync(keys, zero)
	h.v.RowsFrom(first).CopyAsync(values, zero)
	k.CommitCopies()
	mma := dsl.MMAFor(s.Type, isa.F32)
	sumK, sumV := dsl.NewWarpTile[dsl.F32](k, mma, Keys/4, s.Width),
		dsl.NewWarpTile[dsl.F32](k, mma, Keys/4, s.Width)
	sumK.Clear()
	sumV.Clear()

	// Skip tiles of queries that do not see the first key of the block, but none if there are fewer
	// keys than queries.
	skip := zero
	if s.Causal {
		skip = first.Sub(h.keys.Sub(h.queries).Min(first)).DivI(Queries)
	}
	steps := h.queries.CeilDiv(Queries)
	qs := k.AsyncPipeline("q", 2, tile, tile)
	qs.Run(steps.Sub(skip.Min(steps)),
		func(step u32, to dsl.AsyncStage) {
			from := step.Add(skip).MulI(Queries)
			h.q.RowsFrom(from).CopyAsync(to.Tile(0), zero)
			h.grad.RowsFrom(from).CopyAsync(to.Tile(1), zero)
		},
		func(step u32, at dsl.AsyncStage) {
			from := step.Add(skip).MulI(Queries)
			// inside returns a query that is not past the last one, and whether it sees a key.
			inside := func(c dsl.Cell) (u32, dsl.Reg[dsl.Pred]) {
				query := from.Add(c.Col())
				seen := query.LT(h.queries)
				if s.Causal {
					key := first.Add(row).Add(c.Row())
					seen = seen.And(key.Add(h.queries).LE(query.Add(h.keys)))
				}
				return query.Min(h.queries.SubI(1)), seen
			}
			weights := dsl.NewWarpTile[dsl.F32](k, mma, Keys/4, Queries)
			weights.MMA(keys, row, at.Tile(0), zero)
			weights.Map(func(c dsl.Cell, x f32) f32 {
				query, seen := inside(c)
				weight := x.MulF(s.scale()).Sub(h.logs.Load(query)).Exp2(dsl.Approx, dsl.FTZ)
				return dsl.Select(seen, weight, k.F32(0))
			})
			sumV.MMAFragments(weights.ToFragments(s.Type), at.Tile(1).Transposed(), zero)
			changes := dsl.NewWarpTile[dsl.F32](k, mma, Keys/4, Queries)
			changes.MMA(values, row, at.Tile(1), zero)
			changes.Map(func(c dsl.Cell, x f32) f32 {
				query, seen := inside(c)
				return dsl.Select(seen, x.Sub(h.deltas.Load(query)), k.F32(0))
			})
			dsl.Promote(changes, weights, func(_ dsl.Cell, change, weight f32) f32 {
				return change.Mul(weight)
			})
			sumK.MMAFragments(changes.ToFragments(s.Type), at.Tile(0).Transposed(), zero)
		})
	sumK.Map(func(_ dsl.Cell, x f32) f32 { return x.MulF(1 / math.Sqrt(float64(s.Width))) })
	sumK.Store(dk.Sized(h.keys, width).At(h.index), first.Add(row), zero)
	sumV.Store(dv.Sized(h.keys, width).At(h.index), first.Add(row), zero)
}

// BuildBackwardQ adds to m a kernel that computes dq. The grid has one block per tile of queries
// along x, and one per head along y.
func BuildBackwardQ(m *dsl.Module, s Shape) {
	k := s.kernel(m, s.qName(), usual, dsl.Threads(128))
	h := s.declareHead(k)
	dq := k.Matrix("dq", s.Type)
	first, row, zero := k.CTAID().X.MulI(Queries), k.WarpIndex().MulI(Queries/4), k.U32(0)
	tile := dsl.Tile{Type: s.Type, Rows: Queries, Cols: s.Width, Swizzle: dsl.Swizzle128}
	own, gradients := k.SharedTile("queries", tile), k.SharedTile("gradients", tile)
	h.q.RowsFrom(first).CopyAsync(own, zero)
	h.grad.RowsFrom(first).CopyAsync(gradients, zero)
	k.CommitCopies()
	mma := dsl.MMAFor(s.Type, isa.F32)
	sum := dsl.NewWarpTile[dsl.F32](k, mma, Queries/4, s.Width)
	sum.Clear()
	var logs, deltas []f32
	for i := range sum.LocalRows() {
		query := first.Add(row).Add(sum.Row(i)).Min(h.queries.SubI(1))
		logs, deltas = append(logs, h.logs.Load(query)), append(deltas, h.deltas.Load(query))
	}
	number := s.number(first, h.queries, h.keys)
	kv := k.AsyncPipeline("kv", 2, tile, tile)
	kv.Run(s.steps(h.keys, number, Queries, Keys),
		func(step u32, to dsl.AsyncStage) {
			h.k.RowsFrom(step.MulI(Keys)).CopyAsync(to.Tile(0), zero)
			h.v.RowsFrom(step.MulI(Keys)).CopyAsync(to.Tile(1), zero)
		},
		func(step u32, at dsl.AsyncStage) {
			weights := dsl.NewWarpTile[dsl.F32](k, mma, Queries/4, Keys)
			weights.MMA(own, row, at.Tile(0), zero)
			h.mask(k, s, weights, step, first, row)
			weights.Map(func(c dsl.Cell, x f32) f32 {
				return x.MulF(s.scale()).Sub(logs[c.LocalRow]).Exp2(dsl.Approx, dsl.FTZ)
			})
			changes := dsl.NewWarpTile[dsl.F32](k, mma, Queries/4, Keys)
			changes.MMA(gradients, row, at.Tile(1), zero)
			dsl.Promote(changes, weights, func(c dsl.Cell, change, weight f32) f32 {
				return change.Sub(deltas[c.LocalRow]).Mul(weight)
			})
			sum.MMAFragments(changes.ToFragments(s.Type), at.Tile(0).Transposed(), zero)
		})
	sum.Map(func(_ dsl.Cell, x f32) f32 { return x.MulF(1 / math.Sqrt(float64(s.Width))) })
	sum.Store(dq.Sized(h.queries, k.U32(s.Width)).At(h.index), first.Add(row), zero)
}
