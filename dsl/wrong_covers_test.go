// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl_test

import (
	"testing"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

// A layout is the arrangement of warps over a tile of 128x128.
type layout struct {
	rows, cols int // size of a warp's part
	place      func(k *dsl.Kernel, w *dsl.WarpTile[dsl.F32], warp u32) (row, col u32)
}

// placedField builds a kernel of four warps with a layout.
func placedField(m *dsl.Module, l layout) {
	k := m.Kernel("placed", dsl.Threads(128))
	rows, cols, depth := dsl.Param[dsl.U32](k, "m"), dsl.Param[dsl.U32](k, "n"),
		dsl.Param[dsl.U32](k, "depth")
	a, b, d := k.Matrix("a", isa.Bf16).Sized(rows, depth),
		k.Matrix("b", isa.Bf16).Sized(cols, depth), k.Matrix("d", isa.F32).Sized(rows, cols)
	t := dsl.Tile{Type: isa.Bf16, Rows: 128, Cols: 64, Swizzle: dsl.Swizzle128}
	w := dsl.NewWarpTile[dsl.F32](k, dsl.MMAFor(isa.Bf16, isa.F32), l.rows, l.cols)
	fromA, fromB := l.place(k, w, k.WarpIndex())
	k.AsyncPipeline("ab", 3, t, t).Run(depth.CeilDiv(64), func(step u32, s dsl.AsyncStage) {
		a.RowsFrom(k.CTAID().Y.MulI(128)).CopyAsync(s.Tile(0), step.MulI(64))
		b.RowsFrom(k.CTAID().X.MulI(128)).CopyAsync(s.Tile(1), step.MulI(64))
	}, func(_ u32, s dsl.AsyncStage) {
		w.MMA(s.Tile(0), fromA, s.Tile(1), fromB) // want `D501: no warp computes the MMA of rows 64 to 127 of 128x64 \.bf16 with a swizzle of 128 bytes of pipeline ab: the warp tiles, 32 each, do not cover the tile from -4 from 42|D501: no warp computes the MMA of rows 64 to 127 of 128x64 \.bf16 with a swizzle of 128 bytes of pipeline ab with rows 0 to 63 of 128x64 \.bf16 with a swizzle of 128 bytes of pipeline ab: the warp tiles, 64x64 each, do not cover the block tile from -4 from 48`
	})
	w.Store(d, k.CTAID().Y.MulI(128).Add(fromA), k.CTAID().X.MulI(128).Add(fromB)) // want `D501: no warp stores columns 64 to 127 of the block tile, although the next block tile starts 128 columns later: the warp tiles do not cover the block tile|D501: warps 1 and 2 store overlapping accumulators of 64x64: their tiles start 0 rows and 0 columns apart`
}

// twice builds a kernel with two roles, the second of which multiplies a tile's rows from `at` on.
func twice(m *dsl.Module, at int) {
	k := m.Kernel("twice", dsl.Warpgroups(3))
	a := k.TensorMap("a", isa.Bf16, dsl.Box{Rows: 128, Cols: 64}, dsl.Swizzle128)
	b := k.TensorMap("b", isa.Bf16, dsl.Box{Rows: 128, Cols: 64}, dsl.Swizzle128)
	rows, cols := dsl.Param[dsl.U32](k, "m"), dsl.Param[dsl.U32](k, "n")
	d := k.Matrix("d", isa.F32).Sized(rows, cols)
	p, steps := k.Pipeline("p", 4, a.Feed(), b.Feed()), dsl.Param[dsl.U32](k, "steps")
	tiles := k.Persistent(rows.CeilDiv(128), cols.CeilDiv(128), 8)
	role := func(part, at int) func() {
		return func() {
			for tile := range tiles.Each() {
				acc := k.Accumulator(64, 128, isa.F32)
				for s := range p.Consume(steps) {
					acc.MMA(s.Tile(a).Part(k.U32(part), 2), s.Tile(b))
				}
				acc.Store(d, tile.Row.MulI(128).AddI(int64(at)), tile.Col.MulI(128)) // want `D501: overlapping stores: warpgroup 1 in role lower stores a 64x128 accumulator to elements that warpgroup 0 in role upper stored at line 54; the tiles start 32 rows and 0 columns apart`
			}
		}
	}
	k.Roles(
		dsl.OnWarpgroup(0, "upper", role(0, 0)),
		dsl.OnWarpgroup(1, "lower", role(1, at)),
		dsl.OnWarp(8, "load", func() {
			for tile := range tiles.Each() {
				for s := range p.Produce(steps) {
					s.Load(a, dsl.TileAt(tile.Row, s.Iteration()))
					s.Load(b, dsl.TileAt(tile.Col, s.Iteration()))
				}
			}
		}),
	)
}

// covers are kernels that do not compute a part of their tiles, or store a part twice.
var covers = []wrongKernel{
	{"sm_80", func(m *dsl.Module, _ *dsl.Kernel) {
		placedField(m, layout{64, 32,
			func(k *dsl.Kernel, w *dsl.WarpTile[dsl.F32], warp u32) (row, col u32) {
				return w.Origin(warp, 2)
			}})
	}},
	{"sm_80", func(m *dsl.Module, _ *dsl.Kernel) {
		placedField(m, layout{64, 64,
			func(_ *dsl.Kernel, _ *dsl.WarpTile[dsl.F32], warp u32) (row, col u32) {
				return warp.AndI(1).MulI(64).And(warp.ShlI(5)),
					warp.ShrI(1).MulI(64).Or(warp.AndI(1).MulI(64))
			}})
	}},
	{"sm_90a", func(m *dsl.Module, _ *dsl.Kernel) { twice(m, 32) }},
	{"sm_90a", func(_ *dsl.Module, k *dsl.Kernel) { // one accumulator stored twice, another never
		d, n := k.Matrix("d", isa.F16).Sized(k.U32(512), k.U32(512)), dsl.Param[dsl.U32](k, "n")
		t := k.SharedTile("t", tileOf(isa.F16, 16))
		some, others := sums16(k), sums16(k)
		some.MMA(t, k.U32(0), t, k.U32(0))
		others.MMA(t, k.U32(32), t, k.U32(32))
		k.If(k.WarpIndex().EQI(0), func() {
			some.Store(d, n, k.U32(0))
			some.Store(d, n, k.U32(32))
		})
	}},
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) {
		d, n := k.Matrix("d", isa.F16).Sized(k.U32(512), k.U32(512)), dsl.Param[dsl.U32](k, "n")
		some, others := sums16(k), sums16(k)
		row := k.WarpIndex().MadI(32, n)
		some.Store(d, row, k.U32(0))
		others.Store(d, row, k.U32(16)) // want `D501: overlapping stores: warp 0 stores a 32x32 accumulator to elements that warp 0 stored at line 103; the tiles start 0 rows and 16 columns apart`
	}},
	{"sm_90a", func(_ *dsl.Module, k *dsl.Kernel) {
		d := k.TensorMap("d", isa.F32, dsl.Box{Rows: 64, Cols: 32}, dsl.Swizzle128)
		k.Output("out", d, 1) // want `D501: output d is never used, but occupies shared memory; use Store, StoreRows or StoreTMEM`
	}},
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) {
		blocks(k, 128, 64)
	}},
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) {
		blocks(k, 192, 128)
	}},
}

