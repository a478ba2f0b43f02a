// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package blockscaled has kernels that multiply matrices of block-scaled formats (nvfp4, mxfp4,
// mxfp6, mxfp8, and mixtures) with tcgen05 or mma.sync.
package blockscaled

import (
	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

// A Tiling describes the tile of a block or of a CTA pair, and the pipeline that loads its
// operands.
type Tiling struct {
	N      int // number of columns of a tile
	Stages int
	Group  int  // number of rows of tiles that are assigned together
	Pair   bool // whether two blocks form a CTA pair
	// Size of a cluster in rows and columns of tiles; 0 means 1, or two rows for a CTA pair.
	// Blocks of a cluster that need the same tile each load a part of it for all of them
	// (multicast).
	Rows, Cols int
	// Overlap selects two accumulators of 256 columns, of which 64 columns are shared.
	Overlap bool
	// If Dynamic is set, the hardware assigns tiles to blocks while the kernel runs (cluster
	// launch control), and a launch has one block per tile. Otherwise each block computes a fixed
	// sequence of tiles.
	Dynamic bool
	// ColumnsA and ColumnsB mean that A or B is stored by columns (MN-major), as k x m or k x n.
	// Elements need 8 bits.
	ColumnsA, ColumnsB bool
	// Async selects cp.async instead of the TMA to copy scale factors. The TMA needs tensor maps
	// and has a fixed cost per copy.
	Async    bool
	Problems Problems
}

// cluster returns the size of a cluster in rows and columns of tiles.
func (t Tiling) cluster() (rows, cols int) {
	return max(t.blocks(), t.Rows), max(1, t.Cols)
}

// blocks returns the number of blocks that compute a tile together.
func (t Tiling) blocks() int {
	if t.Pair {
		return 2
	}
	return 1
}

// Default returns a tiling that fits into the shared memory and the tensor memory of sm_100, for
// one block or for a CTA pair. Sparse formats have fewer stages, because a stage holds twice as
// many elements of B.
func (f Format) Default(pair bool) Tiling {
	t := Tiling{N: 128, Stages: 4, Group: 8, Pair: pair}
	if pair {
		t.N, t.Stages = 256, 3
	}
	if f.Sparse {
		t.Stages--
	}
	if f.Deep {
		t.N, t.Stages = t.N/2, 2
	}
	return t
}

// Build adds to m a kernel that computes D = (A * SFA) * (B * SFB)' for matrices of a
// block-scaled format, with D in bfloat16 and F32 accumulators. Scale factors are stored in the
// layout of dsl.BlockScale; the TMA copies them to shared memory, and tcgen05.cp copies them to
// tensor memory. n must be a multiple of 8. A row of k elements must be a multiple of 16 bytes;
// if elements of 4 or 6 bits take a byte in shared memory, k must be a multiple of 128. Tiles may
// extend past the edges, because the TMA reads zeros outside the matrices and does not write
// there. In a sparse format A is m x k/2, and e contains the indices of the stored elements (see
// dsl.SparsityOffset).
func Build(m *dsl.Module, f Format, t Tiling) { BuildWith(m, f, t, Epilogue{D: isa.Bf16}) }

// BuildWith is like Build, with the given epilogue.
func BuildWith(m *dsl.Module, f Format, t Tiling, end Epilogue) { buildKernel(m, f, t, end) }

// buildKernel adds the kernel of BuildWith, and returns it.
func buildKernel(m *dsl.Module, f Format, t Tiling, end Epilogue) *dsl.Kernel {
	k := m.Kernel("matmul_"+f.Name+end.Name, dsl.Threads(256), dsl.Cluster(t.cluster()))
	if t.Pair {
		k.CTAPair()
	}
	in, out := f.operands(k, t), end.declare(k, t)
	rows, cols, length := dsl.Param[dsl.U32](k, "m"), dsl.Param[dsl.U32](k, "n"),
		dsl.Param[dsl.U32](k, "k")
	in.pipelines()
	// scale factors and sparsity indices need up to 128 of the 512 columns of tensor memory
	acc := k.TMEM("acc", 128*t.blocks(), t.N, min(2, 384/t.N))
	if t.Overlap {
		acc.Overlap(64)
	}
	if f.Deep {
		acc.Depth96()
	}
	acc.Scales(f.Scale, in.depth)
	if f.Sparse {
		acc.Sparsity(in.a)
	}
	out.Output = k.Output("out", out.d, 1)
	if end.C {
		out.Combine(out.c, out.alpha, out.beta)
	}
	tiles := t.tiles(k, rows, cols)
	out.Scales(out.factors.Sized(tiles.rows, cols))
	in.length, in.steps = length, length.CeilDiv(int64(in.depth))

	var roles []dsl.Role
	if end.C {
		roles = append(roles, dsl.OnWarp(2, "load_c", func() { tiles.each(out.loadC) }))
	}
	if t.Dynamic {
		roles = append(roles, dsl.OnWarp(3, "schedule", tiles.dynamic.RunScheduler))
	}
	roles = append(roles, dsl.OnWarp(0, "load", func() { tiles.each(in.load) }))
	if t.Async {
		roles = append(roles, dsl.OnWarp(2, "load_scales", func() { tiles.each(in.loadScales) }))
	}
	k.Roles(append(roles,
		dsl.OnWarp(1, "multiply", func() {
			tiles.each(func(at tile) {
				acc.Fill(func(d *dsl.AccumulatorStage) { in.multiply(d, at) })
			})
		}),
		dsl.OnWarpgroup(1, "write", func() {
			tiles.each(func(at tile) {
				acc.Drain(func(d *dsl.AccumulatorStage) { out.store(d, at, cols) })
			})
			out.Wait()
		}),
	)...)
	return k
}
