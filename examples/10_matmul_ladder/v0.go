// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package ladder

import (
	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

// V0 adds a kernel that copies with cp.async: all threads copy operands, several stages ahead of
// the MMAs.
func V0(m *dsl.Module, t Tiling) {
	if t.typ() == isa.S8 {
		v0[dsl.S32](m, t)
	} else {
		v0[dsl.F32](m, t)
	}
}

func v0[C dsl.Scalar](m *dsl.Module, t Tiling) {
	k := m.Kernel("matmul_v0", dsl.Threads(256))
	a, b, d := k.Matrix("a", t.typ()), k.Matrix("b", t.typ()), k.Matrix("d", t.result())
	rows, cols, depth := sizes(k)
	row, col := tile(k, rows, cols, t)
	a, b = a.Sized(rows, depth).RowsFrom(row), b.Sized(cols, depth).RowsFrom(col)
	ab := k.AsyncPipeline("ab", t.Stages,
		dsl.Tile{Type: t.typ(), Rows: t.M, Cols: t.K, Swizzle: t.Swizzle},
		dsl.Tile{Type: t.typ(), Rows: t.N, Cols: t.K, Swizzle: t.Swizzle})

	w := dsl.NewWarpTile[C](k, sums[C](t), t.M/2, t.N/4)
	fromA, fromB := w.Origin(k.WarpIndex(), 4)
	ab.Run(depth.CeilDiv(int64(t.K)),
		func(step dsl.Reg[dsl.U32], s dsl.AsyncStage) {
			at := step.MulI(int64(t.K))
			a.CopyAsync(s.Tile(0), at)
			b.CopyAsync(s.Tile(1), at)
		},
		func(_ dsl.Reg[dsl.U32], s dsl.AsyncStage) { w.MMA(s.Tile(0), fromA, s.Tile(1), fromB) })
	w.Store(d.Sized(rows, cols), row.Add(fromA), col.Add(fromB))
}
