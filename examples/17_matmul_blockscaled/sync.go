// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package blockscaled

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

// SyncFormats returns the formats that BuildSync supports: all but those with MMAs that are 96
// elements deep.
func SyncFormats() []Format { return append(slices.Clone(Formats), uniform16, uniform16.Zeros()) }

// A SyncTiling describes the tile of a block with one load warp and eight warps that execute
// MMAs, arranged in two rows and four columns.
type SyncTiling struct {
	M, N   int
	Stages int
	Group  int // number of rows of tiles that are assigned together
}

// SyncDefault returns a tiling that fits the 99 KB of shared memory per block of sm_120. A stage of
// a sparse format holds twice as many elements per row of B, so it has half as many rows.
func (f Format) SyncDefault() SyncTiling {
	t := SyncTiling{M: 128, N: 128, Stages: 2, Group: 8}
	if f.Sparse {
		t.N = 64
	}
	return t
}

// syncMMA returns the shape of mma.sync.
func (f Format) syncMMA() dsl.MMA {
	s := dsl.ScaledMMAFor(f.A, f.B, f.Scale)
	if f.Sparse {
		s = dsl.SparseScaledMMAFor(f.A, f.B, f.Scale)
	}
	if f.A == isa.E2m1 && f.B == isa.E2m1 && !f.Packed {
		s = s.HalfDepth() // the kind whose elements take a byte each
	}
	return s
}

// A load is a matrix of which each stage holds a tile, and its row of tiles.
type load struct {
	from *dsl.TensorMap
	row  dsl.Reg[dsl.U32]
}

// BuildSync is Build for sm_120, which has no tensor memory: warps use mma.sync, which takes scale
// factors from registers. Their layout in global memory is the same. In a sparse format e holds the
// metadata by rows, as CompressRows returns it.
func BuildSync(m *dsl.Module, f Format, t SyncTiling) {
	// Without this limit, ptxas gives each of the 288 threads fewer registers than the
	// accumulators and fragments need.
	k := m.Kernel("matmul_sync_"+f.Name, dsl.Threads(288), dsl.MaxRegs(208))
	kept, depth := f.depth()
	a := k.TensorMap("a", f.A, f.box(f.A, t.M, kept), dsl.Swizzle128)
	b := k.TensorMap("b", f.B, f.box(f.B, t.N, depth), dsl.Swizzle128)
	sfa, sfb := k.ScaleMap("sfa", f.Scale, t.M, depth), k.ScaleMap("sfb", f.Scale, t.N, depth)
	var e *dsl.TensorMap
	if f.Sparse {
		e = k.TensorMap("e", isa.U8, dsl.Box{Rows: t.M, Cols: f.metadata(depth)}, dsl.NoSwizzle)
	}
	d := k.Matrix("d", isa.Bf16)
	rows, cols, length := dsl.Param[dsl.U32](k, "m"), dsl.Param[dsl.U32](k, "n"),
		dsl.Param[dsl.U32](k, "k")

	at := k.BlockTile(rows.CeilDiv(int64(t.M)), cols.CeilDiv(int64(t.N)), t.Group)
	loads := []load{{a, at.Row}, {b, at.Col}, {sfa, at.Row}, {sfb, at.Col}}
	if f.Sparse {
		loads = append(loads, load{e, at.Row})
	}
	var feeds []dsl.Feed
	for _, l := range loads {
		feeds = append(feeds, l.from.Feed())
	}
	stage := k.Pipeline("stage", t.Stages, feeds...)
	steps := length.CeilDiv(int64(depth))
	k.Roles(
		dsl.OnWarp(8, "load", func() {
			for s := range stage.Produce(steps) {
				for _, l := range loads {
					s.Load(l.from, dsl.TileAt(l.row, s.Iteration()))
				}
			}
		}),
		dsl.OnWarps(0, 8, "multiply", func(warp dsl.Reg[dsl.U32]) {
			w := dsl.NewWarpTile[dsl.F32](k, f.syncMMA(), t.M/2, t.N/4)
			fromA, fromB := w.Origin(warp, 4)
			for s := range stage.Consume(steps) {
				scaleB := s.Tile(sfb)
				if t.N%128 != 0 {
					scaleB = scaleB.ScaleHalf(at.Col)
				}
				if f.Sparse {
					w.SparseScaledMMA(s.Tile(a), fromA, s.Tile(e), []dsl.SharedTile{s.Tile(b)},
						fromB, s.Tile(sfa), scaleB)
				} else {
					w.ScaledMMA(s.Tile(a), fromA, s.Tile(b), fromB, s.Tile(sfa), scaleB)
				}
			}
			w.Store(d.Sized(rows, cols), at.Row.MadI(int64(t.M), fromA),
				at.Col.MadI(int64(t.N), fromB))
		}),
	)
}
