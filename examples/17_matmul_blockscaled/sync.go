// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package blockscaled

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

// SyncFormats are the formats that BuildSync supports: all except the unpacked format in which A
// and B have 4 bits.
var SyncFormats = append([]Format{nvfp4, mxfp4}, slices.DeleteFunc(Pairs(), func(f Format) bool {
	return f.A == isa.E2m1 && f.B == isa.E2m1
})...)

// A SyncTiling describes the tile of a block with one load warp and eight warps that execute
// MMAs, arranged in two rows and four columns.
type SyncTiling struct {
	M, N   int
	Stages int
	Group  int // number of rows of tiles that are assigned together
}

// SyncDefault is a tiling that fits into the 99 KB of shared memory per block of sm_120.
var SyncDefault = SyncTiling{M: 128, N: 128, Stages: 2, Group: 8}

// BuildSync is Build for sm_120, which has no tensor memory: warps execute mma.sync, which reads
// scale factors from registers. The layout of the matrices in global memory is the same.
func BuildSync(m *dsl.Module, f Format, t SyncTiling) {
	// Without this limit, ptxas gives each of the 288 threads fewer registers than the
	// accumulators and fragments need.
	k := m.Kernel("matmul_sync_"+f.Name, dsl.Threads(288), dsl.MaxRegs(208))
	_, depth := f.depth()
	a := k.TensorMap("a", f.A, f.box(f.A, t.M, depth), dsl.Swizzle128)
	b := k.TensorMap("b", f.B, f.box(f.B, t.N, depth), dsl.Swizzle128)
	sfa, sfb := k.ScaleMap("sfa", f.Scale, t.M, depth), k.ScaleMap("sfb", f.Scale, t.N, depth)
	d := k.Matrix("d", isa.Bf16)
	rows, cols, length := dsl.Param[dsl.U32](k, "m"), dsl.Param[dsl.U32](k, "n"),
		dsl.Param[dsl.U32](k, "k")

	at := k.BlockTile(rows.CeilDiv(int64(t.M)), cols.CeilDiv(int64(t.N)), t.Group)
	stage := k.Pipeline("stage", t.Stages, a.Feed(), b.Feed(), sfa.Feed(), sfb.Feed())
	steps := length.CeilDiv(int64(depth))
	k.Roles(
		dsl.OnWarp(8, "load", func() {
			for s := range stage.Produce(steps) {
				s.Load(a, dsl.TileAt(at.Row, s.Iteration()))
				s.Load(b, dsl.TileAt(at.Col, s.Iteration()))
				s.Load(sfa, dsl.TileAt(at.Row, s.Iteration()))
				s.Load(sfb, dsl.TileAt(at.Col, s.Iteration()))
			}
		}),
		dsl.OnWarps(0, 8, "multiply", func(warp dsl.Reg[dsl.U32]) {
			w := dsl.NewWarpTile[dsl.F32](k, dsl.ScaledMMAFor(f.A, f.B, f.Scale), t.M/2, t.N/4)
			fromA, fromB := w.Origin(warp, 4)
			for s := range stage.Consume(steps) {
				w.ScaledMMA(s.Tile(a), fromA, s.Tile(b), fromB, s.Tile(sfa), s.Tile(sfb))
			}
			w.Store(d.Sized(rows, cols), at.Row.MadI(int64(t.M), fromA),
				at.Col.MadI(int64(t.N), fromB))
		}),
	)
}
