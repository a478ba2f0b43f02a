// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package datatypes builds one Hopper GEMM for several element types.
package datatypes

import (
	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

// Build adds the kernel gemm for A and B of type t and D of type result. t is .f16, .bf16, .tf32,
// .e4m3 or .e5m2; result is .f32, .bf16 or .f16. Accumulators are F32.
func Build(m *dsl.Module, t, result isa.Type) {
	depth := 128 * 8 / t.Bits() // elements in a 128-byte row of the swizzle
	k := m.Kernel("gemm", dsl.Warpgroups(3))
	a := k.TensorMap("a", t, dsl.Box{Rows: 128, Cols: depth}, dsl.Swizzle128)
	b := k.TensorMap("b", t, dsl.Box{Rows: 128, Cols: depth}, dsl.Swizzle128)
	d := k.TensorMap("d", result, dsl.Box{Rows: 64, Cols: 128}, dsl.Swizzle128)
	rows, cols := dsl.Param[dsl.U32](k, "m"), dsl.Param[dsl.U32](k, "n")
	length := dsl.Param[dsl.U32](k, "k")
	ab := k.Pipeline("ab", 4, a.Feed(), b.Feed())
	out := k.Output("out", d, 2)
	tiles := k.Persistent(rows.CeilDiv(128), cols.CeilDiv(128), 8)
	steps := length.CeilDiv(int64(depth))
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
				acc := k.Accumulator(64, 128, isa.F32)
				for s := range ab.Consume(steps) {
					acc.MMA(s.Tile(a).Part(half, 2), s.Tile(b))
				}
				out.Store(acc, 0, half, at.Row.MulI(2).Add(half).MulI(64), at.Col.MulI(128))
			}
			out.Wait()
		}).Regs(232),
	)
}
