// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package blackwell multiplies matrices of bfloat16 with tcgen05.
package blackwell

import (
	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

// A Tiling is the tile shape of a block and its pipeline.
type Tiling struct {
	N, K   int // size of a tile, which has 128 rows
	Stages int
	Group  int // rows of tiles that are assigned together
	// The hardware assigns tiles to blocks, and the launch has one block per tile. Otherwise the
	// launch has one block per multiprocessor, and tiles are assigned in advance.
	Dynamic bool
}

// Default is a tiling that fits the shared and tensor memory of sm_100.
var Default = Tiling{N: 256, K: 64, Stages: 3, Group: 8}

// Build adds a kernel that computes D = A * B' for bfloat16 matrices A (m x k), B (n x k) and D (m
// x n), with F32 accumulators. One warp loads, one issues MMAs, and four warps store results while
// the next tile is computed. n and k must be multiples of 8, as the TMA requires; it reads zeros
// outside of the matrices and does not write there.
func Build(m *dsl.Module, t Tiling) {
	k := m.Kernel("matmul", dsl.Threads(256))
	a := k.TensorMap("a", isa.Bf16, dsl.Box{Rows: 128, Cols: t.K}, dsl.Swizzle128)
	b := k.TensorMap("b", isa.Bf16, dsl.Box{Rows: t.N, Cols: t.K}, dsl.Swizzle128)
	d := k.TensorMap("d", isa.Bf16, dsl.Box{Rows: 128, Cols: t.N}, dsl.Swizzle128)
	rows, cols, depth := dsl.Param[dsl.U32](k, "m"), dsl.Param[dsl.U32](k, "n"), dsl.Param[dsl.U32](k, "k")

	ab := k.Pipeline("ab", t.Stages, a.Feed(), b.Feed())
	acc := k.TMEM("acc", 128, t.N, 2)
	out := k.Output("out", d, 1)
	down, across := rows.CeilDiv(128), cols.CeilDiv(int64(t.N))
	steps := depth.CeilDiv(int64(t.K))
	var tiles dsl.Tiles = k.Persistent(down, across, t.Group)
	var roles []dsl.Role
	if t.Dynamic {
		dealt := k.DynamicSchedule(down, across, t.Group)
		roles = append(roles, dsl.OnWarp(2, "deal", dealt.RunScheduler))
		tiles = dealt
	}

	k.Roles(append(roles,
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
				acc.Drain(func(d *dsl.AccumulatorStage) {
					out.StoreTMEM(d, at.Row.MulI(128), at.Col.MulI(int64(t.N)))
				})
			}
			out.Wait()
		}),
	)...)
}