// blocks stores tiles of 128x64 at the given distances.
func blocks(k *dsl.Kernel, high, wide int64) {
	n := dsl.Param[dsl.U32](k, "n")
	at, w := k.BlockTile(n, n, 8), sums16(k)
	row, col := w.Origin(k.WarpIndex(), 2)
	w.Store(k.Matrix("d", isa.F16).Sized(n, n), at.Row.MulI(high).Add(row), at.Col.MulI(wide).Add(col)) // want `D501: no warp stores rows 128 to 191 of the block tile, although the next block tile starts 192 rows later: the warp tiles do not cover the block tile from -[0-9]+`
	x := w
	x.Store(k.Matrix("e", isa.F16).Sized(n, n), at.Row.MulI(128).Add(row), k.CTAID().Y.MulI(wide/2).Add(col)) // want `D501: blocks overwrite each other's results: a block stores 64 columns, but the tile of the next block starts 32 columns later from -[0-9]+`
}

func sums16(k *dsl.Kernel) *dsl.WarpTile[dsl.F16] {
	return dsl.NewWarpTile[dsl.F16](k, dsl.MMAFor(isa.F16, isa.F16), 32, 32) // want `D501: accumulator is never read; either the kernel reads the wrong accumulator, or the MMA is unnecessary from -[0-9]+`
}

// TestCovers builds the kernels of covers: each warning must be at a line with a want comment.
func TestCovers(t *testing.T) { testWrong(t, "wrong_covers_test.go", covers, false) }

