// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl_test

import (
	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

// wrongTensors are mistakes with MMA operands that threads write, gather or hold in registers, and
// with operands that do not fit.
var wrongTensors = []wrongKernel{
	// elements of another type with the same width
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) {
		half := k.SharedTile("half",
			dsl.Tile{Type: isa.F16, Rows: 64, Cols: 64, Swizzle: dsl.Swizzle128})
		w := dsl.NewWarpTile[dsl.F32](k, dsl.MMAFor(isa.F16, isa.F32), 16, 64)
		brain := dsl.NewWarpTile[dsl.F32](k, dsl.MMAFor(isa.Bf16, isa.F32), 16, 64)
		w.MMAFragments(w.ToFragments(isa.Bf16), half, k.U32(0))    // want `D401: operands of MMAFragments, \.bf16 and 64x64 \.f16 with a swizzle of 128 bytes, do not match shape m16n8k16 of \.f16: the element types differ`
		brain.MMAFragments(w.ToFragments(isa.F16), half, k.U32(0)) // want `D401: operands of MMAFragments, \.f16 and 64x64 \.f16 with a swizzle of 128 bytes, do not match shape m16n8k16 of \.bf16: the element types differ`
	}},
	{"sm_90a", func(_ *dsl.Module, k *dsl.Kernel) { // parts of transposed tiles
		t := k.SharedTile("t",
			dsl.Tile{Type: isa.Bf16, Rows: 64, Cols: 128, Swizzle: dsl.Swizzle128})
		t.Transposed().Part(k.U32(0), 4) // want `D401: 64x128 \.bf16 with a swizzle of 128 bytes, transposed is split into 4 parts, expected a multiple of the swizzle width in each`
		t.Transposed().Part(k.U32(2), 2) // want `D401: part 2 is out of bounds: the tile has 2 parts`
	}},
	{"sm_90a", func(_ *dsl.Module, k *dsl.Kernel) { // A operands that the kernel computes
		acc := k.Accumulator(64, 64, isa.F32)
		none := func(int, int) []dsl.Reg[dsl.B32] { return nil }
		acc.AFragmentsFunc(isa.F32, 64, none)                                                                     // want `D401: A operand in registers has 64 columns of \.f32, expected a multiple of 16 columns of \.f16 or \.bf16`
		acc.AFragmentsFunc(isa.F16, 24, none)                                                                     // want `D401: A operand in registers has 24 columns of \.f16, expected a multiple of 16 columns of \.f16 or \.bf16`
		acc.AFragmentsFunc(isa.F16, 16, none)                                                                     // want `D401: A operand has 0 registers for one MMA, expected 4`
		acc.AFragmentsFunc(isa.F16, 16, nil)                                                                      // want `D205: AFragmentsFunc is called with a nil function`
		acc.AFragmentsFunc(isa.F16, 16, func(int, int) []dsl.Reg[dsl.B32] { return make([]dsl.Reg[dsl.B32], 4) }) // want `D201: register 0 of the A operand of one MMA is a zero value, not created by a builder call`
		w := dsl.NewWarpTile[dsl.F32](k, dsl.MMAFor(isa.F16, isa.F32), 16, 16)
		w.AFragmentsFunc(8, none) // want `D401: A operand has 8 columns for shape m16n8k16, expected a multiple of 16`
	}},
	{"sm_90a", func(_ *dsl.Module, k *dsl.Kernel) { // sparse MMAs of wgmma
		x := k.SharedTile("x", dsl.Tile{Type: isa.F16, Rows: 64, Cols: 64, Swizzle: dsl.Swizzle128})
		wide := k.SharedTile("wide",
			dsl.Tile{Type: isa.F16, Rows: 64, Cols: 128, Swizzle: dsl.Swizzle128})
		acc := k.Accumulator(64, 64, isa.F32)
		sparsity := func(int, int) u32 { return k.U32(0) }
		acc.SparseMMA(x, x, sparsity)                                                                // want `D401: operands of SparseMMA, 64x64 \.f16 with a swizzle of 128 bytes and 64x64 \.f16 with a swizzle of 128 bytes, have the wrong widths: A must have half as many columns as B, and a multiple of 16`
		acc.SparseMMA(x, wide, sparsity)                                                             // want `D501: SparseMMA reads tiles that belong to no pipeline stage: nothing waits for the MMA before they are overwritten`
		acc.SparseMMA(x, wide, nil)                                                                  // want `D205: SparseMMA is called with a nil function`
		acc.SparseMMA(x, k.SharedTile("o", dsl.Tile{Type: isa.Bf16, Rows: 64, Cols: 128}), sparsity) // want `D401: operands of SparseMMA, 64x64 \.f16 .* and 64x128 \.bf16, have different element types`
		k.Accumulator(64, 128, isa.F32).SparseMMA(x, wide, sparsity)                                 // want `D401: operands of SparseMMA, 64x64 \.f16 with a swizzle of 128 bytes and 64x128 \.f16 with a swizzle of 128 bytes, do not fit an accumulator of 64x128, expected tiles of 64 and 128 rows`
	}},
	{"sm_100a", func(_ *dsl.Module, k *dsl.Kernel) { // tiles that threads write
		a := k.TensorMap("a", isa.Bf16, dsl.Box{Rows: 128, Cols: 64}, dsl.Swizzle128)
		w := k.ComputedTile("w", a.Tile())
		k.ComputedTile("v", dsl.Tile{Type: isa.Bf16}) // want `D401: tile has the size 0x0, expected at least one row and one column, and an element type other than \.pred`
		k.Pipeline("both", 2, w.Feed(), a.Feed())     // want `D501: pipeline both mixes computed tiles and copied tiles; use a separate pipeline for each kind`
		w.Tile(nil)                                   // want `D201: stage of computed tile w is a zero value, not created by a builder call`
		p, q := k.Pipeline("p", 2, w.Feed()), k.Pipeline("q", 2, a.Feed())
		k.Roles(
			dsl.OnWarpgroup(1, "write", func() {
				for range p.Produce(k.U32(4)) { // want `D501: body of Produce does not write w: the stage would never become full`
				}
				for s := range q.Consume(k.U32(4)) {
					w.Tile(s) // want `D501: pipeline q has no feed of w`
					s.Tile(a) // written by the other role
				}
			}),
			dsl.OnWarp(0, "load", func() {
				for s := range q.Produce(k.U32(4)) {
					s.Load(a, dsl.TileAt(k.U32(0), s.Iteration()))
				}
				for s := range p.Consume(k.U32(4)) {
					w.Tile(s)
				}
			}),
		)
	}},
	{"sm_100a", func(_ *dsl.Module, k *dsl.Kernel) { // gathered rows
		a, b := k.RowTensor("a", isa.Bf16, 64, dsl.Swizzle128),
			k.Tensor("b", isa.Bf16, []int{8, 64}, dsl.Swizzle128)
		b.GatherFeed(8)   // want `D401: tensor b is copied in boxes; declare it with RowTensor to gather rows`
		a.GatherFeed(6)   // want `D401: feed has 6 gathered rows, expected a multiple of 4 up to 128`
		a.GatherFeed(256) // want `D401: feed has 256 gathered rows, expected a multiple of 4 up to 128`
		a.GatherFeed(64)  // want `D401: tensor a already has a feed of 4 gathered rows, got 64`
		p := k.Pipeline("p", 2, b.Feed())
		k.Roles(dsl.OnWarp(0, "load", func() {
			for s := range p.Produce(k.U32(4)) {
				a.GatherStage(s, [4]u32{}, k.U32(0)) // want `D501: pipeline p has no feed of a`
				b.GatherStage(s, [4]u32{}, k.U32(0)) // want `D501: no pipeline gathers rows of tensor b; create a feed with GatherFeed`
				b.LoadStage(s, k.U32(0), k.U32(0))
			}
		}), dsl.OnWarp(1, "read", func() {
			for s := range p.Consume(k.U32(4)) {
				b.InStage(s)
			}
		}))
	}},
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) { // cp.async copies of single threads
		x, to := dsl.Global[dsl.F16](k, "x"), dsl.Shared[dsl.F16](k, "to", 64)
		x.CopyAsync(to, 16)                                                  // want `D301: CopyAsync copies 32 bytes, expected 4, 8 or 16`
		to.CopyAsync(to, 8)                                                  // want `D301: CopyAsync copies from \.shared memory to \.shared memory, expected global to shared memory`
		x.CopyAsync(dsl.Array[dsl.F16]{}, 8)                                 // want `D201: destination of CopyAsync is a zero value, not created by a builder call`
		x.CopyAsync(to.AtI(60), 8)                                           // want `D301: out of bounds: the call accesses 16 bytes at byte 120 of to, which has 128`
		x.ReduceVec("add", k.U32(0), []dsl.Reg[dsl.F16]{k.F16(1), k.F16(2)}) // want `D102: sm_80 does not support vector atomics, which need sm_90; use pairs: dsl\.As\[dsl\.F16x2\]`
		k.CommitCopies()
		k.WaitCopies(0)
		k.Sync()
	}},
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) {
		dsl.Global[dsl.F16](k, "x").At(k.TID().X).CopyAsync(dsl.Shared[dsl.F16](k, "to", 64), 8) // want `D301: misaligned vector access: thread 1 accesses byte 2 of x with 16 bytes, expected a multiple of 16; the index counts elements and must be a multiple of the vector length`
		k.CommitCopies()
		k.WaitCopies(0)
	}},
	{"sm_90a", func(_ *dsl.Module, k *dsl.Kernel) {
		k.Barrier("b", 1).ArriveAfterMMA() // want `D501: ArriveAfterMMA is called in a kernel without tcgen05 MMAs; for wgmma use Accumulator\.Wait`
	}},
	// an invalid read still returns the requested number of values
	{"sm_100a", func(_ *dsl.Module, k *dsl.Kernel) {
		f := k.TMEMOperand("f", isa.F16, 64, 1)
		acc, a := k.TMEM("acc", 128, 64, 1),
			k.TensorMap("a", isa.F16, dsl.Box{Rows: 64, Cols: 64}, dsl.Swizzle128)
		p := k.Pipeline("p", 2, a.Feed())
		k.Roles(
			dsl.OnWarp(0, "load", func() {
				for s := range p.Produce(k.U32(1)) {
					s.Load(a, dsl.TileAt(k.U32(0), k.U32(0)))
				}
			}),
			dsl.OnWarp(1, "multiply", func() {
				for s := range p.Consume(k.U32(1)) {
					f.Drain(func(w *dsl.TMEMOperandStage) {
						acc.Fill(func(d *dsl.AccumulatorStage) { d.MMAFromTMEM(w, s.Tile(a)) })
					})
				}
			}),
			dsl.OnWarpgroup(1, "write", func() {
				f.Fill(func(s *dsl.TMEMOperandStage) { // want `D501: Fill does not write columns 32 to 63 of TMEMOperand f: the MMA would read stale data`
					x := make([]f32, 32)
					for i := range x {
						x[i] = k.F32(1)
					}
					s.Store(0, x)
				})
				acc.Drain(func(d *dsl.AccumulatorStage) {
					x := d.Load(48, 32) // want `D401: columns 48 to 79 are read from an accumulator with 64 columns; the number of columns must be a power of two up to 128`
					x[31].Add(x[0])
				})
			}),
		)
	}},
	{"sm_100a", func(_ *dsl.Module, k *dsl.Kernel) { // one mistake is reported once
		k.Module().Kernel("other")
		pair := k.Module().Kernel("pair", dsl.Threads(256), dsl.Cluster(2))
		pair.CTAPair()
		a, b := pair.TensorMap("a", isa.F16, dsl.Box{Rows: 128, Cols: 64}, dsl.Swizzle128),
			pair.TensorMap("b", isa.F16, dsl.Box{Rows: 128, Cols: 64}, dsl.Swizzle128)
		p, acc := pair.Pipeline("p", 2, a.Feed(), b.Feed()), pair.TMEM("acc", 256, 128, 1)
		pair.Roles(
			dsl.OnWarp(0, "load", func() {
				for s := range p.Produce(pair.U32(1)) {
					s.Load(a, dsl.TileAt(pair.U32(0), pair.U32(0)))
					s.Load(b, dsl.TileAt(pair.U32(0), pair.U32(0)))
				}
			}),
			dsl.OnWarp(1, "multiply", func() {
				acc.Fill(func(d *dsl.AccumulatorStage) {
					for s := range p.Consume(pair.U32(1)) {
						d.MMA(s.Tile(a), s.Tile(b)) // want `D401: operands of MMA, 128x64 \.f16 with a swizzle of 128 bytes and 128x64 \.f16 with a swizzle of 128 bytes, do not fit an accumulator of 256x128, expected tiles of 128 and 64 rows`
					}
				})
			}),
			dsl.OnWarpgroup(1, "write",
				func() { acc.Drain(func(d *dsl.AccumulatorStage) { d.Load(0, 128) }) }),
		)
	}},
	// Positions outside of tiles.
	{"sm_90a", func(_ *dsl.Module, k *dsl.Kernel) {
		n, zero := dsl.Param[dsl.U32](k, "n"), k.U32(0)
		x := k.SharedTile("x",
			dsl.Tile{Type: isa.F16, Rows: 128, Cols: 64, Swizzle: dsl.Swizzle128})
		two := k.SharedTiles("two", x.Tile, 2)
		w := dsl.NewWarpTile[dsl.F32](k, dsl.MMAFor(isa.F16, isa.F32), 32, 32)
		warp, t := k.WarpIndex(), k.TID().X
		for i := range k.Range(zero, n) {
			w.MMA(x, warp.MulI(32), x, zero)                           // want `D401: out of bounds: warp 4 accesses rows 128 to 159 of 128x64 \.f16 with a swizzle of 128 bytes, which has 128`
			w.MMA(x, warp.AndI(3).MulI(32), x, warp.MulI(16))          // want `D401: out of bounds: warp 7 accesses rows 112 to 143 of 128x64 \.f16 with a swizzle of 128 bytes, which has 128`
			w.MMA(x.Transposed(), zero, x.Transposed(), i)             // an unknown row
			w.MMA(x.Part(warp, 4), zero, x, zero)                      // want `D401: out of bounds: warp 4 accesses part 4 of 4, of 128x64 \.f16 with a swizzle of 128 bytes`
			w.MMAFragments(w.LoadFragments(x, warp.MulI(32)), x, zero) // want `D401: out of bounds: warp 4 accesses rows 128 to 159 of 128x64 \.f16 with a swizzle of 128 bytes, which has 128`
			k.If(warp.LTI(4), func() { w.LoadFragments(x, warp.MulI(32)) })
			k.If(i.AddI(1).LT(n), func() {
				dsl.Element[dsl.F16](two.At(i.AddI(2)), t.ShrI(1), zero).StoreFirst(k.F16(0)) // want `D301: out of bounds: thread 0 accesses byte 32768 of two, which has 32768; an index counts elements, and If can exclude threads|D401: out of bounds: warp 0 accesses tile 2 of 2, of 128x64 \.f16 with a swizzle of 128 bytes`
			})
			dsl.Element[dsl.F16](x, t, zero).LoadFirst()         // want `D301: out of bounds: thread 128 accesses byte 16384 of x, which has 16384; an index counts elements, and If can exclude threads|D401: out of bounds: thread 128 accesses row 128 of 128x64 \.f16 with a swizzle of 128 bytes, which has 128`
			dsl.Element[dsl.F16](x, zero, t.ShrI(1)).LoadFirst() // want `D401: out of bounds: thread 128 accesses column 64 of 128x64 \.f16 with a swizzle of 128 bytes, which has 64`
		}
		// the launch may keep it within the tile
		for row := range k.RangeStep(warp.MulI(32), n, k.U32(256)) {
			w.LoadFragments(x, row)
		}
	}},
	// Shared memory that is read and never written.
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) {
		y, t := dsl.Global[dsl.F32](k, "y"), k.TID().X
		unset, set, seen := dsl.Shared[dsl.F32](k, "unset", 256),
			dsl.Shared[dsl.F32](k, "set", 256), dsl.Shared[dsl.F32](k, "seen", 256)
		set.Store(t, k.F32(1))
		k.Ins("st.shared.f32", seen.Addr(), k.F32(2))
		k.Sync()
		y.Store(t, set.Load(t).Add(seen.Load(t)))
		y.Store(t, unset.At(t).LoadFirst()) // want `D301: unset` is uninitialized shared memory: the kernel reads it but never writes it
	}},
	// Zero values, named in the message.
	{"sm_100a", func(_ *dsl.Module, k *dsl.Kernel) {
		s, rows := dsl.Shared[dsl.F32](k, "s", 4), k.RowTensor("rows", isa.Bf16, 64, dsl.Swizzle128)
		dsl.Array[dsl.F32]{}.CopyAsync(s, 4)                       // want `D201: array in CopyAsync is a zero value, not created by a builder call`
		k.Semaphore(dsl.Array[dsl.U32]{}, k.U32(0)).Wait(k.U32(1)) // want `D201: array of the semaphore is a zero value, not created by a builder call`
		dsl.SharedTile{}.LoadRow(k.U32(0), 0, 4)                   // want `D201: tile in LoadRow is a zero value, not created by a builder call`
		rows.GatherFeed(-4)                                        // want `D401: feed has -4 gathered rows, expected a multiple of 4 up to 128`
	}},
	// Unknown positions that are not multiples of a vector.
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		x, sum := dsl.Global[dsl.F32](k, "x"),
			dsl.Global[dsl.U32](k, "rows").Load(k.TID().X).MulI(8)
		for range 60 { // there are 2^60 paths through these additions
			sum = sum.Add(sum)
		}
		x.LoadVec(sum.AddI(4), 4)
		x.LoadVec(sum.AddI(7), 2) // want `D301: misaligned vector access: the address in thread 0 is 4 bytes past a multiple of 8, but the access is 8 bytes wide; the index counts elements, so it must be a multiple of the vector length`
	}},
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		x, n := dsl.Global[dsl.F32](k, "x"), dsl.Param[dsl.U32](k, "n")
		row := dsl.Global[dsl.U32](k, "rows").Load(k.TID().X)
		for i := range k.Range(k.U32(0), n) {
			x.LoadVec(row.MulI(256).AddI(4), 4)
			x.LoadVec(row.MulI(256).AddI(6), 4) // want `D301: misaligned vector access: the address in thread 0 is 8 bytes past a multiple of 16, but the access is 16 bytes wide; the index counts elements, so it must be a multiple of the vector length`
			x.LoadVec(i.MadI(8, row.ShlI(2)).AddI(2), 2)
			x.LoadVec(i.MadI(8, row.ShlI(2)).AddI(3), 2) // want `D301: misaligned vector access: the address in thread 0 is 4 bytes past a multiple of 8, but the access is 8 bytes wide; the index counts elements, so it must be a multiple of the vector length`
			x.LoadVec(row.Mul(n).AddI(1), 4)             // n may be a multiple of four
			x.LoadVec(row.MulI(6).AddI(1), 2)            // want `D301: misaligned vector access: the address in thread 0 is 4 bytes past a multiple of 8, but the access is 8 bytes wide; the index counts elements, so it must be a multiple of the vector length`
		}
	}},
}
