// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package code

import (
	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

// WGMMA shows a GEMM with TMA copies and wgmma.
func WGMMA(m *dsl.Module) {
	//cuda:text three warpgroups, and clusters of two blocks
	k := m.Kernel("wgmma", dsl.Warpgroups(3), dsl.Cluster(2))

	//cuda: `const __grid_constant__ CUtensorMap a`, with its box and swizzle
	a := k.TensorMap("a", isa.Bf16, dsl.Box{Rows: 128, Cols: 64}, dsl.Swizzle128)
	b := k.TensorMap("b", isa.Bf16, dsl.Box{Rows: 128, Cols: 64}, dsl.Swizzle128)
	d := k.TensorMap("d", isa.Bf16, dsl.Box{Rows: 64, Cols: 128}, dsl.Swizzle128)

	rows, cols := dsl.Param[dsl.U32](k, "m"), dsl.Param[dsl.U32](k, "n")
	depth := dsl.Param[dsl.U32](k, "k")

	//cuda:text a four-stage ring buffer with full and empty barriers; B is multicast in the cluster
	ab := k.Pipeline("ab", 4, a.Feed(), b.Feed().Multicast())

	//cuda:text shared memory from which the TMA stores the results of two warpgroups
	out := k.Output("out", d, 2)

	//cuda:text the loop over the tiles of a persistent block
	tiles := k.Persistent(rows.CeilDiv(128), cols.CeilDiv(128), 8)
	steps := depth.CeilDiv(64)

	//cuda: the producer warpgroup, with `setmaxnreg.dec 40`
	load := dsl.OnWarpgroup(0, "load", func() {
		for at := range tiles.Each() {
			for s := range ab.Produce(steps) {
				s.Load(a, dsl.TileAt(at.Row, s.Iteration()))
				s.Load(b, dsl.TileAt(at.Col, s.Iteration()))
			}
		}
	}).Regs(40)

	math := dsl.OnWarpgroups(1, 2, "math", func(half u32) {
		for at := range tiles.Each() {
			//cuda:text the accumulator of a warpgroup, which the first MMA overwrites
			acc := k.Accumulator(64, 128, isa.F32)

			//cuda: wait, `wgmma.fence`, `wgmma.mma_async`, commit, wait, release the stage
			for s := range ab.Consume(steps) {
				acc.MMA(s.Tile(a).Part(half, 2), s.Tile(b))
			}

			//cuda:text a function of each element of the accumulator
			acc.Map(func(c dsl.Cell, x f32) f32 { return x.MaxF(0) })

			//cuda: convert, `stmatrix`, proxy fence, TMA store
			out.Store(acc, 0, half, at.Row.MulI(2).Add(half).MulI(64), at.Col.MulI(128))
		}
		//cuda: `cp.async.bulk.wait_group 0` at the end
		out.Wait()
	}).Regs(232)

	//cuda: `if (warpgroup == 0) ... else ...`
	k.Roles(load, math)
}
