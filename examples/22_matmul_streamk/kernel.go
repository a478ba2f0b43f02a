// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package streamk is a stream-K matrix multiplication on Hopper: all blocks compute the same
// number of steps, regardless of tile boundaries, so no multiprocessor is idle at the end. If
// several blocks compute parts of a tile, they add their partial sums through global memory.
package streamk

import (
	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

// A Tiling describes the tile of a block and the pipeline that loads its operands.
type Tiling struct {
	M, N, K int // size of a tile; each of two warpgroups computes half of the rows
	Stages  int
	Group   int // number of rows of tiles that are assigned together
}

// Tilings. Wide has a higher throughput, but its blocks exchange more partial sums.
var (
	Wide   = Tiling{M: 128, N: 256, K: 64, Stages: 3, Group: 8}
	Narrow = Tiling{M: 128, N: 128, K: 64, Stages: 5, Group: 8}
)

// Parts returns the lengths of the arrays partials and flags for a grid with the given number of
// blocks.
func (t Tiling) Parts(blocks int) (partials, flags int) { return blocks * t.M * t.N, blocks * 2 }

// Build adds to m a kernel that computes D = A * B' for bfloat16 matrices A (m x k), B (n x k)
// and D (m x n), with F32 accumulators. n and k are multiples of 8. The elements of flags must be
// zero before a launch, and are zero after it. The device must be able to run all blocks of the
// launch at the same time.
func Build(m *dsl.Module, t Tiling) {
	k := m.Kernel("matmul_streamk", dsl.Warpgroups(3))
	a := k.TensorMap("a", isa.Bf16, dsl.Box{Rows: t.M, Cols: t.K}, dsl.Swizzle128)
	b := k.TensorMap("b", isa.Bf16, dsl.Box{Rows: t.N, Cols: t.K}, dsl.Swizzle128)
	d := k.TensorMap("d", isa.Bf16, dsl.Box{Rows: 64, Cols: t.N}, dsl.Swizzle128)
	partials, flags := dsl.Global[dsl.F32](k, "partials"), dsl.Global[dsl.U32](k, "flags")
	rows, cols, depth := dsl.Param[dsl.U32](k, "m"), dsl.Param[dsl.U32](k, "n"),
		dsl.Param[dsl.U32](k, "k")

	ab := k.Pipeline("ab", t.Stages, a.Feed(), b.Feed())
	out := k.Output("out", d, 2)
	work := k.StreamK(rows.CeilDiv(int64(t.M)), cols.CeilDiv(int64(t.N)), depth.CeilDiv(int64(t.K)),
		t.Group, 2, partials, flags)

	k.Roles(
		dsl.OnWarpgroup(0, "load", func() {
			for at := range work.Each() {
				for s := range ab.Produce(at.Steps) {
					step := at.First.Add(s.Iteration())
					s.Load(a, dsl.TileAt(at.Row, step))
					s.Load(b, dsl.TileAt(at.Col, step))
				}
			}
		}).Regs(40),
		dsl.OnWarpgroups(1, 2, "math", func(half dsl.Reg[dsl.U32]) {
			for at := range work.Each() {
				acc := k.Accumulator(64, t.N, isa.F32)
				for s := range ab.Consume(at.Steps) {
					acc.MMA(s.Tile(a).Part(half, 2), s.Tile(b))
				}
				at.Fixup(acc, half, func() {
					row := at.Row.MulI(2).Add(half).MulI(64)
					out.Store(acc, 0, half, row, at.Col.MulI(int64(t.N)))
				})
			}
			out.Wait()
		}).Regs(232),
	)
}
