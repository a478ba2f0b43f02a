// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package epilogue contains GEMMs that add a bias to each column and apply ReLU.
package epilogue

import (
	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

type (
	f32 = dsl.Reg[dsl.F32]
	u32 = dsl.Reg[dsl.U32]
)

// BiasReLU returns max(x+bias[col], 0). Columns outside the matrix, which are not stored, use
// the last bias.
func BiasReLU(bias dsl.Array[dsl.F32], col, cols u32, x f32) f32 {
	return x.Add(bias.Load(col.Min(cols.SubI(1)))).MaxF(0)
}

// MMA builds a GEMM with mma.sync: the accumulators of a warp are in its registers.
func MMA(m *dsl.Module) {
	k := m.Kernel("gemm", dsl.Threads(256))
	a, b, d := k.Matrix("a", isa.Bf16), k.Matrix("b", isa.Bf16), k.Matrix("d", isa.F32)
	bias := dsl.Global[dsl.F32](k, "bias")
	rows, cols := dsl.Param[dsl.U32](k, "m"), dsl.Param[dsl.U32](k, "n")
	depth := dsl.Param[dsl.U32](k, "k")

	at := k.BlockTile(rows.CeilDiv(128), cols.CeilDiv(128), 8)
	row, col := at.Row.MulI(128), at.Col.MulI(128)
	a, b = a.Sized(rows, depth).RowsFrom(row), b.Sized(cols, depth).RowsFrom(col)
	tile := dsl.Tile{Type: isa.Bf16, Rows: 128, Cols: 64, Swizzle: dsl.Swizzle128}
	ab := k.AsyncPipeline("ab", 3, tile, tile)
	w := dsl.NewWarpTile[dsl.F32](k, m.MMAFor(isa.Bf16, isa.F32), 64, 32)
	fromA, fromB := w.Origin(k.WarpIndex(), 4)
	load := func(step u32, s dsl.AsyncStage) {
		a.CopyAsync(s.Tile(0), step.MulI(64))
		b.CopyAsync(s.Tile(1), step.MulI(64))
	}
	ab.Run(depth.CeilDiv(64), load, func(step u32, s dsl.AsyncStage) {
		w.MMA(s.Tile(0), fromA, s.Tile(1), fromB)
	})

	w.Map(func(c dsl.Cell, x f32) f32 {
		return BiasReLU(bias, col.Add(fromB).Add(c.Col()), cols, x)
	})
	w.Store(d.Sized(rows, cols), row.Add(fromA), col.Add(fromB))
}

// WGMMA builds a GEMM with wgmma: the accumulators of a warpgroup are in its registers.
func WGMMA(m *dsl.Module) {
	k := m.Kernel("gemm", dsl.Warpgroups(3))
	a := k.TensorMap("a", isa.Bf16, dsl.Box{Rows: 128, Cols: 64}, dsl.Swizzle128)
	b := k.TensorMap("b", isa.Bf16, dsl.Box{Rows: 128, Cols: 64}, dsl.Swizzle128)
	d := k.TensorMap("d", isa.Bf16, dsl.Box{Rows: 64, Cols: 128}, dsl.Swizzle128)
	bias := dsl.Global[dsl.F32](k, "bias")
	rows, cols := dsl.Param[dsl.U32](k, "m"), dsl.Param[dsl.U32](k, "n")
	depth := dsl.Param[dsl.U32](k, "k")
	ab := k.Pipeline("ab", 4, a.Feed(), b.Feed())
	out := k.Output("out", d, 2)
	tiles := k.Persistent(rows.CeilDiv(128), cols.CeilDiv(128), 8)
	steps := depth.CeilDiv(64)
	k.Roles(
		dsl.OnWarpgroup(0, "load", func() {
			for at := range tiles.Each() {
				for s := range ab.Produce(steps) {
					s.Load(a, dsl.TileAt(at.Row, s.Iteration()))
					s.Load(b, dsl.TileAt(at.Col, s.Iteration()))
				}
			}
		}).Regs(40),
		dsl.OnWarpgroups(1, 2, "math", func(half u32) {
			for at := range tiles.Each() {
				acc := k.Accumulator(64, 128, isa.F32)
				for s := range ab.Consume(steps) {
					acc.MMA(s.Tile(a).Part(half, 2), s.Tile(b))
				}
				col := at.Col.MulI(128)
				acc.Map(func(c dsl.Cell, x f32) f32 {
					return BiasReLU(bias, col.Add(c.Col()), cols, x)
				})
				out.Store(acc, 0, half, at.Row.MulI(2).Add(half).MulI(64), col)
			}
			out.Wait()
		}).Regs(232),
	)
}

// TCGEN05 builds a GEMM with tcgen05: the accumulators are in tensor memory.
func TCGEN05(m *dsl.Module) {
	k := m.Kernel("gemm", dsl.Threads(256))
	a := k.TensorMap("a", isa.Bf16, dsl.Box{Rows: 128, Cols: 64}, dsl.Swizzle128)
	b := k.TensorMap("b", isa.Bf16, dsl.Box{Rows: 256, Cols: 64}, dsl.Swizzle128)
	d := k.TensorMap("d", isa.Bf16, dsl.Box{Rows: 128, Cols: 256}, dsl.Swizzle128)
	bias := dsl.Global[dsl.F32](k, "bias")
	rows, cols := dsl.Param[dsl.U32](k, "m"), dsl.Param[dsl.U32](k, "n")
	depth := dsl.Param[dsl.U32](k, "k")
	ab := k.Pipeline("ab", 3, a.Feed(), b.Feed())
	acc := k.TMEM("acc", 128, 256, 2)
	out := k.Output("out", d, 1)
	tiles := k.Persistent(rows.CeilDiv(128), cols.CeilDiv(256), 8)
	steps := depth.CeilDiv(64)
	k.Roles(
		dsl.OnWarp(0, "load", func() {
			for at := range tiles.Each() {
				for s := range ab.Produce(steps) {
					s.Load(a, dsl.TileAt(at.Row, s.Iteration()))
					s.Load(b, dsl.TileAt(at.Col, s.Iteration()))
				}
			}
		}),
		dsl.OnWarp(1, "multiply", func() {
			for range tiles.Each() {
				acc.Fill(func(d *dsl.AccumulatorStage) {
					for s := range ab.Consume(steps) {
						d.MMA(s.Tile(a), s.Tile(b))
					}
				})
			}
		}),
		dsl.OnWarpgroup(1, "write", func() {
			for at := range tiles.Each() {
				row, first := at.Row.MulI(128), at.Col.MulI(256)
				acc.Drain(func(d *dsl.AccumulatorStage) {
					out.StoreRows(row, first, func(col, n int) []f32 {
						x := d.Load(col, n) // n columns of the thread's row
						for i := range x {
							x[i] = BiasReLU(bias, first.AddI(int64(col+i)), cols, x[i])
						}
						return x
					})
				})
			}
			out.Wait()
		}),
	)
}
