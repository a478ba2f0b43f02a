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
	options := []dsl.KernelOption{dsl.Threads(256)}
	if high, wide := t.cluster(); high*wide > 1 {
		options = append(options, dsl.Cluster(high, wide))
	}
	k := m.Kernel("matmul_"+f.Name+end.Name, options...)
	if t.Pair {
		k.CTAPair()
	}
	t.check(k, f)
	in := f.operands(k, t)
	write := end.declare(k, t)
	rows, cols, length := dsl.Param[dsl.U32](k, "m"), dsl.Param[dsl.U32](k, "n"),
		dsl.Param[dsl.U32](k, "k")

	in.pipelines()
	acc := t.accumulators(k, f, in.depth)
	if f.Sparse {
		acc.Sparsity(in.a)
	}
	write.out = k.Output("out", write.d, 1)
	if write.C {
		// threads read C, so each block of a pair has a separate pipeline
		write.more = k.Pipeline("more", 1, write.c.Feed()).PerBlock()
	}
	tiles := t.tiles(k, rows, cols)
	steps := length.CeilDiv(int64(in.depth))

	k.Roles(append(append(append(write.roles(tiles), tiles.roles()...),
		in.roles(tiles, steps, length)...),
		dsl.OnWarp(1, "multiply", func() {
			for at := range tiles.each() {
				acc.Fill(func(d *dsl.AccumulatorStage) { in.multiply(d, at, steps) })
			}
		}),
		dsl.OnWarpgroup(1, "write", func() {
			for at := range tiles.each() {
				acc.Drain(func(d *dsl.AccumulatorStage) { write.tile(d, at, tiles.rows, cols) })
			}
			write.out.Wait()
		}),
	)...)
	return k
}

// check reports options that cannot be combined as errors of the kernel.
func (t Tiling) check(k *dsl.Kernel, f Format) {
	high, wide := t.cluster()
	switch {
	case t.N%64 != 0:
		k.Errorf("tiles of %d columns, expected a multiple of 64, half the rows of a scale factor atom",
			t.N)
	case t.Overlap && t.N != 256:
		k.Errorf("overlapping accumulators of %d columns, expected 256; fewer columns need no overlap",
			t.N)
	case (t.ColumnsA || t.ColumnsB) &&
		(f.A.Bits() != 8 || f.B.Bits() != 8 || f.Sparse && t.ColumnsA):
		k.Errorf("%s stored by columns, expected elements of 8 bits, and a dense A", f.Name)
	case t.Async && (t.Pair || high*wide > 1 || t.N%128 != 0):
		k.Errorf("scale factors by cp.async for a cluster or for %d columns, expected one block and a multiple of 128", t.N)
	case t.Problems != OneProblem && (t.N == 192 || t.ColumnsA || t.ColumnsB):
		k.Errorf("several problems with %d columns per tile or stored by columns, expected 64, 128 or 256, stored by rows", t.N)
	case t.Problems == Grouped && (high*wide > 1 || t.Dynamic):
		k.Errorf("groups in a cluster or assigned by the hardware, expected one block and tiles assigned in advance")
	case t.Dynamic && wide > 1:
		k.Errorf("tiles assigned by the hardware to clusters of %d columns, expected one", wide)
	}
}

// accumulators declares the accumulators and their scale factors in tensor memory.
func (t Tiling) accumulators(k *dsl.Kernel, f Format, depth int) *dsl.TMEM {
	results := 2
	if t.N > 192 {
		results = 1 // tensor memory cannot hold two accumulators and the scale factors
	}
	acc := k.TMEM("acc", 128*t.blocks(), t.N, results)
	if t.Overlap {
		acc.Overlap(64)
	}
	if f.Deep {
		acc.Depth96()
	}
	return acc.Scales(f.Scale, depth)
}
