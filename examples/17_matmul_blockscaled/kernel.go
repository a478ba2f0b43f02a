// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package blockscaled multiplies matrices of block-scaled formats (nvfp4, mxfp4, mxfp6, mxfp8, and mixed ones) with tcgen05.
package blockscaled

import (
	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

// A Format is a block-scaled format: the element types of A and B, and their scale factors.
type Format struct {
	Name  string
	A, B  isa.Type
	Scale dsl.BlockScale
	// 2:4 sparsity of A: of each four adjacent elements in a row two are zero and not stored; of
	// packed elements, two of four pairs. A scale factor applies to twice as many elements.
	Sparse bool
}

// Zeros returns the format with a sparse A.
func (f Format) Zeros() Format { return Format{f.Name + "_sparse", f.A, f.B, f.Scale.Sparse(), true} }

// packed reports whether two elements share a byte in shared memory, which is the case if both
// matrices have four-bit elements. In all other formats an element takes one byte there, whatever
// its size in global memory.
func (f Format) packed() bool { return f.A == isa.E2m1 && f.B == isa.E2m1 }

// box returns the box of a tile with the given rows and columns.
func (f Format) box(t isa.Type, rows, cols int) dsl.Box {
	return dsl.Box{Rows: rows, Cols: cols, Padded: t.Bits() < 8 && !f.packed()}
}

// depth returns the number of elements per row of A in a stage, which take 128 bytes, and of B.
func (f Format) depth() (a, b int) {
	a = 128
	if f.packed() {
		a = 256
	}
	if f.Sparse {
		return a, 2 * a
	}
	return a, a
}

// The formats in which A and B have the same type.
var (
	nvfp4 = Format{Name: "nvfp4", A: isa.E2m1, B: isa.E2m1, Scale: dsl.NVFP4}
	mxfp4 = Format{Name: "mxfp4", A: isa.E2m1, B: isa.E2m1, Scale: dsl.MXFP4}
	mxfp6 = Format{Name: "mxfp6", A: isa.E2m3, B: isa.E2m3, Scale: dsl.MXFP6}
	mxfp8 = Format{Name: "mxfp8", A: isa.E4m3, B: isa.E4m3, Scale: dsl.MXFP8}
)

// mxfp8x4 has 8-bit activations and 4-bit weights.
var mxfp8x4 = Format{Name: "mxfp8_mxfp4", A: isa.E4m3, B: isa.E2m1, Scale: dsl.MXFP8}

// Formats are the formats that the kernel is built for.
var Formats = []Format{
	nvfp4,
	mxfp4,
	mxfp6,
	{Name: "mxfp6_e3m2", A: isa.E3m2, B: isa.E3m2, Scale: dsl.MXFP6},
	mxfp8,
	mxfp8x4,
	nvfp4.Zeros(),
	mxfp4.Zeros(),
	mxfp8.Zeros(),
}

// A Tiling is the tile shape of a block or a CTA pair, and its pipeline.
type Tiling struct {
	N      int // number of columns of a tile
	Stages int
	Group  int  // rows of tiles that are assigned together
	Pair   bool // two blocks work as a CTA pair
	// Cluster size, in rows and columns of tiles; 0 means 1, or two rows for a pair. Blocks that
	// need the same tile each load a part of it for all of them.
	Rows, Cols int
}

// cluster returns the cluster size in rows and columns of tiles.
func (t Tiling) cluster() (rows, cols int) {
	rows, cols = max(1, t.Rows), max(1, t.Cols)
	if t.Pair {
		rows = max(2, rows)
	}
	return rows, cols
}

// Default returns a tiling that fits the shared and tensor memory of sm_100, for one block or a CTA
// pair. Stages of sparse formats are larger, because they hold twice as much of B.
func (f Format) Default(pair bool) Tiling {
	t := Tiling{N: 128, Stages: 4, Group: 8, Pair: pair}
	if pair {
		t.N, t.Stages = 256, 3
	}
	if f.Sparse {
		t.Stages--
	}
	return t
}

// Build adds a kernel that computes D = (A * SFA) * (B * SFB)' for matrices of a block-scaled
// format, with D in bfloat16 and F32 accumulators. Scale factors are stored in the layout of
// dsl.BlockScale; the TMA copies them to shared memory, and tcgen05.cp copies them to tensor
// memory. n must be a multiple of 8. A row of k elements must be a multiple of 16 bytes, and k a
// multiple of 128 if elements of 4 or 6 bits take a byte in shared memory. The TMA reads zeros
// outside of the matrices and does not write there. In a sparse format A is m x k/2, and e holds
// the metadata (see dsl.SparsityOffset).
func Build(m *dsl.Module, f Format, t Tiling) { BuildWith(m, f, t, Epilogue{D: isa.Bf16}) }

// BuildWith is Build with another epilogue.
func BuildWith(m *dsl.Module, f Format, t Tiling, end Epilogue) {
	kept, depth := f.depth()
	options := []dsl.KernelOption{dsl.Threads(256)}
	share := 1
	if t.Pair {
		share = 2
	}
	if high, wide := t.cluster(); high*wide > 1 {
		options = append(options, dsl.Cluster(high, wide))
	}
	k := m.Kernel("matmul_"+f.Name+end.Name, options...)
	if t.Pair {
		k.CTAPair()
	}
	if t.N%64 != 0 {
		k.Errorf("tiles of %d columns, want a multiple of 64, half the rows of a scale factor atom", t.N)
	}
	a := k.TensorMap("a", f.A, f.box(f.A, 128, kept), dsl.Swizzle128)
	b := k.TensorMap("b", f.B, f.box(f.B, t.N/share, depth), dsl.Swizzle128)
	sfa := k.ScaleMap("sfa", f.Scale, 128, depth)
	sfb := k.ScaleMap("sfb", f.Scale, t.N, depth)
	right := b.Feed().MulticastCol()
	if t.Pair {
		right = b.Feed().MulticastHalf()
	}
	feeds := []dsl.Feed{a.Feed().MulticastRow(), right, sfa.Feed().MulticastRow(), sfb.Feed().MulticastCol()}
	var e *dsl.TensorMap
	if f.Sparse {
		e = k.SparsityMap("e", a)
		feeds = append(feeds, e.Feed().MulticastRow())
	}
	write := end.declare(k, t)
	rows, cols, length := dsl.Param[dsl.U32](k, "m"), dsl.Param[dsl.U32](k, "n"), dsl.Param[dsl.U32](k, "k")

	stage := k.Pipeline("stage", t.Stages, feeds...)
	results := 2
	if t.N > 192 {
		results = 1 // two accumulators and the scale factors exceed tensor memory
	}
	acc := k.TMEM("acc", 128*share, t.N, results).Scales(f.Scale, depth)
	if f.Sparse {
		acc.Sparsity(a)
	}
	write.room()
	tiles := k.Persistent(rows.CeilDiv(128), cols.CeilDiv(int64(t.N)), t.Group)
	steps := length.CeilDiv(int64(depth))

	roles := append(write.roles(tiles),
		dsl.OnWarp(0, "load", func() {
			for at := range tiles.Each() {
				colB := at.Col
				if t.Pair {
					colB = at.Col.MulI(2).Add(k.ClusterRank().AndI(1))
				}
				for s := range stage.Produce(steps) {
					s.Load(a, dsl.TileAt(at.Row, s.Iteration()))
					s.Load(b, dsl.TileAt(colB, s.Iteration()))
					s.Load(sfa, dsl.TileAt(at.Row, s.Iteration()))
					s.Load(sfb, dsl.TileAt(at.Col, s.Iteration()))
					if f.Sparse {
						s.Load(e, dsl.TileAt(at.Row, s.Iteration()))
					}
				}
			}
		}),
		dsl.OnWarp(1, "multiply", func() {
			for at := range tiles.Each() {
				acc.Fill(func(d *dsl.AccumulatorStage) {
					for s := range stage.Consume(steps) {
						scales := s.Tile(sfb)
						if t.N%128 != 0 {
							scales = scales.ScaleHalf(at.Col)
						}
						if f.Sparse {
							d.SparseScaledMMA(f.Scale, s.Tile(a), s.Tile(e), s.Tile(b), s.Tile(sfa), scales)
						} else {
							d.ScaledMMA(f.Scale, s.Tile(a), s.Tile(b), s.Tile(sfa), scales)
						}
					}
				})
			}
		}),
		dsl.OnWarpgroup(1, "write", func() {
			for at := range tiles.Each() {
				acc.Drain(func(d *dsl.AccumulatorStage) {
					write.tile(d, at, rows, cols)
				})
			}
			write.out.Wait()
		}),
	)
	k.Roles(roles...)
}
