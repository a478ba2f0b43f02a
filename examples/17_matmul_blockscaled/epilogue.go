// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package blockscaled

import (
	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

// An Epilogue specifies how the accumulators are converted and stored.
type Epilogue struct {
	Name string
	D    isa.Type
	// Scale is the block scaling of the result, for which the kernel computes scale factors. The
	// result has none if Vector is 0.
	Scale dsl.BlockScale
	C     bool // whether the result is alpha times the product plus beta times a bfloat16 matrix C
}

// Epilogues are the tested epilogues, besides the one that stores bfloat16.
var Epilogues = []Epilogue{
	{Name: "_f32", D: isa.F32},
	{Name: "_c", D: isa.Bf16, C: true},
	{Name: "_e4m3", D: isa.E4m3},
	{Name: "_nvfp4", D: isa.E2m1, Scale: dsl.NVFP4},
	{Name: "_mxfp4", D: isa.E2m1, Scale: dsl.MXFP4},
	{Name: "_mxfp8_c", D: isa.E4m3, Scale: dsl.MXFP8, C: true},
	{Name: "_f16", D: isa.F16},
	{Name: "_e5m2", D: isa.E5m2},
	{Name: "_mxfp8_e5m2", D: isa.E5m2, Scale: dsl.MXFP8},
	{Name: "_mxfp6", D: isa.E2m3, Scale: dsl.MXFP6},
	{Name: "_mxfp6_e3m2", D: isa.E3m2, Scale: dsl.MXFP6},
}

// tiling returns a copy of t that leaves enough shared memory for the results and C.
func (e Epilogue) tiling(t Tiling) Tiling {
	if e.C || e.D == isa.F32 {
		t.Stages = 2
	}
	return t
}

// A writer stores the results of a kernel.
type writer struct {
	Epilogue
	*dsl.Output
	k           *dsl.Kernel
	n           int // number of columns of a tile
	c, d        *dsl.TensorMap
	rest        *dsl.Matrix // D, for the last rows of a group
	factors     *dsl.ScaleOutput
	alpha, beta dsl.Reg[dsl.F32]
}

// declare declares the parameters of the Epilogue and returns its writer.
func (e Epilogue) declare(k *dsl.Kernel, t Tiling) *writer {
	w := &writer{Epilogue: e, k: k, n: t.N}
	box := dsl.Box{Rows: 128, Cols: t.N}
	w.d = k.TensorMap("d", e.D, box, dsl.WidestSwizzle(e.D, t.N))
	if t.Problems == Grouped {
		w.rest = k.Matrix("out", e.D)
		if e.C || e.D.Bits() < 16 {
			k.Errorf("groups with a result of %s or with C, expected 16 or 32 bits without C", e.D)
		}
	}
	if e.Scale.Vector > 0 {
		w.factors = k.ScaleOutput("sfd", e.Scale)
	}
	if e.C {
		w.c = k.TensorMap("c", isa.Bf16, box, dsl.Swizzle128)
		w.alpha, w.beta = dsl.Param[dsl.F32](k, "alpha"), dsl.Param[dsl.F32](k, "beta")
	}
	return w
}

// loadC loads one tile of C.
func (w *writer) loadC(at tile) { w.LoadC(dsl.TileAt(at.row, at.col)) }

// store stores one tile of the result.
func (w *writer) store(d *dsl.AccumulatorStage, at tile, cols dsl.Reg[dsl.U32]) {
	row, col := at.row.MulI(128), at.col.MulI(int64(w.n))
	if w.rest != nil {
		w.storeGroup(d, at, col, cols)
	} else {
		w.StoreTMEM(d, row, col)
	}
}

// storeGroup stores one tile of a group. Rows after the end of the group belong to the next one.
func (w *writer) storeGroup(d *dsl.AccumulatorStage, at tile, col, cols dsl.Reg[dsl.U32]) {
	w.k.If(at.first.AddI(128).LE(at.end), func() { w.StoreRows(at.first, col, d.Load) },
		func() {
			rest := w.rest.Sized(at.end, cols)
			for i := 0; i < w.n; i += 32 {
				rest.StoreRow(at.first.Add(d.Row()), col.AddI(int64(i)), d.Load(i, 32))
			}
		})
}
