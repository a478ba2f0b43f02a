// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package streamk is a matrix multiplication on Hopper whose blocks have the same number of steps each, wherever tiles begin and end, so that the
// last round leaves no multiprocessor without work. Sums that blocks share are joined through memory.
package streamk

import (
	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

// A Tiling is the shape of the work of one block.
type Tiling struct {
	M, N, K int // of a tile; M is shared by two warpgroups
	Stages  int
	Group   int // rows of tiles that are dealt together
}

// Tilings: the wider tile multiplies faster, and shares more numbers where blocks meet.
var (
	Wide   = Tiling{M: 128, N: 256, K: 64, Stages: 3, Group: 8}
	Narrow = Tiling{M: 128, N: 128, K: 64, Stages: 5, Group: 8}
)

// Parts and told are how many numbers the arrays of those names have, for a grid of so many blocks.
func (t Tiling) Parts(blocks int) (parts, told int) { return blocks * t.M * t.N, blocks * 2 }

// Build makes D = A * B' for bfloat16 matrices A (m x k), B (n x k) and D (m x n), with sums in F32. N and k are multiples of 8. The numbers of
// told are zero before and after a launch, whose blocks all run at once.
func Build(m *dsl.Module, t Tiling) {
	k := m.Kernel("matmul_streamk", dsl.Warpgroups(3))
	a := k.TensorMap("a", isa.Bf16, dsl.Box{Rows: t.M, Cols: t.K}, dsl.Swizzle128)
	b := k.TensorMap("b", isa.Bf16, dsl.Box{Rows: t.N, Cols: t.K}, dsl.Swizzle128)
	d := k.TensorMap("d", isa.Bf16, dsl.Box{Rows: 64, Cols: t.N}, dsl.Swizzle128)
	parts, told := dsl.Global[dsl.F32](k, "parts"), dsl.Global[dsl.U32](k, "told")
	rows, cols, depth := dsl.Param[dsl.U32](k, "m"), dsl.Param[dsl.U32](k, "n"), dsl.Param[dsl.U32](k, "k")

	ab := k.Pipeline("ab", t.Stages, a.Feed(), b.Feed())
	out := k.Output("out", d, 2)
	work := k.StreamK(rows.CeilDiv(int64(t.M)), cols.CeilDiv(int64(t.N)), depth.CeilDiv(int64(t.K)), t.Group, 2, parts, told)

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
