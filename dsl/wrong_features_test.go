// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl_test

import (
	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

// wrongFeatures are mistakes with scans, copies and tensors of any dimensions, and with sparse products in tensor memory.
var wrongFeatures = []wrongKernel{
	// Scans, and what all threads of a block do.
	{"sm_90", func(m *dsl.Module, _ *dsl.Kernel) {
		k := m.Kernel("odd", dsl.Threads(40))
		dsl.BlockScan(k.TID().X, "s", func(a, b u32) u32 { return a.Add(b) }) // want `D401: BlockScan needs a block of whole warps, told by Threads; this one has \[40 1 1\] threads`
	}},
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		k.Roles(dsl.OnWarp(0, "sum", func() {
			dsl.BlockReduce(k.TID().X, "s", func(a, b u32) u32 { return a.Add(b) }) // want `D502: BlockReduce in role sum: it waits for all threads of the block, and a role has some of them`
		}))
	}},
	// Atomics of vectors, and shared memory of any size.
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) {
		dsl.Global[dsl.F32](k, "x").ReduceVec("add", k.TID().X, []f32{k.F32(1), k.F32(2)}) // want `D102: sm_80 combines no vectors, which came with sm_90; one after the other`
	}},
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		dsl.Global[dsl.F32](k, "x").ReduceVec("add", k.TID().X, []f32{k.F32(1), k.F32(2), k.F32(3)}) // want `D301: red of a vector of 3 times \.f32; 2, 4 or 8 of at most 16 bytes are expected`
	}},
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		dsl.Global[dsl.F64](k, "x").AtomicVec("add", k.TID().X, make([]dsl.Reg[dsl.F64], 4)) // want `D301: atom of a vector of 4 times \.f64; 2, 4 or 8 of at most 16 bytes are expected`
	}},
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		dsl.Shared[dsl.F32](k, "x", 64).ReduceVec("add", k.TID().X, []f32{k.F32(1), k.F32(2)}) // want `F20[35]: `
	}},
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		dsl.DynamicShared[dsl.F32](k, "x")
		dsl.DynamicShared[dsl.F32](k, "y") // want `D301: y is the second variable whose size the launch gives; all of them would begin at one address`
	}},
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { dsl.DynamicShared[dsl.F32](k, "no name") }}, // want `D103: "no name" is no name for a variable, or taken`
	// Bulk copies.
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		x, a, b := dsl.Global[dsl.F32](k, "x"), dsl.Shared[dsl.F32](k, "a", 64), k.Barrier("b", 1)
		x.BulkLoad(a, k.U32(65), b)             // want `D301: BulkLoad of 65 times \.f32; a multiple of 16 bytes is expected`
		x.BulkLoad(a, k.U32(128), b)            // want `D301: BulkLoad of 128 numbers; one of the variables has fewer`
		x.BulkLoad(a.AtI(32), k.U32(64), b)     // want `D301: BulkLoad of 64 numbers; one of the variables has fewer`
		a.BulkLoad(x, k.U32(64), b)             // want `D301: BulkLoad of memory in \.shared and \.global; \.global and \.shared are expected`
		x.BulkLoad(a, k.U32(64), dsl.Barrier{}) // want `D201: a bulk copy that tells a barrier that no builder call made`
		x.AtI(3).BulkStore(a, k.U32(64))        // want `D301: BulkStore between addresses of which one is no multiple of 16`
		x.BulkReduce("mul", a, k.U32(64))       // want `F203: cp\.reduce\.async\.bulk has no modifier \.mul`
		a.BulkPrefetch(k.U32(64))               // want `D301: BulkPrefetch of memory in \.shared and \.shared; \.global and \.global are expected`
		a.BulkSend(a, k.U32(64), k.U32(0), b)   // want `D501: shared memory of another block, in a kernel without Cluster`
		var none dsl.Array[dsl.F32]
		none.BulkStore(a, k.U32(64)) // want `D201: BulkStore of an array or a number that no builder call made`
		dsl.ChunkOf(a, 64)           // want `D401: chunks of 64 times \.f32 in \.shared; a multiple of 16 bytes of global memory is expected`
		dsl.ChunkOf(x, 3)            // want `D401: chunks of 3 times \.f32 in \.global; a multiple of 16 bytes of global memory is expected`
	}},
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) {
		dsl.Global[dsl.F32](k, "x").BulkPrefetch(k.U32(64)) // want `D102: sm_80 has no bulk copies, which came with sm_90; LoadVec and StoreVec, and CopyAsync of tiles, work before it`
	}},
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		c := dsl.ChunkOf(dsl.Global[dsl.F32](k, "x"), 512)
		p := k.Pipeline("p", 2, c.Feed())
		k.Roles(dsl.OnWarp(0, "load", func() {
			for s := range p.Produce(k.U32(4)) {
				c.Load(s, s.Iteration())
				c.Load(s, s.Iteration()) // want `D501: a chunk is loaded twice in one stage: its bytes were expected once`
			}
		}))
	}},
	// Tensors.
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { k.Tensor("x", isa.F32, nil, dsl.NoSwizzle) }},              // want `D401: tensor x: a box of 0 dimensions; 1 to 5 are expected`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { k.Tensor("x", isa.F32, []int{4, 300}, dsl.NoSwizzle) }},    // want `D401: tensor x: a box of \[4 300\]: along each dimension there are 1 to 256 elements`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { k.Tensor("x", isa.F32, []int{4, 4, 5}, dsl.NoSwizzle) }},   // want `D401: tensor x: 16x5 \.f32: the innermost dimension of a box has a multiple of 16 bytes`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { k.Tensor("x", isa.F32, []int{4, 4, 48}, dsl.Swizzle128) }}, // want `D401: tensor x: 16x48 \.f32 with a swizzle of 128 bytes: a row of 192 bytes is no multiple of the swizzle`
	{"sm_100a", func(_ *dsl.Module, k *dsl.Kernel) { k.RowTensor("x", isa.F32, 64, dsl.Swizzle128) }},         // want `D401: tensor x: 1x64 \.f32 with a swizzle of 128 bytes: rows that are gathered are no wider than the swizzle`
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) { k.Tensor("x", isa.F32, []int{4, 4, 32}, dsl.Swizzle128) }}, // want `D102: sm_80 has no tensor maps; they came with sm_90|F402: `
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { k.Im2col("x", isa.F16, 2, 32, 64, dsl.Swizzle128) }},       // want `D401: tensor x: images of 2 dimensions; 3 to 5 are expected`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { k.Im2col("x", isa.F16, 4, 2000, 64, dsl.Swizzle128) }},     // want `D401: tensor x: 64 channels of 2000 pixels; 1 to 256 and 1 to 1024 are expected`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		x, y := k.Tensor("x", isa.F32, []int{4, 4, 32}, dsl.Swizzle128), k.Im2col("y", isa.F32, 4, 16, 32, dsl.Swizzle128)
		a, b, zero := k.SharedTile("a", x.Tile()), k.Barrier("b", 1), k.U32(0)
		x.Load(a, []u32{zero, zero}, b)                                                 // want `D401: tensor x has 3 dimensions and 2 coordinates are given`
		x.Load(a, []u32{zero, zero, k.U32(2)}, b)                                       // want `D401: tensor x: a box begins at element 2 of \.f32 along the innermost dimension; a multiple of 16 bytes is expected`
		x.Load(dsl.SharedTile{}, []u32{zero, zero, zero}, b)                            // want `D201: tensor x is loaded into a tile that no builder call made`
		x.Load(a.RowsFrom(0, 8), []u32{zero, zero, zero}, b)                            // want `D401: tensor x has boxes of 16x32 .*; it is loaded into 8x32`
		x.LoadIm2col(a, []u32{zero, zero, zero}, nil, b)                                // want `D401: tensor x: LoadPixels copies what Im2col describes, and Load everything else`
		y.Load(a, []u32{zero, zero, zero, zero}, b)                                     // want `D401: tensor y: LoadPixels copies what Im2col describes, and Load everything else`
		y.LoadIm2col(a, []u32{zero, zero, zero, zero}, []dsl.Reg[dsl.U16]{k.U16(1)}, b) // want `D401: tensor y is loaded with 1 offsets; 2 are expected`
		x.Gather(a, 0, [4]u32{zero, zero, zero, zero}, zero, b)                         // want `D401: tensor x is copied in boxes; Rows makes one whose rows are gathered`
		r := k.RowTensor("r", isa.F32, 32, dsl.Swizzle128)
		r.Gather(a, 2, [4]u32{zero, zero, zero, zero}, zero, b) // want `D401: four rows from 2 on of tensor r are gathered into 16x32 .*; rows of 32 \.f32, from a multiple of 4 on, are expected`
		r.Gather(a, 0, [4]u32{zero, zero, zero, zero}, zero, b) // want `F402: `
	}},
	// Elements and fragments of tiles.
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		t := k.SharedTile("t", dsl.Tile{Type: isa.F16, Rows: 64, Cols: 64, Swizzle: dsl.Swizzle128})
		dsl.Element[dsl.F32](t, k.U32(0), k.U32(0))                                            // want `D401: an element of 64x64 \.f16 .* as a \.f32, which has 32 bits`
		dsl.SharedTile{}.StoreMatrices(k.Lane(), k.U32(0), t.LoadMatrices(k.Lane(), k.U32(0))) // want `D201: PutMatrices into a tile that no builder call made`
	}},
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) {
		t := k.SharedTile("t", dsl.Tile{Type: isa.F16, Rows: 64, Cols: 64, Swizzle: dsl.Swizzle128})
		t.StoreMatrices(k.Lane(), k.U32(0), t.LoadMatrices(k.Lane(), k.U32(0))) // want `F402: stmatrix requires PTX 7\.8 on sm_90 or later`
	}},
	// Sparse products.
	{"sm_100a", func(_ *dsl.Module, k *dsl.Kernel) {
		k.SparsityMap("e", k.TensorMap("a", isa.E4m3, dsl.Box{Rows: 64, Cols: 128}, dsl.Swizzle128)) // want `D401: a sparsity map e for tiles of 64x128 \.e4m3 .*; 128 rows of a multiple of 64 bytes are expected`
	}},
	{"sm_100a", func(_ *dsl.Module, k *dsl.Kernel) { k.SparsityMap("e", nil) }}, // want `D201: a sparsity map e of a tensor map that no builder call made`
	{"sm_100a", func(_ *dsl.Module, k *dsl.Kernel) {
		acc := k.TMEM("acc", 128, 128, 1)
		acc.Sparsity(nil) // want `D201: tensor memory for the zeros of a tensor map that no builder call made`
	}},
	sparseScaled(256, true, true, func(d *dsl.AccumulatorStage, t sparseTiles) {
		d.ScaledMMA(dsl.MXFP8, t.x, t.y, t.sx, t.sy) // want `D401: MMA of 128x128 \.e4m3 .* and 128x256 \.e4m3 .*: rows of one length, a multiple of 32 elements, are expected`
	}),
	sparseScaled(128, true, true, func(d *dsl.AccumulatorStage, t sparseTiles) {
		d.SparseScaledMMA(dsl.MXFP8.Sparse(), t.x, t.e, t.y, t.sx, t.sy) // want `D401: sparse MMA of 128x128 .* and 128x128 .*: half as many columns as the second has are expected of the first, a multiple of 32`
	}),
	sparseScaled(256, true, false, func(d *dsl.AccumulatorStage, t sparseTiles) {
		d.SparseMMA(t.x, t.e, t.y) // want `D501: 0 columns of tensor memory tell the zeros of 128x128 \.e4m3 .*; say Sparsity when the accumulators are made`
	}),
	sparseScaled(128, true, true, func(d *dsl.AccumulatorStage, t sparseTiles) {
		d.SparseMMA(t.x, t.e, t.y) // want `D401: sparse MMA of 128x128 \.e4m3 .*: half as many columns as the second has are expected of the first`
		half := t.x
		half.Type = isa.F16
		d.SparseMMA(half, t.e, half)           // want `D401: sparse MMA of 128x128 \.f16 .*: half as many columns as the second has are expected of the first, a multiple of 16`
		dsl.LoadAccumulator[dsl.F64](d, 0, 32) // want `D401: sums in tensor memory as \.f64; they have 32 bits`
	}),
	sparseScaled(256, true, true, func(d *dsl.AccumulatorStage, t sparseTiles) {
		d.SparseScaledMMA(dsl.MXFP8, t.x, t.e, t.y, t.sx, t.sy) // want `D401: block-scaled MMA of .* with a \.ue8m0 for 32 numbers: tcgen05 has no kind for it`
	}),
	sparseScaled(256, true, true, func(d *dsl.AccumulatorStage, t sparseTiles) {
		d.SparseScaledMMA(dsl.MXFP8.Sparse(), t.x, t.y, t.y, t.sx, t.sy) // want `D401: the zeros of 128x128 \.e4m3 .* are told by 128x256 \.e4m3 .*; a tile of its SparsityMap is expected`
	}),
	sparseScaled(256, true, true, func(d *dsl.AccumulatorStage, t sparseTiles) {
		d.SparseScaledMMA(dsl.MXFP8.Sparse(), t.x, t.e, t.y, t.e, t.sy) // want `D401: scale factors 1x512 \.u64 for tiles 256 deep; a ScaleMap of 128 rows and that depth is expected`
	}),
	sparseScaled(256, true, false, func(d *dsl.AccumulatorStage, t sparseTiles) {
		d.SparseScaledMMA(dsl.MXFP8.Sparse(), t.x, t.e, t.y, t.sx, t.sy) // want `D501: 0 columns of tensor memory tell the zeros of 128x128 .*, which takes 8; say Sparsity when the accumulators are made`
	}),
	sparseScaled(256, false, true, func(d *dsl.AccumulatorStage, t sparseTiles) {
		d.SparseScaledMMA(dsl.MXFP8.Sparse(), t.x, t.e, t.y, t.sx, t.sy) // want `D501: no tensor memory for scale factors; say Scales when the accumulators are made`
	}),
	// Pairs of blocks.
	pairs(func(k *dsl.Kernel, a *dsl.TensorMap) {
		p := k.Pipeline("p", 2, a.Feed())
		k.Roles(
			dsl.OnWarp(0, "load", func() {
				for s := range p.Produce(k.U32(1)) {
					s.Load(a, dsl.TileAt(k.U32(0), s.Iteration()))
				}
			}),
			dsl.OnWarp(1, "read", func() {
				for range p.Consume(k.U32(1)) { // want `D501: pipeline p is filled by both blocks of a pair for the tensor cores, and read by threads.*; PerBlock makes it each block's own`
				}
			}),
		)
	}),
	pairs(func(k *dsl.Kernel, a *dsl.TensorMap) {
		k.TMEM("acc", 128, 64, 1) // want `D401: an accumulator of 128 rows in tensor memory; 64 or 128 are expected, and 256 for a pair`
	}),
	pairs(func(k *dsl.Kernel, a *dsl.TensorMap) {
		k.TMEMOperand("f", isa.Bf16, 64, 1) // want `D501: nothing arrives at f full|D501: nothing arrives at f empty`
	}),
	// Factors in tensor memory.
	{"sm_100a", func(_ *dsl.Module, k *dsl.Kernel) {
		f := k.TMEMOperand("f", isa.F32, 8, 1) // want `D401: factor f of \.f32; \.f16, \.bf16, \.e4m3 or \.e5m2 is expected|D401: factor f of 8 columns; whole steps of 32 bytes are expected`
		k.Roles(dsl.OnWarpgroup(1, "write", func() {
			f.Fill(func(s *dsl.TMEMOperandStage) {
				s.Store(1, []dsl.Reg[dsl.F32]{k.F32(0), k.F32(0)}) // want `D401: columns 1 to 2 of a factor with 32 of \.bf16; a power of two of registers with 2 each is expected`
			})
		}), dsl.OnWarp(1, "multiply", func() {
			f.Drain(func(s *dsl.TMEMOperandStage) {
				s.Store(0, []dsl.Reg[dsl.F32]{k.F32(0), k.F32(0)}) // want `D501: Put into factor f while products read it; Fill gives one to write`
			})
		}))
	}},
}

