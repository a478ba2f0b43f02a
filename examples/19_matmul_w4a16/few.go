// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package w4a16

import (
	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

// A block of BuildFew computes sixteen rows and 64 columns. Its warps divide K among them, Group
// weights at a time, and each warp copies its own operands, so no warp waits for another warp.
// This gives the largest number of blocks for which each weight is read only once.
const (
	fewRows = 16
	warps   = 16
)

// BlocksFew returns the size of the grid of BuildFew along x and y, or an error if the kernel
// does not support the sizes.
func BlocksFew(m, n, k int) (x, y int, err error) {
	return n / pack, (m + fewRows - 1) / fewRows, takes(n, k)
}

// BuildFew adds to m a kernel that computes the same as Build, and is fast for few rows, as in
// token-by-token generation, where loading the weights takes nearly all the time. Weights are
// converted without their scales; instead, the sum of each group is multiplied by the scale. With
// a Programmatic launch, the kernel starts to read weights and scales before the preceding kernel
// has ended; that kernel may still write a.
func BuildFew(m *dsl.Module) {
	stages := int64(2) // number of stages per warp, limited by shared memory
	if m.Has(90) {
		stages = 3
	}
	k := m.Kernel("w4a16_few", dsl.Threads(32*warps))
	a, b, scales, d := dsl.Global[dsl.F16](k, "a"), dsl.Global[dsl.B32](k, "b"),
		dsl.Global[dsl.F16](k, "scales"), dsl.Global[dsl.F16](k, "d")
	rows, cols, length := dsl.Param[dsl.U32](k, "m"), dsl.Param[dsl.U32](k, "n"),
		dsl.Param[dsl.U32](k, "k")
	row, col := k.CTAID().Y.MulI(fewRows), k.CTAID().X.MulI(pack)
	lane, warp := k.Lane(), k.WarpIndex()

	k.Comment("a warp's stages have half of a group each; its scales come with the first")
	const halves = Group / depth
	lefts := k.SharedTiles("a_ring", dsl.Tile{Type: isa.F16, Rows: fewRows, Cols: depth, Pad: 16},
		int(warps*stages))
	rights := dsl.Shared[dsl.B32](k, "b_ring", int(warps*stages*depth*words))
	factors := dsl.Shared[dsl.F16](k, "scale_ring", int(warps*stages*pack))
	ring := warp.MulI(stages)
	line, eight := lane.DivI(8), lane.RemI(8).MulI(8)
	var fromA []u32
	var isRow []dsl.Reg[dsl.Pred]
	for i := range int64(fewRows / 4) {
		at := row.Add(line).AddI(4 * i)
		fromA, isRow = append(fromA, at.Mad(length, warp.MadI(Group, eight))),
			append(isRow, at.LT(rows))
	}
	fromB := k.CTAID().X.Mad(length.DivI(Group), warp).MadI(Group*words, lane.MulI(4))
	early := m.Has(90) // whether the preceding kernel may still be running
	weights := func(turn u32, half int64, stage u32) {
		from, to := b.At(turn.MadI(warps*Group*words, fromB)).AtI(half*depth*words),
			rights.At(ring.Add(stage).MadI(depth*words, lane.MulI(4)))
		for i := range int64(depth / 16) {
			if early {
				k.Comment("ptxdsl:ignore A12 the kernel ahead writes activations, neither weights nor scales")
				early = false
			}
			from.AtI(128*i).CopyAsync(to.AtI(128*i), 4)
		}
		if half == 0 {
			k.If(lane.LTI(pack/8), func() {
				scales.At(turn.MadI(warps, warp).Mad(cols, col.Add(eight))).CopyAsync(
					factors.At(ring.Add(stage).MadI(pack, eight)), 8)
			})
		}
	}
	activations := func(turn u32, half int64, stage u32) {
		tile := lefts.At(ring.Add(stage))
		for i, from := range fromA {
			a.At(turn.MadI(warps*Group, from)).AtI(depth*half).CopyAsync(
				dsl.Element[dsl.F16](tile, line.AddI(int64(4*i)), eight), 8, isRow[i])
		}
	}
	turns := length.DivI(Group).AddI(warps - 1).Sub(warp).DivI(warps)
	first := func(copies func(turn u32, half int64, stage u32)) {
		for s := range stages - 1 {
			k.If(turns.GTI(s/halves),
				func() { copies(k.U32(int(s/halves)), s%halves, k.U32(int(s))) })
			k.CommitCopies()
		}
	}

	k.LaunchDependents()
	first(weights)
	k.WaitDependencies()
	first(activations)

	w := dsl.NewWarpTile[dsl.F32](k, dsl.MMAFor(isa.F16, isa.F32), fewRows, pack)
	group := dsl.NewWarpTile[dsl.F32](k, dsl.MMAFor(isa.F16, isa.F32), fewRows, pack)
	stage, old := k.U32(0).Var(), k.U32(int(stages-1)).Var()
	for turn := range k.Range(k.U32(0), turns) {
		group.Clear()
		var scale []dsl.Reg[dsl.F16x2]
		for half := range int64(halves) {
			k.WaitCopies(int(stages - 2))
			k.SyncWarp()
			next := half + stages - 1
			k.If(turn.AddI(next/halves).LT(turns), func() {
				weights(turn.AddI(next/halves), next%halves, old)
				activations(turn.AddI(next/halves), next%halves, old)
			})
			k.CommitCopies()
			here := rights.At(ring.Add(stage).MadI(depth*words, lane.MulI(4)))
			group.MMAStepFunc(lefts.At(ring.Add(stage)), k.U32(0),
				func(step int) (right [][]dsl.Reg[dsl.B32]) {
					for _, word := range here.AtI(int64(128 * step)).LoadFirstVec(4) {
						right = append(right, unscaled(word),
							unscaled(dsl.Bits[dsl.B32](dsl.Bits[dsl.U32](word).ShrI(8))))
					}
					return right
				}).MMA()
			if half == 0 {
				pairs := dsl.As[dsl.F16x2](
					factors.At(ring.Add(stage).MadI(pack, lane.RemI(4).MulI(16))))
				scale = append(pairs.LoadFirstVec(4), pairs.AtI(4).LoadFirstVec(4)...)
			}
			old.Set(stage)
			stage.Set(dsl.Select(stage.EQI(stages-1), k.U32(0), stage.AddI(1)))
		}
		// scales of two adjacent columns, for each group of eight columns
		var by [2][]dsl.Reg[dsl.F32]
		for i, x := range scale {
			lo, hi := dsl.Unpack[dsl.F16](x)
			by[i/4] = append(by[i/4], dsl.To[dsl.F32](lo), dsl.To[dsl.F32](hi))
		}
		n := 0
		dsl.Promote(w, group, func(c dsl.Cell, sum, x dsl.Reg[dsl.F32]) dsl.Reg[dsl.F32] {
			n++
			return x.FMA(by[(n-1)%2][(n-1)/4], sum)
		})
	}

	k.Comment("each warp leaves its sums where its weights were")
	k.WaitCopies(0)
	k.SyncWarp()
	parts := dsl.As[dsl.F32](rights)
	w.Each(func(row, col u32, x, y dsl.Reg[dsl.F32]) {
		parts.At(ring.MulI(depth * words).Add(row.MadI(pack, col))).StoreFirstVec(
			[]dsl.Reg[dsl.F32]{x, y})
	})
	k.Sync()
	k.Comment("each thread adds up two sums of all warps")
	at, two := k.TID().X.DivI(pack/2), k.TID().X.RemI(pack/2).MulI(2)
	from := parts.At(at.MadI(pack, two))
	sums := from.LoadFirstVec(2)
	for i := int64(1); i < warps; i++ {
		for j, x := range from.AtI(i * stages * depth * words).LoadFirstVec(2) {
			sums[j] = sums[j].Add(x)
		}
	}
	k.If(row.Add(at).LT(rows), func() {
		d.StoreVec(row.Add(at).Mad(cols, col.Add(two)),
			[]dsl.Reg[dsl.F16]{dsl.To[dsl.F16](sums[0]), dsl.To[dsl.F16](sums[1])})
	})
}
