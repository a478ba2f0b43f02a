// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package attention

import (
	"iter"

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
	case s.Causal:
		return Hopper{Groups: 2, Keys: 128, Ahead: 2, Stages: 2}
	}
	return Hopper{Groups: 2, Keys: 144, Ahead: 2, Stages: 2}
}

// Queries returns the number of queries per block.
func (h Hopper) Queries() int { return 64 * h.Groups }

// A task is one tile of queries of one head.
type task struct {
	head  u32
	first u32 // index of the first query
	after u32 // position of the first query, counted in keys
	steps u32 // number of key tiles that the queries see, at least one
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
	q, ks, vs := k.Tensor("q", s.Type, []int{1, h.Queries(), s.Width}, dsl.Swizzle128),
		k.Tensor("k", s.Type, tile, dsl.Swizzle128), k.Tensor("v", s.Type, tile, dsl.Swizzle128)
	o, queries, keys, heads := k.Matrix("o", s.Type), dsl.Param[dsl.U32](k, "n"),
		dsl.Param[dsl.U32](k, "m"), dsl.Param[dsl.U32](k, "heads")
	var logs dsl.Array[dsl.F32]
	if h.Logs {
		logs = dsl.Global[dsl.F32](k, "logs")
	}
	tasks, zero := s.tasks(k, h, heads, queries, keys), k.U32(0)

	load, multiply := 24, 240 // registers per thread
	if h.Groups == 3 {
		load, multiply = 32, 160
	}
	own, kv := k.Pipeline("own", h.Ahead, q.Feed()),
		k.Pipeline("kv", h.Stages, ks.Feed(), vs.Feed())
	k.Roles(
		dsl.OnWarpgroup(0, "load", func() {
			for t := range tasks {
				for at := range own.Produce(k.U32(1)) {
					q.LoadStage(at, t.head, t.first, zero)
				}
				k.Comment("before the first keys and behind the last values lies nothing, which arrives as zeros")
				for at := range kv.Produce(t.steps.AddI(1)) {
					from := at.Iteration().MulI(int64(h.Keys))
					ks.LoadStage(at, t.head, from, zero)
					vs.LoadStage(at, t.head, from.SubI(int64(h.Keys)), zero)
				}
			}
		}).Regs(load),
		dsl.OnWarpgroups(1, h.Groups, "multiply", func(half u32) {
			row := half.MulI(64)
			for t := range tasks {
				out := k.Accumulator(64, s.Width, isa.F32)
				rows := newSoftmax(k, out.LocalRows(), s.Width)
				var weights *dsl.Fragments
				own.ConsumeOne(func(mine *dsl.Stage) {
					score := func(at *dsl.Stage) *dsl.Accumulator {
						scores := k.Accumulator(64, h.Keys, isa.F32)
						scores.MMA(q.InStage(mine).Part(half, h.Groups), ks.InStage(at))
						k.CommitMMA()
						return scores
					}
					kv.ConsumeOne(func(at *dsl.Stage) {
						scores := score(at)
						k.WaitMMA(0)
						s.mask(k, scores, h.Keys, zero, keys, t.after, row)
						rows.Weigh(scores)
						weights = scores.ToFragments(s.Type)
					})
					for at := range kv.Consume(t.steps.SubI(1)) {
						scores := score(at)
						out.MMAFragments(weights, vs.InStage(at).Transposed())
						k.CommitMMA()
						k.WaitMMA(1)
						s.mask(k, scores, h.Keys, at.Iteration().AddI(1).MulI(int64(h.Keys)), keys,
							t.after, row)
						shrink := rows.Weigh(scores)
						next := scores.ToFragments(s.Type)
						k.Comment("the branch holds the wait behind the softmax: in one block, the assembler would wait first")
						// A factor below one means that the maximum of at least one of the two
						// rows has increased.
						k.If(k.AnyLane(shrink[0].Min(shrink[1]).LTF(1)), func() {
							k.WaitMMA(0)
							rows.Shrink(out, shrink)
						})
						k.WaitMMA(0)
						weights.Set(next)
					}
				})
				kv.ConsumeOne(func(at *dsl.Stage) {
					out.MMAFragments(weights, vs.InStage(at).Transposed())
				})
				if h.Logs {
					rows.Logs(k, out, logs.At64(dsl.MulWide[dsl.U64](t.head, padded(queries))),
						t.first.Add(row), queries)
				}
				rows.Divide(out)
				out.Store(o.Sized(queries, k.U32(s.Width)).At(t.head), t.first.Add(row), zero)
			}
		}).Regs(multiply),
	)
}

// tasks returns a loop over the tasks of a block. Eight heads are assigned together, because they
// then share keys and values in the L2 cache. With causal attention, later queries see more keys;
// the first tile of a head is therefore followed by the last one, the second by the last but one,
// and so on.
func (s Shape) tasks(k *dsl.Kernel, h Hopper, heads, queries, keys u32) iter.Seq[task] {
	blocks := queries.CeilDiv(int64(h.Queries()))
	taskOf := func(head, block u32) task {
		t := task{head: head, first: block.MulI(int64(h.Queries()))}
		t.after = s.number(t.first, queries, keys)
		t.steps = s.steps(keys, t.after, h.Queries(), h.Keys).Max(k.U32(1))
		return t
	}
	const together = 8
	if !s.Causal {
		tiles := k.Persistent(heads, blocks, together)
		return func(yield func(task) bool) {
			for at := range tiles.Each() {
				if !yield(taskOf(at.Row, at.Col)) {
					return
				}
			}
		}
	}
	pairs := k.Persistent(heads, blocks.CeilDiv(2), together)
	return func(yield func(task) bool) {
		for at := range pairs.Each() {
			last := blocks.SubI(1).Sub(at.Col)
			for second := range k.Range(k.U32(0), dsl.Select(last.EQ(at.Col), k.U32(1), k.U32(2))) {
				if !yield(taskOf(at.Row, dsl.Select(second.EQI(0), last, at.Col))) {
					return
				}
			}
		}
	}
}
