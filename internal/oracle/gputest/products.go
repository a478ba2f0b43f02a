// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package gputest

import (
	"errors"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// chain builds a kernel that computes (A B') C for A and B of 64x64 and C of 64x128. With wgmma,
// the accumulators of the first product are the A operand of the second, whose B operand is
// transposed and has two slabs.
func chain(m *dsl.Module) {
	k := m.Kernel("chain", dsl.Warpgroups(2))
	square := dsl.Box{Rows: 64, Cols: 64}
	a, b := k.TensorMap("a", isa.Bf16, square, dsl.Swizzle128),
		k.TensorMap("b", isa.Bf16, square, dsl.Swizzle128)
	c := k.TensorMap("c", isa.Bf16, dsl.Box{Rows: 64, Cols: 128}, dsl.Swizzle128)
	d := dsl.Global[dsl.F32](k, "d")
	tiles := k.Pipeline("tiles", 2, a.Feed(), b.Feed(), c.Feed())
	k.Roles(
		dsl.OnWarp(4, "load", func() {
			for s := range tiles.Produce(k.U32(1)) {
				for _, from := range []*dsl.TensorMap{a, b, c} {
					s.Load(from, dsl.TileAt(k.U32(0), k.U32(0)))
				}
			}
		}),
		dsl.OnWarpgroup(0, "multiply", func() {
			sums := k.Accumulator(64, 128, isa.F32)
			for s := range tiles.Consume(k.U32(1)) {
				first := k.Accumulator(64, 64, isa.F32)
				first.MMA(s.Tile(a), s.Tile(b))
				first.Wait()
				sums.MMAFragments(first.ToFragments(isa.Bf16), s.Tile(c).Transposed())
			}
			dsl.EachElement(sums, func(row, col dsl.Reg[dsl.U32], x, y dsl.Reg[dsl.F32]) {
				d.StoreVec(row.MadI(128, col), []dsl.Reg[dsl.F32]{x, y})
			})
		}),
	)
}

// checkChain multiplies small integers, so that all results are exact.
func checkChain(t *T) error {
	if err := t.Needs("wgmma", 90, 100); err != nil {
		return err
	}
	k, err := t.Kernel("chain", chain)
	if err != nil {
		return err
	}
	small := func(n int) []float32 {
		xs := make([]float32, n)
		for i := range xs {
			xs[i] = float32(t.Rand.IntN(3) - 1)
		}
		return xs
	}
	as, bs, cs := small(64*64), small(64*64), small(64*128)
	want := make([]float32, 64*128)
	for i := range 64 {
		for j := range 64 {
			sum := float32(0)
			for n := range 64 {
				sum += as[i*64+n] * bs[j*64+n]
			}
			for col := range 128 {
				want[i*128+col] += sum * cs[j*128+col]
			}
		}
	}
	a, e1 := runtime.Upload(t.Device, roundToBF16(as))
	b, e2 := runtime.Upload(t.Device, roundToBF16(bs))
	c, e3 := runtime.Upload(t.Device, roundToBF16(cs))
	d, e4 := runtime.Alloc[float32](t.Device, len(want))
	if err := errors.Join(e1, e2, e3, e4); err != nil {
		return err
	}
	ma, e1 := k.TensorMap("a", a, 64, 64)
	mb, e2 := k.TensorMap("b", b, 64, 64)
	mc, e3 := k.TensorMap("c", c, 64, 128)
	if err := errors.Join(e1, e2, e3); err != nil {
		return err
	}
	if err := k.Launch(runtime.Grid(1), ma, mb, mc, d); err != nil {
		return err
	}
	got, err := runtime.Download(d)
	if err := errors.Join(err, a.Close(), b.Close(), c.Close(), d.Close()); err != nil {
		return err
	}
	return compareNear(t, "chain", got, want, 0)
}

// transposedProduct builds a kernel that computes A' B for A and B of 128 columns. Both operands
// are transposed for mma.sync, and have two slabs.
func transposedProduct(m *dsl.Module) {
	k := m.Kernel("turned", dsl.Threads(128))
	a, b, d := k.Matrix("a", isa.F16), k.Matrix("b", isa.F16), k.Matrix("d", isa.F32)
	length, side := dsl.Param[dsl.U32](k, "k"), k.U32(128)
	a, b = a.Sized(length, side), b.Sized(length, side)
	tile := dsl.Tile{Type: isa.F16, Rows: 32, Cols: 128, Swizzle: dsl.Swizzle128}
	ab := k.AsyncPipeline("ab", 3, tile, tile)
	w := dsl.NewWarpTile[dsl.F32](k, dsl.MMAFor(isa.F16, isa.F32), 64, 64)
	row, col := w.Origin(k.WarpIndex(), 2)
	ab.Multiply(length.CeilDiv(32),
		func(step dsl.Reg[dsl.U32], s dsl.AsyncStage) {
			a.RowsFrom(step.MulI(32)).CopyAsync(s.Tile(0), k.U32(0))
			b.RowsFrom(step.MulI(32)).CopyAsync(s.Tile(1), k.U32(0))
		},
		func(s dsl.AsyncStage) dsl.MMAStep {
			return w.MMAStep(s.Tile(0).Transposed(), row, s.Tile(1).Transposed(), col)
		})
	w.Store(d.Sized(side, side), row, col)
}

// checkTurned compares products of random numbers with a reference. The last pipeline stage is
// only partly filled.
func checkTurned(t *T) error {
	k, err := t.Kernel("turned", transposedProduct)
	if err != nil {
		return err
	}
	const depth = 328
	lying := func() kerneltest.Matrix {
		xs := kerneltest.Random(t.T, kerneltest.F16, depth*128)
		return kerneltest.MatrixOf(128, depth, xs, func(row, col int) float64 {
			return kerneltest.F16.Float(xs[col*128+row])
		})
	}
	return kerneltest.Multiply(t.T, k, runtime.Grid(1), lying(), lying(), kerneltest.F32,
		kerneltest.Abs(1e-5), nil)
}