// pairs is a kernel of pairs of blocks.
func pairs(build func(*dsl.Kernel, *dsl.TensorMap)) wrongKernel {
	return wrongKernel{"sm_100a", func(m *dsl.Module, _ *dsl.Kernel) {
		k := m.Kernel("pairs", dsl.Warpgroups(2), dsl.Cluster(2))
		k.CTAPair()
		build(k, k.TensorMap("a", isa.Bf16, dsl.Box{Rows: 128, Cols: 64}, dsl.Swizzle128))
	}}
}

// sparseTiles are the tiles of a stage: a sparse product, its zeros, and its scale factors.
type sparseTiles struct{ x, e, y, sx, sy dsl.SharedTile }

// sparseScaled is a kernel that multiplies tiles of E4M3, of which the second has so many columns, with tensor memory for scale
// factors and for what tells zeros, or without.
func sparseScaled(cols int, scales, places bool, multiply func(*dsl.AccumulatorStage, sparseTiles)) wrongKernel {
	return wrongKernel{"sm_100a", func(_ *dsl.Module, k *dsl.Kernel) {
		a := k.TensorMap("a", isa.E4m3, dsl.Box{Rows: 128, Cols: 128}, dsl.Swizzle128)
		b := k.TensorMap("b", isa.E4m3, dsl.Box{Rows: 128, Cols: cols}, dsl.Swizzle128)
		sfa, sfb := k.ScaleMap("sfa", dsl.MXFP8.Sparse(), 128, 256), k.ScaleMap("sfb", dsl.MXFP8.Sparse(), 128, 256)
		e := k.SparsityMap("e", a)
		p := k.Pipeline("p", 2, a.Feed(), b.Feed(), sfa.Feed(), sfb.Feed(), e.Feed())
		acc := k.TMEM("acc", 128, 128, 1)
		if scales {
			acc.Scales(dsl.MXFP8.Sparse(), 256)
		}
		if places {
			acc.Sparsity(a)
		}
		k.Roles(
			dsl.OnWarp(0, "load", func() {
				for s := range p.Produce(k.U32(1)) {
					for _, m := range []*dsl.TensorMap{a, b, sfa, sfb, e} {
						s.Load(m, dsl.TileAt(k.U32(0), s.Iteration()))
					}
				}
			}),
			dsl.OnWarp(1, "multiply", func() {
				acc.Fill(func(d *dsl.AccumulatorStage) {
					for s := range p.Consume(k.U32(1)) {
						multiply(d, sparseTiles{s.Tile(a), s.Tile(e), s.Tile(b), s.Tile(sfa), s.Tile(sfb)})
					}
				})
			}),
			dsl.OnWarpgroup(1, "write", func() { acc.Drain(func(*dsl.AccumulatorStage) {}) }),
		)
	}}
}
