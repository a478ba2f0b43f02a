// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl_test

import (
	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

// wrongFeatures are mistakes with scans, copies, tensors of one to five dimensions, and sparse MMAs
// in tensor memory.
var wrongFeatures = []wrongKernel{
	// Scans, and operations of all threads of a block.
	{"sm_90", func(m *dsl.Module, _ *dsl.Kernel) {
		k := m.Kernel("odd", dsl.Threads(40))
		dsl.BlockScan(k.TID().X, "s", func(a, b u32) u32 { return a.Add(b) }) // want `D401: BlockScan needs a block size that is a multiple of 32, declared with Threads; this block has \[40 1 1\] threads`
	}},
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		k.Roles(dsl.OnWarp(0, "sum", func() {
			dsl.BlockReduce(k.TID().X, "s", func(a, b u32) u32 { return a.Add(b) }) // want `D502: deadlock: BlockReduce in role sum waits for all threads of the block`
		}))
	}},
	// Vector atomics, and dynamic shared memory.
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) {
		dsl.Global[dsl.F32](k, "x").ReduceVec("add", k.TID().X, []f32{k.F32(1), k.F32(2)}) // want `D102: sm_80 does not support vector atomics, which need sm_90; use one atomic per element`
	}},
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		dsl.Global[dsl.F32](k, "x").ReduceVec("add", k.TID().X, []f32{k.F32(1), k.F32(2), k.F32(3)}) // want `D301: red is called on a vector of 3 x \.f32, expected 2, 4 or 8 elements and at most 16 bytes`
	}},
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		dsl.Global[dsl.F64](k, "x").AtomicVec("add", k.TID().X, make([]dsl.Reg[dsl.F64], 4)) // want `D301: atom is called on a vector of 4 x \.f64, expected 2, 4 or 8 elements and at most 16 bytes`
	}},
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		dsl.Shared[dsl.F32](k, "x", 64).ReduceVec("add", k.TID().X, []f32{k.F32(1), k.F32(2)}) // want `F20[35]: `
	}},
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		dsl.DynamicShared[dsl.F32](k, "x")
		dsl.DynamicShared[dsl.F32](k, "y") // want `D301: y is the second variable of dynamic size, but both would have the same address`
	}},
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { dsl.DynamicShared[dsl.F32](k, "no name") }}, // want `D103: "no name" is not a valid variable name, or already declared`
	// Bulk copies.
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		x, a, b := dsl.Global[dsl.F32](k, "x"), dsl.Shared[dsl.F32](k, "a", 64), k.Barrier("b", 1)
		x.BulkLoad(a, k.U32(65), b)             // want `D301: BulkLoad copies 65 x \.f32, expected a multiple of 16 bytes`
		x.BulkLoad(a, k.U32(128), b)            // want `D301: BulkLoad copies 128 elements, which is out of bounds: one of the variables is smaller`
		x.BulkLoad(a.AtI(32), k.U32(64), b)     // want `D301: BulkLoad copies 64 elements, which is out of bounds: one of the variables is smaller`
		a.BulkLoad(x, k.U32(64), b)             // want `D301: BulkLoad copies from \.shared to \.global memory, expected \.global to \.shared`
		x.BulkLoad(a, k.U32(64), dsl.Barrier{}) // want `D201: mbarrier of the bulk copy is a zero value, not created by a builder call`
		x.AtI(3).BulkStore(a, k.U32(64))        // want `D301: address in BulkStore is misaligned, expected a multiple of 16 bytes`
		x.BulkReduce("mul", a, k.U32(64))       // want `F203: cp\.reduce\.async\.bulk has no modifier \.mul`
		a.BulkPrefetch(k.U32(64))               // want `D301: BulkPrefetch copies from \.shared to \.shared memory, expected \.global to \.global`
		a.BulkSend(a, k.U32(64), k.U32(0), b)   // want `D501: InBlock needs a cluster`
		var none dsl.Array[dsl.F32]
		none.BulkStore(a, k.U32(64)) // want `D201: array or length in BulkStore is a zero value`
		dsl.ChunkOf(a, 64)           // want `D401: chunk consists of 64 x \.f32 in \.shared memory, expected a multiple of 16 bytes in global memory`
		dsl.ChunkOf(x, 3)            // want `D401: chunk consists of 3 x \.f32 in \.global memory, expected a multiple of 16 bytes in global memory`
	}},
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) {
		dsl.Global[dsl.F32](k, "x").BulkPrefetch(k.U32(64)) // want `D102: sm_80 does not support bulk copies, which need sm_90; use LoadVec and StoreVec, or CopyAsync of tiles`
	}},
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		c := dsl.ChunkOf(dsl.Global[dsl.F32](k, "x"), 512)
		p := k.Pipeline("p", 2, c.Feed())
		k.Roles(dsl.OnWarp(0, "load", func() {
			for s := range p.Produce(k.U32(4)) {
				c.Load(s, s.Iteration())
				c.Load(s, s.Iteration()) // want `D501: array of the chunk is loaded twice into one stage, but the mbarrier of the stage expects its bytes only once`
			}
		}))
	}},
	// Tensors.
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { k.Tensor("x", isa.F32, nil, dsl.NoSwizzle) }},              // want `D401: tensor x: box has 0 dimensions, expected 1 to 5`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { k.Tensor("x", isa.F32, []int{4, 300}, dsl.NoSwizzle) }},    // want `D401: tensor x: box has the size \[4 300\], expected 1 to 256 elements in each dimension`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { k.Tensor("x", isa.F32, []int{4, 4, 5}, dsl.NoSwizzle) }},   // want `D401: tensor x: 16x5 \.f32: the innermost dimension of a box must be a multiple of 16 bytes`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { k.Tensor("x", isa.F32, []int{4, 4, 48}, dsl.Swizzle128) }}, // want `D401: tensor x: 16x48 \.f32 with a swizzle of 128 bytes: a row has 192 bytes, expected a multiple of the swizzle`
	{"sm_100a", func(_ *dsl.Module, k *dsl.Kernel) { k.RowTensor("x", isa.F32, 64, dsl.Swizzle128) }},         // want `D401: tensor x: 1x64 \.f32 with a swizzle of 128 bytes: gathered rows must not be wider than the swizzle`
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) { k.Tensor("x", isa.F32, []int{4, 4, 32}, dsl.Swizzle128) }}, // want `D102: sm_80 does not support tensor maps, which need sm_90; use cp\.async`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { k.Im2col("x", isa.F16, 2, 32, 64, dsl.Swizzle128) }},       // want `D401: tensor x: im2col tensor has 2 dimensions, expected 3 to 5`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { k.Im2col("x", isa.F16, 4, 2000, 64, dsl.Swizzle128) }},     // want `D401: tensor x: im2col box has 64 channels and 2000 pixels, expected 1 to 256 and 1 to 1024`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		x, y := k.Tensor("x", isa.F32, []int{4, 4, 32}, dsl.Swizzle128),
			k.Im2col("y", isa.F32, 4, 16, 32, dsl.Swizzle128)
		a, b, zero := k.SharedTile("a", x.Tile()), k.Barrier("b", 1), k.U32(0)
		x.Load(a, []u32{zero, zero}, b)                                                 // want `D401: tensor x has 3 dimensions, got 2 coordinates`
		x.Load(a, []u32{zero, zero, k.U32(2)}, b)                                       // want `D401: tensor x is copied from a misaligned box: the innermost coordinate is element 2 of \.f32, expected a multiple of 16 bytes`
		x.Load(dsl.SharedTile{}, []u32{zero, zero, zero}, b)                            // want `D201: tensor x is loaded into a tile that is a zero value, not created by a builder call`
		x.Load(a.RowsFrom(0, 8), []u32{zero, zero, zero}, b)                            // want `D401: tensor x has boxes of 16x32 \.f32 with a swizzle of 128 bytes, but is loaded into 8x32 \.f32 with a swizzle of 128 bytes`
		x.LoadIm2col(a, []u32{zero, zero, zero}, nil, b)                                // want `D401: tensor x is loaded with the wrong method; use LoadIm2col for an Im2col tensor, and Load for all others`
		y.Load(a, []u32{zero, zero, zero, zero}, b)                                     // want `D401: tensor y is loaded with the wrong method; use LoadIm2col for an Im2col tensor, and Load for all others`
		y.LoadIm2col(a, []u32{zero, zero, zero, zero}, []dsl.Reg[dsl.U16]{k.U16(1)}, b) // want `D401: tensor y is loaded with 1 im2col offsets, expected 2`
		x.Gather(a, 0, [4]u32{zero, zero, zero, zero}, zero, b)                         // want `D401: tensor x is copied in boxes; declare it with RowTensor to gather rows`
		r := k.RowTensor("r", isa.F32, 32, dsl.Swizzle128)
		r.Gather(a, 2, [4]u32{zero, zero, zero, zero}, zero, b) // want `D401: rows from row 2 of tensor r are gathered into 16x32 \.f32 with a swizzle of 128 bytes, expected a tile with 32 columns of \.f32, and a first row that is a multiple of 4`
		r.Gather(a, 0, [4]u32{zero, zero, zero, zero}, zero, b) // want `F402: `
	}},
	// Elements and fragments of tiles.
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		t := k.SharedTile("t", dsl.Tile{Type: isa.F16, Rows: 64, Cols: 64, Swizzle: dsl.Swizzle128})
		dsl.Element[dsl.F32](t, k.U32(0), k.U32(0))                                            // want `D401: element of 64x64 \.f16 with a swizzle of 128 bytes is accessed as \.f32, whose size of 32 bits differs`
		dsl.SharedTile{}.StoreMatrices(k.Lane(), k.U32(0), t.LoadMatrices(k.Lane(), k.U32(0))) // want `D201: tile in StoreMatrices is a zero value, not created by a builder call`
	}},
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) {
		t := k.SharedTile("t", dsl.Tile{Type: isa.F16, Rows: 64, Cols: 64, Swizzle: dsl.Swizzle128})
		t.StoreMatrices(k.Lane(), k.U32(0), t.LoadMatrices(k.Lane(), k.U32(0))) // want `F402: stmatrix requires PTX 7\.8 on sm_90 or later`
	}},
	// Sparse MMAs.
	{"sm_100a", func(_ *dsl.Module, k *dsl.Kernel) {
		k.SparsityMap("e", k.TensorMap("a", isa.E4m3, dsl.Box{Rows: 64, Cols: 128}, dsl.Swizzle128)) // want `D401: sparsity map e does not fit tiles of 64x128 \.e4m3 with a swizzle of 128 bytes, expected 128 rows of a multiple of 64 bytes`
	}},
	{"sm_100a", func(_ *dsl.Module, k *dsl.Kernel) { k.SparsityMap("e", nil) }}, // want `D201: tensor map of sparsity map e is a zero value, not created by a builder call`
	{"sm_100a", func(_ *dsl.Module, k *dsl.Kernel) {
		acc := k.TMEM("acc", 128, 128, 1)
		acc.Sparsity(nil) // want `D201: tensor map in Sparsity is a zero value, not created by a builder call`
	}},
	sparseScaled(256, true, true, func(d *dsl.AccumulatorStage, t sparseTiles) {
		d.ScaledMMA(dsl.MXFP8, t.x, t.y, t.sx, t.sy) // want `D401: operands of MMA, 128x128 \.e4m3 with a swizzle of 128 bytes and 128x256 \.e4m3 with a swizzle of 128 bytes, have the wrong widths: their rows must have the same length, a multiple of 32 elements`
	}),
	sparseScaled(128, true, true, func(d *dsl.AccumulatorStage, t sparseTiles) {
		d.SparseScaledMMA(dsl.MXFP8.Sparse(), t.x, t.e, t.y, t.sx, t.sy) // want `D401: operands of SparseMMA, 128x128 \.e4m3 with a swizzle of 128 bytes and 128x128 \.e4m3 with a swizzle of 128 bytes, have the wrong widths: A must have half as many columns as B, and a multiple of 32`
	}),
	sparseScaled(256, true, false, func(d *dsl.AccumulatorStage, t sparseTiles) {
		d.SparseMMA(t.x, t.e, t.y) // want `D501: 0 columns of tensor memory are reserved for the sparsity metadata of 128x128 \.e4m3 with a swizzle of 128 bytes, expected 8; call Sparsity when the accumulators are declared`
	}),
	sparseScaled(128, true, true, func(d *dsl.AccumulatorStage, t sparseTiles) {
		d.SparseMMA(t.x, t.e, t.y) // want `D401: operands of SparseMMA, 128x128 \.e4m3 with a swizzle of 128 bytes and 128x128 \.e4m3 with a swizzle of 128 bytes, have the wrong widths: A must have half as many columns as B, and a multiple of 32`
		half := t.x
		half.Type = isa.F16
		d.SparseMMA(half, t.e, half)           // want `D401: operands of SparseMMA, 128x128 \.f16 with a swizzle of 128 bytes and 128x128 \.f16 with a swizzle of 128 bytes, have the wrong widths: A must have half as many columns as B, and a multiple of 16`
		dsl.LoadAccumulator[dsl.F64](d, 0, 32) // want `D401: accumulator in tensor memory is read as \.f64, expected a 32-bit type`
	}),
	sparseScaled(256, true, true, func(d *dsl.AccumulatorStage, t sparseTiles) {
		d.SparseScaledMMA(dsl.MXFP8, t.x, t.e, t.y, t.sx, t.sy) // want `D401: tcgen05 has no block-scaled MMA of 128x128 \.e4m3 with a swizzle of 128 bytes and 128x256 \.e4m3 with a swizzle of 128 bytes with a \.ue8m0 per 32 elements; if the other operand has 6-bit or 8-bit elements, 4-bit elements must be padded`
	}),
	sparseScaled(256, true, true, func(d *dsl.AccumulatorStage, t sparseTiles) {
		d.SparseScaledMMA(dsl.MXFP8.Sparse(), t.x, t.y, t.y, t.sx, t.sy) // want `D401: sparsity metadata of 128x128 \.e4m3 with a swizzle of 128 bytes is in 128x256 \.e4m3 with a swizzle of 128 bytes, expected a tile of its SparsityMap`
	}),
	sparseScaled(256, true, true, func(d *dsl.AccumulatorStage, t sparseTiles) {
		d.SparseScaledMMA(dsl.MXFP8.Sparse(), t.x, t.e, t.y, t.e, t.sy) // want `D401: scale factors 1x512 \.u64 do not fit tiles of depth 256, expected a ScaleMap of 128 rows and that depth`
	}),
	sparseScaled(256, true, false, func(d *dsl.AccumulatorStage, t sparseTiles) {
		d.SparseScaledMMA(dsl.MXFP8.Sparse(), t.x, t.e, t.y, t.sx, t.sy) // want `D501: 0 columns of tensor memory are reserved for the sparsity metadata of 128x128 \.e4m3 with a swizzle of 128 bytes, expected 8; call Sparsity when the accumulators are declared`
	}),
	sparseScaled(256, false, true, func(d *dsl.AccumulatorStage, t sparseTiles) {
		d.SparseScaledMMA(dsl.MXFP8.Sparse(), t.x, t.e, t.y, t.sx, t.sy) // want `D501: no tensor memory is reserved for scale factors; call Scales when the accumulators are declared`
	}),
	// CTA pairs.
	pairs(func(k *dsl.Kernel, a *dsl.TensorMap) {
		p := k.Pipeline("p", 2, a.Feed())
		k.Roles(
			dsl.OnWarp(0, "load", func() {
				for s := range p.Produce(k.U32(1)) {
					s.Load(a, dsl.TileAt(k.U32(0), s.Iteration()))
				}
			}),
			dsl.OnWarp(1, "read", func() {
				for range p.Consume(k.U32(1)) { // want `D501: deadlock: a CTA pair shares pipeline p, but threads read it, and those of the odd block would wait forever; use PerBlock`
				}
			}),
		)
	}),
	pairs(func(k *dsl.Kernel, a *dsl.TensorMap) {
		k.TMEM("acc", 128, 64, 1) // want `D401: accumulator in tensor memory has 128 rows, expected 64 or 128, or 256 for a CTA pair \(CTAPair\)`
	}),
	pairs(func(k *dsl.Kernel, a *dsl.TensorMap) {
		k.TMEMOperand("f", isa.Bf16, 64, 1) // want `D501: deadlock: no thread arrives at f empty; no role consumes the stages that another produces`
	}),
	// Operands in tensor memory.
	{"sm_100a", func(_ *dsl.Module, k *dsl.Kernel) {
		f := k.TMEMOperand("f", isa.F32, 8, 1) // want `D401: TMEMOperand f has 8 columns, expected rows of a multiple of 32 bytes`
		k.Roles(dsl.OnWarpgroup(1, "write", func() {
			f.Fill(func(s *dsl.TMEMOperandStage) {
				s.Store(1, []dsl.Reg[dsl.F32]{k.F32(0), k.F32(0)}) // want `D401: columns 1 to 2 are stored to a TMEMOperand with 32 columns of \.bf16; they must fill a power of two of registers with 2 elements each`
			})
		}), dsl.OnWarp(1, "multiply", func() {
			f.Drain(func(s *dsl.TMEMOperandStage) {
				s.Store(0, []dsl.Reg[dsl.F32]{k.F32(0), k.F32(0)}) // want `D501: Store writes TMEMOperand f while MMAs read it; write the one that Fill provides`
			})
		}))
	}},
}

