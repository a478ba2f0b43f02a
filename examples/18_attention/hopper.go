// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package attention

import (
	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

// HopperQueries and HopperKeys are the rows of the tiles of BuildHopper. Each of two warpgroups has
// 64 queries.
const (
	HopperQueries = 128
	HopperKeys    = 128
)

// A task is a tile of queries of one head.
type task struct {
	head  u32
	first u32 // first query
	after u32 // index of the first query among the keys
	steps u32 // number of key tiles that the queries see, at least one
}

// BuildHopper is Build for sm_90a: one warpgroup loads with the TMA, and two issue wgmma. A stage
// holds a tile of keys and the values of the previous tile, so that the scores of one tile and the
// weighted values of the previous tile are in flight together, and the softmax of one overlaps with
// the other. The grid is persistent: each block processes several tiles of queries, and the last
// parameter is the number of heads.
func BuildHopper(m *dsl.Module, s Shape) {
	k := s.kernel(m, "hopper_"+s.Name(), dsl.Warpgroups(3))
	tile := []int{1, HopperKeys, s.Width}
	q := k.Tensor("q", s.Type, []int{1, HopperQueries, s.Width}, dsl.Swizzle128)
	ks, vs := k.Tensor("k", s.Type, tile, dsl.Swizzle128),
		k.Tensor("v", s.Type, tile, dsl.Swizzle128)
	o := k.Matrix("o", s.Type)
	queries, keys, heads := dsl.Param[dsl.U32](k, "n"), dsl.Param[dsl.U32](k, "m"),
		dsl.Param[dsl.U32](k, "heads")
	blocks, zero, together := queries.CeilDiv(HopperQueries), k.U32(0), 8
	if s.Causal {
		together = 1 // so that each block gets tasks of all lengths
	}
	// Tiles of eight heads are assigned together; they share keys and values in the L2 cache.
	tasks := k.Persistent(heads, blocks, together)

	own := k.Pipeline("own", 2, q.Feed())
	kv := k.Pipeline("kv", 2, ks.Feed(), vs.Feed())
	k.Roles(
		dsl.OnWarpgroup(0, "load", func() {
			for coord := range tasks.Each() {
				t := s.task(coord, blocks, queries, keys)
				for at := range own.Produce(k.U32(1)) {
					q.LoadStage(at, t.head, t.first, zero)
				}
				k.Comment("before the first keys and behind the last values lies nothing, which arrives as zeros")
				for at := range kv.Produce(t.steps.AddI(1)) {
					from := at.Iteration().MulI(HopperKeys)
					ks.LoadStage(at, t.head, from, zero)
					vs.LoadStage(at, t.head, from.SubI(HopperKeys), zero)
				}
			}
		}).Regs(24),
		dsl.OnWarpgroups(1, 2, "multiply", func(half u32) {
			row := half.MulI(HopperQueries / 2)
			for coord := range tasks.Each() {
				t := s.task(coord, blocks, queries, keys)
				out := k.Accumulator(HopperQueries/2, s.Width, isa.F32)
				rows := newSoftmax(k, out.LocalRows(), s.Width)
				own.ConsumeOne(func(mine *dsl.Stage) {
					score := func(at *dsl.Stage) *dsl.Accumulator {
						scores := k.Accumulator(HopperQueries/2, HopperKeys, isa.F32)
						scores.MMA(q.InStage(mine).Part(half, 2), ks.InStage(at))
						k.CommitMMA()
						return scores
					}
					var weights *dsl.Fragments
					kv.ConsumeOne(func(at *dsl.Stage) {
						scores := score(at)
						k.WaitMMA(0)
						s.mask(k, scores, HopperKeys, zero, keys, t.after, row)
						rows.Weigh(scores)
						weights = scores.ToFragments(s.Type)
					})
					for at := range kv.Consume(t.steps.SubI(1)) {
						scores := score(at)
						out.MMAFragments(weights, vs.InStage(at).Transposed())
						k.CommitMMA()
						k.WaitMMA(1)
						s.mask(k, scores, HopperKeys, at.Iteration().AddI(1).MulI(HopperKeys), keys,
							t.after, row)
						shrink := rows.Weigh(scores)
						next := scores.ToFragments(s.Type)
						k.Comment("the branch holds the wait behind the softmax: in one block, the assembler would wait first")
						// A factor below one means that the maximum of one of the two rows has
						// grown.
						k.If(k.AnyLane(shrink[0].Min(shrink[1]).LTF(1)), func() {
							k.WaitMMA(0)
							rows.Shrink(out, shrink)
						})
						k.WaitMMA(0)
						weights.Set(next)
					}
					kv.ConsumeOne(func(at *dsl.Stage) {
						out.MMAFragments(weights, vs.InStage(at).Transposed())
					})
				})
				rows.Divide(out)
				out.Store(o.Sized(queries, k.U32(s.Width)).At(t.head), t.first.Add(row), zero)
			}
		}).Regs(240),
	)
}

// task returns the task of a tile. Causal tasks are longer for later queries: the last tiles of a
// head come first.
func (s Shape) task(at dsl.TileCoord, blocks, queries, keys u32) task {
	block := at.Col
	if s.Causal {
		block = blocks.SubI(1).Sub(block)
	}
	t := task{head: at.Row, first: block.MulI(HopperQueries)}
	t.after = s.number(t.first, queries, keys)
	t.steps = s.steps(keys, t.after, HopperQueries, HopperKeys).MaxI(1)
	return t
}
