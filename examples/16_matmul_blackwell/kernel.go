// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package blackwell has kernels that multiply matrices of BF16, F16, TF32, FP8 and INT8 with
// tcgen05.
package blackwell

import (
	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

// Types are the supported types of A and B.
var Types = []isa.Type{isa.Bf16, isa.F16, isa.Tf32, isa.E4m3, isa.E5m2, isa.S8, isa.U8}

// result returns the type of D for a type of A and B.
func result(t isa.Type) isa.Type {
	switch t {
	case isa.Bf16, isa.F16:
		return t
	case isa.S8, isa.U8:
		return isa.S32
	case isa.Tf32:
		return isa.F32
	}
	return isa.Bf16
}

// A Tiling describes the tile of a block or of a CTA pair, and the pipeline that loads its
// operands.
type Tiling struct {
	Type   isa.Type // type of A and B
	N, K   int      // size of a tile; a tile has 128 rows per block
	Stages int
	Group  int  // number of rows of tiles that are assigned together
	Pair   bool // whether two blocks form a CTA pair, whose tiles have 256 rows
	// If Dynamic is set, the hardware assigns tiles to blocks while the kernel runs, and a launch
	// has one block per tile. Otherwise a launch has one block per multiprocessor, and each block
	// computes a fixed sequence of tiles.
	Dynamic bool
}

// Default is a tiling for BF16 that fits into the shared memory and the tensor memory of sm_100.
var Default = DefaultOf(isa.Bf16, false)

// DefaultOf returns a tiling for a type, for one block or for a CTA pair. A row of an operand
// tile has 128 bytes. Results of 32 bits take twice the shared memory, so their tilings have
// narrower tiles or fewer stages.
func DefaultOf(typ isa.Type, pair bool) Tiling {
	t := Tiling{Type: typ, N: 256, K: 1024 / typ.Bits(), Stages: 3, Group: 8, Pair: pair}
	switch wide := result(typ).Bits() == 32; {
	case wide && pair:
		t.Stages = 2
	case wide:
		t.N = 128
	}
	return t
}

// Build adds to m a kernel that computes D = A * B' for matrices A (m x k), B (n x k) and D (m x
// n). The accumulators are F32, or S32 for integers. One warp loads, one warp issues MMAs, and
// four warps store results while the next tile is computed. The TMA requires that the rows of the
// matrices are multiples of 16 bytes. Tiles may extend past the edges, because the TMA reads
// zeros outside the matrices and does not write there.
func Build(m *dsl.Module, t Tiling) {
	blocks := 1
	if t.Pair {
		blocks = 2
	}
	k := m.Kernel("matmul", dsl.Threads(256), dsl.Cluster(blocks))
	if t.Pair {
		k.CTAPair()
	}
	a := k.TensorMap("a", t.Type, dsl.Box{Rows: 128, Cols: t.K}, dsl.Swizzle128)
	b := k.TensorMap("b", t.Type, dsl.Box{Rows: t.N / blocks, Cols: t.K}, dsl.Swizzle128)
	d := k.TensorMap("d", result(t.Type), dsl.Box{Rows: 128, Cols: t.N}, dsl.Swizzle128)
	rows, cols, depth := dsl.Param[dsl.U32](k, "m"), dsl.Param[dsl.U32](k, "n"),
		dsl.Param[dsl.U32](k, "k")

	ab := k.Pipeline("ab", t.Stages, a.Feed(), b.Feed())
	acc := k.TMEM("acc", 128*blocks, t.N, 2)
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
				right := at.Col
				if t.Pair { // each block loads half of the columns
					right = at.Col.MulI(2).Add(k.ClusterRank())
				}
				for s := range ab.Produce(steps) {
					s.Load(a, dsl.TileAt(at.Row, s.Iteration()))
					s.Load(b, dsl.TileAt(right, s.Iteration()))
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
