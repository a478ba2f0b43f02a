// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl_test

import (
	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

// wrongProtocols are mistakes with matrices, schedules, clusters and dependent launches.
var wrongProtocols = []wrongKernel{
	// Matrices.
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) { k.Matrix("a", isa.E2m3) }},                   // want `D205: matrix has elements of \.e2m3, expected 1, 2, 4, 8, 16, 32 or 64 bits`
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) { k.Matrix("a", isa.F32).RowsFrom(k.U32(0)) }}, // want `D401: RowsFrom is called on matrix a, which has no size; use Sized`
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) {
		t := k.SharedTile("t", dsl.Tile{Type: isa.F16, Rows: 64, Cols: 64, Swizzle: dsl.Swizzle128})
		k.Matrix("a", isa.F16).CopyAsync(t, k.U32(0)) // want `D401: CopyAsync is called on matrix a, which has no size; use Sized`
	}},
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) {
		t := k.SharedTile("t", dsl.Tile{Type: isa.F16, Rows: 64, Cols: 64, Swizzle: dsl.Swizzle128})
		k.Matrix("a", isa.F32).Sized(k.U32(64), k.U32(64)).CopyAsync(t, k.U32(0)) // want `D401: matrix a of \.f32 is copied into 64x64 \.f16 .*: the element types differ`
	}},
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) {
		t := k.SharedTile("t", dsl.Tile{Type: isa.F16, Rows: 64, Cols: 12})
		k.Matrix("a", isa.F16).Sized(k.U32(64), k.U32(16)).CopyAsync(t, k.U32(0)) // want `D401: CopyAsync copies 64x12 \.f16.*, whose rows have 24 bytes, expected a multiple of 16`
	}},
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) {
		w := dsl.NewWarpTile[dsl.S32](k, dsl.MMAFor(isa.S8, isa.S32), 16, 16)
		w.Store(k.Matrix("d", isa.F32).Sized(k.U32(64), k.U32(64)), k.U32(0), k.U32(0)) // want `D401: accumulator of \.s32 is stored to matrix d of \.f32`
	}},
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) {
		w := dsl.NewWarpTile[dsl.F32](k, dsl.MMAFor(isa.F16, isa.F32), 16, 16)
		w.Origin(k.WarpIndex(), 0) // want `D401: number of warps along the columns is 0, expected a positive number`
	}},
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) { k.BlockTile(k.U32(4), k.U32(4), 0) }},      // want `D501: schedule has groups of 0 rows of tiles, expected a positive number`
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) { k.Barrier("b", 1).WaitCluster(k.U32(0)) }}, // want `D102: sm_80 does not support clusters, which need sm_90; for arrivals of this block use Wait`
	// Padded elements.
	{"sm_100a", func(_ *dsl.Module, k *dsl.Kernel) {
		k.TensorMap("a", isa.E4m3, dsl.Box{Rows: 64, Cols: 128, Padded: true}, dsl.Swizzle128) // want `D401: tensor map a: 64x128 \.e4m3, padded, with a swizzle of 128 bytes: only elements of 4 and 6 bits can be padded`
	}},
	{"sm_100a", func(_ *dsl.Module, k *dsl.Kernel) {
		k.TensorMap("a", isa.E2m3, dsl.Box{Rows: 64, Cols: 64}, dsl.Swizzle64) // want `D401: tensor map a: 64x64 \.e2m3 with a swizzle of 64 bytes: a copy of padded elements has rows of 128 elements, and a swizzle of 128 bytes or none`
	}},
	{"sm_100a", func(_ *dsl.Module, k *dsl.Kernel) {
		a := k.TensorMap("a", isa.E4m3, dsl.Box{Rows: 128, Cols: 128}, dsl.Swizzle128)
		b := k.TensorMap("b", isa.E2m1, dsl.Box{Rows: 128, Cols: 128}, dsl.Swizzle64)
		sfa, sfb := k.ScaleMap("sfa", dsl.MXFP8, 128, 128), k.ScaleMap("sfb", dsl.MXFP8, 128, 128)
		p := k.Pipeline("p", 2, a.Feed(), b.Feed(), sfa.Feed(), sfb.Feed())
		acc := k.TMEM("acc", 128, 128, 1).Scales(dsl.MXFP8, 128)
		k.Roles(dsl.OnWarp(1, "multiply", func() {
			acc.Fill(func(d *dsl.AccumulatorStage) {
				for s := range p.Consume(k.U32(1)) {
					d.ScaledMMA(dsl.MXFP8, s.Tile(a), s.Tile(b), s.Tile(sfa), s.Tile(sfb)) // want `D401: tcgen05 has no block-scaled MMA of 128x128 \.e4m3 with a swizzle of 128 bytes and 128x128 \.e2m1 with a swizzle of 64 bytes with a \.ue8m0 per 32 elements; if the other operand has 6-bit or 8-bit elements, 4-bit elements must be padded`
				}
			})
		}))
	}},
	// Tiles assigned by the hardware.
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { k.DynamicSchedule(k.U32(4), k.U32(4), 8) }},  // want `D102: sm_90 does not support cluster launch control, which needs sm_100; use Persistent`
	{"sm_100", func(_ *dsl.Module, k *dsl.Kernel) { k.DynamicSchedule(k.U32(4), k.U32(4), 0) }}, // want `D501: schedule has groups of 0 rows of tiles, expected a positive number`
	{"sm_100", func(_ *dsl.Module, k *dsl.Kernel) {
		tiles := k.DynamicSchedule(k.U32(4), k.U32(4), 1)
		tiles.RunScheduler() // want `D501: RunScheduler is called outside of a role; it needs a role of one warp that does nothing else`
		k.Roles(dsl.OnWarps(0, 8, "work", func(u32) {
			for range tiles.Each() { // want `D206: Go break or return leaves the body of Each, which is built only once`
				break
			}
		}))
	}},
	{"sm_100", func(_ *dsl.Module, k *dsl.Kernel) {
		tiles := k.DynamicSchedule(k.U32(4), k.U32(4), 1) // want `D501: deadlock: no thread arrives at tiles empty; no role consumes the stages that another produces`
		k.Roles(dsl.OnWarp(0, "deal", tiles.RunScheduler))
	}},
	// Clusters, and dependent kernels.
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		dsl.Shared[dsl.F32](k, "x", 1).InBlock(k.U32(0)).LoadFirst() // want `D501: InBlock needs a cluster`
	}},
	{"sm_90", func(m *dsl.Module, _ *dsl.Kernel) {
		k := m.Kernel("clustered", dsl.Threads(128), dsl.Cluster(2))
		dsl.Global[dsl.F32](k, "x").InBlock(k.U32(0)) // want `D301: InBlock is called on an address in \.global memory, expected shared memory`
	}},
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		d := k.TensorMap("d", isa.F32, dsl.Box{Rows: 64, Cols: 32}, dsl.Swizzle128)
		d.Reduce("mul", k.SharedTile("t", d.Tile()), k.U32(0), k.U32(0)) // want `F203: cp\.reduce\.async\.bulk\.tensor has no modifier \.mul`
	}},
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		d := k.TensorMap("d", isa.F32, dsl.Box{Rows: 64, Cols: 32}, dsl.Swizzle128)
		t := k.SharedTile("t", dsl.Tile{Type: isa.F32, Rows: 64, Cols: 16, Swizzle: dsl.Swizzle64})
		d.Reduce("add", t, k.U32(0), k.U32(0)) // want `D401: tensor map d has tiles of 64x32 \.f32 with a swizzle of 128 bytes, but is stored from 64x16 \.f32 with a swizzle of 64 bytes`
	}},
	// Variables of the module and structs.
	{"sm_90", func(m *dsl.Module, _ *dsl.Kernel) { dsl.ConstantVariable[dsl.U8](m, "t", 1, 300) }},                       // want `D204: 300 is not a valid \.u8`
	{"sm_90", func(m *dsl.Module, _ *dsl.Kernel) { dsl.ConstantVariable[dsl.S32](m, "t", 1.5) }},                         // want `D204: 1\.5 is not a valid \.s32`
	{"sm_90", func(m *dsl.Module, _ *dsl.Kernel) { dsl.ConstantVariable[dsl.F32](m, "t") }},                              // want `D301: t has 0 elements, expected a positive number less than 2\^31`
	{"sm_90", func(m *dsl.Module, _ *dsl.Kernel) { dsl.ConstantVariable[dsl.F64](m, "t", make([]float64, 9000)...) }},    // want `D302: constant memory limit exceeded: wrong declares 72000 bytes, the limit is 65536`
	{"sm_90", func(m *dsl.Module, _ *dsl.Kernel) { dsl.GlobalVariable[dsl.F32](m, "no name", 4) }},                       // want `D103: "no name" is not a valid variable name`
	{"sm_90", func(m *dsl.Module, k *dsl.Kernel) { dsl.ConstantVariable[dsl.F32](m, "t", 1).In(k).StoreI(0, k.F32(1)) }}, // want `D301: store writes \.const memory, which is read-only`
	{"sm_90", func(m *dsl.Module, k *dsl.Kernel) { dsl.ConstantVariable[dsl.F32](m, "t", 1, 2).In(k).LoadI(2) }},         // want `D301: index 2 is out of bounds: the array has 2 elements`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		dsl.ConstantVariable[dsl.F32](dsl.New("other", "sm_90"), "t", 1).In(k) // want `D203: variable t of another module is used in k`
	}},
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { var v dsl.Variable[dsl.F32]; v.In(k) }},      // want `D201: variable is a zero value, not created by a builder call`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { dsl.Struct[int](k, "s") }},                   // want `D205: parameter s has type int, expected a struct whose fields are exported values and arrays of the kernel`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { dsl.Struct[struct{ x f32 }](k, "s") }},       // want `D205: parameter s has an unexported field, x, expected a struct whose fields are exported values and arrays of the kernel`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { dsl.Struct[struct{ X [9000]f32 }](k, "s") }}, // want `D302: parameter s has 36000 bytes, but the parameters of a kernel have at most 32764`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		dsl.PackStochastic[dsl.E2M1x4](k.F32(1), k.F32(2), k.F32(3), k.F32(4), k.U32(1)) // want `F402: \.e2m1x4 of cvt requires`
	}},
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { dsl.Pack[dsl.E2M1x2](k.F32(1), k.F32(2)) }}, // want `F402: \.e2m1x2 of cvt requires`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { k.F16(1).Var().MatchAny() }},                // want `F203: match has no modifier \.b16; expected one of \.b32 \.b64`
	{"sm_90", func(m *dsl.Module, k *dsl.Kernel) {
		m.Kernel("sums")
		dsl.Global[dsl.F32](k, "sums") // want `D103: parameter sums of k has the same name as a function, which can crash ptxas`
	}},
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) {
		var none *dsl.Matrix
		t := k.SharedTile("t", dsl.Tile{Type: isa.F16, Rows: 64, Cols: 64, Swizzle: dsl.Swizzle128})
		none.Sized(k.U32(1), k.U32(1)).RowsFrom(k.U32(0)).ClampRows().CopyAsync(t, k.U32(0))                      // want `D201: matrix in CopyAsync is a zero value, not created by a builder call`
		dsl.NewWarpTile[dsl.F32](k, dsl.MMAFor(isa.F16, isa.F32), 16, 16).Store(none, k.U32(0), k.U32(0))         // want `D201: matrix in Store is a zero value, not created by a builder call`
		dsl.NewWarpTile[dsl.F32](k, dsl.MMAFor(isa.F16, isa.F32), 16, 16).StoreShared(dsl.SharedTile{}, k.U32(0)) // want `D201: tile in StoreShared is a zero value, not created by a builder call`
		dsl.NewWarpTile[dsl.F32](k, dsl.MMAFor(isa.F16, isa.F32), 16, 16).StoreShared(t, k.U32(0))                // want `D401: accumulator of 16x16 \.f32 does not match the shared tile 64x64 \.f16 with a swizzle of 128 bytes`
	}},
}
