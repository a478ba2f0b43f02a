// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl_test

import (
	"testing"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

// doubts are kernels that load or compute data that is never read.
var doubts = []wrongKernel{
	{"sm_100a", func(_ *dsl.Module, k *dsl.Kernel) {
		a, b := k.TensorMap("a", isa.F16, dsl.Box{Rows: 128, Cols: 64}, dsl.Swizzle128),
			k.TensorMap("b", isa.F16, dsl.Box{Rows: 128, Cols: 64}, dsl.Swizzle128)
		p, acc := k.Pipeline("p", 2, a.Feed(), b.Feed()), k.TMEM("acc", 128, 128, 1)
		x := dsl.Global[dsl.F32](k, "x")
		k.Roles(
			dsl.OnWarp(0, "load", func() {
				for s := range p.Produce(k.U32(1)) {
					s.Load(a, dsl.TileAt(k.U32(0), k.U32(0)))
					s.Load(b, dsl.TileAt(k.U32(0), k.U32(0)))
				}
			}),
			dsl.OnWarp(1, "multiply", func() {
				acc.Fill(func(d *dsl.AccumulatorStage) {
					for s := range p.Consume(k.U32(1)) {
						d.MMA(s.Tile(a), s.Tile(a)) // want `D501: pipeline p loads tiles of b, but no consumer uses them; either a consumer reads the wrong tile, or the load is unnecessary`
					}
				})
			}),
			dsl.OnWarpgroup(1, "write", func() {
				acc.Drain(func(d *dsl.AccumulatorStage) {
					for range 4 {
						x.StoreVec(d.Row().ShlI(2), d.Load(32, 4)) // want `D501: columns 0 to 31 of acc are computed but never read`
					}
				})
			}),
		)
	}},
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) {
		m, n := k.Matrix("m", isa.F16), dsl.Param[dsl.U32](k, "n")
		m = m.Sized(n, n)
		t := dsl.Tile{Type: isa.F16, Rows: 64, Cols: 64, Swizzle: dsl.Swizzle128}
		w := dsl.NewWarpTile[dsl.F32](k, dsl.MMAFor(isa.F16, isa.F32), 16, 32)
		row, col := w.Origin(k.WarpIndex(), 2)
		k.AsyncPipeline("ab", 3, t, t).Run(n, func(step u32, s dsl.AsyncStage) {
			m.CopyAsync(s.Tile(0), step.MulI(64))
			m.CopyAsync(s.Tile(1), step.MulI(64))
		}, func(_ u32, s dsl.AsyncStage) {
			w.MMA(s.Tile(0), row, s.Tile(0), col) // want `D501: pipeline ab loads tile 1, 64x64 \.f16 with a swizzle of 128 bytes, but no consumer uses it; either a consumer reads the wrong tile, or the load is unnecessary`
		})
		w.Store(k.Matrix("d", isa.F32).Sized(n, n), row, col)
	}},
	// Accumulators of two warps at one position.
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) {
		d, n := k.Matrix("d", isa.F32), dsl.Param[dsl.U32](k, "n")
		w := dsl.NewWarpTile[dsl.F32](k, dsl.MMAFor(isa.F16, isa.F32), 32, 32)
		row, col := w.Origin(k.WarpIndex(), 4)
		first := n.SubI(1).Sub(k.CTAID().Y).MulI(64)
		for i := range k.Range(k.U32(0), n) {
			w.Store(d.Sized(n, n), first.Add(row), i.MadI(128, col))
			w.Store(d.Sized(n, n), first, i.MadI(128, col))          // want `D501: warps 0 and 4 store overlapping accumulators of 32x32: their tiles start 0 rows and 0 columns apart`
			w.Store(d.Sized(n, n), first.Add(row), i.MadI(128, row)) // want `D501: warps 0 and 1 store`
			// each warp may have its own matrix
			w.Store(d.Sized(n, n).At(k.WarpIndex()), first, i)
			k.If(k.WarpIndex().EQI(0), func() { w.Store(d.Sized(n, n), first, k.U32(0)) })
		}
		k.If(n.GTI(5), func() {
			w.Store(d.Sized(n, n), first.Add(row.DivI(2)), col) // want `D501: warps 0 and 4 store overlapping accumulators of 32x32: their tiles start 16 rows and 0 columns apart`
		})
	}},
	{"sm_90a", func(_ *dsl.Module, k *dsl.Kernel) {
		d, n := k.Matrix("d", isa.F32).Sized(k.U32(512), k.U32(512)), dsl.Param[dsl.U32](k, "n")
		k.Roles(dsl.OnWarpgroups(0, 2, "store", func(half u32) {
			acc := k.Accumulator(64, 64, isa.F32)
			acc.Clear()
			acc.Store(d, half.MulI(64), n)
			acc.Store(d, k.U32(0), half.MulI(32).Add(n)) // want `D501: warpgroups 0 and 1 store overlapping accumulators of 64x64: their tiles start 0 rows and 32 columns apart`
		}))
	}},
	// Semaphores without an arrival.
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) {
		locks, others, n := dsl.Global[dsl.U32](k, "locks"), dsl.Global[dsl.U32](k, "others"),
			dsl.Param[dsl.U32](k, "n")
		k.If(k.TID().X.EQI(0), func() {
			k.Semaphore(others, n).Wait(k.U32(0))
			k.Semaphore(locks, k.CTAID().X).Wait(n) // want `D501: deadlock: no thread of this kernel arrives at the semaphore, so the wait never returns unless another launch increments it`
			k.Semaphore(locks, k.CTAID().X).Reset()
		})
	}},
}

// TestDoubts builds kernels that are probably, but not certainly, wrong: each warning must be at a
// line with a want comment.
func TestDoubts(t *testing.T) { testWrong(t, "warnings_test.go", doubts, false) }