// TestRightCovers builds kernels that cover their tiles, or for which that is unknown: they have no
// findings.
func TestRightCovers(t *testing.T) {
	for name, build := range map[string]func(m *dsl.Module){
		"two by two": func(m *dsl.Module) {
			placedField(m, layout{64, 64,
				func(k *dsl.Kernel, w *dsl.WarpTile[dsl.F32], warp u32) (row, col u32) {
					return w.Origin(warp, 2)
				}})
		},
		"one by four": func(m *dsl.Module) {
			placedField(m, layout{128, 32,
				func(k *dsl.Kernel, w *dsl.WarpTile[dsl.F32], warp u32) (row, col u32) {
					return w.Origin(warp, 4)
				}})
		},
		"from data": func(m *dsl.Module) {
			placedField(m, layout{64, 32,
				func(k *dsl.Kernel, w *dsl.WarpTile[dsl.F32], warp u32) (row, col u32) {
					x := dsl.Global[dsl.U32](k, "x").Load(warp)
					return x, x
				}})
		},
		"halves": func(m *dsl.Module) { twice(m, 64) },
		"in turns": func(m *dsl.Module) { // in a loop
			k := m.Kernel("turns", dsl.Threads(64))
			tile := dsl.Tile{Type: isa.Bf16, Rows: 128, Cols: 64, Swizzle: dsl.Swizzle128}
			a, n := k.Matrix("a", isa.Bf16).Sized(k.U32(128), k.U32(64)), dsl.Param[dsl.U32](k, "n")
			w := dsl.NewWarpTile[dsl.F32](k, dsl.MMAFor(isa.Bf16, isa.F32), 32, 64)
			d := k.Matrix("d", isa.F32).Sized(n, n)
			k.AsyncPipeline("p", 2, tile).Run(n, func(step u32, s dsl.AsyncStage) {
				a.CopyAsync(s.Tile(0), step.MulI(64))
			}, func(_ u32, s dsl.AsyncStage) {
				for i := range k.RangeI(0, 2) {
					w.MMA(s.Tile(0), i.MadI(64, k.WarpIndex().MulI(32)), s.Tile(0), i.MulI(64))
				}
			})
			w.Store(d, k.WarpIndex().MulI(32), n)
		},
		"steps of a loop": func(m *dsl.Module) {
			k := m.Kernel("steps", dsl.Threads(64))
			w := dsl.NewWarpTile[dsl.F32](k, dsl.MMAFor(isa.Bf16, isa.F32), 32, 32)
			n := dsl.Param[dsl.U32](k, "n")
			d, e := k.Matrix("d", isa.F32).Sized(n, n), k.Matrix("e", isa.F32).Sized(n, n)
			for i := range k.RangeI(0, 4) {
				w.Store(d, k.CTAID().X.MulI(256).Add(i.MadI(64, k.WarpIndex().MulI(32))), k.U32(0))
			}
			w.Store(e, k.CTAID().X.MulI(128).Add(k.WarpIndex().MulI(32)), k.U32(0))
			w.Store(e, k.CTAID().X.MulI(128).AddI(64).Add(k.WarpIndex().MulI(32)), k.U32(0))
		},
		"rows besides": func(m *dsl.Module) {
			k := m.Kernel("besides", dsl.Threads(64))
			w := dsl.NewWarpTile[dsl.F32](k, dsl.MMAFor(isa.Bf16, isa.F32), 32, 32)
			n := dsl.Param[dsl.U32](k, "n")
			d := k.Matrix("d", isa.F32).Sized(n, n)
			w.Store(d, k.CTAID().X.MulI(128).Add(k.WarpIndex().MulI(32)), k.U32(0))
			d.StoreRow(k.CTAID().X.MulI(128).AddI(64).Add(k.TID().X), k.U32(0),
				[]f32{k.F32(0), k.F32(0)})
		},
		"either way": func(m *dsl.Module) {
			k := m.Kernel("either", dsl.Threads(64))
			w := dsl.NewWarpTile[dsl.F32](k, dsl.MMAFor(isa.Bf16, isa.F32), 32, 32)
			n := dsl.Param[dsl.U32](k, "n")
			d := k.Matrix("d", isa.F32).Sized(n, n)
			store := func() { w.Store(d, k.WarpIndex().MulI(32), k.U32(0)) }
			k.If(n.GTI(5), store, store)
		},
	} {
		m := dsl.New("covers", "sm_90a")
		build(m)
		if list := withoutNotes(m.Findings()); len(list) > 0 {
			t.Errorf("%s: %v", name, list)
		}
	}
}
