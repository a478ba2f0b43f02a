// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package w4a16

import (
	"fmt"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

// A block of BuildFew computes sixteen rows and 64 columns. Its warps divide K among them, Group
// weights at a time, and each warp copies its own operands, so no warp waits for another warp.
// This gives the largest number of blocks for which each weight is read only once.
const (
	fewRows = 16
	warps   = 16
	halves  = Group / depth // stages of a group
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
func BuildFew(m *dsl.Module) { buildFew(m, 0, false) }

// BuildFewTensor adds to m a kernel that computes the same as BuildFew. Its parameter a is a
// tensor map: from about eight rows on, the TMA copies activations faster than the threads do. It
// needs sm_90.
func BuildFewTensor(m *dsl.Module) { buildFew(m, fewRows, false) }

// BuildFewAhead adds to m the kernel of BuildFew if box is 0, or else that of BuildFewTensor, with
// one more parameter: next, the weights of the layer that is computed next, which has the same
// size. At the end the kernel prefetches the first of these weights into the L2 cache, so that
// memory is not idle until the kernel of the next layer runs. box is the number of rows that the
// TMA copies, 4, 8, 12 or 16. With less than 16, the kernel computes at most box rows; copies of
// rows that do not exist take time too. It needs sm_90.
func BuildFewAhead(m *dsl.Module, box int) { buildFew(m, box, true) }

// BoxFew returns the box for which BuildFewAhead is fastest for m rows.
func BoxFew(m int) int {
	if m == 1 {
		return 0
	}
	return min((m+3)/4*4, fewRows)
}

// A few is a kernel for few rows.
type few struct {
	k                           *dsl.Kernel
	stages                      int64 // number of stages per warp, limited by shared memory
	a                           dsl.Array[dsl.F16]
	tensor                      *dsl.TensorMap // a, if the TMA copies it
	box                         int            // number of rows that the TMA copies, or 0
	b                           dsl.Array[dsl.B32]
	scales, d                   dsl.Array[dsl.F16]
	rows, cols, length          u32
	row, col, lane, warp, turns u32
	ring                        u32 // index of the warp's first stage
	line, eight                 u32 // row and column of the lane's elements in a copy
	lefts                       dsl.SharedTile
	rights                      dsl.Array[dsl.B32]
	factors                     dsl.Array[dsl.F16]
	full                        dsl.Barrier // of the tile of activations of each stage
	fromA                       []u32
	isRow                       []dsl.Reg[dsl.Pred]
	groups                      u32                // of K
	early                       bool               // whether the preceding kernel may still run
	next                        dsl.Array[dsl.B32] // weights of the next layer
	ahead                       bool               // whether to prefetch them
}

// buildFew adds the kernel whose activations the TMA copies, or the threads if box is 0.
// ahead adds the parameter of BuildFewAhead.
func buildFew(m *dsl.Module, box int, ahead bool) {
	f := newFew(m, box, ahead)
	k := f.k
	k.LaunchDependents()
	f.first(f.weights)
	k.WaitDependencies()
	f.first(f.activations)
	parts := f.multiply()
	k.Sync()
	k.Comment("each thread adds up two sums of all warps")
	at, two := k.TID().X.DivI(pack/2), k.TID().X.RemI(pack/2).MulI(2)
	from := parts.At(at.MadI(pack, two))
	sums := from.LoadFirstVec(2)
	for i := int64(1); i < warps; i++ {
		for j, x := range from.AtI(i * f.stages * depth * words).LoadFirstVec(2) {
			sums[j] = sums[j].Add(x)
		}
	}
	k.If(f.row.Add(at).LT(f.rows), func() {
		f.d.StoreVec(f.row.Add(at).Mad(f.cols, f.col.Add(two)),
			[]dsl.Reg[dsl.F16]{dsl.To[dsl.F16](sums[0]), dsl.To[dsl.F16](sums[1])})
	})
}

// newFew declares the parameters and the shared memory of a kernel.
func newFew(m *dsl.Module, box int, ahead bool) *few {
	f := &few{stages: 2, box: box, early: m.Has(90), ahead: ahead}
	if m.Has(90) {
		f.stages = 3
	}
	name := "w4a16_few"
	if box > 0 {
		name += "_tensor"
	}
	if box > 0 && box < fewRows {
		name += fmt.Sprint(box)
	}
	if ahead {
		name += "_ahead"
	}
	k := m.Kernel(name, dsl.Threads(32*warps))
	f.k = k
	tile := dsl.Tile{Type: isa.F16, Rows: fewRows, Cols: depth, Pad: 16}
	if box > 0 {
		f.tensor = k.TensorMap("a", isa.F16, dsl.Box{Rows: box, Cols: depth}, dsl.Swizzle128)
		f.full = k.Barriers("full", int(warps*f.stages), 1)
		tile.Pad, tile.Swizzle = 0, dsl.Swizzle128
	} else {
		f.a = dsl.Global[dsl.F16](k, "a")
	}
	f.b, f.scales, f.d = dsl.Global[dsl.B32](k, "b"), dsl.Global[dsl.F16](k, "scales"),
		dsl.Global[dsl.F16](k, "d")
	f.rows, f.cols, f.length = dsl.Param[dsl.U32](k, "m"), dsl.Param[dsl.U32](k, "n"),
		dsl.Param[dsl.U32](k, "k")
	if ahead {
		f.next = dsl.Global[dsl.B32](k, "next")
	}
	f.row, f.col = k.CTAID().Y.MulI(fewRows), k.CTAID().X.MulI(pack)
	f.lane, f.warp = k.Lane(), k.WarpIndex()

	k.Comment("a warp's stages have half of a group each; its scales come with the first")
	f.lefts = k.SharedTiles("a_ring", tile, int(warps*f.stages))
	f.rights = dsl.Shared[dsl.B32](k, "b_ring", int(warps*f.stages*depth*words))
	f.factors = dsl.Shared[dsl.F16](k, "scale_ring", int(warps*f.stages*pack))
	f.ring = f.warp.MulI(f.stages)
	f.line, f.eight = f.lane.DivI(8), f.lane.RemI(8).MulI(8)
	if box > 0 && box < fewRows {
		f.clear()
	}
	if box == 0 {
		for i := range int64(fewRows / 4) {
			at := f.row.Add(f.line).AddI(4 * i)
			f.fromA = append(f.fromA, at.Mad(f.length, f.warp.MadI(Group, f.eight)))
			f.isRow = append(f.isRow, at.LT(f.rows))
		}
	}
	f.groups = f.length.DivI(Group)
	f.turns = f.groups.AddI(warps - 1).Sub(f.warp).DivI(warps)
	return f
}

// group returns the index of the group that the warp computes in a turn.
func (f *few) group(turn u32) u32 { return turn.MadI(warps, f.warp) }

// weights starts the copies of the weights and the scales of half a group to a stage.
func (f *few) weights(turn u32, half int64, stage u32) {
	k := f.k
	group := f.group(turn)
	first := k.CTAID().X.Mad(f.groups, group).MadI(Group*words, f.lane.MulI(4))
	from, to := f.b.At(first).AtI(half*depth*words),
		f.rights.At(f.ring.Add(stage).MadI(depth*words, f.lane.MulI(4)))
	for i := range int64(depth / 16) {
		if f.early {
			k.Comment("ptxdsl:ignore A12 the kernel ahead writes activations, neither weights nor scales")
			f.early = false
		}
		from.AtI(128*i).CopyAsync(to.AtI(128*i), 4)
	}
	if half == 0 {
		k.If(f.lane.LTI(pack/8), func() {
			f.scales.At(group.Mad(f.cols, f.col.Add(f.eight))).CopyAsync(
				f.factors.At(f.ring.Add(stage).MadI(pack, f.eight)), 8)
		})
	}
}

// activations starts the copies of the activations of half a group to a stage.
func (f *few) activations(turn u32, half int64, stage u32) {
	k, tile := f.k, f.lefts.At(f.ring.Add(stage))
	if f.tensor != nil {
		full := f.full.At(f.ring.Add(stage))
		col := f.group(turn).MadI(Group, k.U32(int(depth*half)))
		k.When(k.Leader(), func() { full.ArriveExpect(k.U32(f.box * depth * 2)) })
		tile.Rows = f.box
		k.When(k.Leader(), func() { f.tensor.Load(tile, f.row, col, full) })
		return
	}
	for i, from := range f.fromA {
		f.a.At(turn.MadI(warps*Group, from)).AtI(depth*half).CopyAsync(
			dsl.Element[dsl.F16](tile, f.line.AddI(int64(4*i)), f.eight), 8, f.isRow[i])
	}
}

// clear sets the rows of the warp's tiles to zero that the TMA does not copy.
func (f *few) clear() {
	zero := dsl.Bits[dsl.B32](f.k.U32(0))
	for row := f.box; row < fewRows; row += 4 {
		for s := range f.stages {
			to := dsl.Element[dsl.F16](f.lefts.At(f.ring.AddI(s)), f.line.AddI(int64(row)),
				f.eight)
			dsl.As[dsl.B32](to).StoreFirstVec([]dsl.Reg[dsl.B32]{zero, zero, zero, zero})
		}
	}
}

// first starts copies to all stages but the last one.
func (f *few) first(copies func(turn u32, half int64, stage u32)) {
	for s := range f.stages - 1 {
		f.k.If(f.turns.GTI(s/halves),
			func() { copies(f.k.U32(int(s/halves)), s%halves, f.k.U32(int(s))) })
		f.k.CommitCopies()
	}
}

// multiply computes the sums of the warp, and returns the sums of all warps in shared memory.
func (f *few) multiply() (parts dsl.Array[dsl.F32]) {
	k, shape := f.k, dsl.MMAFor(isa.F16, isa.F32)
	w := dsl.NewWarpTile[dsl.F32](k, shape, fewRows, pack)
	group := dsl.NewWarpTile[dsl.F32](k, shape, fewRows, pack)
	stage, old := k.U32(0).Var(), k.U32(int(f.stages-1)).Var()
	parity := k.U32(0).Var()
	for turn := range k.Range(k.U32(0), f.turns) {
		group.Clear()
		var scales []dsl.Reg[dsl.F16x2]
		for half := range int64(halves) {
			k.WaitCopies(int(f.stages - 2))
			if f.tensor != nil {
				f.full.At(f.ring.Add(stage)).Wait(parity)
				k.FenceAsync()
			}
			k.SyncWarp()
			next := half + f.stages - 1
			k.If(turn.AddI(next/halves).LT(f.turns), func() {
				f.weights(turn.AddI(next/halves), next%halves, old)
				f.activations(turn.AddI(next/halves), next%halves, old)
			})
			k.CommitCopies()
			if f.ahead && f.tensor != nil && half == halves-1 {
				k.If(turn.AddI(1).EQ(f.turns), func() { f.prefetch(3) })
			}
			f.step(group, stage)
			if half == 0 {
				scales = f.scalesOf(stage)
			}
			old.Set(stage)
			last := stage.EQI(f.stages - 1)
			if f.tensor != nil {
				parity.Set(dsl.Select(last, parity.XorI(1), parity))
			}
			stage.Set(dsl.Select(last, k.U32(0), stage.AddI(1)))
		}
		promote(w, group, scales)
	}
	if f.ahead && f.tensor == nil {
		f.prefetch(2)
	}
	k.Comment("each warp leaves its sums where its weights were")
	k.WaitCopies(0)
	k.SyncWarp()
	parts = dsl.As[dsl.F32](f.rights)
	w.Each(func(row, col u32, x, y dsl.Reg[dsl.F32]) {
		parts.At(f.ring.MulI(depth * words).Add(row.MadI(pack, col))).StoreFirstVec(
			[]dsl.Reg[dsl.F32]{x, y})
	})
	return parts
}

// prefetch prefetches the next layer's weights of the warp's first n turns into the L2 cache. More
// of them, or earlier, would delay the weights of this layer.
func (f *few) prefetch(n int) {
	for i := range n {
		turn := f.k.U32(i)
		from := f.next.At(f.k.CTAID().X.Mad(f.groups, f.group(turn)).MulI(Group * words))
		f.k.When(turn.LT(f.turns).And(f.k.Leader()),
			func() { from.BulkPrefetch(f.k.U32(Group * words)) })
	}
}

// step adds the product of a stage to the sums of a group.
func (f *few) step(group *dsl.WarpTile[dsl.F32], stage u32) {
	here := f.rights.At(f.ring.Add(stage).MadI(depth*words, f.lane.MulI(4)))
	group.MMAStepFunc(f.lefts.At(f.ring.Add(stage)), f.k.U32(0),
		func(step int) (right [][]dsl.Reg[dsl.B32]) {
			for _, word := range here.AtI(int64(128 * step)).LoadFirstVec(4) {
				right = append(right, unscaled(word),
					unscaled(dsl.Bits[dsl.B32](dsl.Bits[dsl.U32](word).ShrI(8))))
			}
			return right
		}).MMA()
}

// scalesOf returns the scales of a stage, for pairs of columns.
func (f *few) scalesOf(stage u32) (scales []dsl.Reg[dsl.F16x2]) {
	pairs := dsl.As[dsl.F16x2](
		f.factors.At(f.ring.Add(stage).MadI(pack, f.lane.RemI(4).MulI(16))))
	scales = append(pairs.LoadFirstVec(4), pairs.AtI(4).LoadFirstVec(4)...)
	return scales
}

// promote multiplies the sums of a group by its scales, and adds them to w.
func promote(w, group *dsl.WarpTile[dsl.F32], scales []dsl.Reg[dsl.F16x2]) {
	// scales of two adjacent columns, for each group of eight columns
	var by [2][]dsl.Reg[dsl.F32]
	for i, x := range scales {
		lo, hi := dsl.Unpack[dsl.F16](x)
		by[i/4] = append(by[i/4], dsl.To[dsl.F32](lo), dsl.To[dsl.F32](hi))
	}
	n := 0
	dsl.Promote(w, group, func(c dsl.Cell, sum, x dsl.Reg[dsl.F32]) dsl.Reg[dsl.F32] {
		n++
		return x.FMA(by[(n-1)%2][(n-1)/4], sum)
	})
}
