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

// BuildHopper makes the kernel of Build for sm_90a: one warpgroup loads with the TMA, and two multiply with wgmma, each with the softmax of its rows
// between its two products, while the other multiplies.
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
	head, first, zero := k.CTAID().Y, k.CTAID().X.MulI(HopperQueries), k.U32(0)
	o = o.Sized(queries, k.U32(s.Width)).Nth(head)
	number := first.Add(keys.Sub(queries)) // of the first query, counted as keys are
	steps := s.steps(keys, number, HopperQueries, HopperKeys)

	own := k.Pipeline("own", 1, q.Feed())
	kv := k.Pipeline("kv", 2, ks.Feed(), vs.Feed())
	k.Roles(
		dsl.OnWarpgroup(0, "load", func() {
			for at := range own.Produce(k.U32(1)) {
				q.Fill(at, head, first, zero)
			}
			for at := range kv.Produce(steps) {
				from := at.Index().MulI(HopperKeys)
				ks.Fill(at, head, from, zero)
				vs.Fill(at, head, from, zero)
			}
		}).Regs(24),
		dsl.OnWarpgroups(1, 2, "multiply", func(half u32) {
			row := half.MulI(HopperQueries / 2)
			out := k.Accumulator(HopperQueries/2, s.Width, isa.F32)
			rows := newSoftmax(k, out.Lines(), s.Width)
			for mine := range own.Consume(k.U32(1)) {
				for at := range kv.Consume(steps) {
					scores := k.Accumulator(HopperQueries/2, HopperKeys, isa.F32)
					scores.MMA(q.In(mine).Part(half, 2), ks.In(at))
					scores.Wait()
					s.mask(k, scores, HopperKeys, at.Index().MulI(HopperKeys), keys, number, row)
					rows.Take(scores, out)
					out.MMALeft(scores.As(s.Type), vs.In(at).Transposed())
				}
			}
			rows.Divide(out)
			out.Store(o, first.Add(row), zero)
		}).Regs(240),
	)
}
