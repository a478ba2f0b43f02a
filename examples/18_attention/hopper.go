// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package attention

import (
	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

// HopperQueries and HopperKeys are the rows of the tiles of BuildHopper: two warpgroups have 64 queries each.
const (
	HopperQueries = 128
	HopperKeys    = 128
)

// BuildHopper makes the kernel of Build for sm_90a: one warpgroup loads with the TMA, and two multiply with wgmma. A stage holds a tile of keys and the
// values of the tile before, so that the scores of one tile and the weighted values of the last are under way together, and the softmax of the
// first runs beside the second.
func BuildHopper(m *dsl.Module, s Shape) {
	k := m.Kernel("hopper_"+s.Name(), dsl.Warpgroups(3))
	if !s.known(k) {
		return
	}
	tile := []int{1, HopperKeys, s.Width}
	q := k.Tensor("q", s.Type, []int{1, HopperQueries, s.Width}, dsl.Swizzle128)
	ks, vs := k.Tensor("k", s.Type, tile, dsl.Swizzle128), k.Tensor("v", s.Type, tile, dsl.Swizzle128)
	o := k.Matrix("o", s.Type)
	queries, keys := dsl.Param[dsl.U32](k, "n"), dsl.Param[dsl.U32](k, "m")
	head, block, zero := k.CTAID().Y, k.CTAID().X, k.U32(0)
	if s.Causal { // what takes longest comes first
		block = k.NCTAID().X.SubI(1).Sub(block)
	}
	first := block.MulI(HopperQueries)
	o = o.Sized(queries, k.U32(s.Width)).Nth(head)
	number := s.number(first, queries, keys)
	steps := s.steps(keys, number, HopperQueries, HopperKeys).Max(k.U32(1)) // one at least is taken

	own := k.Pipeline("own", 1, q.Feed())
	kv := k.Pipeline("kv", 2, ks.Feed(), vs.Feed())
	k.Roles(
		dsl.OnWarpgroup(0, "load", func() {
			for at := range own.Produce(k.U32(1)) {
				q.Fill(at, head, first, zero)
			}
			k.Comment("before the first keys and behind the last values lies nothing, which arrives as zeros")
			for at := range kv.Produce(steps.AddI(1)) {
				from := at.Index().MulI(HopperKeys)
				ks.Fill(at, head, from, zero)
				vs.Fill(at, head, from.SubI(HopperKeys), zero)
			}
		}).Regs(24),
		dsl.OnWarpgroups(1, 2, "multiply", func(half u32) {
			row := half.MulI(HopperQueries / 2)
			out := k.Accumulator(HopperQueries/2, s.Width, isa.F32)
			rows := newSoftmax(k, out.Lines(), s.Width)
			own.ConsumeOne(func(mine *dsl.Stage) {
				score := func(at *dsl.Stage) *dsl.Accumulator {
					scores := k.Accumulator(HopperQueries/2, HopperKeys, isa.F32)
					scores.MMA(q.In(mine).Part(half, 2), ks.In(at))
					k.CommitProducts()
					return scores
				}
				var weights *dsl.Fragments
				kv.ConsumeOne(func(at *dsl.Stage) {
					scores := score(at)
					k.WaitProducts(0)
					s.mask(k, scores, HopperKeys, zero, keys, number, row)
					rows.Weigh(scores)
					weights = scores.As(s.Type)
				})
				for at := range kv.Consume(steps.SubI(1)) {
					scores := score(at)
					out.MMALeft(weights, vs.In(at).Transposed())
					k.CommitProducts()
					k.WaitProducts(1)
					s.mask(k, scores, HopperKeys, at.Index().AddI(1).MulI(HopperKeys), keys, number, row)
					shrink := rows.Weigh(scores)
					k.WaitProducts(0)
					rows.Shrink(out, shrink)
					weights.Set(scores.As(s.Type))
				}
				kv.ConsumeOne(func(at *dsl.Stage) { out.MMALeft(weights, vs.In(at).Transposed()) })
			})
			rows.Divide(out)
			out.Store(o, first.Add(row), zero)
		}).Regs(240),
	)
}
