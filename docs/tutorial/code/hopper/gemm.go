// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package hopper multiplies matrices of bfloat16 with TMA copies and wgmma.
package hopper

import (
	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

// The tile of D that a block computes, the depth of a step, and the number of stages.
const (
	tileM, tileN, tileK = 128, 256, 64
	stages              = 3
)

// Build adds the kernel gemm(a, b, d, m, n, k) to a module: D = A * B' for bfloat16 matrices
// A (m x k), B (n x k) and D (m x n), with F32 accumulators. n and k are multiples of 8.
func Build(m *dsl.Module) {
	k := m.Kernel("gemm", dsl.Warpgroups(3))
	a := k.TensorMap("a", isa.Bf16, dsl.Box{Rows: tileM, Cols: tileK}, dsl.Swizzle128)
	b := k.TensorMap("b", isa.Bf16, dsl.Box{Rows: tileN, Cols: tileK}, dsl.Swizzle128)
	d := k.TensorMap("d", isa.Bf16, dsl.Box{Rows: 64, Cols: tileN}, dsl.Swizzle128)
	rows, cols := dsl.Param[dsl.U32](k, "m"), dsl.Param[dsl.U32](k, "n")
	depth := dsl.Param[dsl.U32](k, "k")

	ab := k.Pipeline("ab", stages, a.Feed(), b.Feed())
	out := k.Output("out", d, 2)
	tiles := k.Persistent(rows.CeilDiv(tileM), cols.CeilDiv(tileN), 8)
	steps := depth.CeilDiv(tileK)

	k.Roles(
		dsl.OnWarpgroup(0, "load", func() {
			for at := range tiles.Each() {
				for s := range ab.Produce(steps) {
					s.Load(a, dsl.TileAt(at.Row, s.Iteration()))
					s.Load(b, dsl.TileAt(at.Col, s.Iteration()))
				}
			}
		}).Regs(40),
		dsl.OnWarpgroups(1, 2, "math", func(half dsl.Reg[dsl.U32]) {
			for at := range tiles.Each() {
				acc := k.Accumulator(64, tileN, isa.F32)
				for s := range ab.Consume(steps) {
					acc.MMA(s.Tile(a).Part(half, 2), s.Tile(b))
				}
				row := at.Row.MulI(2).Add(half).MulI(64)
				out.Store(acc, 0, half, row, at.Col.MulI(tileN))
			}
			out.Wait()
		}).Regs(232),
	)
}
