// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package blockscaled

import (
	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

// An Epilogue says what becomes of the sums before they go to global memory.
type Epilogue struct {
	Name  string
	D     isa.Type
	Scale dsl.BlockScale // of what is written; the kernel makes the scale factors. None where Vector is 0
	C     bool           // alpha times the sums and beta times a matrix in bfloat16
}

// Epilogues are some of the ends that the kernel is built with, besides sums in bfloat16.
var Epilogues = []Epilogue{
	{Name: "_f32", D: isa.F32},
	{Name: "_c", D: isa.Bf16, C: true},
	{Name: "_e4m3", D: isa.E4m3},
	{Name: "_nvfp4", D: isa.E2m1, Scale: dsl.NVFP4},
	{Name: "_mxfp4", D: isa.E2m1, Scale: dsl.MXFP4},
	{Name: "_mxfp8_c", D: isa.E4m3, Scale: dsl.MXFP8, C: true},
}

// tiling is a tiling whose shared memory the results and C fit into besides.
func (e Epilogue) tiling(t Tiling) Tiling {
	if e.C || e.D == isa.F32 {
		t.Stages = 2
	}
	return t
}

// A writer is an Epilogue in a kernel.
type writer struct {
	Epilogue
	k           *dsl.Kernel
	n           int
	c, d        *dsl.TensorMap
	out         *dsl.Output
	factors     *dsl.ScaleOutput
	more        *dsl.Pipeline // tiles of c
	alpha, beta dsl.Reg[dsl.F32]
}

// declare adds the parameters that an Epilogue has.
func (e Epilogue) declare(k *dsl.Kernel, t Tiling) *writer {
	w := &writer{Epilogue: e, k: k, n: t.N}
	box := dsl.Box{Rows: 128, Cols: t.N}
	swizzle := dsl.Swizzle128
	for t.N*e.D.Bits()/8%int(swizzle) != 0 && swizzle > dsl.Swizzle32 {
		swizzle /= 2
	}
	w.d = k.TensorMap("d", e.D, box, swizzle)
	if e.Scale.Vector > 0 {
		w.factors = k.ScaleOutput("sfd", e.Scale)
	}
	if e.C {
		w.c = k.TensorMap("c", isa.Bf16, box, dsl.Swizzle128)
		w.alpha, w.beta = dsl.Param[dsl.F32](k, "alpha"), dsl.Param[dsl.F32](k, "beta")
	}
	return w
}

// room takes shared memory for what goes in and out.
func (w *writer) room() {
	w.out = w.k.Output("out", w.d, 1)
	if w.C {
		w.more = w.k.Pipeline("more", 1, w.c.Feed()).PerBlock() // threads read it, also in a pair
	}
}

// roles are those that the epilogue needs besides the one that writes.
func (w *writer) roles(tiles *dsl.Schedule) []dsl.Role {
	if !w.C {
		return nil
	}
	return []dsl.Role{dsl.OnWarp(2, "load_c", func() {
		for at := range tiles.Each() {
			for s := range w.more.Produce(w.k.U32(1)) {
				s.Load(w.c, dsl.TileAt(at.Row, at.Col))
			}
		}
	})}
}

// tile writes a tile of the result.
func (w *writer) tile(d *dsl.AccumulatorStage, at dsl.TileCoord, rows, cols dsl.Reg[dsl.U32]) {
	row, col := at.Row.MulI(128), at.Col.MulI(int64(w.n))
	write := func(numbers func(col, n int) []dsl.Reg[dsl.F32]) {
		if w.factors != nil {
			w.out.StoreScaled(w.factors.Sized(rows, cols), row, col, numbers)
		} else {
			w.out.StoreRows(row, col, numbers)
		}
	}
	switch {
	case w.C:
		w.more.ConsumeOne(func(s *dsl.Stage) {
			write(func(col, n int) []dsl.Reg[dsl.F32] {
				x, c := d.Load(col, n), s.Tile(w.c).LoadRow(d.Row(), col, n)
				for i := range x {
					x[i] = x[i].FMA(w.alpha, c[i].Mul(w.beta))
				}
				return x
			})
		})
	case w.factors == nil:
		w.out.StoreTMEM(d, row, col)
	default:
		write(d.Load)
	}
}
