// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package w4a16

import (
	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

// A block of BuildFew has sixteen rows and 64 columns, and its eight warps share the depth of a stage: there are as many blocks as can be that
// read each weight once.
const (
	fewRows   = 16
	warps     = 8
	fewStages = 3
	fewDepth  = warps * depth
)

// BlocksFew is the grid of a launch of BuildFew along x and y, or an error where the sizes are none that the kernels take.
func BlocksFew(m, n, k int) (x, y int, err error) {
	return n / pack, (m + fewRows - 1) / fewRows, takes(n, k)
}

// BuildFew makes what Build does, for few rows, such as those of tokens that are generated one by one: there the weights are all the traffic.
func BuildFew(m *dsl.Module) {
	k := m.Kernel("w4a16_few", dsl.Threads(32*warps))
	a, b, scales, d := k.Matrix("a", isa.F16), k.Matrix("b", isa.B32), k.Matrix("scales", isa.F16), dsl.Global[dsl.F16](k, "d")
	rows, cols, length := dsl.Param[dsl.U32](k, "m"), dsl.Param[dsl.U32](k, "n"), dsl.Param[dsl.U32](k, "k")
	row, col := k.CTAID().Y.MulI(fewRows), k.CTAID().X.MulI(pack)
	a = a.Sized(rows, length).From(row)
	slices := length.DivI(depth) // of the words of 64 columns
	b = b.Sized(slices, k.U32(depth*words)).Nth(k.CTAID().X)
	scales = scales.Sized(length.DivI(Group), cols)

	// Warp by warp, rows of the tiles are what belongs to the next part of the depth. Beyond its end there are zeros.
	ab := k.AsyncPipeline("ab", fewStages,
		dsl.Tile{Type: isa.F16, Rows: warps * fewRows, Cols: depth, Swizzle: dsl.Swizzle128},
		dsl.Tile{Type: isa.B32, Rows: warps, Cols: depth * words},
		dsl.Tile{Type: isa.F16, Rows: fewDepth / Group, Cols: pack})
	w := dsl.NewWarpTile[dsl.F32](k, dsl.MMAFor(isa.F16, isa.F32), fewRows, pack)
	warp := k.WarpIndex()
	ab.Multiply(length.CeilDiv(fewDepth),
		func(step u32, s dsl.AsyncStage) {
			for i := range warps {
				a.CopyAsync(s.Tile(0).RowsFrom(i*fewRows, fewRows), step.MulI(fewDepth).AddI(int64(i*depth)))
			}
			b.From(step.MulI(warps)).CopyAsync(s.Tile(1), k.U32(0))
			scales.From(step.MulI(fewDepth/Group)).CopyAsync(s.Tile(2), col)
		},
		func(s dsl.AsyncStage) dsl.Product {
			return w.ProductWith(s.Tile(0).Part(warp, warps), k.U32(0), func(step int) [][]dsl.Reg[dsl.B32] {
				return weights(step, s.Tile(1), warp, dsl.Element[dsl.F16](s.Tile(2), warp.DivI(Group/depth), k.U32(0)))
			})
		})

	k.Comment("each thread adds up four sums of all warps")
	parts := k.SharedTile("parts", dsl.Tile{Type: isa.F32, Rows: warps * fewRows, Cols: pack, Pad: 16})
	w.Put(parts, warp.MulI(fewRows))
	k.Sync()
	line, first := k.TID().X.DivI(pack/4), k.TID().X.RemI(pack/4).MulI(4)
	sums := dsl.Element[dsl.F32](parts, line, first).GetVec(4)
	for i := 1; i < warps; i++ {
		for j, x := range dsl.Element[dsl.F32](parts, line.AddI(int64(i*fewRows)), first).GetVec(4) {
			sums[j] = sums[j].Add(x)
		}
	}
	var out []dsl.Reg[dsl.F16]
	for _, x := range sums {
		out = append(out, dsl.To[dsl.F16](x))
	}
	k.If(row.Add(line).Lt(rows), func() { d.StoreVec(row.Add(line).Mad(cols, col.Add(first)), out) })
}