// pairs builds a kernel of CTA pairs.
func pairs(build func(*dsl.Kernel, *dsl.TensorMap)) wrongKernel {
	return wrongKernel{"sm_100a", func(m *dsl.Module, _ *dsl.Kernel) {
		k := m.Kernel("pairs", dsl.Warpgroups(2), dsl.Cluster(2))
		k.CTAPair()
		build(k, k.TensorMap("a", isa.Bf16, dsl.Box{Rows: 128, Cols: 64}, dsl.Swizzle128))
	}}
}

// sparseTiles are the tiles of a stage: operands of a sparse MMA, its metadata, and its scale
// factors.
type sparseTiles struct{ x, e, y, sx, sy dsl.SharedTile }

// sparseScaled builds a kernel with an MMA of E4M3 tiles, of which B has the given columns, with or
// without tensor memory for scale factors and for metadata.
func sparseScaled(cols int, scales, sparsity bool,
	multiply func(*dsl.AccumulatorStage, sparseTiles)) wrongKernel {
	return wrongKernel{"sm_100a", func(_ *dsl.Module, k *dsl.Kernel) {
		a := k.TensorMap("a", isa.E4m3, dsl.Box{Rows: 128, Cols: 128}, dsl.Swizzle128)
		b := k.TensorMap("b", isa.E4m3, dsl.Box{Rows: 128, Cols: cols}, dsl.Swizzle128)
		sfa, sfb := k.ScaleMap("sfa", dsl.MXFP8.Sparse(), 128, 256),
			k.ScaleMap("sfb", dsl.MXFP8.Sparse(), 128, 256)
		e := k.SparsityMap("e", a)
		p := k.Pipeline("p", 2, a.Feed(), b.Feed(), sfa.Feed(), sfb.Feed(), e.Feed())
		acc := k.TMEM("acc", 128, 128, 1)
		if scales {
			acc.Scales(dsl.MXFP8.Sparse(), 256)
		}
		if sparsity {
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
						multiply(d, sparseTiles{s.Tile(a), s.Tile(e), s.Tile(b), s.Tile(sfa),
							s.Tile(sfb)})
					}
				})
			}),
			dsl.OnWarpgroup(1, "write", func() { acc.Drain(func(*dsl.AccumulatorStage) {}) }),
		)
	}}
}
