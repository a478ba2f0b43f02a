// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package ladder

import (
	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

// V0 copies with cp.async: all threads load, several stages ahead of the MMAs.
func V0(m *dsl.Module, t Tiling) {
	k := m.Kernel("matmul_v0", dsl.Threads(256))
	a, b, d := k.Matrix("a", isa.Bf16), k.Matrix("b", isa.Bf16), k.Matrix("d", isa.Bf16)
	rows, cols, depth := sizes(k)
	row, col := tile(k, rows, cols, t)
	a, b = a.Sized(rows, depth).RowsFrom(row), b.Sized(cols, depth).RowsFrom(col)
	ab := k.AsyncPipeline("ab", t.Stages,
		dsl.Tile{Type: isa.Bf16, Rows: t.M, Cols: t.K, Swizzle: t.Swizzle},
		dsl.Tile{Type: isa.Bf16, Rows: t.N, Cols: t.K, Swizzle: t.Swizzle})

	w := dsl.NewWarpTile[dsl.F32](k, shape, t.M/2, t.N/4)
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
